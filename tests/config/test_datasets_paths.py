"""Datasets that are files, named by their paths."""

import json
import re
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.config.texts import SMALL, problem_of, with_line
from translations_assets.config.datasets import PARALLEL_KEY, parse_dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.json_schema import json_schema
from translations_assets.config.load import apply_overrides, parse_config
from translations_assets.config.migrate import located
from translations_assets.config.sources import Readable, check_paths

PATHS = ["./a.[LANG]", "../a b/[LANG].gz", "/data/my_corpus.[LANG]", "a.[LANG].gz", "en-lt.own/my_x.[LANG]"]
NO_PATHS = ["flores_dev", "opus_ParaCrawl/v9", "my_corpus.[LANG].gz", "https://x.org/a_b.[LANG]", "flores"]


def with_paths(*entries: str) -> str:
    return with_line("\n".join(f"    - {entry}" for entry in entries), "    - opus_ParaCrawl/v9")


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_a_dataset(path: str) -> None:
    dataset = parse_dataset(path)
    assert (dataset.provider, dataset.name, dataset.augmentation) == ("file", path, None)
    assert re.search(PARALLEL_KEY, path)


@pytest.mark.parametrize("key", NO_PATHS)
def test_what_may_be_a_key_is_none(key: str) -> None:
    with suppress(ConfigError):
        assert parse_dataset(key).provider != "file"
    assert bool(re.search(PARALLEL_KEY, key)) == (key in NO_PATHS[:2])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("./corpora/news.[LANG].gz", "file_news"),
        ("/x/[LANG].gz", "file_x"),
        ("/x/2026/[LANG]/all.txt", "file_all"),
        ("file_aug-upper_./žinios [LANG].gz", "file_aug-upper_žinios_"),
    ],
)
def test_short_names_are_those_of_the_files(path: str, name: str) -> None:
    assert parse_dataset(path.replace(" ", "\u2009") if path.startswith("/") else path.replace(" ", "_"))
    assert parse_dataset(path.replace(" ", "_")).short_name == name
    assert parse_dataset(name).short_name == name


def test_relative_paths_count_from_the_configs_file(tmp_path: Path) -> None:
    text = with_paths("./a.[LANG].gz", "{dataset: '../b/a.[LANG]', alias: old}", "file_c.[LANG]")
    train = parse_config(text, tmp_path / "configs" / "en-ru.yml").datasets.train
    assert [dataset.name for dataset in train[1:]] == [
        f"{tmp_path}/configs/a.[LANG].gz",
        f"{tmp_path}/b/a.[LANG]",
        f"{tmp_path}/configs/c.[LANG]",
    ]
    assert [dataset.short_name for dataset in train[1:]] == ["file_a", "old", "file_c"]
    assert [dataset.known_as for dataset in train] == ["opus_ParaCrawl/v9", "file_1", "file_2", "file_3"]


def test_without_a_file_they_count_from_nowhere(tmp_path: Path) -> None:
    assert "the path './a.[LANG]' counts from the config's file, and here is none" in problem_of(
        with_paths("./a.[LANG]")
    )
    config = parse_config(with_paths("./a.[LANG]"), tmp_path / "en-ru.yml")
    assert apply_overrides(config, {"experiment.name": "x"}).datasets == config.datasets
    with pytest.raises(ConfigError, match="counts from the config's file"):
        apply_overrides(config, {"datasets.test": ["./b.[LANG]"]})


def test_a_path_of_a_pair_has_a_place_for_the_language() -> None:
    found = problem_of(with_paths("/data/a.en"))
    assert found.startswith("8 datasets.train[1]: '/data/a.en' is neither the key of a dataset")


def test_one_file_has_one_purpose(tmp_path: Path) -> None:
    text = with_paths("./a.[LANG]").replace("- flores_dev\n", "- ./b/../a.[LANG]\n")
    with pytest.raises(ConfigError, match="a set can be used for one purpose only"):
        parse_config(text, tmp_path / "en-ru.yml")


def test_which_files_may_be_read(tmp_path: Path) -> None:
    data, keys = tmp_path / "data", tmp_path / "data" / "keys"
    keys.mkdir(parents=True)
    for file in (data / "a.en", data / "a.ru", data / "b.en", keys / "a.en", keys / "a.ru"):
        file.touch()
    (data / "link.en").symlink_to("/etc/passwd")
    (data / "link.ru").symlink_to(data / "a.ru")

    def problem(path: str, *folders: str) -> str:
        check = partial(check_paths, readable=Readable(folders, [str(keys)]))
        try:
            parse_config(with_paths(path), tmp_path / "en-ru.yml", check)
        except ConfigError as error:
            return str(error)
        return ""

    assert problem("./data/a.[LANG]", "/") == problem("./data/a.[LANG]", str(tmp_path)) == ""
    assert f"datasets.train[1]: there is no file {data}/b.ru" in problem("./data/b.[LANG]", "/")
    assert problem("./text/a.[LANG]", "/").endswith(f"datasets.train[1]: there is no folder {tmp_path}/text")
    assert "must not be read here: files may lie below /other" in problem("./data/a.[LANG]", "/other")
    assert f"{data}/link.en is a file of the system" in problem("./data/link.[LANG]", "/")
    assert "is a file with keys" in problem("./data/keys/a.[LANG]", "/")
    assert "is a file of the system" in problem("/proc/self/[LANG]", "/")


def test_paragraphs_of_files_have_a_third_file(tmp_path: Path) -> None:
    for name in ("a.en", "a.ru", "t.en.gz", "t.ru.gz"):
        (tmp_path / name).touch()
    text = with_paths("./a.[LANG]").replace("flores_devtest", "./t.[LANG].gz")
    check = partial(check_paths, readable=Readable([str(tmp_path)]))

    def problems(name: str) -> str:
        try:
            parse_config(f"{text}evaluation:\n  paragraphs: [{name}]\n", tmp_path / "en-ru.yml", check)
        except ConfigError as error:
            return str(error)
        return ""

    assert f"evaluation.paragraphs[0]: there is no file {tmp_path}/t.documents.gz" in problems("file_t")
    (tmp_path / "t.documents.gz").symlink_to("/etc/passwd")
    assert f"{tmp_path}/t.documents.gz is a file of the system" in problems("file_t")
    (tmp_path / "t.documents.gz").unlink()
    (tmp_path / "t.documents.gz").touch()
    assert problems("file_t") == ""
    assert "'file_a' is not in datasets.test" in problems("file_a")


@pytest.mark.parametrize(
    "entry",
    [
        "./a.[LANG].gz # mine",
        "{dataset: ./a.[LANG].gz, alias: old}",
        "dataset: ./a.[LANG].gz\n      alias: x",
    ],
)
def test_a_config_without_a_place_has_its_paths_written_out(tmp_path: Path, entry: str) -> None:
    text, file = with_paths(entry), tmp_path / "en-ru.yml"
    if entry.startswith("{"):
        text = text.replace(entry, entry.replace("./a.[LANG].gz", "'./a.[LANG].gz'"))
    made = located(text, file)
    assert parse_config(made, "the store") == parse_config(text, file)
    assert "# mine" in made or "# mine" not in text
    assert located(made, Path("/elsewhere/en-ru.yml")) == made


def test_editors_take_paths() -> None:
    assert "|(\\\\.{0,2}/|" in json.dumps(json_schema()["$defs"]["Datasets"])


def test_the_small_config_has_none(tmp_path: Path) -> None:
    assert located(SMALL, tmp_path / "en-ru.yml") == SMALL
