"""Commands at three levels of trust: what each sees, and what becomes of a result of a lower level."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.store import s3_levels
from tests.store.s3_levels import NAMES, Guarded

CORPUS, VOCAB = "merge-corpus-en-eo", "train-vocab-en-eo"
At = Callable[[str], AbstractContextManager[None]]


@pytest.fixture
def in_folders(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> At:
    """Be at a level within a block; the places are folders."""
    return at_levels(place, monkeypatch, {name: str(place.root / name) for name in NAMES})


@pytest.fixture
def guards() -> Iterator[Guarded]:
    with s3_levels.guarded() as guards:
        guards.doors["release"].clear()
        yield guards


@pytest.fixture
def in_buckets(command: Command, place: Place, guards: Guarded, monkeypatch: pytest.MonkeyPatch) -> At:
    """Be at a level within a block, with the rights of its account alone."""
    return at_levels(place, monkeypatch, s3_levels.PLACES, guards.acting)


def at_levels(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    places: dict[str, str],
    acting: At = lambda level: nullcontext(),
) -> At:
    """Write a deployment file, which all levels share."""
    levels = [{"name": name, "store": store} for name, store in places.items()]
    (place.root / "deployment.yml").write_text(json.dumps({"level": "anyone", "levels": levels}))
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(place.root / "deployment.yml"))
    monkeypatch.delenv("TRANSLATIONS_STORE", raising=False)

    @contextmanager
    def at(level: str) -> Iterator[None]:
        with acting(level), pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRANSLATIONS_LEVEL", level)
            yield

    return at


def mark_all(command: Command, at: At) -> None:
    for name in NAMES:
        with at(name):
            said = command("levels", "--mark")
            assert said.code == 0, said.err


def planned(command: Command, target: str) -> dict[str, str]:
    """Label → status."""
    said = command("plan", PARTITION, "--target", target, "--json")
    assert said.code == 0, said.err
    return {step["label"]: step["status"] for step in json.loads(said.out)["steps"]}


def levels_now(command: Command) -> dict[str, str]:
    """Label → the level of the result that counts, of each step that has one."""
    rows = json.loads(command("status", PARTITION, "--json").out)["steps"]
    return {row["label"]: row["level"] for row in rows if row["level"]}


def test_results_are_reused_downwards_alone(command: Command, in_buckets: At, guards: Guarded) -> None:
    mark_all(command, in_buckets)
    with in_buckets("anyone"):
        make("merge_corpus", "run-anyone")
        assert planned(command, "merge_corpus")[CORPUS] == "cached"
    for higher in ("branch", "release"):
        with in_buckets(higher):
            assert "cached" not in planned(command, "merge_corpus").values(), "anyone's results are not seen"
            assert "run-anyone" not in command("status").out
    with in_buckets("release"):
        make("merge_corpus", "run-release")
    before = guards.state("release")
    with in_buckets("branch"):
        assert planned(command, "merge_corpus")[CORPUS] == "cached"
        make("train_vocab", "run-branch")
        levels = levels_now(command)
        assert (levels[CORPUS], levels[VOCAB]) == ("release", "branch")
        assert set(levels.values()) == {"release", "branch"}
    with in_buckets("anyone"):
        levels = levels_now(command)
        assert (levels[CORPUS], levels[VOCAB]) == ("anyone", "branch"), "one's own comes first"
        assert planned(command, "train_vocab")[VOCAB] == "cached"
    with in_buckets("release"):
        assert planned(command, "train_vocab")[VOCAB] == "run", "a branch's results are not seen"
        assert command("cache", "verify").out.endswith("All is whole.\n")
    assert guards.state("release") == before


def test_rights_are_tried_out(command: Command, in_buckets: At, guards: Guarded) -> None:
    mark_all(command, in_buckets)
    before = guards.state("release"), guards.state("branch")
    with in_buckets("branch"):
        said = command("levels", "--try")
        assert (said.code, said.out.splitlines()) == (
            0,
            [
                "release  s3://trust-release/store  (read, marked as release, you may not write it)",
                "branch   s3://trust-branch/store  (written, marked as branch, you may write it)",
                "anyone   s3://trust-anyone/store  (never opened)",
            ],
        )
    assert (guards.state("release"), guards.state("branch")) == before
    with in_buckets("branch"), guards.widened("branch", "release"):
        said = command("levels", "--try", "--json")
        assert said.code == 1
        assert [row["is_writable"] for row in json.loads(said.out)] == [True, True, None]


def test_a_place_is_marked_before_it_is_used(command: Command, in_folders: At, place: Place) -> None:
    with in_folders("release"):
        refused = command("plan", PARTITION)
        assert refused.code == 1
        assert "TRANSLATIONS_LEVEL=release translations levels --mark" in refused.err
        assert "(written, not marked)" in command("levels").out
        assert "(written, marked as release)" in command("levels", "--mark").out
        assert command("plan", PARTITION).code == 0
    (place.root / "release").rename(place.root / "branch")  # as a deployment file that names the wrong folder
    with in_folders("branch"):
        (place.root / "release").mkdir()
        assert "is the store of the level release" in command("levels", "--mark").err


def test_settings_that_contradict_levels_are_refused(
    command: Command, in_folders: At, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark_all(command, in_folders)
    for name in ("TRANSLATIONS_STORE", "TRANSLATIONS_STORE_BASE"):
        with in_folders("release"), pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, str(place.root / "anyone"))
            assert "Unset TRANSLATIONS_STORE" in command("plan", PARTITION).err
    with in_folders("pr"):
        assert "there is no level pr" in command("plan", PARTITION).err
    with in_folders("anyone"):
        monkeypatch.delenv("TRANSLATIONS_DEPLOYMENT")
        assert "no deployment file has `levels`" in command("plan", PARTITION).err
        assert command("levels").code == 1


def test_only_results_of_the_highest_level_are_published(
    command: Command, in_folders: At, place: Place
) -> None:
    mark_all(command, in_folders)
    with in_folders("release"):
        make("train_student", "run-release")
    with in_folders("branch"):
        make("evaluate_exported", "run-branch", checks=True)
        asked = command("publish", PARTITION, "released")
        assert asked.code == 0, asked.err
        assert "results of lower levels of trust, which are not published" in asked.err
        refused = command("publish", PARTITION, "released", "--write")
        assert refused.code == 1
        assert "Only results of the level release are published" in refused.err
        assert " of branch among " in refused.err
        command("report", PARTITION, "--output", "report.html")
        page = (place.root / "report.html").read_text()
        assert "results by level of trust: " in page
        assert "<th>level of trust</th>" in page
        assert "<td>1 branch</td>" in page
        assert "<td>1 release</td>" in page
    assert not (place.root / "released").exists()
    with in_folders("release"):
        make("evaluate_exported", "run-release-2", checks=True)
        assert command("publish", PARTITION, "released", "--write").code == 0
    (card,) = (place.root / "released").rglob("README.md")
    assert "Results by level of trust, which says who may have written them: " in card.read_text()
    assert "branch" not in card.read_text()
