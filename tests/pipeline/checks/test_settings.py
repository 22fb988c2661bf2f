"""Settings tried with several seeds, beside the first of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest, Result

from pipeline.checks import differences, settings
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines

WORDS = re.findall(r"\w+", "domo granda arbo bela urbo kato dormas libro nova mondo paco lingvo ruĝa")


def references(lines: int = 120) -> list[str]:
    random = Random(7)
    return [" ".join(random.choices(WORDS, k=8)) for _ in range(lines)]


def worse(text: list[str], share: float, seed: int) -> list[str]:
    """The text with a share of its words replaced."""
    random = Random(seed)
    return [
        " ".join(random.choice(WORDS) if random.random() < share else word for word in line.split())
        for line in text
    ]


def compared(folder: Path, given: dict[str, list[list[str]]], reference: list[str]) -> dict[str, Any]:
    write_lines(folder / "reference.zst", reference)
    listed = []
    for name, translations in given.items():
        files = [folder / f"{name}-{number}.zst" for number in range(len(translations))]
        for file, lines in zip(files, translations, strict=True):
            write_lines(file, lines)
        listed.append({"name": name, "translations": [str(file) for file in files]})
    (folder / "settings.json").write_text(json.dumps(listed))
    options = ["--settings", str(folder / "settings.json"), "--references", str(folder / "reference.zst")]
    settings.main([*options, "--trg", "eo", "--dataset", "test", "--output", str(folder / "out")])
    found: dict[str, Any] = json.loads((folder / "out" / "numbers.json").read_text())
    assert found["dataset"] == "test"
    settings_found: dict[str, Any] = found["settings"]
    return settings_found


def test_with_a_seed_each_the_numbers_are_those_of_sacrebleu(tmp_path: Path) -> None:
    reference = references()
    base, other = worse(reference, 0.3, 1), worse(reference, 0.4, 2)
    found = compared(tmp_path, {"base": [base], "other": [other]}, reference)["other"]["chrf"]
    own, _ = differences.differences(
        [("other", other), ("base", base)], reference, {"chrf": CHRF(word_order=0)}
    )
    assert (found["scores"], found["p_value"]) == (
        [own["base"]["chrf"]["score"]],
        own["base"]["chrf"]["p_value"],
    )
    named: list[tuple[str, Sequence[str]]] = [("base", base), ("other", other)]
    scores = PairedTest(named, {"chrF": CHRF()}, [reference], test_type="bs")()[1]["chrF2"]
    result = scores[1]
    assert isinstance(result, Result)
    assert found["ci"] == [pytest.approx(result.ci, abs=1e-4)]
    assert found["mean"] == pytest.approx(result.score, abs=1e-4)
    assert "spread" not in found


def test_seeds_are_averaged_and_spread(tmp_path: Path) -> None:
    reference = references()
    base = [worse(reference, 0.3, seed) for seed in (1, 2, 3)]
    other = [worse(reference, 0.45, seed) for seed in (4, 5, 6)]
    found = compared(tmp_path, {"base": base, "other": other, "same": base[::-1]}, reference)
    scores = [CHRF().corpus_score(lines, [reference]).score for lines in other]
    told = found["other"]["chrf"]
    assert told["scores"] == [pytest.approx(score, abs=1e-4) for score in scores]
    assert told["mean"] == pytest.approx(np.mean(scores), abs=1e-4)
    assert told["spread"] == pytest.approx(4.303 * np.std(scores, ddof=1) / 3**0.5, abs=1e-3)
    assert told["difference"] == pytest.approx(told["mean"] - found["base"]["chrf"]["mean"], abs=2e-4)
    assert told["difference"] < 0
    assert told["p_value"] < 0.01
    assert (found["base"]["chrf"]["difference"], found["base"]["chrf"]["p_value"]) == (0, 1)
    assert (found["same"]["chrf"]["difference"], found["same"]["chrf"]["p_value"]) == (0, 1)


def test_another_number_of_lines_is_refused(tmp_path: Path) -> None:
    reference = references()
    with pytest.raises(InputError, match="has 119 lines, and the references have 120"):
        compared(tmp_path, {"base": [reference], "other": [reference[1:]]}, reference)
