"""Tests of translations_assets.config.dictionaries: who lacks one is told before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from translations_assets.common.settings import repository_root
from translations_assets.config.dictionaries import DICTIONARIES, check_dictionaries
from translations_assets.config.errors import ConfigError
from translations_assets.configs.training_configs import TrainingConfigs
from translations_assets.keys.local_files import FileDigests


def config(src: str, trg: str) -> dict[str, Any]:
    return {"experiment": {"src": src, "trg": trg}}


@pytest.fixture
def laptop(monkeypatch: pytest.MonkeyPatch) -> None:
    """No dictionaries are installed."""
    for _, library in DICTIONARIES.values():
        monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.usefixtures("laptop")
@pytest.mark.parametrize(
    ("pair", "told"),
    [
        (("en", "ja"), [(("experiment", "trg"), "Japanese")]),
        (("ko", "en"), [(("experiment", "src"), "Korean")]),
        (("ko", "ja"), [(("experiment", "src"), "Korean"), (("experiment", "trg"), "Japanese")]),
        (("en", "zh"), []),
    ],
)
def test_a_language_without_its_dictionary_is_told_with_the_extra(
    pair: tuple[str, str], told: list[tuple[tuple[str, str], str]]
) -> None:
    found = list(check_dictionaries(config(*pair)))
    assert [path for path, _ in found] == [path for path, _ in told]
    for (_, message), (_, name) in zip(found, told, strict=True):
        assert f"words of {name} " in message
        assert "pip install 'translations-assets[ja-ko]'" in message


def test_nothing_is_told_where_they_are_installed() -> None:
    assert list(check_dictionaries(config("ja", "ko"))) == []


@pytest.mark.usefixtures("laptop")
@pytest.mark.parametrize("here", [True, False])
def test_configs_are_checked_where_steps_run_on_this_machine(here: bool, tmp_path: Path) -> None:
    """Pods have all dictionaries."""
    text = (repository_root() / "configs" / "en-eo.demo.yml").read_text(encoding="utf-8")
    files = FileDigests(tmp_path / "files.json")
    configs = TrainingConfigs(repository_root(), files, pytest.fail, tuple, lambda: here)
    with pytest.raises(ConfigError) as caught:
        configs.parse(text.replace("trg: eo", "trg: ja"), "en-ja.yml")
    assert ("[ja-ko]" in str(caught.value)) == here
