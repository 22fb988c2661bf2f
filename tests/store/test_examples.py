"""The examples in the docstrings of a store's central functions."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.values import KEY, finish, manifest
from translations_assets.store.local import LocalStore
from translations_assets.store.open import open_store


@pytest.mark.parametrize(
    "function", [open_store, LocalStore.commit, LocalStore.latest, LocalStore.place_checkpoints]
)
def test_an_example_is_true(function: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = LocalStore(tmp_path / "store")
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "model.npz").write_bytes(b"weights")
    names = {"open_store": open_store, "replace": replace, "manifest": manifest({}), "key": KEY}
    names |= {
        "store": store,
        "folder": str(tmp_path / "other"),
        "saved": saved,
        "resumed": tmp_path / "resumed",
    }
    if function is LocalStore.latest:
        names["key"] = finish(store, "merge", {"corpus.en": b"one line"}).key
    (example,) = doctest.DocTestFinder(recurse=False).find(function, "example", globs=names)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted > 1
    assert result.failed == 0, capsys.readouterr().out
