"""Models compared by their translations of a test set."""

import json
import random
from pathlib import Path

import pytest

from pipeline.checks.differences import main
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines

LINES = 200


def garbled(lines: list[str], share: float, seed: int) -> list[str]:
    """Sentences with some words replaced."""
    chance = random.Random(seed)
    return [" ".join("xyz" if chance.random() < share else word for word in line.split()) for line in lines]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """References and translations of several models."""
    chance = random.Random(1)
    references = [
        " ".join(chance.choices(["abc", "def", "ghij", "klm", "nopq", "rst"], k=15)) for _ in range(LINES)
    ]
    student = garbled(references, 0.3, seed=2)
    written = {
        "references": references,
        "student": student,
        "same": student,
        "alike": garbled(references, 0.3, seed=3),
        "better": garbled(references, 0.1, seed=4),
    }
    for name, lines in written.items():
        write_lines(tmp_path / f"{name}.zst", lines)
    return tmp_path


def options(texts: Path, *others: str) -> list[str]:
    files = [str(texts / f"{name}.zst") for name in others]
    compared = ["--translations", str(texts / "student.zst"), "--others-translations", *files]
    names = ["--model", "student", "--others", *others, "--trg", "en", "--dataset", "url_test"]
    return [*names, *compared, "--references", str(texts / "references.zst"), "--output", str(texts / "out")]


def test_a_better_model_differs_and_one_as_good_does_not(texts: Path) -> None:
    main(options(texts, "same", "alike", "better"))
    found = json.loads((texts / "out" / "numbers.json").read_text())
    assert (found["dataset"], found["lines"], found["model"]) == ("url_test", LINES, "student")
    for metric in ("bleu", "chrf", "chrfpp"):
        same, alike, better = (found["others"][name][metric] for name in ("same", "alike", "better"))
        assert same["score"] == same["other"] == alike["score"] == better["score"]
        assert same["p_value"] == 1.0
        assert alike["p_value"] > 0.05
        assert better["other"] > better["score"]
        assert better["p_value"] < 0.01
        assert "bs:1000|seed:12345" in found["signatures"][metric]


def test_translations_of_another_test_set_are_refused(texts: Path) -> None:
    write_lines(texts / "better.zst", ["one line"])
    with pytest.raises(InputError, match=r"better\.zst has 1 lines, and the references have 200"):
        main(options(texts, "better"))
    assert not (texts / "out").exists()
