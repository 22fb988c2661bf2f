"""Exported files, loaded by Firefox's engine in native code."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.checks.exported import main
from pipeline.checks.offensive import main as offensive
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
    for unread in ("stats.json", *(path.name for path in folder.glob("*.zst"))):
        (folder / unread).unlink()
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


def test_they_are_asked_for_offensive_words(files: Path, tiny: Tiny) -> None:
    pairs = [(source, reference) for source, reference in tiny.test_pairs][:50]
    word = pairs[0][1].split()[0]
    texts = text(files.parent / "test.en.zst", [source for source, _ in pairs])
    words = text(files.parent / "words.eo.zst", [word.upper()])
    options = ("--exported", *sorted(files.iterdir()), "--texts", texts, "--trg-list", words, "--seed", "1")
    found = numbers(offensive, files.parent / "words", *options)
    assert found["asked"] == len({source for source, _ in pairs})
    assert found["offensive"] > 0
    assert all(word.casefold() in translation.casefold() for _, _, translation in found["samples"])


@pytest.mark.parametrize("start", ["model.", "lex.", "srcvocab.", "trgvocab."])
def test_a_file_that_is_not_the_one_of_the_records(files: Path, start: str) -> None:
    (damaged,) = files.glob(f"{start}*")
    damaged.write_bytes(damaged.read_bytes()[:-20])
    found = of_files(files, ["The cat sees."])
    assert not found["loads"]
    assert f"{damaged.name} is not the file of records.json" in found["error"]


def test_a_file_that_is_missing(files: Path) -> None:
    (files / "trgvocab.eneo.spm").unlink()
    assert (
        "trgvocab.eneo.spm is missing, which records.json names"
        in of_files(files, ["The cat sees."])["error"]
    )


@pytest.mark.parametrize(
    ("start", "other"), [("lex.", "source.spm"), ("model.", "model.intgemm8.bin"), ("model.", "lex.bin")]
)
def test_what_the_engine_cannot_use(files: Path, quantized: Path, start: str, other: str) -> None:
    """Nonsense, and a model without multipliers."""
    (replaced,) = files.glob(f"{start}*")
    content = (quantized / other).read_bytes()
    replaced.write_bytes(content)
    records = json.loads((files / "records.json").read_text())
    for record in records:
        if record["name"] == replaced.name:
            record["decompressedHash"] = hashlib.sha256(content).hexdigest()
    (files / "records.json").write_text(json.dumps(records))
    found = of_files(files, ["The cat sees."])
    assert not found["loads"]
    assert "fxtranslate cannot use the model" in found["error"]


def test_a_text_without_sentences(files: Path) -> None:
    with pytest.raises(InputError, match="no sentence"):
        of_files(files, ["", " "])
