"""The tiny pair on a real Slurm: the same keys and bytes as on one machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.evidence import results
from tests.end_to_end.kills import differences
from tests.end_to_end.on_cluster import Site
from tests.end_to_end.on_slurm import make_slurm_place
from tests.end_to_end.tiny import PARTITION, make_place
from tests.runners.scripts import eventually, leftovers
from tests.slurm.daemons import Slurm, missing_programs

pytestmark = [pytest.mark.slow, pytest.mark.marian]
TARGET = "evaluate_backwards"
REPEATABLE = "train_vocab"  # all that it needs is repeatable, as it is itself


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """A Slurm of two nodes."""
    if missing := missing_programs():
        pytest.skip(f"Slurm is not installed: {', '.join(missing)}")
    made = Slurm()
    yield made
    made.close()


def test_steps_on_slurm_have_the_keys_and_bytes_of_a_local_run(slurm: Slurm, tmp_path: Path) -> None:
    place = make_slurm_place(tmp_path / "place", slurm)
    done = place.run("translations", "train", PARTITION, "--yes", "--target", TARGET)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made = results(place)
    assert {manifest.host for manifest in made.values()} <= set(slurm.nodes)
    assert {manifest.attempt for manifest in made.values()} == {1}
    compared, different = differences(place, tmp_path / "local", TARGET)
    assert compared > 5
    assert different == []
    assert eventually(lambda: not slurm.live())
    assert leftovers(place.root / "state" / "store") == []


@pytest.mark.cluster
def test_slurm_a_cluster_and_one_machine_make_the_same(slurm: Slurm, site: Site, tmp_path: Path) -> None:
    """The same keys and bytes of all steps before the first training, each made anew."""
    places = [
        make_place(tmp_path / "local"),
        make_slurm_place(tmp_path / "slurm", slurm),
        site.make_place(tmp_path / "cluster"),
    ]
    config = f"configs/{PARTITION}.yml"
    for place in places[1:]:  # the paths of files are a part of keys
        shutil.copyfile(places[0].root / config, place.root / config)
    made = []
    for place in places:
        done = place.run("translations", "train", PARTITION, "--yes", "--target", REPEATABLE)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        found = results(place).items()
        made.append({label: (manifest.key, manifest.outputs) for label, manifest in found})
    assert len(made[0]) > 5
    assert made[1] == made[0]
    assert made[2] == made[0]
