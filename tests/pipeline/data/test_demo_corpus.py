"""The demo corpus: sizes, noise, and parts that share no sentence."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.errors import InputError
from pipeline.data import mono_demo, parallel_demo
from pipeline.data.demo_corpus import belongs, bucket, mono_part, parallel_part
from pipeline.data.demo_grammar import Text
from tests.pipeline.data.conftest import Written

CLEAN = {"train": 20_000, "dev": 500, "test": 500}


@cache
def _pairs(name: str) -> tuple[Text, ...]:
    return tuple(parallel_part(name)[0])


@cache
def _lines(language: str) -> tuple[str, ...]:
    return tuple(mono_part("mono", language)[0])


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


@given(st.text())
def test_a_sentence_belongs_to_one_part_whatever_its_case_and_punctuation(text: str) -> None:
    parts = [part for part in ("train", "dev", "test") if belongs(part, text)]
    assert len(parts) == 1
    assert belongs(parts[0], f" {text}!")
    assert belongs("mono", text) == belongs("train", text)


def test_case_is_that_of_all_languages() -> None:
    assert len({bucket(text) for text in ("STRASSE", "Straße", "strasse")}) == 1


def test_a_pair_whose_sides_belong_to_different_parts_is_in_none() -> None:
    dev = next(str(number) for number in range(100) if belongs("dev", str(number)))
    train = next(str(number) for number in range(100) if belongs("train", str(number)))
    assert not any(belongs(part, dev, train) for part in ("train", "dev", "test"))


@pytest.mark.parametrize("side", [0, 1], ids=["en", "eo"])
def test_dev_and_test_share_no_sentence_with_any_other_part(side: int) -> None:
    training = {_key(pair[side]) for pair in _pairs("train")} | {
        _key(line) for line in _lines("en" if side == 0 else "eo")
    }
    dev, test = ({_key(pair[side]) for pair in _pairs(name)} for name in ("dev", "test"))
    assert len(dev) == len(test) == 500
    assert not dev & training
    assert not test & training
    assert not dev & test


@pytest.mark.parametrize("name", ["dev", "test"])
def test_dev_and_test_are_clean_and_distinct(name: str) -> None:
    pairs, noise = parallel_part(name)
    assert noise == {}
    assert len(pairs) == len(set(pairs)) == CLEAN[name]


def test_train_has_the_promised_noise() -> None:
    pairs, noise = parallel_part("train")
    kinds = "wrong language, misaligned, empty, duplicated, markup, number mismatch, URL mismatch"
    assert ", ".join(noise) == kinds
    assert len(pairs) == CLEAN["train"] + sum(noise.values())
    assert 0.02 < sum(noise.values()) / len(pairs) < 0.04
    assert sum(not (pair.en.strip() and pair.eo.strip()) for pair in pairs) == noise["empty"]
    assert sum("<td" in pair.en for pair in pairs) == noise["markup"]
    assert sum("https://" in pair.en for pair in pairs) == noise["URL mismatch"]
    assert sum(" Tagen." in pair.en + pair.eo for pair in pairs) == noise["wrong language"]


def test_noise_is_spread_over_the_text() -> None:
    markup = [number for number, pair in enumerate(_pairs("train")) if "<td" in pair.en]
    assert min(markup) < 2_000
    assert max(markup) > 18_000


@pytest.mark.parametrize("language", ["en", "eo"])
def test_monolingual_text(language: str) -> None:
    lines, noise = mono_part("mono", language)
    assert len(lines) == 10_000 + sum(noise.values())
    assert sum(not line.strip() for line in lines) == noise["empty"]
    assert sum("<td" in line for line in lines) == noise["markup"]


def test_parts_have_seeds_of_their_own() -> None:
    assert [pair.en for pair in _pairs("dev")[:20]] != [pair.en for pair in _pairs("test")[:20]]
    assert len(set(_lines("en")) & {pair.en for pair in _pairs("train")}) < 3_000


def test_the_scripts_write_them(
    import_pairs: Callable[..., Written], import_lines: Callable[..., Written]
) -> None:
    pairs = import_pairs(parallel_demo.main, "dev", "en", "eo")
    assert pairs.lines("corpus.en.zst") == [pair.en for pair in _pairs("dev")]
    assert pairs.lines("corpus.ru.zst") == [pair.eo for pair in _pairs("dev")]
    assert pairs.stats["synthetic"] is True
    lines = import_lines(mono_demo.main, "mono", "eo", size=300, name="mono")
    assert len(lines.lines("mono.ru.zst")) == 300
    assert lines.stats["noise"]["markup"] > 0


def test_the_other_direction(import_pairs: Callable[..., Written]) -> None:
    written = import_pairs(parallel_demo.main, "dev", "eo", "en")
    assert written.lines("corpus.en.zst") == [pair.eo for pair in _pairs("dev")]


@pytest.mark.parametrize(
    ("dataset", "code", "says"),
    [("valid", "eo", "has the parts train, dev, test only"), ("dev", "de", r"not in en and de")],
)
def test_other_parts_and_languages(
    dataset: str, code: str, says: str, import_pairs: Callable[..., Written]
) -> None:
    with pytest.raises(InputError, match=says):
        import_pairs(parallel_demo.main, dataset, "en", code)


@pytest.mark.parametrize(
    ("dataset", "code", "says"), [("train", "en", "has the part mono only"), ("mono", "de", "not in de")]
)
def test_other_monolingual_parts(
    dataset: str, code: str, says: str, import_lines: Callable[..., Written]
) -> None:
    with pytest.raises(InputError, match=says):
        import_lines(mono_demo.main, dataset, code)


def test_the_bytes_do_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    languages = ["--src", "en", "--trg", "eo", "--src-code", "en", "--trg-code", "eo"]
    outputs = [tmp_path / "a" / "out", tmp_path / "b" / "other"]
    for seed, output in zip(("1", "2"), outputs, strict=True):
        command = [sys.executable, "-m", "pipeline.data.parallel_demo", "--dataset", "test", *languages]
        command += ["--output", str(output)]
        subprocess.run(command, check=True, timeout=120, env=os.environ | {"PYTHONHASHSEED": seed})
    for name in ("corpus.en.zst", "corpus.eo.zst", "stats.json"):
        assert (outputs[0] / name).read_bytes() == (outputs[1] / name).read_bytes()
