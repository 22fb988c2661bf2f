"""`translations train`: asks, runs, keeps what is finished, and can be interrupted."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from dagster import DagsterInstance

from pipeline.common.lines import write_lines
from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.patience import PATIENCE
from tests.session import once
from tests.terminal import Terminal
from translations_assets.cli import exits
from translations_assets.project import Project

pytestmark = pytest.mark.slow


def statuses(place: Place) -> list[str]:
    """Final statuses of Dagster's runs, newest first."""
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        return [run.status.value for run in instance.get_runs()]


def test_no_means_nothing_happens(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "en-eo.mine.yml"
    path.write_text((place.root / "configs" / f"{PARTITION}.yml").read_text())
    done = place.run("translations", "train", str(path), "--target", "merge_devset", text="n\n")
    assert done.returncode == 1
    assert "Start?" in done.stdout
    assert Project().store.config_names() == []
    words = [str(BIN / "translations"), "train", PARTITION, "--target", "merge_devset"]
    with Terminal(words, place.environment, place.root) as terminal:
        terminal.read_until("Start?", PATIENCE)
        assert terminal.interrupt(PATIENCE) == exits.CANCELLED
    assert "Traceback" not in terminal.said
    assert not (place.root / "dagster").exists()


def test_nothing_to_do(command: Command) -> None:
    make("merge_devset")
    said = command("train", PARTITION, "--target", "merge_devset")
    assert said.code == 0, said.err
    assert "nothing to run" in said.out
    told = json.loads(command("train", PARTITION, "--target", "merge_devset", "--yes", "--json").out)
    check_shape("train", told)
    assert (told["run"], told["state"]) == (None, "nothing to run")


EDITING = """
import sys, typer
from pathlib import Path
from translations_assets.cli.main import main

def edit(question, **_):
    path = Path(sys.argv[-1])
    path.write_text(path.read_text().replace("data/dev.", "data/nothing."))
    return True

typer.confirm = edit
main()
"""


def test_a_config_from_outside_is_trained_and_kept_as_it_was_at_the_question(
    place: Place, tmp_path: Path
) -> None:
    path = tmp_path / "en-eo.mine.yml"
    path.write_text((place.root / "configs" / f"{PARTITION}.yml").read_text())
    done = place.run("python", "-c", EDITING, "train", "--target", "merge_devset", str(path))
    assert "data/nothing." in path.read_text()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "merge-devset-en-eo done" in done.stdout
    assert statuses(place) == ["SUCCESS"]
    plan = place.run("translations", "plan", str(path), "--target", "merge_devset")
    assert "1 cached, 1 run, 1 maybe" in plan.stdout.splitlines()[-1], "the edit counts from now on"
    path.unlink()
    plan = place.run("translations", "plan", "en-eo.mine", "--target", "merge_devset")
    assert plan.returncode == 0, plan.stderr
    assert " run" not in plan.stdout.splitlines()[-1]


def test_a_config_whose_name_cannot_be_a_partition_is_offered_one(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "my eo config.yml"
    path.write_text((place.root / "configs" / f"{PARTITION}.yml").read_text())
    checked = place.run("translations", "config", "check", str(path))
    assert checked.returncode == 0
    assert checked.stdout.startswith(
        f"note: {path}: a partition cannot have the file's name; given by its path"
    )
    plan = place.run("translations", "plan", str(path), "--target", "merge_devset")
    assert plan.returncode == 0, plan.stderr
    assert "planned and trained as en-eo.my-eo-config." in plan.stderr
    words = ("translations", "train", str(path), "--target", "merge_devset")
    assert place.run(*words, text="n\n").returncode == 1
    assert Project().store.config_names() == []
    done = place.run(*words, text="\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Start, as the partition en-eo.my-eo-config? [Y/n]" in done.stdout
    assert Project().store.config_names() == ["en-eo.my-eo-config"]
    again = place.run("translations", "plan", "en-eo.my-eo-config", "--target", "merge_devset")
    assert " run" not in again.stdout.splitlines()[-1]


def test_no_step_reads_a_file_of_the_system(place: Place) -> None:
    """However it is named: the script itself refuses it."""
    values = '["url_file:///etc/passwd"]'
    words = ("--set", f"datasets.mono-src={values}", "--target", "dataset_mono_src", "--yes")
    done = place.run("translations", "train", PARTITION, *words)
    assert done.returncode == 1
    assert "/etc/passwd is a file of the system" in done.stdout + done.stderr
    line = Path("/etc/passwd").read_bytes().splitlines()[0]
    files = [path for path in place.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    assert not [path for path in files if line in path.read_bytes()]


def test_a_failure_is_told_once_and_ends_with_one(place: Place) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("data/dev.[LANG]", "data/nothing.[LANG]"))
    done = place.run("translations", "train", PARTITION, "--target", "dataset_devtest", "--yes")
    assert done.returncode == 1
    assert len(re.findall("The step dataset-devtest-.* failed", done.stderr)) == 1
    (run,) = re.findall(r"To see its steps: translations status (\w{8})", done.stderr)
    assert f"To go on: translations rerun {run}\n" in done.stderr
    assert "Traceback" not in done.stderr
    status = place.run("translations", "status", PARTITION)
    assert ["dataset_devtest", "1", "failed"] in [line.split()[:3] for line in status.stdout.splitlines()]


def test_refs_that_name_other_results_are_renewed(place: Place) -> None:
    """A config that was changed and changed back finds its results; the refs are those of the change."""
    path, words = place.root / "configs" / f"{PARTITION}.yml", ("--target", "merge_devset", "--yes")
    before = path.read_text()
    assert place.run("translations", "train", PARTITION, *words).returncode == 0
    for lang in ("en", "eo"):
        write_lines(place.root / "data" / f"dev2.{lang}.gz", [f"{lang}: a line"])
    path.write_text(before.replace("data/dev.[LANG]", "data/dev2.[LANG]"))
    changed = place.run("translations", "train", PARTITION, *words, "--quiet")
    assert (changed.returncode, changed.stdout, changed.stderr) == (0, "", "")
    path.write_text(before)
    back = place.run("translations", "train", PARTITION, *words)
    assert "nothing to run" not in back.stdout
    assert "Done." in back.stdout
    assert "nothing to run" in place.run("translations", "train", PARTITION, *words).stdout


def test_a_rerun_repeats_what_failed_with_the_options_of_the_run(place: Place) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(path.read_text().replace("data/test.[LANG]", "data/late.[LANG]"))
    make("dataset_devtest")
    words = ("--target", "dataset", "--start", "dataset")
    failed = place.run("translations", "train", PARTITION, *words, "--yes", "--json")
    assert failed.returncode == 1, failed.stdout
    told = json.loads(failed.stdout)
    check_shape("train", told)
    assert (told["partition"], told["state"]) == (PARTITION, "failed")
    for lang in ("en", "eo"):
        data = place.root / "data"
        (data / f"late.{lang}.gz").write_bytes((data / f"test.{lang}.gz").read_bytes())
    (run,) = re.findall(r"translations rerun (\w{8})", failed.stderr)
    assert told["run"].startswith(run)
    done = place.run("translations", "rerun", run, text="\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(failed): 4 of 5 steps made." in done.stdout
    # Although the run repeats the datasets, those that it has repeated are not repeated again.
    assert done.stdout.count(" done after ") == 1
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        new, old = instance.get_runs()
    assert new.parent_run_id == new.root_run_id == old.run_id
    assert new.asset_selection == old.asset_selection
    states = {
        row["label"][:14]: row["state"]
        for row in json.loads(place.run("translations", "status", new.run_id, "--json").stdout)["steps"]
    }
    assert states.pop("dataset-test-u") == "finished"
    assert set(states.values()) == {"cached"}


def test_a_second_run_says_for_whom_it_waits_and_goes_on_when_that_is_cancelled(place: Place) -> None:
    make_slow(place)
    command = [str(BIN / "translations"), "train", PARTITION, "--target", "clean_corpus", "--yes"]
    with (place.root / "out").open("w") as out:
        process = subprocess.Popen(command, env=place.environment, cwd=place.root, stdout=out, stderr=out)
    try:
        children = cleaning(process, place)
        for child in children:
            if "launcher" in " ".join(command_of(child)):
                child.suspend()  # the step takes as long as this test
        (first,) = re.findall(r"^Run (\w{8}):", (place.root / "out").read_text(), re.MULTILINE)
        with Terminal(command, place.environment, place.root) as second:
            waits = (
                rf"(clean-corpus-\S+): waits for run {first} of {PARTITION} \(test\), "
                "which is already making it"
            )
            label, *_ = second.read_until(waits, PATIENCE)
            planned = (
                f"    {label}: run {first} of {PARTITION} (test) is already making it; "
                "this run will wait for it"
            )
            assert planned in second.said
            done = place.run("translations", "cancel", first)
            assert done.returncode == 0, done.stderr
            assert process.wait(timeout=PATIENCE) == 130
            assert f"cancelled. 1 finished step is kept.\n{label} goes on for another run.\n" in done.stdout
            second.type("\x03")
            assert second.exit_code(PATIENCE) == 130
        assert f"{label} will begin anew: it had saved nothing." in second.said
    finally:
        process.kill()
        process.wait()
    assert statuses(place) == ["CANCELED", "CANCELED"]
    assert not psutil.wait_procs(children, timeout=PATIENCE)[1]


def test_a_killed_run_is_found_and_repeated(place: Place) -> None:
    make_slow(place)
    command = [str(BIN / "translations"), "train", PARTITION, "--target", "clean_corpus", "--yes"]
    with (place.root / "out").open("w") as out:
        process = subprocess.Popen(command, env=place.environment, cwd=place.root, stdout=out, stderr=out)
    try:
        cleaning(process, place)
    finally:
        process.kill()
        process.wait()
    assert "lost its process" in place.run("translations", "status").stdout
    assert statuses(place) == ["FAILURE"]


def test_an_interrupt_ends_the_children_and_keeps_what_is_finished(place: Place) -> None:
    make_slow(place)
    command = [str(BIN / "translations"), "train", PARTITION, "--target", "clean_corpus", "--yes"]
    with (place.root / "out").open("w") as out:
        process = subprocess.Popen(command, env=place.environment, cwd=place.root, stdout=out, stderr=out)
    try:
        children = cleaning(process, place)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 130
    finally:
        process.kill()
        process.wait()
    said = (place.root / "out").read_text()
    assert re.search(
        r"What is finished is kept\. clean-corpus-\S+ will begin anew: it had saved nothing\.", said
    )
    assert statuses(place) == ["CANCELED"]
    assert not psutil.wait_procs(children, timeout=PATIENCE)[1]
    plan = place.run("translations", "plan", PARTITION, "--target", "clean_corpus")
    assert "2 steps: 1 cached, 1 run" in plan.stdout


def make_slow(place: Place) -> None:
    """Make the training text take a while to clean."""
    for path in once("long_text", write_long_text).iterdir():
        shutil.copy(path, place.root / "data")


def write_long_text(folder: Path) -> None:
    texts = {
        "en": "The big dog number {} sees the old cat.",
        "eo": "La granda hundo numero {} vidas la katon.",
    }
    for lang, text in texts.items():
        write_lines(folder / f"train.{lang}.gz", map(text.format, range(300_000)))


def cleaning(process: subprocess.Popen[bytes], place: Place) -> list[psutil.Process]:
    """All processes below, as soon as the slow step runs."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        downloaded = "dataset-train" in (place.root / "out").read_text()
        if downloaded and any("launcher" in " ".join(command_of(child)) for child in children):
            return children
        time.sleep(0.2)
    raise AssertionError(f"no step ran: {(place.root / 'out').read_text()}")


def command_of(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:  # it has just ended
        return []


def test_the_default_home_of_dagster_is_in_the_state(place: Place) -> None:
    environment = {name: value for name, value in place.environment.items() if not name.startswith("DAGSTER")}
    done = subprocess.run(
        [str(BIN / "translations"), "train", PARTITION, "--target", "dataset_test", "--yes"],
        env={**environment, "HOME": os.environ["HOME"]},
        cwd=place.root,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (place.root / "state" / "dagster" / "dagster.yaml").exists()
