"""Partitions and their files."""

import re
from pathlib import Path

import pytest

from tests.config.texts import SMALL
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config
from translations_assets.config.partitions import (
    find_config,
    find_configs,
    fitting_key,
    name_note,
    partition_key,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "configs"
    made.mkdir()
    for name in (
        "en-ru.yml",
        "en-ru.big-vocab.yml",
        "de-en.yaml",
        "notes.txt",
        ".en-fr.yml.swp",
        ".hidden.yml",
    ):
        (made / name).write_text(SMALL)
    (made / "old").mkdir()
    (made / "old" / "en-pl.yml").write_text(SMALL)
    return made


def test_configs_by_key(folder: Path) -> None:
    assert find_configs([folder]) == {
        "de-en": folder / "de-en.yaml",
        "en-ru": folder / "en-ru.yml",
        "en-ru.big-vocab": folder / "en-ru.big-vocab.yml",
    }


def test_several_folders(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "cs-en.yml").write_text(SMALL)
    assert list(find_configs([folder, other])) == ["cs-en", "de-en", "en-ru", "en-ru.big-vocab"]
    (other / "en-ru.yml").write_text(SMALL)
    with pytest.raises(ConfigError) as caught:
        find_configs([folder, other])
    assert str(caught.value).startswith(
        f"{other}/en-ru.yml: the partition 'en-ru' is also defined by {folder}/en-ru.yml"
    )


def test_names_that_cannot_be_keys_are_told_all_at_once(folder: Path) -> None:
    (folder / "en ru.yml").write_text(SMALL)
    (folder / "en-ru@x.yml").write_text(SMALL)
    (folder / "en-ru.a...b.yml").write_text(SMALL)  # a range of partitions in Dagster
    with pytest.raises(ConfigError) as caught:
        find_configs([folder])
    assert [problem.file for problem in caught.value.problems] == [
        f"{folder}/en ru.yml",
        f"{folder}/en-ru.a...b.yml",
        f"{folder}/en-ru@x.yml",
    ]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the folder of training configs cannot be read: No such file"):
        find_configs([tmp_path / "absent"])


def test_a_config_by_key_or_path(folder: Path) -> None:
    assert find_config("en-ru.big-vocab", [folder]) == folder / "en-ru.big-vocab.yml"
    path = folder / "old" / "en-pl.yml"
    assert find_config(str(path), [folder]) == path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("en-ru.big-vocap", "Did you mean 'en-ru.big-vocab'?"),
        ("xx", "There are: de-en, en-ru, en-ru.big-vocab."),
        ("absent.yml", "absent.yml: there is no such file"),
    ],
)
def test_no_such_config(folder: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_config(name, [folder])
    assert message in str(caught.value)


def test_a_folder_is_no_config(tmp_path: Path) -> None:
    (tmp_path / "x.yml").mkdir()
    with pytest.raises(ConfigError, match="is a folder, not a YAML file"):
        find_config(str(tmp_path / "x.yml"), [])


@pytest.mark.parametrize("name", ["en-ru.yml", "en-ru.spring.2.yml", "en-ru.x.yaml"])
def test_a_key_begins_with_the_language_pair(name: str) -> None:
    assert partition_key(Path("/configs") / name, parse_config(SMALL, name)) == Path(name).stem


@pytest.mark.parametrize(
    "name", ["ru-en.yml", "config.yml", "en-ruby.yml", "en-ru.a@b.yml", "en-ru.a...b.yml"]
)
def test_a_key_that_does_not_begin_with_the_pair(name: str) -> None:
    path, config = Path("/configs") / name, parse_config(SMALL, name)
    with pytest.raises(
        ConfigError, match=r"must be the language pair 'en-ru'.* for example (\S+),"
    ) as caught:
        partition_key(path, config)
    (offered,) = re.findall(r"for example (\S+),", str(caught.value))
    assert partition_key(path.with_name(offered), config) == fitting_key(path, config.pair)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("en-ru.spring.2.yml", "en-ru.spring.2"),
        ("en-ru-spring-2024.yml", "en-ru.spring-2024"),
        ("my config (2).yml", "en-ru.my-config-2"),
        ("en-ruby.yml", "en-ru.en-ruby"),
        ("en-ru.a@b.yml", "en-ru.a-b"),
        ("en-ru..yml", "en-ru."),
        ("en-ru.a..b.yml", "en-ru.a..b"),
        ("en-ru.a....b.yml", "en-ru.a.b"),
        ("en-ru...a.yml", "en-ru.a"),
        ("é.yml", "en-ru"),
    ],
)
def test_the_name_that_a_file_can_have(name: str, key: str) -> None:
    path = Path("/configs") / name
    assert fitting_key(path, "en-ru") == key
    values = {"experiment": {"src": "en", "trg": "ru"}}
    notes = [note.message for note in name_note(path, values)]
    assert len(notes) == (key != path.stem)
    assert all(f"planned and trained as {key}." in note for note in notes)
    assert name_note(path, {"experiment": {"src": "en"}}) == []
