"""Tests of the sources of checkpoint sets."""

import hashlib
import json
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.made_from import FILE, MadeFrom


@pytest.fixture
def inputs(tmp_path: Path) -> tuple[Path, Path]:
    """A text, and a folder with two files."""
    text, model = tmp_path / "text.zst", tmp_path / "model"
    text.write_bytes(b"a text")
    (model / "sub").mkdir(parents=True)
    (model / "weights.npz").write_bytes(b"weights")
    (model / "sub" / "vocab.spm").write_bytes(b"vocabulary")
    return text, model


def kept(folder: Path, made_from: MadeFrom) -> Path:
    (folder / "sets" / "one").mkdir(parents=True)
    made_from.write(folder / "sets" / "one")
    return folder / "sets" / "one"


def test_a_set_has_the_digest_of_its_files_and_its_options(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    one = kept(tmp_path, MadeFrom({"the text": inputs[0]}, {"beam-size": 4}))
    line = f". {hashlib.sha256(b'a text').hexdigest()}\n"
    assert json.loads((one / FILE).read_text()) == {
        "files": {"the text": hashlib.sha256(line.encode()).hexdigest()},
        "options": {"beam-size": 4},
    }


def test_names_of_files_and_the_machine_do_not_matter(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    text, model = inputs
    one = kept(
        tmp_path, MadeFrom({"the text": text, "the models": [model]}, {"workspace": 9, "list": (1, 2)})
    )
    text, model = text.rename(tmp_path / "other.zst"), model.rename(tmp_path / "other")
    options = {"devices": [0, 1], "cpu-threads": 3, "list": (1, 2)}
    MadeFrom({"the text": text, "the models": [model]}, options).check(one)


def test_what_differs_is_told(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    text, model = inputs
    one = kept(tmp_path, MadeFrom({"the text": text, "the model": model}, {"beam-size": 4, "normalize": 1}))
    text.write_bytes(b"a Text")
    with pytest.raises(InputError, match="of another input: the text has other contents. Give what"):
        MadeFrom({"the text": text, "the model": model}, {"beam-size": 4, "normalize": 1}).check(one)
    text.write_bytes(b"a text")
    (model / "sub" / "vocab.spm").rename(model / "vocab.spm")
    with pytest.raises(
        InputError,
        match="the model has other contents; beam-size is 6, and was 4; normalize is not given, and was 1.",
    ):
        MadeFrom({"the text": text, "the model": model}, {"beam-size": 6}).check(one)


@pytest.mark.parametrize("damaged", ["", "{", "[]", '{"files": 3, "options": {}}'])
def test_a_set_that_does_not_tell_is_no_error_of_the_input(damaged: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(damaged)
    with pytest.raises(ValueError, match=f"{FILE} is missing or damaged"):
        MadeFrom({}, {}).check(tmp_path)


def test_files_of_a_folder_that_have_changed_places_are_other_contents(
    inputs: tuple[Path, Path], tmp_path: Path
) -> None:
    model = inputs[1]
    one = kept(tmp_path, MadeFrom({"the model": model}, {}))
    first, second = model / "sub" / "a.spm", model / "sub" / "b.spm"
    (model / "sub" / "vocab.spm").rename(first)
    (model / "weights.npz").rename(second)
    with pytest.raises(InputError, match="the model has other contents"):
        MadeFrom({"the model": model}, {}).check(one)
