"""Prompts and examples, which a config names by paths as it does datasets."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.config.texts import SMALL
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config
from translations_assets.config.migrate import located
from translations_assets.config.sources import Readable, check_paths

NAMED = {
    "translators.llm.endpoint.prompt": "{}\n",
    "translators.llm.endpoint.examples": "prompt.yml, examples: {}\n",
    "evaluation.judge-prompt": "prompt.yml\nevaluation:\n  judge: llm\n  judge-prompt: {}\n",
}


def with_file(key: str, path: str) -> str:
    """The small config with a file at one of the keys."""
    prompt, _, rest = NAMED[key].format(path).rstrip("\n").partition("\n")
    endpoint = f"{{model: big, prompt: {prompt}}}"
    text = SMALL.replace("  trg: ru\n", "  trg: ru\n  teacher: llm\n")
    return f"{text}translators:\n  llm:\n    endpoint: {endpoint}\n{rest}\n"


def problems(text: str, source: Path | str, *folders: str, keys: tuple[str, ...] = ()) -> str:
    try:
        parse_config(text, source, partial(check_paths, readable=Readable(folders, keys)))
    except ConfigError as error:
        return "; ".join(f"{problem.key}: {problem.message}" for problem in error.problems)
    return ""


@pytest.mark.parametrize("key", NAMED)
def test_prompts_and_examples_are_files_that_may_be_read(key: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.yml").touch()
    (tmp_path / "mine").touch()
    (tmp_path / "link").symlink_to("/etc/passwd")
    file, folder = tmp_path / "en-ru.x.yml", str(tmp_path)
    assert problems(with_file(key, "mine"), file, folder) == ""
    assert problems(with_file(key, "other"), file, folder) == f"{key}: there is no file {tmp_path}/other"
    assert f"{key}: {tmp_path}/link is a file of the system" in problems(with_file(key, "link"), file, "/")
    assert f"{key}: {tmp_path}/mine must not be read here" in problems(with_file(key, "mine"), file, "/other")
    keys = (f"{tmp_path}/mine",)
    assert f"{key}: {keys[0]} is a file with keys" in problems(with_file(key, "mine"), file, "/", keys=keys)


@pytest.mark.parametrize("key", NAMED)
def test_they_count_from_the_configs_file_alone(key: str) -> None:
    found = problems(with_file(key, "./mine"), "the pasted config", "/")
    assert f"{key}: the path './mine' counts from the config's file, and here is none" in found


@pytest.mark.parametrize("key", NAMED)
def test_a_config_without_a_place_has_them_written_out(key: str, tmp_path: Path) -> None:
    text, file = with_file(key, "../mine"), tmp_path / "configs" / "en-ru.x.yml"
    made = located(text, file)
    assert parse_config(made, "the store") == parse_config(text, file)
    assert f"{tmp_path}/mine" in made
    assert located(made, Path("/elsewhere/en-ru.x.yml")) == made


def test_what_cannot_be_written_out_is_told(tmp_path: Path) -> None:
    text = f"{SMALL}translators:\n  llm:\n    endpoint:\n      model: big\n      prompt: >-\n        mine\n"
    with pytest.raises(ConfigError, match="a relative path cannot be written out; write one from / on"):
        located(text, tmp_path / "en-ru.x.yml")
