"""The job of pasted training configs where no server answers: the training runs in a child of the run."""

import json
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from dagster import DagsterInstance

from tests.cli.test_train import cleaning, make_slow
from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place
from tests.patience import PATIENCE
from translations_assets.instance.home import prepare

pytestmark = pytest.mark.slow

OLD_KEY = '  trg: eo\n  use-opuscleaner: "true"\n'
NO_SERVER = {"TRANSLATIONS_SERVER": "http://127.0.0.1:9"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_place(tmp_path / "place")
    prepare(place.root / "dagster")
    return place


def told(place: Place) -> dict[str, tuple[str, list[str]]]:
    """Job → its run's tag of notes, and the notes in its log."""
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        return {
            run.job_name: (
                run.tags["translations/notes"],
                [log.user_message for log in instance.all_logs(run.run_id) if "note: " in log.user_message],
            )
            for run in instance.get_runs()
        }


def job(place: Place, target: str) -> list[str]:
    """The command that runs the job with the tiny pair's config."""
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text().replace("  trg: eo\n", OLD_KEY, 1)
    config = {"config": text, "name": "pasted", "target": target, "options": {"start": target}}
    path = place.root / "run.json"
    path.write_text(json.dumps({"ops": {"pasted_config": {"config": config}}}))
    module = ("-m", "translations_assets.definitions")
    return ["dagster", "job", "execute", *module, "-j", "train_pasted_config", "--config", str(path)]


def runs(place: Place) -> dict[str, str]:
    """Job → status of its run."""
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        return {run.job_name: run.status.value for run in instance.get_runs()}


def test_it_is_trained_by_a_child(place: Place) -> None:
    done = place.run(*job(place, "dataset_devtest"), **NO_SERVER)
    assert done.returncode == 0, done.stderr
    assert "No Dagster server answers at http://127.0.0.1:9" in done.stderr
    assert runs(place) == {"train_pasted_config": "SUCCESS", "__ASSET_JOB": "SUCCESS"}
    said = "en-eo.pasted in the store:5: experiment.use-opuscleaner: a key of 2024; removed: "
    for tag, (note,) in told(place).values():
        assert tag == "1 in the log"
        assert note.startswith(f"note: {said}")
    plan = place.run("translations", "plan", "en-eo.pasted", "--target", "dataset_devtest")
    assert "1 step: 1 cached" in plan.stdout


def test_stopping_it_stops_the_child(place: Place) -> None:
    make_slow(place)
    with (place.root / "out").open("w") as out:
        process = subprocess.Popen(
            [str(BIN / "dagster"), *job(place, "clean_corpus")[1:]],
            env=place.environment | NO_SERVER,
            cwd=place.root,
            stdout=out,
            stderr=out,
        )
    try:
        children = cleaning(process, place)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
        assert not psutil.wait_procs(children, timeout=PATIENCE)[1]
    finally:
        process.kill()
        process.wait()
    assert runs(place) == {"train_pasted_config": "CANCELED", "__ASSET_JOB": "CANCELED"}


def test_a_config_that_is_nested_too_deeply_fails_the_run_and_not_its_process(place: Place) -> None:
    command = job(place, "dataset_devtest")
    path = Path(command[-1])
    asked = json.loads(path.read_text())
    asked["ops"]["pasted_config"]["config"]["config"] = "a: " + "{a: " * 50_000 + "}" * 50_000
    path.write_text(json.dumps(asked))
    done = place.run(*command, **NO_SERVER)
    assert done.returncode > 0  # not a signal
    assert "the pasted config:1: is nested more than 100 levels deep" in done.stderr
    assert runs(place) == {"train_pasted_config": "FAILURE"}
