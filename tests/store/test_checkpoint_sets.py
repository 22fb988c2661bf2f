"""Checkpoint sets that grow: what the set before has is not sent to the store again."""

from pathlib import Path
from typing import Any

import pytest

from tests.store.values import KEY, manifest
from translations_assets.records.retention import Rules
from translations_assets.store.attempts import SET_MANIFEST
from translations_assets.store.bucket.objects import Objects
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.durable import DurableStore
from translations_assets.store.gc import collect
from translations_assets.store.medium import Medium


@pytest.fixture(params=["local", "bucket"])
def durable(request: pytest.FixtureRequest) -> DurableStore[Any]:
    """An empty store."""
    kept: DurableStore[Any] = request.getfixturevalue(request.param)
    return kept


@pytest.fixture
def sent(durable: DurableStore[Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are sent to the store."""
    names: list[str] = []
    save = type(durable.files).save

    def noted(files: Medium[Any], source: Path, path: Any) -> Any:
        names.append(f"{source.parent.name}/{source.name}")
        return save(files, source, path)

    monkeypatch.setattr(type(durable.files), "save", noted)
    return names


def add(store: DurableStore[Any], folder: Path, name: str, texts: str) -> None:
    """Store a set of files with a letter each."""
    (folder / name).mkdir()
    for part, text in enumerate(texts):
        (folder / name / f"part-{part}").write_text(text)
    store.add_checkpoint(KEY, 1, name, folder / name)


def placed(store: DurableStore[Any], folder: Path) -> dict[str, str]:
    """The sets that a new attempt is given, and the letters in them."""
    (folder / "placed").mkdir()
    names = store.place_checkpoints(KEY, 1, folder / "placed")
    sets = {name: sorted((folder / "placed" / name).iterdir()) for name in names}
    return {name: "".join(path.read_text() for path in paths) for name, paths in sets.items()}


def test_files_of_the_set_before_are_not_sent_again(
    durable: DurableStore[Any], sent: list[str], tmp_path: Path
) -> None:
    """But those that have changed are."""
    for name, texts in (("1", "a"), ("2", "ab"), ("3", "aXc")):
        add(durable, tmp_path, name, texts)
    assert sent == ["1/part-0", "2/part-1", "3/part-1", "3/part-2"]
    assert placed(durable, tmp_path) == {"2": "ab", "3": "aXc"}
    assert [durable.wrong_in_set(stored) for _, _, stored in durable.checkpoint_sets()] == ["", ""]


def test_when_the_set_before_has_gone_or_is_damaged_all_is_sent(
    durable: DurableStore[Any], sent: list[str], tmp_path: Path
) -> None:
    add(durable, tmp_path, "1", "a")
    durable.drop_checkpoints(KEY, 1)
    add(durable, tmp_path, "2", "ab")
    manifests = [stored / SET_MANIFEST for _, _, stored in durable.checkpoint_sets()]
    durable.files.replace(manifests[0], b"{}")
    add(durable, tmp_path, "3", "abc")
    assert sent[1:] == ["2/part-0", "2/part-1", "3/part-0", "3/part-1", "3/part-2"]
    assert placed(durable, tmp_path) == {"3": "abc"}


def test_what_both_sets_have_is_fetched_once(
    durable: DurableStore[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And copied: what is written to one does not change the other."""
    for name, texts in (("1", "ab"), ("2", "abc")):
        add(durable, tmp_path, name, texts)
    fetched: list[str] = []
    fetch = type(durable.files).fetch

    def noted(files: Medium[Any], path: Any, blob: Any, target: Path, writable: bool = False) -> Any:
        fetched.append(f"{target.parent.name}/{target.name}")
        return fetch(files, path, blob, target, writable)

    monkeypatch.setattr(type(durable.files), "fetch", noted)
    assert placed(durable, tmp_path) == {"1": "ab", "2": "abc"}
    assert fetched == ["2/part-0", "2/part-1", "2/part-2"]
    (tmp_path / "placed" / "1" / "part-0").write_text("other")
    assert (tmp_path / "placed" / "2" / "part-0").read_text() == "a"


def test_a_set_that_a_killed_worker_left_takes_the_place_of_no_whole_one(
    durable: DurableStore[Any], tmp_path: Path
) -> None:
    for name in ("1", "2", "3"):
        add(durable, tmp_path, name, name)
    left = next(stored for _, _, stored in durable.checkpoint_sets() if stored.name == "3")
    durable.files.remove(left / SET_MANIFEST)
    add(durable, tmp_path, "4", "4")
    assert placed(durable, tmp_path) == {"2": "2", "4": "4"}


@pytest.mark.parametrize("by", ["the step's worker", "a collection"])
def test_a_set_looks_whole_until_it_counts_no_more(
    bucket: BucketStore, tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever verifies the store while sets are dropped, or after that was interrupted, finds no damage."""
    delete = type(bucket.files.objects).delete
    seen: list[str] = []

    def looked_at(objects: Objects, name: str, *versions: int) -> bool:
        done = delete(objects, name, *versions)
        seen.extend(bucket.wrong_in_set(stored) for _, _, stored in bucket.checkpoint_sets())
        return done

    monkeypatch.setattr("translations_assets.store.bucket.store._THREADS", 1)
    monkeypatch.setattr(type(bucket.files.objects), "delete", looked_at)
    for name in ("1", "2", "3"):  # the first is dropped with the third
        add(bucket, tmp_path, name, "ab")
    if by == "a collection":
        bucket.commit(manifest({}))
        collect(bucket, Rules(), delete=True)
    else:
        bucket.drop_checkpoints(KEY, 1)
    assert {*seen} == {""}
    assert [*bucket.checkpoint_sets()] == []
