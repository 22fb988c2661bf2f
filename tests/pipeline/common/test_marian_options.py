"""Tests of pipeline.common.marian_options."""

from pathlib import Path

import pytest
import yaml

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.marian_options import (
    Options,
    fit_to_machine,
    parse_marian_args,
    read_options,
    write_options,
)


def test_values_as_on_the_command_line() -> None:
    text = (
        '{"after": "50u", "dim-vocabs": "1000 1000", "beam-size": "4", "precision": "float16", '
        '"fp16": "true", "mini-batch-fit": "false", "learn-rate": "0.0003", "maxi-batch": 100, '
        '"output-sampling": "[topk, 10]", "cost-scaling": [8, 1.5], "transformer-preprocess": "", '
        '"sync": true}'
    )
    assert parse_marian_args(text) == {
        "after": "50u",
        "dim-vocabs": [1000, 1000],
        "beam-size": 4,
        "precision": "float16",
        "fp16": True,
        "mini-batch-fit": False,
        "learn-rate": 0.0003,
        "output-sampling": ["topk", 10],
        "maxi-batch": 100,
        "cost-scaling": [8, 1.5],
        "transformer-preprocess": "",
        "sync": True,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "must map option names to values"),
        ('{"--after": "1u"}', "write after instead of --after"),
        ('{"after": {"u": 1}}', "after must be a string"),
        ('{"after": null}', "after must be a string"),
    ],
)
def test_other_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_marian_args(text)


def test_files_are_read_back_as_written(tmp_path: Path) -> None:
    options: Options = {"type": "s2s", "after": "50u", "optimizer-params": [0.9, 1e-09], "models": ["ü.npz"]}
    write_options(tmp_path / "o.yml", options)
    assert read_options(tmp_path / "o.yml") == options
    assert list(yaml.safe_load((tmp_path / "o.yml").read_text())) == list(options)


def test_an_empty_file_has_no_options(tmp_path: Path) -> None:
    (tmp_path / "o.yml").write_text("# nothing\n")
    assert read_options(tmp_path / "o.yml") == {}


def test_a_file_without_a_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o.yml").write_text("- beam-size\n")
    with pytest.raises(InputError, match=r"o\.yml must map option names"):
        read_options(tmp_path / "o.yml")


def grant(monkeypatch: pytest.MonkeyPatch, gpus: str) -> None:
    monkeypatch.setenv("TRANSLATIONS_GPUS", gpus)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "4")
    monkeypatch.setenv("TRANSLATIONS_WORKSPACE", "2000")


ASKED: Options = {"precision": "float16", "fp16": True, "mini-batch-fit": True, "beam-size": 4}


def test_a_cpu_has_threads_that_share_the_memory_and_no_16_bit_floats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grant(monkeypatch, "")
    assert fit_to_machine(ASKED) == {
        "beam-size": 4,
        "mini-batch-fit": False,
        "data-threads": 4,
        "cpu-threads": 4,
        "workspace": 500,
    }


def test_32_bit_floats_stay_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, "")
    assert fit_to_machine({"precision": "float32"})["precision"] == "float32"


def test_gpus_have_devices_and_keep_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, "0 3")
    monkeypatch.setattr("pipeline.common.marian_options._require_gpu", lambda: None)
    assert fit_to_machine(ASKED) == {**ASKED, "data-threads": 4, "devices": [0, 3], "workspace": 2000}


@pytest.mark.skipif(any(Path("/dev").glob("nvidia[0-9]*")), reason="this machine has a GPU")
def test_granted_gpus_that_are_not_there_are_a_fault_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, "0")
    with pytest.raises(TemporaryError, match="this machine shows none"):
        fit_to_machine({})
