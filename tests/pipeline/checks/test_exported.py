"""Exported files, loaded by Marian."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.checks.exported import main
from pipeline.common.errors import InputError
from pipeline.quantize.export import main as export
from tests.pipeline.checks.helpers import numbers, text
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.quantize.tiny_model import Tiny

pytestmark = [pytest.mark.marian, pytest.mark.slow]

__all__ = ["one_thread", "quantized", "tiny"]  # fixtures


@pytest.fixture(scope="module")
def exported(quantized: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny student as browsers get it."""
    folder = tmp_path_factory.mktemp("exported") / "files"
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(folder)])
    (folder / "stats.json").unlink()
    return folder


@pytest.fixture
def files(exported: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(exported, tmp_path / "exported"))


def of_files(folder: Path, lines: list[str]) -> dict[str, Any]:
    sentences = text(folder.parent / "dev.en.zst", lines)
    output = folder.parent / "out"
    return numbers(main, output, "--exported", *sorted(folder.iterdir()), "--text", sentences, "--seed", "1")


def test_they_load_and_translate(files: Path, tiny: Tiny) -> None:
    found = of_files(files, ["", *(source for source, _ in tiny.test_pairs)])
    assert (found["loads"], found["sentences"], found["empty"], found["copied"]) == (True, 20, 0, 0)
    references = dict(tiny.test_pairs)
    right = sum(references[source] == translation for source, translation in found["samples"])
    assert right >= 10, found["samples"]  # the shortlist and the vocabularies are in their places


def test_a_model_that_is_not_the_one_of_its_metadata(files: Path) -> None:
    metadata = json.loads((files / "metadata.json").read_text())
    (files / "metadata.json").write_text(json.dumps({**metadata, "hash": "0" * 64}))
    found = of_files(files, ["The cat sees."])
    assert not found["loads"]
    assert "metadata.json" in found["error"]


def test_files_that_are_cut_off_or_missing(files: Path) -> None:
    (shortlist,) = files.glob("lex.*")
    shortlist.write_bytes(shortlist.read_bytes()[:-20])
    assert "lex.* cannot be unzipped" in of_files(files, ["The cat sees."])["error"]


def test_a_shortlist_that_is_none_does_not_load(files: Path) -> None:
    (shortlist,) = files.glob("lex.*")
    shortlist.write_bytes(gzip.compress(b"nonsense" * 100))
    found = of_files(files, ["The cat sees."])
    assert not found["loads"]
    assert "marian decode failed" in found["error"]
    assert str(files.parent) not in found["error"]


def test_a_text_without_sentences(files: Path) -> None:
    with pytest.raises(InputError, match="no sentence"):
        of_files(files, ["", " "])
