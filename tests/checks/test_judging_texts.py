"""From numbers of texts, vocabularies and alignments to verdicts."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checks import numbers
from tests.stages.configs import FULL, graph
from translations_assets.checks import models, text, vocabularies
from translations_assets.checks.gates import GATES, examine
from translations_assets.checks.verdict import NothingToJudge, percent
from translations_assets.config import gates
from translations_assets.config.load import parse_config
from translations_assets.records.run import RunOptions
from translations_assets.results.statistics import Statistics


def of(document: Any, stage: str = "check_merge_corpus") -> Any:
    """A gate's input from a stage with one step."""
    return {stage: {"label": document}}


TEXT_GATES = [
    (text.held_out_exact, gates.HeldOutExact()),
    (text.held_out_near, gates.HeldOutNear()),
    (text.language, gates.LanguageGate()),
    (text.duplicates, gates.Duplicates()),
    (text.length_ratio, gates.LengthRatio()),
    (text.empty_lines, gates.EmptyLines()),
    (text.translations, gates.Translations()),
    (partial(text.translations, made=0), gates.Translations()),
]


@pytest.mark.parametrize(("judge", "thresholds"), TEXT_GATES)
def test_a_good_text_passes(judge: Any, thresholds: gates.GateSection) -> None:
    assert judge(of(numbers.text()), thresholds).passed


@pytest.mark.parametrize(("judge", "thresholds"), TEXT_GATES)
def test_a_text_that_the_config_has_not(judge: Any, thresholds: gates.GateSection) -> None:
    with pytest.raises(NothingToJudge, match="the training config has no such text"):
        judge({"check_merge_mono_src": {}}, thresholds)


def test_held_out_lines_in_training_text() -> None:
    samples = {"exact": [{"line": "A dog.", "held_out": "A dog.", "similarity": 1.0}]}
    bad = numbers.text(numbers.side("en", held_out=numbers.held_out(exact=2, samples=samples)))
    verdict = text.held_out_exact(of(bad), gates.HeldOutExact())
    assert not verdict.passed
    told = "2 lines of at least five words of training text stand in a dev or test set"
    assert verdict.description == told
    assert (verdict.numbers, verdict.samples) == ({"lines, en": 2}, ["A dog."])
    assert text.held_out_exact(of(bad), gates.HeldOutExact.model_validate({"max-lines": 2})).passed


def test_whole_pairs_that_are_held_out() -> None:
    found = {"held_out_pairs": 7, "exact": 3, "samples": [["Cancel", "Nuligi"]]}
    verdict = text.held_out_exact(of(numbers.text(held_out_pairs=found)), gates.HeldOutExact())
    assert not verdict.passed
    assert verdict.description.startswith("3 whole pairs and 0 lines of at least five words of training text")
    assert verdict.numbers == {"whole pairs": 3, "lines, en": 0, "lines, eo": 0}
    assert verdict.samples == ["Cancel ||| Nuligi"]


def test_near_duplicates_of_held_out_lines() -> None:
    sample = {"line": "a dog", "held_out": "A dog.", "similarity": 1.0}
    found = numbers.held_out(held_out_lines_found=10, same_letters=30, samples={"same_letters": [sample]})
    verdict = text.held_out_near(
        of(numbers.text(numbers.side("en"), numbers.side("eo", held_out=found))), gates.HeldOutNear()
    )
    assert not verdict.passed
    assert verdict.description.startswith("5 % of the dev and test lines")
    assert verdict.numbers == {"share, en": 0, "share, eo": 0.05}
    assert verdict.samples == ["a dog ≈ A dog."]


def test_text_in_another_language() -> None:
    found = numbers.language(share=0.2, guesses={"de": 80, "nl": 20}, samples=[["de", "Hallo"]])
    verdict = text.language(of(numbers.text(numbers.side("en", language=found))), gates.LanguageGate())
    assert not verdict.passed
    assert verdict.description == "20 % of the lines are taken for another language, most of them for de, nl"
    assert verdict.samples == ["de: Hallo"]


def test_a_language_that_is_not_known_is_told_of() -> None:
    found = numbers.language(identified_as=None, asked=0)
    verdict = text.language(of(numbers.text(numbers.side("ceb", language=found))), gates.LanguageGate())
    assert verdict.passed
    assert "ceb is not known to the identifier" in verdict.description


def identified(lang: str, script: str, other: int, lines: int = 10_000, **more: Any) -> dict[str, Any]:
    """A cleaning step's numbers of a side."""
    guesses = {"cdo": other} if other else {}
    samples = ["cdo: 无法载入文档类"] if other else []
    side = {"lang": lang, "script": script, "lines": lines, "other": other}
    return {**side, "guesses": guesses, "samples": samples, **more}


def statistics(*sides: dict[str, Any]) -> Statistics:
    return Statistics.from_dict({"identified": sides})


@pytest.mark.parametrize(
    ("script", "other", "passes"),
    [("Han", 50, True), ("Han", 51, False), ("Latin", 500, True), ("Latin", 501, False)],
)
def test_lines_in_their_own_script_that_identification_drops(script: str, other: int, passes: bool) -> None:
    sides = [identified("en", "Latin", 0), identified("xx", script, other)]
    verdict = text.identification(of(statistics(*sides), "clean_corpus"), gates.IdentificationGate())
    assert verdict.passed is passes
    assert verdict.numbers == {"label, en": 0, "label, xx": other / 10_000}
    assert verdict.samples == ([] if passes else ["cdo: 无法载入文档类"])
    assert verdict.description == (
        f"{percent(other / 10_000)} of the lines of label, xx that are written in {script} are dropped as "
        "another language, most of them as cdo"
    )


def test_the_worst_dataset_is_told_of_those_that_fail() -> None:
    """Not the one with the larger share, where that is as usual."""
    steps = {
        "clean-a": statistics(identified("en", "Latin", 400), identified("zh", "Han", 100)),
        "clean-b": statistics(identified("en", "Latin", 300), identified("zh", "Han", 200)),
        "clean-c": statistics(),
    }
    verdict = text.identification({"clean_corpus": steps}, gates.IdentificationGate())
    assert "2 % of the lines of clean-b, zh" in verdict.description
    assert verdict.description.endswith("; of 2 sides too many are")


@pytest.mark.parametrize("sides", [[], [identified("zh", "Han", 99, lines=999)]])
def test_few_lines_are_not_judged_by_how_many_are_dropped(sides: list[Any]) -> None:
    with pytest.raises(NothingToJudge, match="no side of a dataset has 1,000 lines"):
        text.identification(of(statistics(*sides), "clean_mono"), gates.IdentificationGate())


def test_duplicates_lengths_and_empty_lines() -> None:
    bad = numbers.text(
        numbers.side("en"),
        numbers.side("eo", empty=20),
        duplicates={"counted": 1000, "repeated": 300, "share": 0.3, "samples": ["A dog."]},
        length_ratio={"median": 1.1, "outliers": 50, "share": 0.05, "samples": [["a", "b" * 9]]},
    )
    assert not text.duplicates(of(bad), gates.Duplicates()).passed
    assert text.duplicates(of(bad), gates.Duplicates.model_validate({"max-share": 0.3})).passed
    assert not text.length_ratio(of(bad), gates.LengthRatio()).passed
    assert text.length_ratio(of(bad), gates.LengthRatio()).samples == ["a ||| bbbbbbbbb"]
    assert not text.empty_lines(of(bad), gates.EmptyLines()).passed
    assert text.empty_lines(of(bad), gates.EmptyLines.model_validate({"max-share": 0.02})).passed


def test_only_the_translated_side_may_fail() -> None:
    """An empty source is not the translator's fault; back-translations are the first side."""
    bad = numbers.text(numbers.side("en"), numbers.side("eo", empty=50))
    for gate in GATES:
        if gate.name == "translations":
            passed = gate.judge(of(bad), gates.Translations()).passed
            assert passed == (gate.stage == "translate_mono_trg"), gate


def test_the_only_translation_is_empty() -> None:
    bad = numbers.text(numbers.side("en"), numbers.side("eo", empty=1)) | {"lines": 1}
    assert text.translations(of(bad), gates.Translations()).numbers["empty"] == 1


def test_copied_translations() -> None:
    bad = numbers.text(copied={"lines": 200, "share": 0.2, "samples": [["Dog", "dog"]]})
    verdict = text.translations(of(bad), gates.Translations())
    assert not verdict.passed
    assert verdict.description == "0 % of the translations are empty, 20 % copies of their source"
    assert verdict.samples == ["Dog ||| dog"]


@pytest.mark.parametrize("held_out", [{"coverage": 0.95}, {"unknown_rate": 0.01}])
def test_a_vocabulary_that_does_not_cover_the_test_sets(held_out: dict[str, float]) -> None:
    bad = numbers.vocabulary(**held_out, samples={"ĉ": 7})
    verdict = vocabularies.vocabulary(of(bad, "check_train_vocab"), gates.Vocabulary())
    assert not verdict.passed
    assert verdict.samples == ["eo, the dev and test sets: ĉ × 7"]
    assert vocabularies.vocabulary(of(numbers.vocabulary(), "check_train_vocab"), gates.Vocabulary()).passed


def test_a_vocabulary_that_spells_letters_of_the_language_in_bytes() -> None:
    bad = numbers.vocabulary(letters_in_bytes={"ù": 5, "ŭ": 4, "ĉ": 70})
    verdict = vocabularies.vocabulary(of(bad, "check_train_vocab"), gates.Vocabulary())
    assert not verdict.passed
    assert verdict.description.endswith("letters spelt in bytes: ù ĉ (eo)")
    assert vocabularies.vocabulary(
        of(bad, "check_train_vocab"), gates.Vocabulary.model_validate({"max-letter-in-bytes": 70})
    ).passed


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ({"as_it_is": 1.25, "upper": 2.5, "title": 1.5}, "ru 1.25, in upper case 2.50 (2.00 times as many)"),
        ({"as_it_is": 1.25, "upper": 1.5, "title": 2.5}, "ru 1.25, in title case 2.50 (2.00 times as many)"),
        ({"as_it_is": 4.0, "upper": 4.8, "title": 4.2}, "ru 4.00, in upper case 4.80 (1.20 times as many)"),
    ],
)
def test_a_vocabulary_without_room_for_upper_and_title_case(pieces: dict[str, float], told: str) -> None:
    bad = numbers.vocabulary()
    bad["sides"][0]["pieces_per_word"] = {"as_it_is": 2.0, "upper": 2.5}
    bad["sides"][1] |= {"lang": "ru", "pieces_per_word": pieces}
    verdict = vocabularies.vocabulary_case(of(bad, "check_train_vocab"), gates.VocabularyCase())
    assert not verdict.passed
    assert told in verdict.description
    assert verdict.numbers["times as many in upper case, en"] == 1.25
    passing = gates.VocabularyCase.model_validate({"max-upper": 2, "max-title": 2, "max-pieces": 5})
    assert vocabularies.vocabulary_case(of(bad, "check_train_vocab"), passing).passed


def test_without_lines_in_upper_case_no_vocabulary_is_judged_by_it() -> None:
    with pytest.raises(NothingToJudge, match="no line is put in upper or title case"):
        vocabularies.vocabulary_case(of(numbers.vocabulary(), "check_train_vocab"), gates.VocabularyCase())


def test_alignments() -> None:
    good: Any = of(numbers.alignments())
    none: Any = {"check_alignments_backtranslated": {}}
    assert models.alignment_indices(good, gates.AlignmentIndices()).passed
    assert models.alignment_links(good, gates.AlignmentLinks()).passed
    for gate in GATES:
        if gate.name in ("alignment-indices", "alignment-links"):
            with pytest.raises(NothingToJudge, match="no such alignments"):
                gate.judge(none, None)


@pytest.mark.parametrize("wrong", ["out_of_range", "malformed"])
def test_one_link_that_points_nowhere_is_too_many(wrong: str) -> None:
    bad = of(numbers.alignments(**{wrong: 1, "samples": {wrong: [["a", "b", "0-9"]]}}))
    verdict = models.alignment_indices(bad, gates.AlignmentIndices())
    assert (verdict.passed, verdict.samples) == (False, ["a ||| b ||| 0-9"])
    assert gates.AlignmentIndices().level == "error"


@pytest.mark.parametrize("bad", [{"no_links_share": 0.2}, {"links_per_word": 0.1}, {"links_per_word": 3.0}])
def test_too_few_links_or_too_many(bad: dict[str, float]) -> None:
    assert not models.alignment_links(of(numbers.alignments(**bad)), gates.AlignmentLinks()).passed


def test_good_links_stand_beside_lines_without_any() -> None:
    samples = {"linked": [["a b", "x y", "a – x"]], "no_links": [["c", "z", ""]]}
    verdict = models.alignment_links(of(numbers.alignments(samples=samples)), gates.AlignmentLinks())
    assert (verdict.passed, verdict.samples) == (True, ["c ||| z ||| ", "a b ||| x y ||| a – x"])


def test_what_cleaning_tells_is_read_where_there_are_statistics() -> None:
    """Not of the step that fetches a model, which stands among them."""
    made = {step.label: step for step in graph(FULL).stages["clean_corpus"]}
    stats = {"identified": [identified("en", "Latin", 0), identified("ru", "Cyrillic", 900)]}
    session: Any = SimpleNamespace(
        config=parse_config(FULL, "config.yml"),
        graph=graph(FULL),
        options=RunOptions(),
        results=SimpleNamespace(
            need=lambda steps: None,
            result_of=lambda step: SimpleNamespace(outputs={name: name for name in step.outputs}),
        ),
        store=SimpleNamespace(read_blob=lambda name: json.dumps({"stats.json": stats}[name])),
    )
    gate = next(gate for gate in GATES if (gate.name, gate.stage) == ("identification", "clean_corpus"))
    found = examine(session, gate, {})
    cleaned = [label for label in made if label.startswith("clean-corpus-")]
    assert (found.state, found.level) == ("failed", "warn")
    assert found.verdict
    assert set(found.verdict.numbers) == {f"{label}, {lang}" for label in cleaned for lang in ("en", "ru")}
