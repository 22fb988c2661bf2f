"""Tests of keeping the lines whose score is above a threshold."""

from pathlib import Path

import pytest

from pipeline.clean import filter_mono, filter_parallel
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus, read, stats_of


def filter_pairs(folder: Path, threshold: str, scores: list[str]) -> Path:
    files = {
        "--corpus-src": corpus(folder / "src.zst", ["a", "b", "c", "d"]),
        "--corpus-trg": corpus(folder / "trg.zst", ["A", "B", "C", "D"]),
        "--scores": corpus(folder / "scores.zst", scores),
        "--output": folder / "out",
    }
    options = [str(word) for pair in files.items() for word in pair]
    filter_parallel.main(["--src", "en", "--trg", "ru", "--threshold", threshold, *options])
    return folder / "out"


def test_pairs_above_the_threshold_are_kept_with_their_scores(tmp_path: Path) -> None:
    out = filter_pairs(tmp_path, "0.5", ["0.501", "0.500", "0", "1"])
    assert read(out / "corpus.en.zst") == ["a", "d"]
    assert read(out / "corpus.ru.zst") == ["A", "D"]
    assert read(out / "scores.zst") == ["0.501", "1"]
    stats = stats_of(out)
    assert stats["lines"] == {"in": 4, "kept": 2, "dropped": {"low_score": 2}}
    assert stats["threshold"] == 0.5
    assert stats["samples"] == ["low_score: 0.500 | b | B", "low_score: 0 | c | C"]


def test_a_data_set_of_which_nothing_is_left_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = filter_pairs(tmp_path, "0.9", ["0.1"] * 4)
    assert read(out / "corpus.en.zst") == []
    assert stats_of(out)["lines"]["kept"] == 0
    assert "none of the lines has a score above 0.9" in caplog.text


def test_too_few_scores(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        filter_pairs(tmp_path, "0.5", ["0.9"] * 3)
    assert list((tmp_path / "out").iterdir()) == []


def test_lines_of_one_language(tmp_path: Path) -> None:
    files = {
        "--text": corpus(tmp_path / "mono.zst", ["a", "b", "c"]),
        "--scores": corpus(tmp_path / "scores.zst", ["0.7", "0.701", "1"]),
        "--output": tmp_path / "out",
    }
    options = [str(word) for pair in files.items() for word in pair]
    filter_mono.main(["--lang", "ru", "--threshold", "0.7", *options])
    assert read(tmp_path / "out" / "mono.ru.zst") == ["b", "c"]
    assert stats_of(tmp_path / "out")["lines"] == {"in": 3, "kept": 2, "dropped": {"low_score": 1}}
