"""eflomal; priors by hand."""

import re
from pathlib import Path

import pytest

from pipeline.alignments import eflomal_runs
from pipeline.alignments.eflomal_runs import (
    Block,
    align_directions,
    compute_priors,
    iterations,
)
from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError, TemporaryError


def block(folder: Path, source: list[str], target: list[str], priors: Path | None = None) -> Block:
    folder.mkdir()
    made = Block(folder, 1, priors)
    made.source.write_text("".join(f"{line}\n" for line in source), encoding="utf-8")
    made.target.write_text("".join(f"{line}\n" for line in target), encoding="utf-8")
    return made


def ambiguous() -> tuple[list[str], list[str]]:
    """Sentences in which each word might be linked to each, so that only chance decides."""
    words = ["a b c d e f", "c a f b e d", "f e d c b a"] * 20
    return words, words[::-1]


def test_lines_without_words_get_no_links_and_keep_the_count(tmp_path: Path) -> None:
    made = block(tmp_path / "block", ["", *["the cat"] * 20, ""], ["", *["la kato"] * 20, ""])
    align_directions(made)
    lines = made.forward.read_text().split("\n")
    assert len(lines) == 23  # the last line ends, too
    assert not any((lines[0], lines[21], lines[22]))
    assert sum(map(bool, lines)) >= 15  # the links are sampled


def test_a_block_without_any_word(tmp_path: Path) -> None:
    made = block(tmp_path / "block", ["", ""], ["", ""])
    align_directions(made)
    assert made.forward.read_text() == made.reverse.read_text() == "\n\n"


def test_each_target_word_has_one_forward_link_and_each_source_word_one_reverse_link(tmp_path: Path) -> None:
    made = block(tmp_path / "block", *ambiguous())
    align_directions(made)
    for forward, reverse in zip(
        made.forward.read_text().splitlines(), made.reverse.read_text().splitlines(), strict=True
    ):
        targets = [link[1] for link in parse_links(forward)]
        sources = [link[0] for link in parse_links(reverse)]
        assert len(targets) == len(set(targets))
        assert len(sources) == len(set(sources))


def test_priors_by_hand(tmp_path: Path) -> None:
    """Forward links: words, source fertility, forward jumps. Reverse links: the rest. All lower-cased."""
    made = block(tmp_path / "block", ["A b", "", "c"], ["x", "", "y"])
    made.forward.write_text("0-0\n\n0-0\n")
    made.reverse.write_text("0-0 1-0\n\n0-0\n")
    compute_priors(made, tmp_path / "priors")
    assert (tmp_path / "priors").read_text().splitlines() == [
        "LEX\ta\tx\t1",
        "LEX\tc\ty\t1",
        "FERF\ta\t1\t1",
        "FERF\tc\t1\t1",
        "FERR\tx\t2\t1",
        "FERR\ty\t1\t1",
        # from the last link to the end of the sentence: 2 - 0 and 1 - 0; from the start: 0 - (-1)
        "HMMF\t1\t3",
        "HMMF\t2\t1",
        # the second source word is linked to the same target word as the first: a jump of 0
        "HMMR\t0\t1",
        "HMMR\t1\t4",
    ]


def test_priors_decide_where_the_text_does_not(tmp_path: Path) -> None:
    priors = tmp_path / "priors"
    priors.write_text("LEX\tred\truĝa\t1000\nLEX\tcat\tkato\t1000\n", encoding="utf-8")
    made = block(tmp_path / "block", ["red Cat"] * 30, ["kato ruĝa"] * 30, priors)
    align_directions(made)
    assert made.forward.read_text().splitlines().count("1-0 0-1") >= 25


@pytest.mark.parametrize("line", ["LEX\ta\tb", "LEX\ta\tb\tmany", "WORD\ta\tb\t1", "nonsense"])
def test_a_file_that_holds_no_priors_is_refused(tmp_path: Path, line: str) -> None:
    priors = tmp_path / "corpus.priors"
    priors.write_text(f"LEX\tx\ty\t1\n{line}\n")
    made = block(tmp_path / "block", ["x"], ["y"], priors)
    with pytest.raises(InputError, match="not a priors file"):
        align_directions(made)


@pytest.mark.parametrize(("pairs", "counted"), [(7, 60), (60, 60), (90, 90)])
def test_what_priors_were_learned_from_counts_as_text_of_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: int, counted: int
) -> None:
    sample = block(tmp_path / "sample", *ambiguous())
    align_directions(sample)
    compute_priors(sample, tmp_path / "priors")
    asked: list[int] = []

    def once(number: int) -> tuple[int, int, int]:
        asked.append(number)
        return 1, 1, 1

    monkeypatch.setattr(eflomal_runs, "iterations", once)
    made = block(tmp_path / "block", ["a b c"] * pairs, ["c b a"] * pairs, tmp_path / "priors")
    align_directions(made)
    assert set(asked) == {counted}


def test_more_text_is_sampled_less_often() -> None:
    assert iterations(1) == (1250, 1250, 5000)
    assert iterations(10_000) == (12, 12, 50)
    assert iterations(10_000_000) == (2, 1, 2)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("KILL", TemporaryError, "eflomal was killed by SIGKILL; was memory short?"),
        ("SEGV", TemporaryError, "eflomal was killed by SIGSEGV"),
        ("ILL", RuntimeError, "eflomal ended with code -4"),  # built for another processor: no attempt helps
    ],
)
def test_eflomal_that_is_killed_is_worth_another_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[Exception], message: str
) -> None:
    killed = tmp_path / "eflomal"
    killed.write_text(f"#!/bin/sh\nulimit -c 0\nkill -{name} $$\n")
    killed.chmod(0o755)
    monkeypatch.setattr(eflomal_runs, "PROGRAM", killed)
    with pytest.raises(error, match=re.escape(message)):
        align_directions(block(tmp_path / "block", ["the cat"] * 20, ["la kato"] * 20))
