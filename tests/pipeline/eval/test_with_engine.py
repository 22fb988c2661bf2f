"""Translating a text with a model in Firefox's form: pipeline.eval.with_engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.common.engine import Engine, load_engine
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.packed import pack
from pipeline.eval import with_engine
from tests.pipeline.eval.test_final import exported, final, remove_multipliers
from tests.pipeline.quantize.tiny_model import Tiny

__all__ = ["exported"]  # a fixture

pytestmark = [pytest.mark.marian, pytest.mark.slow]


def translate(model: Path, text: Path, output: Path) -> list[str]:
    with_engine.main(["--model", str(model), "--text", str(text), "--output", str(output)])
    return [*read_lines(output / "translations.zst")]


@pytest.mark.parametrize("cores", ["1", "3"])
def test_each_line_has_what_the_engine_makes_of_it(
    tiny: Tiny, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: str
) -> None:
    monkeypatch.setattr(with_engine, "threads", lambda: int(cores))
    monkeypatch.setattr(with_engine, "BLOCK_SENTENCES", 30)
    lines = [source for source, _ in tiny.test_pairs]
    lines = [*lines, "", " ".join(lines * 3), "a\u2028b", lines[0]]
    write_lines(tmp_path / "text.zst", lines)
    pack(exported, tmp_path / "model.tar")
    engine = load_engine([*exported.iterdir()])
    made = translate(tmp_path / "model.tar", tmp_path / "text.zst", tmp_path / "out")
    assert made == [engine.translate(line) for line in lines]
    assert made[len(tiny.test_pairs)] == ""
    assert made[-1] == made[0] != ""
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert stats["lines"] == {"in": len(lines), "kept": len(lines), "dropped": {}}
    assert stats["samples"] == made[:10]


def test_another_attempt_goes_on_after_the_finished_blocks(
    tiny: Tiny, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(with_engine, "threads", lambda: 1)
    monkeypatch.setattr(with_engine, "BLOCK_SENTENCES", 10)
    whole = translate(exported, tiny.test[0], tmp_path / "whole")
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    blocks, translated = [4, 1000], with_engine._translated

    def breaking(engine: Engine, block: Sequence[str]) -> list[str]:
        blocks[0] -= 1
        if blocks[0] < 0:
            raise MemoryError
        return translated(engine, block)

    monkeypatch.setattr(with_engine, "_translated", breaking)
    with pytest.raises(MemoryError):
        translate(exported, tiny.test[0], tmp_path / "out")
    blocks.pop(0)
    assert translate(exported, tiny.test[0], tmp_path / "out") == whole
    assert 1000 - blocks[0] == len(whole) / 10 - 4


def test_a_model_without_multipliers_is_run_by_marian(tiny: Tiny, exported: Path, tmp_path: Path) -> None:
    remove_multipliers(exported)
    made = translate(exported, tiny.test[0], tmp_path / "out")
    final(("--model", exported), tiny.test, tmp_path / "final")
    assert made == [*read_lines(tmp_path / "final" / "translations.zst")]
    assert len({*made}) > 50
    assert [*with_engine.translate(exported, tiny.test[0], tmp_path, len(made))] == []


def test_a_folder_of_another_form_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no model in Firefox's form, model\.\*\.intgemm\.alphas"):
        translate(tiny.model, tiny.test[0], tmp_path / "out")
