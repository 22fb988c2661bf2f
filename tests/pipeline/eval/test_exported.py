"""Evaluation of the exported student in Firefox's engine in native code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.eval.evaluate import main as evaluate
from pipeline.eval.exported import main
from pipeline.quantize.export import main as export
from tests.pipeline.eval.test_evaluate import arguments
from tests.pipeline.quantize.tiny_model import Tiny

pytestmark = [pytest.mark.marian, pytest.mark.slow]


@pytest.fixture
def exported(quantized: Path, tmp_path: Path) -> list[Path]:
    """The tiny student as browsers get it."""
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(tmp_path / "exported")])
    return sorted((tmp_path / "exported").iterdir())


def options(exported: list[Path], corpus: tuple[Path, Path], output: Path) -> list[str]:
    files = ["--corpus-src", corpus[0], "--corpus-trg", corpus[1], "--output", output]
    return [*map(str, ["--exported", *exported, *files]), "--trg", "eo", "--dataset", "url_test"]


def test_its_scores_are_about_those_of_marian(
    tiny: Tiny, quantized: Path, exported: list[Path], tmp_path: Path
) -> None:
    # in a process of its own, as steps are: memory that this one has freed would be used again
    script = [sys.executable, "-m", "pipeline.eval.exported"]
    subprocess.run([*script, *map(str, options(exported, tiny.test, tmp_path / "engine"))], check=True)
    evaluate(arguments([quantized], tiny.test, tmp_path / "marian"))
    found, by_marian = (
        json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("engine", "marian")
    )
    assert found["chrf"]["score"] == pytest.approx(by_marian["chrf"]["score"], abs=3)
    assert found["chrf"]["signature"] == by_marian["chrf"]["signature"]
    assert {*found} == {*by_marian, "speed"}
    model = next(path for path in exported if path.name == "model.eneo.intgemm.alphas.bin")
    assert found["speed"]["model_bytes"] == model.stat().st_size
    assert found["speed"]["words_per_second"] > 0
    assert found["speed"]["memory_megabytes"] > model.stat().st_size / 1e6


def test_each_line_has_its_translation_and_an_empty_one_none(
    tiny: Tiny, exported: list[Path], tmp_path: Path
) -> None:
    corpus = tmp_path / "source.zst", tmp_path / "reference.zst"
    for file, side in zip(corpus, (0, 1), strict=True):
        lines = [f"{pair[side].capitalize()}." for pair in tiny.test_pairs]
        write_lines(file, [*lines, "", "  ", "\u200b", " ".join(lines * 20)])
    main(options(exported, corpus, tmp_path / "output"))
    *translations, empty, blank, invisible, paragraph = read_lines(tmp_path / "output" / "translations.zst")
    assert len(translations) == len(tiny.test_pairs)
    assert all(translations)
    assert (empty, blank, invisible) == ("", "  ", "\u200b")
    assert paragraph == " ".join(translations * 20)


def test_a_model_that_does_not_load_leaves_nothing_behind(
    tiny: Tiny, exported: list[Path], tmp_path: Path
) -> None:
    model = next(path for path in exported if path.name == "model.eneo.intgemm.alphas.bin")
    model.write_bytes(model.read_bytes()[:1000])
    with pytest.raises(InputError, match="fxtranslate cannot use the model"):
        main(options(exported, tiny.test, tmp_path / "output"))
    assert not any((tmp_path / "output").iterdir())
