"""Levels of trust: which places are opened, and which are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.store.test_overlay import state
from tests.store.values import finish, manifest, publish
from translations_assets.common.errors import StoreError
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.store.levels import Levels, mark, mark_of
from translations_assets.store.local import LocalStore
from translations_assets.store.open import open_store
from translations_assets.store.overlay import places
from translations_assets.store.verify import verify

NAMES = ("release", "branch", "anyone")


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """The places of three levels, marked."""
    found = {name: str(tmp_path / name) for name in NAMES}
    for name in NAMES:
        mark(Levels(found, name).place(name))
    return found


def test_higher_levels_are_read_and_lower_ones_never_opened(folders: dict[str, str]) -> None:
    made = {
        name: finish(Levels(folders, name).open(), f"merge-{name}", {"corpus": name.encode()})
        for name in NAMES
    }
    seen = {
        "release": {"release"},
        "branch": {"release", "branch"},
        "anyone": {"release", "branch", "anyone"},
    }
    for own, names in seen.items():
        store = Levels(folders, own).open()
        assert {one.label for one in store.manifests()} == {f"merge-{name}" for name in names}
        for name, one in made.items():
            assert store.level_of(one.key, 1) == (name if name in names else "")
            assert store.has_blob(one.outputs["corpus"]) == (name in names)


def test_the_use_of_each_place_follows_from_ones_own_level(folders: dict[str, str]) -> None:
    uses = {
        "release": ["written", "never opened", "never opened"],
        "branch": ["read", "written", "never opened"],
        "anyone": ["read", "read", "written"],
    }
    for own, expected in uses.items():
        assert [use for _, use in Levels(folders, own).uses()] == expected
        assert Levels(folders, own).highest == "release"


def test_what_is_lower_counts_for_itself_alone(folders: dict[str, str]) -> None:
    """Refs, runs, generations and configs of a lower level, under the names that a higher one uses."""
    release = Levels(folders, "release").open()
    made = finish(release, "merge", {"corpus": b"right"})
    publish(release, "run-1", 1.0, made)
    release.write_run("run-1", RunRecord("run-1", "en-ru"))
    anyone = Levels(folders, "anyone").open()
    forged = anyone.commit(manifest({"corpus": anyone.add_bytes(b"wrong")}, key=made.key, generation=2))
    publish(anyone, "run-2", 2.0, forged)
    anyone.write_run("run-1", RunRecord("run-1", "xx-yy"))
    anyone.add_config("en-ru.mine", "experiment: {}\n")
    assert anyone.latest(made.key) == forged
    assert (anyone.level_of(made.key, 1), anyone.level_of(made.key, 2)) == ("release", "anyone")
    for own in ("release", "branch"):
        store = Levels(folders, own).open()
        assert store.latest(made.key) == made
        assert [ref.run for ref in store.refs("ann/main", "en-ru", "merge_corpus")] == ["run-1"]
        record = store.read_run("run-1")
        assert record is not None
        assert record.partition == "en-ru"
        assert store.config("en-ru.mine") is None


def test_a_worker_opens_the_same_places_by_one_url(folders: dict[str, str]) -> None:
    for own in NAMES:
        store = Levels(folders, own).open()
        again = open_store(store.url)
        assert again.url == store.url
        assert [(place.root, place.level) for place in stores(again)] == [
            (Path(folders[name]), name) for name in reversed(NAMES[: NAMES.index(own) + 1])
        ]
        assert [place.files.read_only for place in stores(again)] == [False] + [True] * NAMES.index(own)


def stores(store: Store) -> list[LocalStore]:
    found = list(places(store))
    local = [place for place in found if isinstance(place, LocalStore)]
    assert local == found
    return local


def test_a_place_that_is_not_marked_is_refused(folders: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "release" / "level.json").unlink()
    for own in NAMES:
        with pytest.raises(
            StoreError, match=r"release is not marked as the store of the level release.*--mark"
        ):
            Levels(folders, own).open()


def test_a_place_of_another_level_is_refused(folders: dict[str, str]) -> None:
    exchanged = folders | {"release": folders["anyone"], "anyone": folders["release"]}
    for own in NAMES:
        with pytest.raises(
            StoreError, match=r"the store of the level anyone, and the .*takes it for that of release"
        ):
            Levels(exchanged, own).open()
    with pytest.raises(StoreError, match="the store of the level anyone"):
        mark(Levels(exchanged, "release").place("release"))


def test_a_damaged_mark_is_refused(folders: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "branch" / "level.json"
    path.chmod(0o644)
    path.write_text(json.dumps({"level": "branch"}))
    with pytest.raises(StoreError, match="level of .*branch .*is damaged"):
        Levels(folders, "anyone").open()
    assert mark_of(Levels(folders, "anyone").place("release")) == "release"


def test_a_mark_is_no_strange_file(folders: dict[str, str]) -> None:
    store = Levels(folders, "release").open()
    finish(store, "merge", {"corpus": b"text"})
    assert isinstance(store, LocalStore)
    assert verify(store).problems == []


@pytest.mark.parametrize(("higher", "lower"), [("s", "s"), ("s", "s/inside"), ("s/inside", "s")])
def test_levels_do_not_stand_in_each_other(higher: str, lower: str, tmp_path: Path) -> None:
    found = {
        "release": str(tmp_path / higher),
        "branch": str(tmp_path / "b"),
        "anyone": str(tmp_path / lower),
    }
    for own in NAMES:
        with pytest.raises(StoreError, match="The stores of the levels release and anyone overlap"):
            Levels(found, own)


def test_a_link_to_another_level_is_found(tmp_path: Path) -> None:
    (tmp_path / "anyone").mkdir()
    (tmp_path / "release").symlink_to(tmp_path / "anyone")
    with pytest.raises(StoreError, match="overlap"):
        Levels({name: str(tmp_path / name) for name in NAMES}, "release")


@pytest.mark.parametrize(("own", "said"), [("", "and none is one's own"), ("pr", "there is no level pr")])
def test_ones_own_level_is_one_of_them(own: str, said: str, folders: dict[str, str]) -> None:
    with pytest.raises(StoreError, match=f"levels release, branch, anyone, .*{said}.*TRANSLATIONS_LEVEL"):
        Levels(folders, own)


def test_inputs_from_higher_levels_are_copies(folders: dict[str, str], tmp_path: Path) -> None:
    blob = Levels(folders, "release").open().add_bytes(b"text")
    before = state(tmp_path / "release")
    Levels(folders, "anyone").open().place_blob(blob, tmp_path / "input")
    (tmp_path / "input").chmod(0o644)
    (tmp_path / "input").write_bytes(b"TEXT")
    assert state(tmp_path / "release") == before


def test_a_place_that_is_not_there_is_named(folders: dict[str, str], tmp_path: Path) -> None:
    missing = folders | {"release": str(tmp_path / "nowhere")}
    with pytest.raises(StoreError, match=r"no store .*nowhere to read \(the store of the level release\)"):
        Levels(missing, "anyone").open()
