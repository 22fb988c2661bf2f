"""Fetching the vocabularies of an earlier run."""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.vocabulary import load_vocabulary
from pipeline.continuation.vocabulary import main
from pipeline.train.vocab import learn
from tests.pipeline.train.tiny import pairs

SIZE = 320


@cache
def learned(side: int, size: int = SIZE) -> bytes:
    """A vocabulary of one side of the tiny pair."""
    return learn([pair[side] for pair in pairs(600, seed=1)], size, "nfd")


def fetch(folder: Path, *options: str, size: int = SIZE) -> Path:
    main(
        [
            *("--src", "en", "--trg", "ru", "--vocab-size", str(size), *options),
            *("--output", str(folder / "out")),
        ]
    )
    return folder / "out"


def sides(folder: Path, src: bytes, trg: bytes) -> list[str]:
    """The options for two files."""
    (folder / "a.spm").write_bytes(src)
    (folder / "b.spm").write_bytes(trg)
    return ["--src-url", (folder / "a.spm").as_uri(), "--trg-url", (folder / "b.spm").as_uri()]


def test_split_vocabularies(tmp_path: Path) -> None:
    out = fetch(tmp_path, *sides(tmp_path, learned(0), learned(1)), "--split")
    assert (out / "vocab.en.spm").read_bytes() == learned(0)
    assert (out / "vocab.ru.spm").read_bytes() == learned(1)
    stats = json.loads((out / "stats.json").read_text())
    assert (stats["vocabularies"], stats["size"], len(stats["samples"])) == (2, SIZE, 10)
    assert stats["samples"][0] in {
        load_vocabulary(out / "vocab.en.spm").id_to_piece(number) for number in range(SIZE)
    }
    assert [source["bytes"] for source in stats["source"]] == [len(learned(0)), len(learned(1))]


def test_a_joint_vocabulary_is_two_files_with_the_same_bytes(tmp_path: Path) -> None:
    out = fetch(tmp_path, *sides(tmp_path, learned(0), learned(0)))
    assert (out / "vocab.en.spm").read_bytes() == (out / "vocab.ru.spm").read_bytes() == learned(0)
    assert json.loads((out / "stats.json").read_text())["vocabularies"] == 1


@pytest.mark.parametrize(("name", "split"), [("vocab.spm", False), ("vocab.{lang}.spm", True)])
def test_the_vocabulary_of_a_model(tmp_path: Path, name: str, split: bool) -> None:
    for side, lang in enumerate(("en", "ru")):
        (tmp_path / name.format(lang=lang)).write_bytes(learned(side if split else 0))
    out = fetch(tmp_path, "--model-url", tmp_path.as_uri(), *["--split"] * split)
    assert (out / "vocab.ru.spm").read_bytes() == learned(1 if split else 0)


def test_the_vocabulary_of_a_model_of_this_pipeline_stands_in_its_own_order(tmp_path: Path) -> None:
    (tmp_path / "source.spm").write_bytes(learned(0))
    (tmp_path / "target.spm").write_bytes(learned(1))
    out = tmp_path / "turned"
    main(
        [
            *("--src", "ru", "--trg", "en", "--model-url", f"{tmp_path.as_uri()}/"),
            *("--vocab-size", str(SIZE), "--split", "--output", str(out)),
        ]
    )
    assert (out / "vocab.ru.spm").read_bytes() == learned(0)
    assert (out / "vocab.en.spm").read_bytes() == learned(1)


# Learned once a test asks, not when the tests are collected
LEARNED = [partial(learned, side) for side in (0, 1)]
ODD, NO_MODEL = partial(learned, 0, 321), partial(bytes, b"moved")


@pytest.mark.parametrize(
    ("src", "trg", "options", "size", "message"),
    [
        (LEARNED[0], LEARNED[1], [], SIZE, r"a\.spm and \S+b\.spm differ: .* Set spm-vocab-split: true"),
        (LEARNED[0], LEARNED[0], ["--split"], SIZE, r"are the same: .* Set spm-vocab-split: false"),
        (LEARNED[0], LEARNED[0], [], 328, r"a\.spm has 320 pieces, and 328 .* Set spm-vocab-size: 320"),
        (ODD, ODD, [], SIZE, r"has 321 pieces. A model needs a multiple of 8"),
        (NO_MODEL, NO_MODEL, [], SIZE, r"a\.spm is no SentencePiece model\. Check the address"),
    ],
    ids=["two", "one", "size", "odd size", "no model"],
)
def test_a_vocabulary_that_does_not_fit_the_config(
    tmp_path: Path,
    src: Callable[[], bytes],
    trg: Callable[[], bytes],
    options: list[str],
    size: int,
    message: str,
) -> None:
    with pytest.raises(InputError, match=message):
        fetch(tmp_path, *sides(tmp_path, src(), trg()), *options, size=size)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_model_without_a_vocabulary(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"None of these files .*source\.spm, \S+vocab\.en\.spm, \S+vocab\.spm"
    ):
        fetch(tmp_path, "--model-url", tmp_path.as_uri())


def test_an_address_of_either_kind_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fetch(tmp_path)
    assert "give --src-url and --trg-url, or --model-url" in capsys.readouterr().err
