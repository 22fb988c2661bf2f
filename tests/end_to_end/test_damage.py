"""Files of the store that a power cut or a bad disk has damaged: found, named, made again, and never used."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.end_to_end.damage import (
    HARMS,
    blob_path,
    copy_of,
    files_by_kind,
    harm,
    manifest_path,
    sample,
)
from tests.end_to_end.evidence import digests, newest, store_folder, unequal
from tests.end_to_end.finished import TARGET
from tests.end_to_end.finished import finished as finished_place
from tests.end_to_end.kills import repeatable_labels
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

pytestmark = [pytest.mark.slow, pytest.mark.marian]

TRAINING, VOCABULARY, CORPUS = "train-backwards-en-eo", "train-vocab-en-eo", "merge-corpus-en-eo"
# What nothing else in the store names: that one of these is missing cannot be seen, and changes no result.
UNNAMED = {"refs", "runs", "logs", "store.json"}


@pytest.fixture(scope="module")
def finished() -> Place:
    """The tiny pair up to the evaluation of a model; no test changes it."""
    return finished_place()


@pytest.fixture
def place(finished: Place, tmp_path: Path) -> Place:
    """A copy of it, to be damaged."""
    return copy_of(finished, tmp_path / "place")


def train(place: Place, *more: str) -> CompletedProcess[str]:
    return place.run("translations", "train", PARTITION, "--yes", "--target", TARGET, *more)


def statuses(place: Place, *more: str) -> dict[str, str]:
    """Label → status in the plan."""
    done = place.run("translations", "plan", PARTITION, "--target", TARGET, "--json", *more)
    assert done.returncode in (0, 1), done.stderr
    return {step["label"]: step["status"] for step in json.loads(done.stdout)["steps"]}


def made(done: CompletedProcess[str]) -> set[str]:
    """The labels of the steps that a run made."""
    return set(re.findall(r"\] (\S+) done after", done.stdout))


def assert_whole(place: Place) -> None:
    done = place.run("translations", "cache", "verify")
    assert done.returncode == 0, done.stdout


def assert_same(place: Place, finished: Place) -> None:
    """Every repeatable step has the outputs that it had."""
    before = digests(finished)
    labels = [label for label in repeatable_labels(finished) if label in before]
    assert unequal(before, digests(place), labels) == []


def owners(place: Place, contents: Path) -> set[str]:
    """The labels of the steps that have made these contents."""
    return {
        label
        for label, manifest in newest(place).items()
        if contents.name in {blob.digest for blob in manifest.outputs.values()}
    }


@pytest.mark.parametrize("how", HARMS)
def test_damage_of_any_kind_of_file_is_found_and_named(place: Place, how: str) -> None:
    """One file at a time, of every kind that a store holds."""
    root, chance, unseen = store_folder(place), random.Random(how), []
    kinds = files_by_kind(place)
    assert set(kinds) == {"steps", "refs", "runs", "logs", "origin", "input", "output", "store.json"}
    for kind, paths in kinds.items():
        for path in sample(paths, 2, chance):
            copy, name = place.root / "copy", str(path.relative_to(root))
            shutil.copytree(root, copy)
            harm(copy / name, how)
            if name not in {problem.path for problem in verify(LocalStore(copy)).problems}:
                unseen.append(kind)
            shutil.rmtree(copy)
    assert set(unseen) <= (UNNAMED if how == "missing" else set())


@pytest.mark.parametrize(
    "harms", [("missing",) * 5, ("flipped", "truncated", "truncated", "flipped", "truncated")]
)
def test_what_can_be_repeated_is_made_again_by_the_next_run(
    place: Place, finished: Place, harms: tuple[str, ...]
) -> None:
    """Several files at once: contents, manifest, ref, run record, log."""
    root = store_folder(place)
    contents = blob_path(place, CORPUS, "corpus.en.zst")
    victims = {
        "contents": contents,
        "manifest": manifest_path(place, VOCABULARY),
        "ref": next(iter((root / "refs" / "test" / PARTITION / "merge_devset").iterdir())),
        "run": next(iter((root / "runs").iterdir())),
        "log": root / "logs" / newest(place)[CORPUS].key / "1.1" / "0",
    }
    made_of = owners(place, contents)
    for path, how in zip(victims.values(), harms, strict=True):
        harm(path, how)
    done = place.run("translations", "cache", "verify")
    assert done.returncode == 1
    for name, path in victims.items():
        if "missing" not in harms or name in ("contents", "manifest"):
            assert str(path.relative_to(root)) in done.stdout
    assert VOCABULARY in done.stdout
    assert all(label in done.stdout for label in made_of)

    again = train(place)
    assert again.returncode == 0, again.stderr
    repeated = made(again) - {VOCABULARY}
    assert VOCABULARY in made(again)
    assert repeated  # the first step that makes these contents; the others find them whole
    assert repeated <= made_of
    assert {newest(place)[label].generation for label in repeated} == {2}
    assert_same(place, finished)
    assert_whole(place)


def test_flipped_bytes_that_nobody_has_looked_for_are_never_used(place: Place, finished: Place) -> None:
    """The size is right, so only reading finds it: by the step that is given the file."""
    corpus = blob_path(place, CORPUS, "corpus.en.zst")
    made_of = owners(place, corpus)
    harm(corpus, "flipped")
    manifest_path(place, VOCABULARY).unlink()
    refused = train(place)
    assert refused.returncode == 1
    assert f"The step {VOCABULARY} failed" in refused.stderr
    assert corpus.name in refused.stderr
    assert list((store_folder(place) / "quarantine").glob(f"*{corpus.name}*"))
    again = train(place)
    assert again.returncode == 0, again.stderr
    assert VOCABULARY in made(again)
    assert made(again) - {VOCABULARY} <= made_of
    assert_same(place, finished)


def test_a_damaged_model_that_nobody_needs_stays_as_it_is(place: Place) -> None:
    """Everything made from it is whole."""
    harm(blob_path(place, TRAINING, "model.npz"), "truncated")
    assert set(statuses(place).values()) == {"cached"}
    done = train(place)
    assert (done.returncode, made(done)) == (0, set())


def test_a_lost_model_that_is_needed_waits_until_it_is_repaired(place: Place) -> None:
    evaluation = next(label for label in newest(place) if label.startswith("evaluate-backwards"))
    harm(blob_path(place, TRAINING, "model.npz"), "missing")
    manifest_path(place, evaluation).unlink()
    assert statuses(place)[TRAINING] == "lost"
    refused = train(place)
    assert refused.returncode == 1
    assert made(refused) == set()
    lost = (
        rf"{TRAINING} is lost: model\.npz(, last\.npz are| is) missing.*--repair"  # equal files are kept once
    )
    assert re.search(lost, refused.stderr, re.DOTALL)
    repaired = train(place, "--repair")
    assert repaired.returncode == 0, repaired.stderr
    assert made(repaired) == {TRAINING, evaluation}
    assert newest(place)[TRAINING].generation == 2
    assert_whole(place)


def test_a_training_whose_manifest_is_deleted_waits_until_it_is_repaired(place: Place) -> None:
    """Plan, explanation, status and run say the same. That it is made: test_lost in tests/running."""
    manifest_path(place, TRAINING).unlink()
    reason = "its manifest is missing from the store, although run"
    assert statuses(place)[TRAINING] == "lost"
    explained = place.run("translations", "explain", PARTITION, TRAINING)
    assert f"{TRAINING}: lost\n  {reason}" in explained.stdout
    status = json.loads(place.run("translations", "status", PARTITION, "--json").stdout)
    assert {row["label"]: row["state"] for row in status["steps"]}[TRAINING] == "lost"
    refused = train(place)
    assert refused.returncode == 1
    assert made(refused) == set()
    assert re.search(rf"{TRAINING} is lost: {reason}.*--repair", refused.stderr, re.DOTALL)
    assert statuses(place, "--repair")[TRAINING] == "run"
