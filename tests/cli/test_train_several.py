"""`translations train` of several training configs, and in the background."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.end_to_end.tiny import PARTITION, Place
from tests.patience import PATIENCE
from translations_assets.cli.runs_many import named
from translations_assets.common.errors import TranslationsError
from translations_assets.project import Project, this_project

OTHER, BROKEN = "en-eo.other", "en-eo.worse"
WORDS = ("--target", "merge_devset", "--yes")


@pytest.fixture
def several(place: Place) -> Place:
    """Three training configs, the data of the last of which are not there."""
    configs = place.root / "configs"
    text = (configs / f"{PARTITION}.yml").read_text()
    (configs / f"{OTHER}.yml").write_text(text.replace("name: tiny", "name: other"))
    broken = text.replace("name: tiny", "name: worse").replace("data/dev.[LANG]", "data/nothing.[LANG]")
    (configs / f"{BROKEN}.yml").write_text(broken)
    this_project.cache_clear()
    return place


def test_a_pattern_names_training_configs(several: Place) -> None:
    assert named(["en-eo.*"]) == [OTHER, PARTITION, BROKEN]
    assert named([PARTITION, "*.[ot]*", "nothing"]) == [PARTITION, OTHER, "nothing"]
    assert named(["?n-eo.other", OTHER]) == [OTHER]
    with pytest.raises(TranslationsError, match=re.escape("No training config matches 'de-*'")):
        named(["de-*"])


def test_a_file_may_be_called_like_a_pattern(several: Place) -> None:
    shutil.copy(several.root / "configs" / f"{OTHER}.yml", several.root / "a[b].yml")
    assert named(["a[b].yml"]) == ["a[b].yml"]


def test_one_that_cannot_be_planned_starts_none(several: Place, command: Command) -> None:
    said = command("train", PARTITION, "en-eo.gone", *WORDS)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error: there is no training config 'en-eo.gone'")
    assert not (several.root / "state" / "background").exists()


def test_several_are_asked_about_once(several: Place, command: Command) -> None:
    said = command("train", "en-eo.[ot]*", "--target", "merge_devset", "--at-once", "2")
    *plans, total, question = said.out.splitlines()
    assert said.code == 1  # nobody says yes
    assert [plan.split()[0] for plan in plans] == [OTHER, PARTITION]
    assert re.fullmatch(
        r"2 training configs together: 3 steps: 2 run, 1 maybe; about .* by an estimate; 3 steps shared",
        total,
    )
    assert question.startswith("Start 2 runs, 2 at a time?")


@pytest.mark.slow
def test_several_are_made_and_those_that_fail_are_named(several: Place) -> None:
    done = several.run("translations", "train", "en-eo.*", *WORDS)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if "started" not in line] == [
        line
        for line in done.stdout.splitlines()
        if re.match(r"\[\d/3\] en-eo\.\w+: (done|failed) after ", line)
    ]
    ends = re.findall(r"\[(\d)/3\] en-eo\.(\w+): (\w+) after", done.stdout)
    assert ends == [("1", "other", "done"), ("2", "tiny", "done"), ("3", "worse", "failed")]
    assert re.search(
        r"en-eo\.worse: The run failed\. To see its steps: translations status \w{8}\n", done.stderr
    )
    assert done.stderr.endswith(f"error: 1 of 3 runs failed: {BROKEN}\n")
    (file,) = re.findall(r"The whole output: (.*)", done.stderr)
    assert "dataset-devtest" in Path(file).read_text()
    again = several.run("translations", "train", "en-eo.[ot]*", *WORDS, "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, [])


@pytest.mark.slow
def test_a_run_in_the_background_goes_on_without_its_terminal(several: Place) -> None:
    begun = several.run("translations", "train", PARTITION, *WORDS, "--detach")
    assert begun.returncode == 0, begun.stderr
    (run,) = re.findall(r"To watch it: translations status (\w{8}) --watch", begun.stdout)
    (process, file) = re.findall(r"in the background \(process (\d+)\); the output: (.*)", begun.stdout)[0]
    try:
        session = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[3]
        assert session == process  # of which no terminal is
    except FileNotFoundError:
        pass  # it has ended already
    store = Project().store
    (whole,) = (one for one in store.runs() if one.startswith(run))
    deadline = time.monotonic() + PATIENCE
    while "Done. Files: translations artifacts" not in Path(file).read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    record = store.read_run(whole)
    assert record
    assert record.labels.keys() == record.uses.keys()
    assert several.run("translations", "status", run).stdout.count(": done") == 1


@pytest.mark.slow
def test_a_run_that_does_not_begin_in_the_background_is_told(several: Place) -> None:
    words = ("--target", "merge_devset", "--yes", "--detach")
    Path(several.environment["DAGSTER_HOME"]).write_text("no folder")
    done = several.run("translations", "train", PARTITION, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("error: The run has not begun: ")
    assert "The whole output: " in done.stderr
    assert "Traceback" not in done.stderr
