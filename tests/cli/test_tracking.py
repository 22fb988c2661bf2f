"""`tensorboard` and `wandb`: what tools that track experiments get is what the store has."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import wandb

from tests.checks.numbers import training
from tests.cli.conftest import Command, make
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from tests.tracked import Curve, by_name, curve_of, in_tensorboard, in_wandb
from tests.wandb_server import wandb_server, without_a_key
from translations_assets.project import Project
from translations_assets.running.job import Job

TRAINED = ("train-backwards-en-eo", "train-teacher-en-eo-1", "train-student-en-eo", "finetune-student-en-eo")
MODULES = {"tensorboard": "cli.report", "wandb": "tracking.wandb_runs"}


class Trainings(MadeUpRunner):
    """Curves with numbers that are hard to keep, another one for each training."""

    def _contents(self, job: Job, name: str) -> bytes:
        if name != "metrics.json" or not job.label.startswith(("train-", "finetune-")):
            return super()._contents(job, name)
        factor = len(job.label)
        made = training(*(factor / number for number in (7, 3, 1.1)), entropy=[0.1, 1e-7, 5.40316])
        more = {"epoch": 2, "sentences": 4321, "cost": 2 / factor, "words_per_second": 1234.5}
        made["curve"].append({"kind": "train", "update": 300, **more, "learn_rate": None})
        return json.dumps(made).encode()


@pytest.fixture
def in_store(place: Place) -> Mapping[str, Curve]:
    """Training → its curve, as it stands in the store: update → numbers."""
    make("evaluate_exported", runner=Trainings())
    project = Project()
    session = project.session("reading", PARTITION)
    found: dict[str, Curve] = {}
    for label in TRAINED:
        session.results.need([step := session.graph.step(label)])
        points = json.loads(project.store.read_blob(session.results.result_of(step).outputs["metrics.json"]))[
            "curve"
        ]
        found[label] = curve_of(points)
    return found


def test_tensorboard_reads_the_curves_of_the_store(
    command: Command, place: Place, in_store: Mapping[str, Curve]
) -> None:
    said = command("tensorboard", PARTITION)
    folder = place.root / "tensorboard" / PARTITION
    assert said.out == (
        f"tensorboard/{PARTITION}: 5 files written\nTo look at them: tensorboard --logdir tensorboard\n"
    )
    assert {path.name for path in folder.iterdir()} == {*TRAINED, "scores"}
    for label, curve in in_store.items():
        (run,) = (folder / label).iterdir()
        found = in_tensorboard(run)
        for name, points in by_name(curve).items():
            assert found[name] == [
                (update, float(np.float32(value))) for update, value in points
            ]  # all it shows
        assert found["updates"] == [(300, 300.0)]
        assert found["machine/duration"] == [(300, 0.0)]
    (scores,) = (folder / "scores").iterdir()
    assert in_tensorboard(scores)["exported/tiny/chrf"] == [(0, 2.0)]
    assert in_tensorboard(scores)["exported/tiny/words_per_second"] == [(0, 2500.0)]


def test_files_for_tensorboard_are_written_once(command: Command, place: Place) -> None:
    make("evaluate_backwards")
    command("tensorboard", PARTITION, "-o", "curves")
    files = [path for path in (place.root / "curves").rglob("*") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in files}
    assert json.loads(command("tensorboard", PARTITION, "-o", "curves", "--json").out)["written"] == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.fixture
def own_wandb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with without_a_key(monkeypatch, tmp_path):
        yield


@pytest.mark.usefixtures("own_wandb")
def test_weights_and_biases_gets_the_curves_of_the_store(
    command: Command, place: Place, in_store: Mapping[str, Curve]
) -> None:
    said = command("wandb", PARTITION, "--offline")
    assert said.out.startswith("5 runs written\nTo send them: wandb sync ")
    folder = Path(place.environment["TRANSLATIONS_STATE"]) / "wandb"
    found = in_wandb(folder)
    assert found.keys() == {*TRAINED, "scores"}
    for label, curve in in_store.items():
        run, rows, told = found[label]
        assert (run.project, run.run_group) == ("en-eo", PARTITION)
        assert rows == curve  # to the last digit
        assert told["updates"] == 300
        assert told["machine/duration"] == 0.0
    run, rows, told = found["scores"]
    assert rows == []
    assert (told["exported/tiny/chrf"], told["exported/tiny/chrf_interval"]) == (2.0, 0.5)
    config = {item.key: json.loads(item.value_json) for item in run.config.update}
    assert config["experiment"]["spm-vocab-size"] == 400
    # Of the same results nothing is sent twice
    again = command("wandb", PARTITION, "--offline", "--json")
    assert json.loads(again.out) == {"sent": [], "known": [*TRAINED, "scores"], "pages": {}}
    assert in_wandb(folder).keys() == found.keys()


@pytest.mark.usefixtures("own_wandb")
def test_what_a_server_has_is_not_sent_again(
    command: Command, place: Place, in_store: Mapping[str, Curve], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789" * 4)
    with wandb_server() as server:
        monkeypatch.setenv("WANDB_BASE_URL", server.url)
        wandb.teardown()
        said = command("wandb", PARTITION)
        assert said.out.startswith(f"5 runs sent\n{server.url}/someone/en-eo/runs/")
        assert server.curves() == {**in_store, "scores": []}
        requests = server.requests
        assert command("wandb", PARTITION).out.startswith("0 runs sent, 5 before\n")
        assert server.requests == requests
        # Another machine does not know what was sent, and its server does
        monkeypatch.setenv("TRANSLATIONS_STORE", str(place.store.root))
        monkeypatch.setenv("TRANSLATIONS_STATE", str(place.root / "another"))
        assert command("wandb", PARTITION).out.startswith("5 runs sent\n")
        assert server.requests > requests
        assert server.curves() == {**in_store, "scores": []}


@pytest.mark.usefixtures("own_wandb")
def test_without_a_key_nothing_is_sent(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("evaluate_backwards")
    monkeypatch.setattr(wandb, "init", None)
    said = command("wandb", PARTITION)
    assert said.code == 1
    assert said.err.startswith("error: No key of Weights & Biases was found, and nothing was sent. Set WANDB")
    monkeypatch.setenv("WANDB_MODE", "disabled")
    wandb.teardown()
    assert command("wandb", PARTITION).err == (
        "error: WANDB_MODE=disabled switches Weights & Biases off: nothing was sent.\n"
    )
    assert not (Path(place.environment["TRANSLATIONS_STATE"]) / "wandb").exists()


def test_what_is_not_installed_is_told(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("evaluate_backwards")
    for name in ("tensorboard", "wandb"):
        monkeypatch.setattr(f"translations_assets.{MODULES[name]}.find_spec", lambda name: None)
        assert command(name, PARTITION).err == (
            f"error: The library {name} is not installed. Install the extra `tracking`: "
            "pip install 'translations-assets[tracking]'; in a checkout: make install-tracking\n"
        )
