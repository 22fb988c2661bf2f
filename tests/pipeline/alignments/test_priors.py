"""Priors learned from a sample of a corpus."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.alignments.priors import main
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus

ODD = [("", "la kato"), ("", ""), ("the cat " * 300, "la kato")]


def learn(
    corpus: tuple[Path, Path], output: Path, sample_size: int
) -> tuple[list[list[str]], dict[str, Any]]:
    """The fields of each line of the priors, and stats.json."""
    files = ["--corpus-src", str(corpus[0]), "--corpus-trg", str(corpus[1]), "--output", str(output)]
    main(["--src", "en", "--trg", "eo", "--sample-size", str(sample_size), *files])
    lines = (output / "corpus.priors").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines], json.loads((output / "stats.json").read_text())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """200 ordinary pairs and three that cannot be aligned."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), [*sentence_pairs(200), *ODD])


def test_priors_hold_words_as_they_are(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    lines, stats = learn(corpus, tmp_path / "output", 1000)
    counts = {(line[1], line[2]): int(line[3]) for line in lines if line[0] == "LEX"}
    assert counts["cat", "kato"] > 0
    assert counts["the", "la"] > 150
    assert set(stats["entries"]) == {line[0] for line in lines} == {"LEX", "FERF", "FERR", "HMMF", "HMMR"}
    assert sum(stats["entries"].values()) == len(lines)
    assert stats["lines"] == {"in": 203, "kept": 200, "dropped": {"not_sampled": 0, "not_alignable": 3}}


def test_no_more_than_the_sample_is_learned_from(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    lines, stats = learn(corpus, tmp_path / "output", 50)
    first_words = sum(int(line[3]) for line in lines if line[:3] == ["LEX", "the", "la"])
    assert 30 < first_words <= 50
    assert stats["lines"]["dropped"]["not_sampled"] == 153
    assert stats["lines"]["kept"] + stats["lines"]["dropped"]["not_alignable"] == 50


def test_a_corpus_without_a_pair_to_learn_from_is_refused(tmp_path: Path) -> None:
    for pairs in ([], ODD):
        with pytest.raises(InputError, match="can be aligned: one side is empty"):
            learn(write_corpus(tmp_path, pairs), tmp_path / "output", 10)
        assert not any((tmp_path / "output").iterdir())


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "two.zst", ["a", "b"])
    write_lines(tmp_path / "one.zst", ["a"])
    for files in (("two.zst", "one.zst"), ("one.zst", "two.zst")):
        with pytest.raises(InputError, match=r"one\.zst ends after 1 lines"):
            learn((tmp_path / files[0], tmp_path / files[1]), tmp_path / "output", 1)
        assert not any((tmp_path / "output").iterdir())


def test_a_sample_of_nothing_is_refused(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--sample-size must be at least 1, not 0"):
        learn(corpus, tmp_path / "output", 0)
