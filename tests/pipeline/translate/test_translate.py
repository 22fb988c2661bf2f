"""Tests of pipeline.translate.translate and pipeline.translate.stream, run as programs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.common.lines import write_lines
from pipeline.common.marian_options import read_options
from tests.pipeline.train import tiny

CONFIGS = Path("pipeline/translate/configs").absolute()
PAIRS = tiny.pairs(30, seed=2)


def translate(folder: Path, lines: list[str], *more: str, marian_args: str = '{"beam-size": "2"}') -> Path:
    write_lines(folder / "text.zst", lines)
    done = tiny.run_script(
        "pipeline.translate.translate",
        *("--models", tiny.model(), "--text", folder / "text.zst"),
        *("--decoding-config", CONFIGS / "teacher.yml", "--marian-args", marian_args),
        *("--output", folder / "out", *more),
    )
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.mark.marian
def test_each_line_gets_a_translation(tmp_path: Path) -> None:
    sources = [source for source, _ in PAIRS]
    output = translate(tmp_path, [*sources, ""])
    translations = tiny.lines_of(output / "translations.zst")
    assert len(translations) == 31
    exact = sum(made == target for made, (_, target) in zip(translations, PAIRS, strict=False))
    assert exact >= 5
    stats = json.loads((output / "stats.json").read_text())
    assert stats["lines"] == {"in": 31, "kept": 31, "dropped": {}}
    assert stats["samples"] == translations[:10]


@pytest.mark.marian
def test_n_best_lists(tmp_path: Path) -> None:
    output = translate(tmp_path, [PAIRS[0][0]], "--nbest")
    assert sorted(path.name for path in output.iterdir()) == ["nbest.zst", "stats.json"]
    assert [line.split(" ||| ")[0] for line in tiny.lines_of(output / "nbest.zst")] == ["0", "0"]


@pytest.mark.marian
def test_an_empty_part_gives_an_empty_part(tmp_path: Path) -> None:
    output = translate(tmp_path, [])
    assert tiny.lines_of(output / "translations.zst") == []
    assert (output / "translations.zst").stat().st_size > 0


@pytest.mark.marian
def test_standard_input_is_translated_to_standard_output() -> None:
    text = "".join(f"{source}\n" for source, _ in PAIRS[:5]) + PAIRS[5][0]
    done = tiny.run_script("pipeline.translate.stream", "--models", tiny.model(), stdin=text)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")
    assert lines[-1] == ""
    assert [line[:3] for line in lines[:-1]] == ["LA "] * 6


@pytest.mark.marian
def test_each_line_is_answered_as_it_comes() -> None:
    """Before another one comes; also an empty one, one that no model reads whole, and what is no UTF-8."""
    text = "".join(f"{source}\n" for source, _ in PAIRS[:3])
    whole = tiny.run_script("pipeline.translate.stream", "--models", tiny.model(), stdin=text)
    command = [sys.executable, "-m", "pipeline.translate.stream", "--each", "--models", str(tiny.model())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=tiny.environment()
    ) as script:
        assert script.stdin
        assert script.stdout
        answers = []
        for line in (*text.encode().splitlines(), b"", b"the cat " * 9999, b"\xff\xfe"):
            script.stdin.write(line + b"\n")
            script.stdin.flush()
            answers.append(script.stdout.readline().decode())
        script.stdin.close()
        assert script.stdout.read() == b""
        assert script.wait(60) == 0
    assert "".join(answers[:3]) == whole.stdout
    assert answers[3] == "\n"
    assert len(answers[4]) > 9


@pytest.mark.marian
@pytest.mark.parametrize("each", [(), ("--each",)])
def test_a_model_that_marian_refuses_is_told(tmp_path: Path, each: tuple[str, ...]) -> None:
    model = shutil.copytree(tiny.model(), tmp_path / "model")
    (model / "model.npz").write_bytes(b"")
    done = tiny.run_script("pipeline.translate.stream", *each, "--models", model, stdin="the cat\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "marian decode failed" in done.stderr


@pytest.mark.marian
def test_an_error_is_told_in_a_line(tmp_path: Path) -> None:
    done = tiny.run_script("pipeline.translate.stream", "--models", tmp_path, stdin="the cat\n")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "is not a model's folder" in done.stderr


@pytest.mark.parametrize(
    ("name", "beam", "words"), [("backward", 12, 2000), ("teacher", 8, 5000), ("student", 1, 8000)]
)
def test_production_settings(name: str, beam: int, words: int) -> None:
    options = read_options(CONFIGS / f"{name}.yml")
    assert (options["beam-size"], options["mini-batch-words"]) == (beam, words)
    assert (options["max-length"], options["normalize"], options["precision"]) == (200, 1.0, "float16")
