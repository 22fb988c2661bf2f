"""Tests of pipeline.train.checkpoints."""

import json
import logging
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.common.made_from import FILE, MadeFrom
from pipeline.train.checkpoints import (
    FEED,
    MODEL,
    OPTIMIZER,
    OPTIONS,
    PROGRESS,
    SET,
    Checkpoints,
    Place,
    Progress,
    decided_by,
    find_fault,
    read_progress,
    saved_at,
)
from pipeline.train.validations import Validations

INPUT = MadeFrom({}, {"seed": 1})


def save_like_marian(folder: Path, update: int) -> None:
    """Write options, model, progress and optimizer in Marian's order."""
    folder.mkdir(exist_ok=True)
    (folder / OPTIONS).write_text("optimizer-params: [0.9, 0.98, 1e-09]\n")
    weights = np.full(2000, float(update))
    denoms = np.array([[1 - float(np.float32(beta)) ** update for beta in (0.9, 0.98)]])
    for number, name in enumerate((MODEL, PROGRESS, OPTIMIZER)):
        if name == PROGRESS:
            (folder / name).write_text(
                f"epochs: 1\nbatches: {update}\nsamples: {update * 32}\nseed-batch: 1 2 3"
            )
        else:
            np.savez(folder / "new.npz", weights=weights, adam_denoms=denoms)
            (folder / "new.npz").rename(folder / name)
        time = (update * 10 + number) * 1_000_000_000
        os.utime(folder / name, ns=(time, time))


def keep(checkpoints: Checkpoints, folder: Path, update: int) -> None:
    files = sorted(folder.iterdir())
    checkpoints.save(folder, files, Place(update, stage=1, feed={"seen": update}, lines=update * 30))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Checkpoints, Path, Path]:
    """Two saves of a training, after 10 and 20 updates, and a folder for the next attempt."""
    checkpoints, work = Checkpoints(tmp_path / "sets", INPUT), tmp_path / "work"
    for update in (10, 20):
        save_like_marian(work, update)
        keep(checkpoints, work, update)
    new = tmp_path / "new"
    new.mkdir()
    return checkpoints, tmp_path / "sets", new


def test_names_sort_by_age(folders: tuple[Checkpoints, Path, Path]) -> None:
    names = sorted(path.name for path in folders[1].iterdir())
    assert names == ["000001-update-000000010", "000002-update-000000020"]


def test_the_newest_set_is_restored(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, _, new = folders
    assert checkpoints.restore(new) == Place(20, 1, {"seen": 20}, 600)
    assert read_progress(new) == Progress(update=20, epochs=1, samples=640)
    assert np.load(new / MODEL)["weights"][0] == 20


def test_a_later_save_leaves_earlier_sets_as_they_were(folders: tuple[Checkpoints, Path, Path]) -> None:
    oldest = sorted(folders[1].iterdir())[0]
    assert find_fault(oldest) is None
    assert np.load(oldest / OPTIMIZER)["weights"][0] == 10


def test_the_newest_two_sets_are_kept(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, new = folders
    work = sets.parent / "work"
    for update in (30, 40):
        save_like_marian(work, update)
        keep(checkpoints, work, update)
    left = sorted(path.name for path in sets.iterdir())
    assert left == ["000003-update-000000030", "000004-update-000000040"]
    assert [find_fault(sets / name) for name in left] == [None, None]
    (sets / left[1] / MODEL).unlink()
    assert checkpoints.restore(new) == Place(30, 1, {"seen": 30}, 900)


def test_a_save_that_is_spoilt_removes_no_set(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, _ = folders
    work = sets.parent / "work"
    later = 10_000 * 1_000_000_000
    os.utime(work / MODEL, ns=(later, later))  # the next save has begun
    before = sorted(sets.iterdir())
    keep(checkpoints, work, 30)
    assert sorted(sets.iterdir()) == before


def test_a_save_that_begins_while_files_are_taken_is_no_set(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, _ = folders
    work = sets.parent / "work"
    before = sorted(sets.iterdir())

    def files() -> Iterator[Path]:
        yield work / MODEL
        save_like_marian(work, 30)
        yield from (work / PROGRESS, work / OPTIMIZER)

    checkpoints.save(work, files(), Place(20, stage=1, feed=None))
    assert sorted(sets.iterdir()) == before


def test_what_a_killed_attempt_was_writing_is_removed(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, new = folders
    others = [sets / ".000003-update-000000030", sets / ".of-a-person"]
    before = {*sets.iterdir(), others[1]}
    for path in others:
        path.mkdir()
        (path / MODEL).write_text("half")
    assert checkpoints.restore(new) == Place(20, 1, {"seen": 20}, 600)
    assert {*sets.iterdir()} == before


def test_what_is_undone_of_a_validation_leaves_the_save_whole(tmp_path: Path) -> None:
    save_like_marian(tmp_path / "work", 20)
    Validations(tmp_path / "work", ["chrf"], anew=False).undo_last()
    assert saved_at(tmp_path / "work") == tuple((200 + number) * 10**9 for number in range(3))


@pytest.mark.parametrize(
    "changed",
    [
        *({name: "b"} for name in ("src", "trg", "modifiers", "seed", "best_model")),
        *({name: True} for name in ("bicameral", "phonemic")),
    ],
)
def test_every_argument_that_shapes_the_text_belongs_to_what_a_set_is_made_from(
    changed: dict[str, object], tmp_path: Path
) -> None:
    file = tmp_path / "text"
    file.write_text("{}")
    names = ("source_vocab", "target_vocab", "dev_src", "dev_trg", "curriculum")
    texts = dict.fromkeys(("src", "trg", "modifiers", "seed", "best_model"), "a")
    args: dict[str, object] = {**dict.fromkeys(names, file), **texts, "pretrained": None, "state": None}
    args |= {"bicameral": False, "phonemic": False, "finetune": None, "old_text": 0.0}
    facts = [decided_by(Namespace(**{**args, **more}), {}, {}).facts for more in ({}, changed)]
    assert facts[0] != facts[1]


def test_the_share_of_old_text_counts_where_there_is_text_to_finetune_on(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("{}")
    names = ("source_vocab", "target_vocab", "dev_src", "dev_trg", "curriculum")
    args: dict[str, object] = dict.fromkeys(names, file)
    args |= dict.fromkeys(("src", "trg", "modifiers", "seed", "best_model", "pretrained", "state"))
    args |= {"bicameral": False, "phonemic": False}

    def facts(finetune: Path | None, old_text: float) -> object:
        return decided_by(Namespace(**args, finetune=finetune, old_text=old_text), {}, {}).facts

    assert facts(file, 0.5) != facts(file, 0.25)
    assert facts(None, 0.5) == facts(None, 0.25)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def flip_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.unlink()
    file.write_bytes(bytes(data))


def other_update(file: Path) -> None:
    file.write_text(file.read_text().replace("batches: 20", "batches: 21"))


def broken_yaml(file: Path) -> None:
    file.write_text("{" + file.read_text()[1:])


def of_the_save_before(file: Path) -> None:
    """The file of the set before, of the same size."""
    older = min(file.parent.parent.iterdir()) / file.name
    file.unlink()
    file.write_bytes(older.read_bytes())


def without_opustrainer(file: Path) -> None:
    """A set that never had OpusTrainer's state."""
    file.unlink()
    facts = json.loads((file.parent / SET).read_text())
    del facts["files"][FEED]
    (file.parent / SET).write_text(json.dumps(facts))


def while_it_was_written(file: Path) -> None:
    """Marian rewrites the file in place: for a moment it is empty."""
    file.write_text("")
    facts = json.loads((file.parent / SET).read_text())
    facts["files"][file.name] = 0
    (file.parent / SET).write_text(json.dumps(facts))


def ahead_of_marian(file: Path) -> None:
    """A state that more lines had led to than Marian trained on, 640."""
    file.write_text(file.read_text().replace('"lines": 600', '"lines": 641'))


Damage = Callable[[Path], object]
DAMAGES: list[tuple[Damage, str, str]] = [
    (Path.unlink, OPTIMIZER, "FileNotFoundError"),
    (Path.unlink, MODEL, "FileNotFoundError"),
    (Path.unlink, PROGRESS, "FileNotFoundError"),
    (Path.unlink, FEED, "FileNotFoundError"),
    (Path.unlink, SET, "FileNotFoundError"),
    (without_opustrainer, FEED, "feed.json is missing"),
    (truncate, MODEL, "another size"),
    (truncate, OPTIMIZER, "another size"),
    (flip_a_byte, MODEL, "BadZipFile"),
    (flip_a_byte, OPTIMIZER, "BadZipFile"),
    (other_update, PROGRESS, "the update counts disagree"),
    (of_the_save_before, PROGRESS, "the update counts disagree"),
    (of_the_save_before, OPTIMIZER, "model.npz.optimizer.npz is not of update 20"),
    (of_the_save_before, FEED, "the update counts disagree"),
    (ahead_of_marian, FEED, "the feed had given out 641 lines, and Marian trained on 640"),
    (broken_yaml, PROGRESS, "Error"),
    (while_it_was_written, OPTIONS, "Error"),
    (while_it_was_written, PROGRESS, "Error"),
]


@pytest.mark.parametrize(("damage", "name", "fault"), DAMAGES)
def test_a_damaged_set_is_passed_over_and_the_log_says_why(
    folders: tuple[Checkpoints, Path, Path],
    damage: Damage,
    name: str,
    fault: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    checkpoints, sets, new = folders
    newest = sorted(sets.iterdir())[-1]
    damage(newest / name)
    assert fault in str(find_fault(newest))
    with caplog.at_level(logging.INFO):
        assert checkpoints.restore(new) == Place(10, 1, {"seen": 10}, 300)
    assert np.load(new / OPTIMIZER)["weights"][0] == 10
    assert f"Checkpoint {newest.name} is damaged" in caplog.text
    assert fault in caplog.text
    assert "Going on from checkpoint 000001-update-000000010" in caplog.messages


def test_when_no_set_is_whole_training_begins_anew_and_the_log_says_so(
    folders: tuple[Checkpoints, Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    checkpoints, sets, new = folders
    for kept in sets.iterdir():
        (kept / OPTIMIZER).unlink()
    with caplog.at_level(logging.INFO):
        assert checkpoints.restore(new) is None
    assert [text.split(" (")[0] for text in caplog.messages] == [
        "Checkpoint 000002-update-000000020 is damaged",
        "Checkpoint 000001-update-000000010 is damaged",
        "No checkpoint: training from the beginning",
    ]
    assert list(new.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["optimizer-params: [0.9, 0.98, 1e-09]\ncost-scaling: [256.0]\n", "optimizer-params:\n  []\n"]
)
def test_an_optimizer_whose_steps_cannot_be_counted_is_taken(
    folders: tuple[Checkpoints, Path, Path], text: str
) -> None:
    """It skips updates, or Marian's own parameters are in use, which the options do not name."""
    newest = max(folders[1].iterdir())
    of_the_save_before(newest / OPTIMIZER)
    options = newest / OPTIONS
    options.write_text(text)
    facts = json.loads((newest / SET).read_text())
    facts["files"][OPTIONS] = options.stat().st_size
    (newest / SET).write_text(json.dumps(facts))
    assert find_fault(newest) is None


def test_a_set_without_an_optimizer_is_no_set(tmp_path: Path) -> None:
    work = tmp_path / "work"
    save_like_marian(work, 5)
    Checkpoints(tmp_path / "sets", INPUT).save(work, [work / MODEL, work / PROGRESS], Place(5, 0, None))
    assert Checkpoints(tmp_path / "sets", INPUT).restore(tmp_path) is None


def test_sets_of_another_training_are_refused_and_stay(folders: tuple[Checkpoints, Path, Path]) -> None:
    _, sets, new = folders
    with pytest.raises(InputError, match="of another input: seed is 2, and was 1"):
        Checkpoints(sets, MadeFrom({}, {"seed": 2})).restore(new)
    assert len([*sets.iterdir()]) == 2
    assert [*new.iterdir()] == []


def test_a_set_that_does_not_tell_its_input_is_damaged(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, new = folders
    newest = max(sets.iterdir())
    facts = json.loads((newest / SET).read_text())
    del facts["files"][FILE]
    (newest / SET).write_text(json.dumps(facts))
    (newest / FILE).unlink()
    place = checkpoints.restore(new)
    assert place is not None
    assert place.update == 10
    assert not (new / FILE).exists()


def test_without_sets_training_begins_anew(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "sets", INPUT).restore(tmp_path) is None
    assert Checkpoints(None, INPUT).restore(tmp_path) is None


def test_a_set_that_is_being_written_does_not_count(folders: tuple[Checkpoints, Path, Path]) -> None:
    checkpoints, sets, new = folders
    newest = sorted(sets.iterdir())[-1]
    newest.rename(sets / f".{newest.name}")
    place = checkpoints.restore(new)
    assert place is not None
    assert place.update == 10


def test_a_save_is_complete_when_the_optimizer_is_written(tmp_path: Path) -> None:
    save_like_marian(tmp_path, 10)
    complete = saved_at(tmp_path)
    assert complete is not None
    later = 10_000 * 1_000_000_000
    os.utime(tmp_path / MODEL, ns=(later, later))  # the next save has begun
    assert saved_at(tmp_path) is None
    (tmp_path / OPTIMIZER).unlink()
    assert saved_at(tmp_path) is None


def test_best_models_of_a_later_validation_do_not_belong_to_a_save(tmp_path: Path) -> None:
    save_like_marian(tmp_path, 10)
    best = tmp_path / f"{MODEL}.best-chrf.npz"
    best.touch()
    os.utime(best, ns=(99 * 10**9, 99 * 10**9))
    assert saved_at(tmp_path) is not None
    os.utime(best, ns=(101 * 10**9, 101 * 10**9))
    assert saved_at(tmp_path) is None


def test_a_save_that_begins_while_files_are_copied_spoils_the_set(tmp_path: Path) -> None:
    work = tmp_path / "work"
    save_like_marian(work, 10)

    def files(next_save: int | None) -> Iterator[Path]:
        yield work / MODEL
        if next_save:
            save_like_marian(work, next_save)
        yield from (work / OPTIMIZER, work / PROGRESS)

    checkpoints = Checkpoints(tmp_path / "sets", INPUT)
    checkpoints.save(work, files(20), Place(10, 0, None))
    assert list((tmp_path / "sets").iterdir()) == []
    checkpoints.save(work, files(None), Place(20, 0, None))
    assert [find_fault(kept) for kept in (tmp_path / "sets").iterdir()] == [None]


def test_files_of_two_saves_are_never_kept_together(tmp_path: Path) -> None:
    work = tmp_path / "work"
    save_like_marian(work, 10)
    later = 10_000 * 1_000_000_000
    os.utime(work / MODEL, ns=(later, later))
    keep(Checkpoints(tmp_path / "sets", INPUT), work, 10)
    assert list((tmp_path / "sets").iterdir()) == []


@pytest.mark.parametrize("name", ["../thesis.npz", "a/../../thesis.npz", "..", "/nowhere/thesis.npz"])
def test_a_set_that_names_files_outside_is_damaged(
    name: str, folders: tuple[Checkpoints, Path, Path], tmp_path: Path
) -> None:
    """The store keeps a set as it came: who may write the store has written its set.json."""
    checkpoints, sets, new = folders
    thesis = tmp_path / "thesis.npz"
    np.savez(thesis, years=np.zeros(9))
    newest = max(sets.iterdir())
    facts = json.loads((newest / SET).read_text())
    np.savez(sets / "thesis.npz", years=np.ones(9))  # what `name` leads to from the set, to be taken
    facts["files"][name] = (sets / "thesis.npz").stat().st_size
    (newest / SET).write_text(json.dumps(facts))
    before = thesis.read_bytes()
    place = checkpoints.restore(new)
    assert place is not None
    assert place.update == 10, "the set before is used"
    assert thesis.read_bytes() == before
