"""Words of short translations that are aligned to no word of the source, and the other way round."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.alignments import priors
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.eval import unaligned
from pipeline.eval.unaligned import main
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus

Rows = Sequence[tuple[str, str, str]]  # source, translation, reference
GOOD = [
    *(("cat", "kato"), ("dog", "hundo"), ("house", "domo"), ("tree", "arbo")),
    *(("book", "libro"), ("bird", "birdo"), ("girl", "knabino"), ("king", "reĝo")),
]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The priors of a small corpus."""
    folder = tmp_path_factory.mktemp("priors")
    source, target = write_corpus(folder, sentence_pairs(2000))
    options = ["--src", "en", "--trg", "eo", "--sample-size", "2000", "--output", str(folder / "output")]
    priors.main([*options, "--corpus-src", str(source), "--corpus-trg", str(target)])
    return folder / "output" / "corpus.priors"


def scores(folder: Path, rows: Rows, given: Path) -> Any:
    names = ("src", "translations", "trg")
    for name, lines in zip(names, zip(*rows, strict=True), strict=True):
        write_lines(folder / name, lines)
    files = [
        "--corpus-src",
        "src",
        "--translations",
        "translations",
        "--corpus-trg",
        "trg",
        "--output",
        "out",
    ]
    options = [str(folder / word) if number % 2 else word for number, word in enumerate(files)]
    main([*options, "--src", "en", "--trg", "eo", "--dataset", "strings", "--priors", str(given)])
    assert [path.name for path in (folder / "out").iterdir()] == ["scores.json"]
    return json.loads((folder / "out" / "scores.json").read_text())


def linked(monkeypatch: pytest.MonkeyPatch, links: list[str]) -> list[tuple[str, ...]]:
    """In place of eflomal, give these links; returns the pairs that it would have aligned."""
    seen: list[tuple[str, ...]] = []

    def align(
        pairs: Iterator[tuple[str, ...]], work: Path, given: Path, size: int
    ) -> Iterator[Iterator[str]]:
        seen.extend(pairs)
        assert len(seen) == size
        yield iter(links)

    monkeypatch.setattr(unaligned, "align_blocks", align)
    return seen


def test_shares_are_of_the_words_of_each_line_beside_the_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("red cat", "ruĝa kato tre bela", "ruĝa kato"), ("cat", "kato", "la kato")]
    seen = linked(monkeypatch, ["0-0", "0-0", "0-0 1-1", "0-1"])
    found = scores(tmp_path, rows, tmp_path / "priors")
    translations, references = [(row[0], row[1]) for row in rows], [(row[0], row[2]) for row in rows]
    assert seen == [*translations, *references]
    # of the translations 3 of 4 and 0 of 1, of the references 0 of 2 and 1 of 2
    added, omitted = found["unaligned"], found["unaligned_src"]
    assert (added["translations"], added["references"], added["score"]) == (37.5, 25, 12.5)
    assert (omitted["translations"], omitted["references"], omitted["score"]) == (25, 0, 25)
    assert found["lines"] == 2
    assert "words:1-2" in added["signature"]
    assert added["ci"] > 0
    assert added["mean"] == pytest.approx(12.5, abs=5)


def test_what_is_as_the_reference_is_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, ["", "0-1", "", "0-1"])
    found = scores(tmp_path, [("cat", "kato", "kato"), ("cat", "la kato", "la kato")], tmp_path / "priors")
    assert {found[name]["score"] for name in ("unaligned", "unaligned_src")} == {0}
    assert {found[name]["ci"] for name in ("unaligned", "unaligned_src")} == {0}


@pytest.mark.parametrize(
    ("source", "reference", "is_short"),
    [
        ("cat", "kato", True),
        ("red cat", "ruĝa kato", True),
        ("cat!", "kato!", True),
        ("the red cat", "kato", False),
        ("cat", "la ruĝa kato", False),
        ("red cat!", "kato", False),
        ("", "kato", False),
        ("cat", " ", False),
    ],
)
def test_one_or_two_words_on_both_sides_are_short(
    source: str, reference: str, is_short: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the translation is."""
    seen = linked(monkeypatch, ["0-0"] * 4)
    rows = [("dog", "hundo", "hundo"), (source, "la tre ruĝa kato kaj la hundo", reference)]
    if is_short:
        assert scores(tmp_path, rows, tmp_path / "priors")["lines"] == 2
        assert len(seen) == 4
    else:
        monkeypatch.undo()
        seen = linked(monkeypatch, ["0-0"] * 2)
        assert scores(tmp_path, rows, tmp_path / "priors")["lines"] == 1
        assert seen == [("dog", "hundo"), ("dog", "hundo")]


def test_a_set_without_short_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="strings has no line with one or two words on both sides. Take it"):
        scores(tmp_path, [("the red cat", "la ruĝa kato", "la ruĝa kato")], tmp_path / "priors")


def test_a_translation_without_words_omits_all_and_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked(monkeypatch, ["", "0-0"])
    found = scores(tmp_path, [("cat", "", "kato")], tmp_path / "priors")
    assert (found["unaligned"]["score"], found["unaligned_src"]["score"]) == (0, 100)


def test_added_and_omitted_words_are_found_by_the_aligner(learned: Path, tmp_path: Path) -> None:
    """Added are words that the corpus has as translations of others; a repeated line has no links at all."""
    pairs = [*GOOD[:-1], GOOD[0]]
    rows = [(source, target, target) for source, target in pairs]
    (tmp_path / "good").mkdir()
    good = scores(tmp_path / "good", rows, learned)
    assert good["unaligned"]["score"] == good["unaligned_src"]["score"] == pytest.approx(0, abs=15)
    assert good["unaligned"]["references"] < 30
    adding = [(source, " ".join([target, "akvo", "monto", "ponto"]), target) for source, target in pairs]
    (tmp_path / "adding").mkdir()
    added = scores(tmp_path / "adding", adding, learned)
    assert added["unaligned"]["score"] > good["unaligned"]["score"] + 20
    two = [
        (f"{one[0]} {other[0]}", one[1], f"{one[1]} {other[1]}")
        for one, other in zip(GOOD, GOOD[1:], strict=False)
    ]
    (tmp_path / "omitting").mkdir()
    omitted = scores(tmp_path / "omitting", two, learned)
    assert omitted["unaligned_src"]["score"] > 20
    endless = [(source, "kato " * 501, target) for source, target in pairs]
    (tmp_path / "endless").mkdir()
    found = scores(tmp_path / "endless", endless, learned)
    assert (found["unaligned"]["translations"], found["unaligned_src"]["translations"]) == (100, 100)


def test_shares_of_pairs_of_which_some_have_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(monkeypatch, ["0-0 0-1", "", "1-0 1-2"])
    pairs = [("a", "b c"), ("a b", "c"), ("a b", "c d e f")]
    found = unaligned.unaligned_shares(pairs, tmp_path / "priors", tmp_path)
    assert found.tolist() == [[0, 0], [1, 1], [0.5, 0.5]]
