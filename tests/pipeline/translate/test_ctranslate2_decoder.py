"""Tests of pipeline.translate.ctranslate2_decoder: batches, devices and failures."""

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2
import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.translate import ctranslate2_decoder
from pipeline.translate.ctranslate2_decoder import Decoder, load_cublas, load_translator, make_batches
from pipeline.translate.ctranslate2_options import read_settings
from tests.pipeline.translate.converted import converted

SETTINGS = read_settings({"beam-size": 2, "mini-batch": 3, "maxi-batch": 10})


def test_batches_of_sentences_begin_with_the_longest() -> None:
    assert make_batches([4, 9, 0, 7, 1, 9], SETTINGS) == [[1, 5, 3], [0, 4]]


def test_batches_of_words_count_the_end_of_each_sentence() -> None:
    settings = replace(SETTINGS, batch_words=20)
    assert make_batches([9, 9, 9, 4, 4], settings) == [[0, 1], [2, 3, 4]]


def test_a_sentence_longer_than_a_batch_has_one_of_its_own() -> None:
    assert make_batches([3, 90, 3], replace(SETTINGS, batch_words=10)) == [[1], [0, 2]]


def test_no_text_makes_no_batch() -> None:
    assert make_batches([0, 0], SETTINGS) == []


class Loaded:
    """Takes the place of ctranslate2.Translator, and fails as a GPU does."""

    def __init__(self, model: str, **options: Any) -> None:
        self.options = options

    def translate_batch(self, sentences: list[list[str]], **options: Any) -> None:
        raise RuntimeError("CUDA failed with error out of memory")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder that looks like a converted model."""
    (tmp_path / "model.bin").touch()
    return tmp_path


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of a machine's four."""
    monkeypatch.setenv("TRANSLATIONS_GPUS", "0 2")
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 4)
    monkeypatch.setattr(ctranslate2, "Translator", Loaded)


@pytest.mark.usefixtures("gpus")
@pytest.mark.parametrize(("half", "compute_type"), [(True, "float16"), (False, "float32")])
def test_all_gpus_that_are_granted_are_used(folder: Path, half: bool, compute_type: str) -> None:
    translator: Any = load_translator(folder, half, None)
    assert translator.options == {"device": "cuda", "device_index": [0, 2], "compute_type": compute_type}


def test_a_cpu_uses_the_threads_that_are_granted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "Translator", Loaded)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "3")
    translator: Any = load_translator(folder, True, Path("is not read"))
    assert translator.options == {"compute_type": "float32", "inter_threads": 3, "intra_threads": 1}


def test_gpus_that_are_not_there_are_worth_another_attempt(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_GPUS", "0")
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    with pytest.raises(TemporaryError, match=r"GPUs \[0\] were granted .* but there are 0 here"):
        load_translator(folder, True, None)


@pytest.mark.marian
def test_a_full_gpu_is_worth_another_attempt_and_the_remedy_is_told(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    model = converted()  # before a GPU is granted, which its training would look for
    request.getfixturevalue("gpus")
    write_lines(tmp_path / "text", ["the cat sees the dog."])
    with pytest.raises(TemporaryError, match=r"CUDA failed .* out of memory.* lower .*mini-batch-words"):
        list(Decoder(model, SETTINGS).translate(tmp_path / "text"))


@pytest.mark.marian
def test_another_failure_is_not_tried_again(tmp_path: Path) -> None:
    write_lines(tmp_path / "text", ["the cat sees the dog."])
    with pytest.raises(InputError, match="CTranslate2 failed: "):
        list(Decoder(converted(), replace(SETTINGS, beam=0)).translate(tmp_path / "text"))


def test_cublas_is_loaded_from_the_environment_of_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "nvidia" / "cublas" / "lib"
    folder.mkdir(parents=True)
    loaded: list[str] = []
    monkeypatch.setattr(ctranslate2_decoder, "interpreter", lambda lock: tmp_path / "bin" / "python")
    monkeypatch.setattr(ctypes, "CDLL", lambda name, mode: loaded.append(name))
    load_cublas(Path("requirements/cuda.lock"))
    assert loaded == [str(folder / "libcublasLt.so.12"), str(folder / "libcublas.so.12")]
