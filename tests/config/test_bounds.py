"""Configs that are made to harm are refused, by the command that people type, in its own process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests import forked
from tests.config.texts import SMALL
from translations_assets.config.datasets import check_parallel
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import apply_overrides, parse_config
from translations_assets.config.old_spellings.rules import doubles
from translations_assets.config.providers import PARALLEL
from translations_assets.config.text import MOST_BYTES
from translations_assets.config.yaml_reader import MOST_VALUES

ROOT = Path(__file__).parents[2]
DEEP = 50_000  # levels, with which PyYAML's parser ends the process


def check(path: Path) -> tuple[int, str]:
    """Exit code and output of `config check`. It takes seconds; a minute is for what would take hours."""
    done = forked.run(("translations", "config", "check", str(path)), os.environ, ROOT, None, 60)
    return done.returncode, done.stdout + done.stderr


def check_text(folder: Path, text: str) -> tuple[int, str]:
    path = folder / "en-ru.harm.yml"
    path.write_text(text)
    return check(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[" * DEEP, 1),
        ("a: 1\nb: " + "{a: " * DEEP + "}" * DEEP, 2),
        ("- " * DEEP + "x", 1),
        ("".join(" " * level + "a:\n" for level in range(1000)), 101),
        ("a: &a\n  " + "[*a, " * DEEP, 2),
    ],
    ids=["lists", "mappings", "items", "lines", "aliases"],
)
def test_deep_nesting(tmp_path: Path, text: str, line: int) -> None:
    code, said = check_text(tmp_path, text)
    assert code == 1
    assert f"en-ru.harm.yml:{line}: is nested more than 100 levels deep" in said


def test_as_many_values_as_there_can_be(tmp_path: Path) -> None:
    code, said = check_text(tmp_path, "a: [" + "1," * (2 * MOST_VALUES) + "]")
    assert code == 1
    assert f"holds more than {MOST_VALUES} values" in said


def test_a_file_of_many_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "en-ru.harm.yml"
    path.touch()
    os.truncate(path, 50_000_000_000)  # takes no room
    code, said = check(path)
    assert code == 1
    assert f"has more than {MOST_BYTES:,} bytes" in said


@pytest.mark.parametrize(
    "key",
    [
        f"mtdata_a-b-c-eng{'_a' * 5000}!-rus",
        f"mtdata_{'a-' * 1900}",
        f"mtdata_a-b-c-eng{'_a' * 1900}!-rus",
        f"hfp_{'a/' * 1900}",
        f"opus_{'a' * 1_000_000}",
    ],
    ids=["underscores beyond the limit", "dashes", "underscores", "slashes", "long"],
)
def test_keys_that_no_form_fits(tmp_path: Path, key: str) -> None:
    code, said = check_text(tmp_path, SMALL.replace("  train:\n", f"  train:\n    - {key}\n"))
    assert code == 1
    assert "datasets.train" in said
    assert "characters" in said or "does not have the form" in said


def test_the_form_of_mtdata_takes_what_it_took() -> None:
    for key in (
        "mtdata_Tilde-airbaltic-1-eng-rus",
        "mtdata_a-b_c-1-srp_Latn_RS-zho_Hans",
        "mtdata_a-b-c-d-1-eng-rus",
    ):
        assert check_parallel(key).provider == "mtdata"
    assert "\\w+)*" not in PARALLEL["mtdata"].form


THOUSANDS = range(20_000)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            SMALL.replace("  train:\n", "  train:\n" + "    - opus_Corpus/v1\n" * 20_000),
            "entries stand twice",
        ),
        (
            SMALL.replace(
                "  train:\n", "  train:\n" + "".join(f"    - opus_C{n}/v1\n" for n in THOUSANDS)
            ).replace(
                "  trg: ru\n",
                "  trg: ru\n  student-model: tiny\n  bicleaner:\n    dataset-thresholds:\n"
                + "".join(f"      opus_K{n}_v2: 0.5\n" for n in THOUSANDS),
            ),
            "",
        ),
        (
            f"{SMALL}marian-args:\n  training-teacher:\n"
            + "".join(f"    lern-rate{n}: 1\n" for n in THOUSANDS),
            "lern",
        ),
        (f"{SMALL}marian-args:\n  training-teacher:\n    learn-rate: {'1' * 500_000}x\n", "must be a number"),
        (
            f"{SMALL}marian-args:\n  training-student:\n    dim-emb: {'1' * 500_000}\n",
            "must be a whole number",
        ),
    ],
    ids=["doubles", "thresholds", "options", "digits and a letter", "digits"],
)
def test_many_mistakes(tmp_path: Path, text: str, told: str) -> None:
    code, said = check_text(tmp_path, text)
    assert code == 1
    assert told in said


def test_a_dataset_that_stands_twice_is_told_of_where_it_is_put() -> None:
    config = parse_config(SMALL, "my.yml")
    with pytest.raises(ConfigError, match="has the same short name"):
        apply_overrides(config, {"datasets.train": ["opus_ParaCrawl/v9", "opus_ParaCrawl/v9"]})


@pytest.mark.parametrize("parts", ["99999999999", "1001", "0"])
def test_parts_that_no_run_ends_with(tmp_path: Path, parts: str) -> None:
    code, said = check_text(tmp_path, f"{SMALL}taskcluster:\n  split-chunks: {parts}\n")
    assert code == 1
    assert "taskcluster.split-chunks" in said


@pytest.mark.slow
def test_many_datasets(tmp_path: Path) -> None:
    lines = "".join(f"    - opus_Corpus{number}/v1\n" for number in range(60_000))
    code, said = check_text(tmp_path, SMALL.replace("  train:\n", f"  train:\n{lines}"))
    assert code == 0, said
    assert "no problems" in said


class Compared(str):
    """Text that counts how often it is compared."""

    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def test_doubles_are_found_without_comparing_all_with_all() -> None:
    keys = [Compared(f"opus_Corpus{number}/v1") for number in range(2000)]
    values: dict[str, Any] = {"datasets": {"train": [*keys, keys[7], keys[3], keys[7]]}}
    edits = list(doubles(values))
    assert [edit.path[-1] for edit in edits] == [2002, 2001, 2000]
    assert Compared.times < 10 * len(keys)
