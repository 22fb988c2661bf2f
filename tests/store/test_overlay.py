"""A store over another one: reading looks in both, and nothing is written to the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.store.faults import Fault
from tests.store.gcs_server import serve
from tests.store.test_contract import checkpoint_set
from tests.store.values import KEY, finish, manifest, publish
from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.manifest import Manifest
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.store.durable import DurableStore
from translations_assets.store.gc import collect
from translations_assets.store.open import open_store
from translations_assets.store.overlay import OverlayStore
from translations_assets.store.verify import verify

State = dict[str, tuple[int, int, int, bytes]]


def state(folder: Path) -> State:
    """Everything of a folder's files that a writer could change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        known = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = known.st_mode, known.st_mtime_ns, known.st_nlink, data
    return found


@dataclass
class Pair:
    """A store over production's, and what was made there; `check` fails once production was written."""

    store: OverlayStore
    made: Manifest
    check: Callable[[], None]


def fill(base: Store, folder: Path) -> Manifest:
    """Fill production's store: a finished step, its log, ref and run, a config, and a training half done."""
    made = finish(base, "merge-corpus", {"corpus": b"text of production"})
    base.append_log(made.key, 1, 1, 0, b"production's log\n")
    publish(base, "run-production", 1.0, made)
    base.write_run("run-production", RunRecord("run-production", "en-ru", ended=2.0))
    base.add_config("en-ru.pasted", "experiment: {}\n")
    with base.owners.lock(KEY, 1):
        base.add_checkpoint(KEY, 1, "000100", checkpoint_set(folder / "set", "of production"))
    return made


@pytest.fixture(params=["folder", "bucket"])
def pair(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.delenv("TRANSLATIONS_CACHE", raising=False)
    if request.param == "folder":
        made = fill(open_store(str(tmp_path / "production")), tmp_path)
        before = state(tmp_path / "production")

        def check() -> None:
            assert state(tmp_path / "production") == before

        store = open_store(str(tmp_path / "own"), str(tmp_path / "production"))
        assert isinstance(store, OverlayStore)
        yield Pair(store, made, check)
        check()
        return
    with serve("production", "mine") as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        made = fill(open_store("gs://production/store"), tmp_path)
        server.requests.clear()
        writing = "^(POST|PUT|PATCH|DELETE) .*/b/production/"
        server.faults.append(Fault("status", 1 << 30, writing, 403))  # `roles/storage.objectViewer`

        def refused() -> None:
            assert not [
                request for request in server.requests if "/b/production/" in request and "GET" not in request
            ]

        store = open_store("gs://mine/store", "gs://production/store")
        assert isinstance(store, OverlayStore)
        yield Pair(store, made, refused)
        refused()


def test_all_that_production_has_is_found(pair: Pair, tmp_path: Path) -> None:
    store, made = pair.store, pair.made
    assert store.latest(made.key) == made
    assert store.generation(made.key, 1) == made
    assert list(store.manifests()) == [made]
    blob = made.outputs["corpus"]
    assert store.has_blob(blob)
    assert store.read_blob(blob) == b"text of production"
    store.place_blob(blob, tmp_path / "corpus")
    assert (tmp_path / "corpus").read_bytes() == b"text of production"
    assert (tmp_path / "corpus").stat().st_nlink == 1, "no second name of production's file"
    assert list(store.read_log(made.key, 1, 1)) == [b"production's log\n"]
    assert [ref.run for ref in store.refs("ann/main", "en-ru", "merge_corpus")] == ["run-production"]
    assert store.runs() == ["run-production"]
    assert store.config_names() == ["en-ru.pasted"]
    assert store.config("en-ru.pasted") == "experiment: {}\n"
    (tmp_path / "placed").mkdir()
    assert store.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000100"]


def test_ones_own_result_wins_over_the_bases_of_the_same_generation(pair: Pair) -> None:
    """Both have made the step, and not the same bytes: what one's own runs have used counts for them."""
    store, made = pair.store, pair.made
    mine = store.commit(
        manifest({"corpus": store.add_bytes(b"text of mine")}, key=made.key, generation=made.generation)
    )
    assert mine.outputs != made.outputs
    assert store.latest(made.key) == mine
    assert store.generation(made.key, made.generation) == mine
    assert [*store.manifests()] == [mine]


def test_ones_own_refs_come_before_production_s(pair: Pair) -> None:
    store = pair.store
    mine = finish(store, "merge-mine", {"corpus": b"mine"})
    publish(store, "run-mine", 0.5, mine)  # although it was published earlier
    assert [ref.run for ref in store.refs("ann/main", "en-ru", "merge_corpus")] == [
        "run-mine",
        "run-production",
    ]


def test_all_that_is_made_stands_in_ones_own(pair: Pair, tmp_path: Path) -> None:
    store, made = pair.store, pair.made
    assert store.add_bytes(b"text of production") == made.outputs["corpus"]
    again = store.commit(manifest(dict(made.outputs), key=made.key, generation=2))
    assert store.latest(made.key) == again
    assert store.own.latest(made.key) == again
    assert store.base.latest(made.key) == made
    with store.owners.lock(KEY, 1) as mine, store.owners.waiting(KEY, 1):
        assert mine
        store.append_log(made.key, 1, 2, 0, b"my log\n")
        store.add_checkpoint(KEY, 1, "000200", checkpoint_set(tmp_path / "mine", "mine"))
    assert store.attempts(made.key, 1) == [1, 2]
    assert list(store.read_log(made.key, 1, 2)) == [b"my log\n"]
    (tmp_path / "placed").mkdir()
    assert store.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000200"]
    store.drop_checkpoints(KEY, 1)
    publish(store, "run-mine", 0.5, made)
    assert [ref.run for ref in store.refs("ann/main", "en-ru", "merge_corpus")] == [
        "run-mine",
        "run-production",
    ]
    store.write_run("run-mine", RunRecord("run-mine"))
    store.owners.disown([(made.key, 1)])
    assert store.runs() == ["run-mine", "run-production"]
    store.pin("run-mine", "mine")
    with pytest.raises(StoreError, match="which is only read"):
        store.pin("run-production", "not mine")
    assert list(store.pins()) == ["run-mine"]
    store.unpin("run-mine")
    store.add_config("en-ru.mine", "experiment: {}\n")
    with pytest.raises(StoreError, match="never replaced"):
        store.add_config("en-ru.pasted", "experiment: {src: en}\n")


def test_upkeep_is_of_ones_own_part(pair: Pair) -> None:
    """Refs and runs that name results of production are no damage, and nothing of production is collected."""
    store, made = pair.store, pair.made
    publish(store, "run-mine", 3.0, made)
    store.write_run("run-mine", RunRecord("run-mine", uses={made.label: (made.key, 1)}, ended=3.0))
    store.pin("run-mine", "uses production's corpus")
    finish(store, "vocab", {"vocab.spm": b"pieces"}, {"corpus/corpus": made.outputs["corpus"]})
    assert isinstance(store.own, DurableStore)
    assert verify(store.own, base=store.base).problems == []
    assert {problem.kind for problem in verify(store.own).problems} == {"missing"}, "without its base"
    collect(store.own, Rules(keep_days=0, keep_refs=0, grace_days=0), delete=True)
    assert store.latest(made.key) == made
    assert store.has_blob(made.outputs["corpus"])


def test_damage_of_production_is_told_and_left_there(tmp_path: Path) -> None:
    production = open_store(str(tmp_path / "production"))
    made = fill(production, tmp_path)
    assert isinstance(production, DurableStore)
    corpus = production.blob_file(made.outputs["corpus"].digest)
    corpus.chmod(0o644)
    corpus.write_bytes(b"TEXT of production")
    before = state(tmp_path / "production")
    store = open_store(str(tmp_path / "own"), str(tmp_path / "production"))
    for use in (store.read_blob, lambda blob: store.place_blob(blob, tmp_path / "placed")):
        with pytest.raises(DamagedError, match=r"left there, because the store is read-only.*--start STAGE"):
            use(made.outputs["corpus"])
    assert state(tmp_path / "production") == before
    path = production.manifest_file(made.key, 1)
    path.chmod(0o644)
    path.write_bytes(b"torn")
    before = state(tmp_path / "production")
    assert store.latest(made.key) is None
    assert state(tmp_path / "production") == before
    assert store.damaged() == {}, "it stands where it was"


def test_what_was_put_aside_in_either_is_known(tmp_path: Path) -> None:
    production, own = (open_store(str(tmp_path / name)) for name in ("production", "own"))
    for store, generations in ((production, (1, 2)), (own, (3,))):
        assert isinstance(store, DurableStore)
        made = finish(store, "merge", {"corpus": b"text"})
        for number in generations:
            path = store.manifest_file(made.key, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(b"torn")
            assert store.generation(made.key, number) is None
    both = open_store(str(tmp_path / "own"), str(tmp_path / "production"))
    assert (production.damaged(), both.damaged()) == ({made.key: 2}, {made.key: 3})


def test_both_are_opened_by_one_url(tmp_path: Path) -> None:
    (tmp_path / "base of all").mkdir()
    store = open_store(str(tmp_path / "own"), str(tmp_path / "base of all"))
    again = open_store(store.url)
    assert isinstance(again, OverlayStore)
    assert (again.own.url, again.base.url) == (
        (tmp_path / "own").as_uri(),
        (tmp_path / "base of all").as_uri(),
    )
    assert again.url == store.url
    assert open_store("gs://mine/store?base=gs%3A%2F%2Fproduction%2Fstore").url == (
        "gs://mine/store?base=gs%3A%2F%2Fproduction%2Fstore"
    )


@pytest.mark.parametrize(("own", "base"), [("s", "s"), ("s/own", "s"), ("s", "s/base")])
def test_one_store_does_not_stand_in_the_other(own: str, base: str, tmp_path: Path) -> None:
    (tmp_path / base).mkdir(parents=True)
    with pytest.raises(StoreError, match="one is inside the other"):
        open_store(str(tmp_path / own), str(tmp_path / base))


def test_a_base_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no store .*nowhere to read"):
        open_store(str(tmp_path / "own"), str(tmp_path / "nowhere"))
