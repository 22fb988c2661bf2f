"""Tests of pipeline.train.checkpoints."""

import os
from pathlib import Path

import numpy as np
import pytest

from pipeline.train.checkpoints import (
    MODEL,
    OPTIMIZER,
    PROGRESS,
    SET,
    Checkpoints,
    Place,
    Progress,
    find_fault,
    read_progress,
    saved_at,
)


def save_like_marian(folder: Path, update: int) -> None:
    """Write model, progress and optimizer in Marian's order."""
    folder.mkdir(exist_ok=True)
    weights = np.full(2000, float(update))
    for number, name in enumerate((MODEL, PROGRESS, OPTIMIZER)):
        if name == PROGRESS:
            (folder / name).write_text(
                f"epochs: 1\nbatches: {update}\nsamples: {update * 32}\nseed-batch: 1 2 3"
            )
        else:
            np.savez(folder / "new.npz", weights=weights)
            (folder / "new.npz").rename(folder / name)
        time = (update * 10 + number) * 1_000_000_000
        os.utime(folder / name, ns=(time, time))


def keep(checkpoints: Checkpoints, folder: Path, update: int) -> None:
    files = sorted(folder.iterdir())
    checkpoints.save(folder, files, Place(update, stage=1, feed={"lines": update}))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Checkpoints, Path, Path]:
    """Two saves of a training, after 10 and 20 updates, and a folder for the next attempt."""
    checkpoints, work = Checkpoints(tmp_path / "sets"), tmp_path / "work"
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
    assert checkpoints.restore(new) == Place(20, 1, {"lines": 20})
    assert read_progress(new) == Progress(update=20, epochs=1, samples=640)
    assert np.load(new / MODEL)["weights"][0] == 20


def test_a_later_save_leaves_earlier_sets_as_they_were(folders: tuple[Checkpoints, Path, Path]) -> None:
    oldest = sorted(folders[1].iterdir())[0]
    assert find_fault(oldest) is None
    assert np.load(oldest / OPTIMIZER)["weights"][0] == 10


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def flip_a_byte(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.unlink()
    file.write_bytes(bytes(data))


def other_update(file: Path) -> None:
    file.write_text(file.read_text().replace("batches: 20", "batches: 21"))


@pytest.mark.parametrize(
    ("damage", "name", "fault"),
    [
        (Path.unlink, OPTIMIZER, "FileNotFoundError"),
        (Path.unlink, SET, "FileNotFoundError"),
        (truncate, OPTIMIZER, "another size"),
        (flip_a_byte, MODEL, "BadZipFile"),
        (other_update, PROGRESS, "the update counts disagree"),
    ],
)
def test_a_damaged_set_is_passed_over(
    folders: tuple[Checkpoints, Path, Path], damage: object, name: str, fault: str
) -> None:
    checkpoints, sets, new = folders
    newest = sorted(sets.iterdir())[-1]
    assert callable(damage)
    damage(newest / name)
    assert fault in str(find_fault(newest))
    place = checkpoints.restore(new)
    assert place is not None
    assert place.update == 10
    assert np.load(new / OPTIMIZER)["weights"][0] == 10


def test_a_set_without_an_optimizer_is_no_set(tmp_path: Path) -> None:
    work = tmp_path / "work"
    save_like_marian(work, 5)
    Checkpoints(tmp_path / "sets").save(work, [work / MODEL, work / PROGRESS], Place(5, 0, None))
    assert Checkpoints(tmp_path / "sets").restore(tmp_path) is None


def test_without_sets_training_begins_anew(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "sets").restore(tmp_path) is None
    assert Checkpoints(None).restore(tmp_path) is None


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


def test_files_of_two_saves_are_never_kept_together(tmp_path: Path) -> None:
    work = tmp_path / "work"
    save_like_marian(work, 10)
    later = 10_000 * 1_000_000_000
    os.utime(work / MODEL, ns=(later, later))
    keep(Checkpoints(tmp_path / "sets"), work, 10)
    assert list((tmp_path / "sets").iterdir()) == []
