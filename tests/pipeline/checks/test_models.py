"""A model's translations of a dev set, by Marian, and what the gates say of a broken one."""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.checks.models import chance, main, model_numbers
from pipeline.common.errors import InputError
from tests.pipeline.checks.helpers import numbers, text
from tests.pipeline.quantize.conftest import one_thread, tiny
from tests.pipeline.quantize.tiny_model import Tiny
from translations_assets.checks.models import teacher_floor
from translations_assets.checks.text import collapse
from translations_assets.config.gates import TeacherFloor, TranslationCollapse

__all__ = ["one_thread", "tiny"]  # fixtures


def of_model(folder: Path, models: list[Path], sources: list[str], references: list[str]) -> dict[str, Any]:
    files = text(folder / "dev.en.zst", sources), text(folder / "dev.eo.zst", references)
    decoding = folder / "decoding.yml"
    decoding.write_text("beam-size: 2\nnormalize: 1.0\nmini-batch: 32\n")
    arguments = [
        "--models",
        *models,
        "--src",
        "en",
        "--trg",
        "eo",
        "--text",
        files[0],
        "--references",
        files[1],
    ]
    return numbers(main, folder / "out", *arguments, "--decoding-config", decoding, "--seed", "1")


def test_text_without_a_pair_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pair to judge a model by"):
        of_model(tmp_path, [tmp_path], ["A dog.", " "], ["", "Hundo."])


def test_chance_is_chrf_against_the_other_half() -> None:
    assert chance(["abc def", "ghi jkl"], ["ghi jkl", "abc def"]) == 100
    assert chance(["abc def", "ghi jkl"], ["abc def", "ghi jkl"]) == 0
    assert chance(["abc def"], ["abc def"]) == 0


def test_a_model_that_writes_half_of_each_sentence_has_collapsed() -> None:
    """Its lengths are compared with those of the references, not with themselves."""
    sources = [f"the old dog number {number} eats the small house" for number in range(100)]
    references = [f"la malnova hundo numero {number} manĝas la dometon" for number in range(100)]
    args = Namespace(src="en", trg="eo", seed=1)
    for share, passed in ((1, True), (2, False)):
        translations = [text[: len(text) // share] for text in references]
        found = model_numbers(args, sources, references, translations)
        characters = [sum(map(len, lines)) for lines in (sources, references)]
        assert found["expected_ratio"] == pytest.approx(characters[1] / characters[0], rel=0.02)
        documents: Any = {"check_train_teacher": {"check": found}, "check_merge_corpus": {}}
        assert collapse(documents, TranslationCollapse()).passed == passed


@pytest.mark.marian
def test_a_good_model_is_over_the_floor(tiny: Tiny, tmp_path: Path) -> None:
    sources, references = map(list, zip(*tiny.test_pairs, strict=True))
    found = of_model(tmp_path, [tiny.model, tiny.model], ["", *sources], ["", *references])
    assert found["lines"] == len(sources)
    documents: Any = {"check_train_teacher": {"check": found}, "check_merge_corpus": {}}
    verdict = teacher_floor(documents, TeacherFloor())
    assert verdict.passed, verdict.description
    assert verdict.numbers["chrF"] > 80
    assert collapse(documents, TranslationCollapse()).passed
    assert found["samples"][0][:2] == [sources[0], references[0]]


@pytest.mark.marian
def test_a_model_whose_weights_were_lost(tiny: Tiny, tmp_path: Path) -> None:
    """It is loaded and decodes, and says the same of everything."""
    broken = Path(shutil.copytree(tiny.model, tmp_path / "broken"))
    with np.load(broken / "model.npz") as weights:
        kept = {
            name: value if name.startswith("special:") else np.full_like(value, 0.01)
            for name, value in weights.items()
        }
    np.savez(broken / "model.npz", **kept)
    sources, references = map(list, zip(*tiny.test_pairs, strict=True))
    documents: Any = {
        "check_train_teacher": {"check": of_model(tmp_path, [broken], sources, references)},
        "check_merge_corpus": {},
    }
    assert not teacher_floor(documents, TeacherFloor()).passed
    verdict = collapse(documents, TranslationCollapse())
    assert not verdict.passed
    assert verdict.numbers["distinct"] < 0.1


@pytest.mark.marian
def test_a_model_that_writes_well_and_translates_something_else(tiny: Tiny, tmp_path: Path) -> None:
    """Its chrF alone would pass: the sentences of this language are much alike."""
    sources, references = map(list, zip(*tiny.test_pairs, strict=True))
    found = of_model(tmp_path, [tiny.model], sources, [*references[7:], *references[:7]])
    verdict = teacher_floor({"check_train_teacher": {"check": found}}, TeacherFloor())
    assert not verdict.passed
    assert verdict.numbers["chrF"] > TeacherFloor().min_chrf
    assert verdict.numbers["chrF"] - verdict.numbers["chrF by chance"] < 10
