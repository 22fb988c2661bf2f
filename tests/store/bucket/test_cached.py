"""A bucket's contents are downloaded once to a machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.store.gcs_server import BUCKET, GcsServer
from translations_assets.common.errors import StoreError
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects
from translations_assets.store.open import open_store

URL = f"gs://{BUCKET}/cached"


@pytest.fixture
def caching(gcs: GcsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that names a cache."""
    monkeypatch.setenv("TRANSLATIONS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TRANSLATIONS_CACHE_GB", raising=False)


@pytest.mark.usefixtures("caching")
@pytest.mark.parametrize("size", [1000, 9 << 20])
def test_contents_are_downloaded_once(gcs: GcsServer, tmp_path: Path, size: int) -> None:
    blob = BucketStore(GcsObjects.at(URL)).add_bytes(b"a" * size)
    gcs.requests.clear()
    open_store(URL).place_blob(blob, tmp_path / "one")
    assert gcs.requests != []
    gcs.requests.clear()
    another = open_store(URL)
    another.place_blob(blob, tmp_path / "two")
    assert gcs.requests == []
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == b"a" * size
    assert list((tmp_path / "cache" / "downloads").iterdir()) == []


@pytest.mark.usefixtures("caching")
def test_what_was_stored_here_is_not_downloaded(gcs: GcsServer, tmp_path: Path) -> None:
    (tmp_path / "output").write_bytes(b"made here")
    blob = open_store(URL).add_blob(tmp_path / "output")
    gcs.requests.clear()
    open_store(URL).place_blob(blob, tmp_path / "input")
    assert gcs.requests == []
    assert BucketStore(GcsObjects.at(URL)).read_blob(blob) == b"made here"


@pytest.mark.usefixtures("caching")
def test_each_level_of_trust_has_a_cache_of_its_own(gcs: GcsServer, tmp_path: Path) -> None:
    """By the level of who reads: contents of a higher level stand in one's own cache, too."""
    blob = BucketStore(GcsObjects.at(URL)).add_bytes(b"text")
    above = f"{URL}?level=release"
    below = f"gs://{BUCKET}/own?{urlencode({'level': 'anyone', 'base': above})}"
    open_store(above).place_blob(blob, tmp_path / "one")
    open_store(below).place_blob(blob, tmp_path / "two")
    kept = [
        path.relative_to(tmp_path / "cache").parts[0]
        for path in tmp_path.glob(f"cache/*/blobs/*/{blob.digest}")
    ]
    assert sorted(kept) == ["level.anyone", "level.release"]


@pytest.mark.usefixtures("caching")
def test_a_size_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_CACHE_GB", "much")
    with pytest.raises(StoreError, match="TRANSLATIONS_CACHE_GB='much' is no size"):
        open_store(URL)


def test_without_the_setting_there_is_no_cache(
    gcs: GcsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRANSLATIONS_CACHE", raising=False)
    store = open_store(URL)
    blob = store.add_bytes(b"downloaded each time")
    for name in ("one", "two"):
        gcs.requests.clear()
        store.place_blob(blob, tmp_path / name)
        assert gcs.requests != []
