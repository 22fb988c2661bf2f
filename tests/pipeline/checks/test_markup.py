"""HTML of a test set through a real student, by Marian and by the engine of browsers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.alignments.priors import main as learn_priors
from pipeline.checks.markup import aligned_sentences, main, markup_numbers
from pipeline.markup.documents import Document, make_documents
from pipeline.markup.placing import translate_markup
from pipeline.markup.runs import parse, write
from pipeline.markup.with_marian import translate_aligned
from pipeline.quantize.export import main as export
from tests.browsers import in_node, missing
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus
from tests.pipeline.checks.helpers import numbers, text
from tests.pipeline.markup.conftest import guided
from tests.pipeline.quantize.conftest import one_thread
from translations_assets.checks.markup import markup as judge_markup
from translations_assets.checks.verdict import NothingToJudge
from translations_assets.config.gates import Markup

__all__ = ["guided", "one_thread"]  # fixtures


@pytest.fixture(scope="module")
def priors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Priors of the corpus that the student has learned from."""
    folder = tmp_path_factory.mktemp("priors")
    source, target = write_corpus(folder, sentence_pairs(1000))
    options = ["--src", "en", "--trg", "eo", "--sample-size", "1000"]
    learn_priors(
        [*options, "--corpus-src", str(source), "--corpus-trg", str(target), "--output", str(folder / "out")]
    )
    return folder / "out" / "corpus.priors"


def of_pairs(folder: Path, model: Path, priors: Path, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    sides = [text(folder / f"test.{side}.zst", [pair[side] for pair in pairs]) for side in (0, 1)]
    languages = ["--src", "en", "--trg", "eo", "--corpus-src", sides[0], "--corpus-trg", sides[1]]
    options = ["--model", model, "--priors", priors, "--seed", "1"]
    return numbers(main, folder / "out", *options, *languages)


@pytest.mark.marian
@pytest.mark.slow
def test_a_guided_student_keeps_tags_on_their_words(guided: Path, priors: Path, tmp_path: Path) -> None:
    found = of_pairs(tmp_path, guided, priors, [("", ""), *sentence_pairs(1100)[1000:]])
    every = found["all"]
    assert every["documents"] == sum(kind["documents"] for kind in found["kinds"].values()) > 200
    assert every["well_formed"] == every["documents"]
    assert every["kept_share"] > 0.9
    assert every["right_share"] > 0.9
    assert every["countable"] > 300


@pytest.mark.marian
@pytest.mark.slow
def test_the_engine_of_browsers_puts_them_there_too(guided: Path, priors: Path, tmp_path: Path) -> None:
    """Its products in 8 bits are others, so that a weak student may align some words otherwise."""
    if reason := missing("node"):
        pytest.skip(reason)
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(guided), *options, "--output", str(tmp_path / "exported")])
    (tmp_path / "work").mkdir()
    sentences = aligned_sentences(sentence_pairs(1100)[1000:], ("en", "eo"), priors, tmp_path / "work")
    documents = make_documents(sentences, "1")
    markups = [document.markup for document in documents]
    placed = translate_markup(markups, lambda texts: translate_aligned(guided, texts, tmp_path / "work"))
    ours = [write(markup) for markup in placed]
    theirs = in_node(tmp_path / "exported", [write(markup) for markup in markups], html=True).translations
    assert sum(one == other for one, other in zip(ours, theirs, strict=True)) > 0.9 * len(ours)
    every = markup_numbers(documents, theirs, "eo")["all"]
    assert every["well_formed"] == every["documents"]
    assert min(every["kept_share"], every["right_share"]) > 0.9


@pytest.mark.marian
@pytest.mark.slow
def test_a_reference_that_belongs_to_other_sentences(guided: Path, priors: Path, tmp_path: Path) -> None:
    """What it is linked to is seldom in the translation, and then seldom under the tag."""
    pairs = sentence_pairs(1100)[1000:]
    shifted = [(source, pairs[number - 7][1]) for number, (source, _) in enumerate(pairs)]
    every = of_pairs(tmp_path, guided, priors, shifted)["all"]
    assert every["countable"] < 0.9 * every["tags"]


@pytest.mark.parametrize("pairs", [[], [("", "La hundo."), ("!", "?")]])
def test_no_pair_to_make_html_of(priors: Path, tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    """No model is needed, and the gate has nothing to judge."""
    found = of_pairs(tmp_path, tmp_path, priors, pairs)
    assert (found["kinds"], found["all"]["documents"], found["samples"]) == ({}, 0, [])
    with pytest.raises(NothingToJudge, match="0 tags"):
        judge_markup({"check_export": {"html": found}}, Markup())


def test_numbers_and_the_worst_samples() -> None:
    documents = [
        Document("word", parse("A <b>dog</b>"), {0: ("hundo",)}),
        Document("word", parse("A <b>cat</b>"), {0: ("kato",)}),
        Document("link", parse("A <i>cow</i>"), {0: ("bovino",)}),
    ]
    found = markup_numbers(documents, ["<b>hundo</b>", "<b></b>kato", "bovino"], "eo")
    assert [*found["kinds"]] == ["word", "link"]
    assert (found["kinds"]["word"]["kept"], found["kinds"]["word"]["right"]) == (2, 1)
    assert (found["all"]["documents"], found["all"]["kept"], found["all"]["right"]) == (3, 2, 1)
    assert found["samples"] == [
        ["link", "A <i>cow</i>", "bovino", "<i> 1 → 0 times; <i> is round nothing, not bovino"],
        ["word", "A <b>cat</b>", "<b></b>kato", "<b> is round nothing, not kato"],
    ]
