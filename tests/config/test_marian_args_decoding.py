"""Options of decoding: those with which it leaves translations, in their ranges."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline.common import decoding_options
from pipeline.common.decoding_options import check_decoding
from pipeline.common.errors import InputError
from pipeline.common.marian_options import parse_marian_args
from tests.config.texts import SMALL, problem_of
from translations_assets.config import marian_args as of_configs
from translations_assets.config.known import marian_options
from translations_assets.config.load import parse_config

ROOT = Path(__file__).parents[2]
WRONG = [
    ("alignment", "soft", "cannot be set: it writes alignments behind every translation"),
    ("word-scores", "true", "cannot be set: it writes scores behind every translation"),
    ("no-spm-decode", "true", "cannot be set: it writes pieces of words instead of text"),
    ("no-spm-encode", "true", "cannot be set: it takes the text for pieces"),
    ("allow-special", "true", "cannot be set: it lets a translation hold line breaks"),
    ("skip-cost", "true", "cannot be set: it leaves out the probabilities"),
    ("dim-emb", "512", "cannot be set: it is none of beam-size, normalize"),
    ("beam-size", "0", "must be 1 to 100, not"),
    ("beam-size", "100000", "must be 1 to 100, not"),
    ("max-length", "0", "must be 1 to 4096, not"),
    ("max-length-crop", "false", "must be true, not"),
    ("max-length-factor", "0", "must be 0.1 to 100, not"),
    ("normalize", "-1", "must be 0 to 10, not"),
    ("precision", "int8", "must be float16 or float32, not"),
    ("maxi-batch-sort", "trg", "must be none or src, not"),
    ("output-sampling", "[topk, 0]", "must be topk or full or 0.01 to 1e+06, not"),
    ("seed", "0", "must be 1 to 2.14748e+09, not"),
]
RIGHT = ["beam-size: '12'", "beam-size: 1", "mini-batch-words: '2000'", "maxi-batch: '10000'"]
RIGHT += ["precision: float16", "precision: [float16]", "fp16: true", "fp16: 'false'", "normalize: 0.6"]
RIGHT += ["max-length-crop: true", "output-sampling: [topk, 10, 0.8]", "output-sampling: full 0.5"]
RIGHT += ["weights: [1, 0.5]", "word-penalty: -0.5", "mini-batch-words: 0", "maxi-batch-sort: none"]


def text(name: str, value: str, section: str = "decoding-teacher") -> str:
    return f"{SMALL}marian-args:\n  {section}:\n    {name}: {value}\n"


@pytest.mark.parametrize("section", ["decoding-teacher", "decoding-backward"])
@pytest.mark.parametrize(("name", "value", "problem"), WRONG)
def test_a_config_that_would_spoil_the_output(name: str, value: str, problem: str, section: str) -> None:
    found = problem_of(text(name, value, section))
    assert found.startswith(f"14 marian-args.{section}.{name}: {problem}")


@pytest.mark.parametrize(("name", "value", "problem"), WRONG)
def test_the_script_refuses_the_same(name: str, value: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        check_decoding(parse_marian_args(f'{{"{name}": "{value}"}}'))
    assert f"{name} {problem}" in str(raised.value)


@pytest.mark.parametrize("line", RIGHT)
def test_options_that_both_take(line: str) -> None:
    name, _, value = line.partition(": ")
    parse_config(text(name, value), "my.yml")
    check_decoding({name: yaml.safe_load(value)})
    check_decoding(parse_marian_args(json.dumps({name: value.strip("'")})))


def test_the_tables_are_one() -> None:
    assert {name: (tuple(words), *limits) for name, (words, *limits) in of_configs.ALLOWED.items()} == (
        decoding_options.ALLOWED
    )
    assert of_configs.REFUSED == decoding_options.REFUSED
    assert of_configs.ALLOWED.keys() | of_configs.REFUSED.keys() <= marian_options("decode").keys()
    assert not of_configs.ALLOWED.keys() & of_configs.REFUSED.keys()


@pytest.mark.parametrize(
    "config", sorted((ROOT / "pipeline/translate/configs").glob("*.yml")), ids=lambda path: path.stem
)
def test_our_own_decoding_configs(config: Path) -> None:
    check_decoding(yaml.safe_load(config.read_text()))


def test_the_command_tells_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "en-ru-x.yml"
    path.write_text(text("word-scores", "true"))
    command = [str(Path(sys.executable).with_name("translations")), "config", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)
    assert done.returncode == 1
    said = " ".join((done.stdout + done.stderr).split())
    assert "en-ru-x.yml:14" in said
    assert "word-scores" in said
    assert "writes scores behind every translation" in said


def test_the_script_run_by_hand(tmp_path: Path) -> None:
    """Marian is never started: with a beam of 0 it would crash, and be tried again."""
    for name in ("model.npz", "source.spm", "target.spm"):
        (tmp_path / name).touch()
    (tmp_path / "decoder.yml").write_text("models: [model.npz]\n")
    (tmp_path / "text").write_text("A dog.\n")
    arguments = ["--models", tmp_path, "--text", tmp_path / "text", "--output", tmp_path / "out"]
    config = ROOT / "pipeline/translate/configs/teacher.yml"
    command = [sys.executable, "-m", "pipeline.translate.translate", "--decoding-config", config, *arguments]
    done = subprocess.run(
        [*map(str, command), "--marian-args", '{"beam-size": 0, "alignment": "soft"}'],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert "beam-size must be 1 to 100, not 0" in done.stderr
    assert "alignment cannot be set: it writes alignments behind every translation" in done.stderr
    assert "trying again" not in done.stderr
