"""Names of the store's configs, as the state folder caches them while the store is away."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from translations_assets.common.errors import StoreUnreachable
from translations_assets.configs import stored as kept


class Kept:
    """As much of a store as is asked; `away` while it cannot be reached."""

    def __init__(self, url: str, *names: str) -> None:
        self.url, self.names, self.away = url, [*names], False

    def config_names(self) -> list[str]:
        """The names, unless it is away."""
        if self.away:
            raise StoreUnreachable(f"{self.url} is away")
        return self.names


def ask(store: Any, folder: Path) -> kept.KeptConfigs:
    return kept.kept_configs(store, folder)


def test_while_the_store_is_away_all_configs_that_were_kept_are_known(tmp_path: Path) -> None:
    """Those that it named, and each that was kept since: none hides another."""
    store: Any = Kept("gs://bucket/store", "en-ru.old")
    assert ask(store, tmp_path) == (["en-ru.old"], "")
    store.away = True
    kept.remember(store, tmp_path, "en-lt.first")
    kept.remember(store, tmp_path, "en-eo.second")
    assert ask(store, tmp_path) == (["en-eo.second", "en-lt.first", "en-ru.old"], "gs://bucket/store is away")
    kept.remember(store, tmp_path, "en-lt.first")
    assert len(ask(store, tmp_path).names) == 3
    store.away = False
    assert ask(store, tmp_path) == (["en-ru.old"], "")  # what the store says counts
    store.away = True
    assert ask(store, tmp_path).names == ["en-ru.old"]


def test_each_store_has_a_memory_of_its_own(tmp_path: Path) -> None:
    one: Any = Kept("gs://bucket/one", "en-ru.a")
    other: Any = Kept("gs://bucket/other", "en-ru.b")
    for store in (one, other):
        ask(store, tmp_path)
        store.away = True
    assert [ask(store, tmp_path).names for store in (one, other)] == [["en-ru.a"], ["en-ru.b"]]


def test_a_store_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = Kept("gs://bucket/store", "en-ru.old")
    ask(store, tmp_path)
    monkeypatch.setattr(kept, "ANSWER_SECONDS", 0.01)
    store.config_names = threading.Event().wait  # for ever
    found = ask(store, tmp_path)
    assert found.names == ["en-ru.old"]
    assert "has not answered" in found.away
