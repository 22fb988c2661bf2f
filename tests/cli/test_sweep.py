"""Sweeps: variants of a training config as partitions, planned and trained together, and compared."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import Command, make
from tests.defs.runner import METRICS, MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli.runs_many import named
from translations_assets.project import Project, this_project

RATES = f"""
base: {PARTITION}
axes:
  marian-args.training-student.learn-rate: [0.003, 0.001]
  experiment.seeds.student: [1, 2]
exclude:
  - {{marian-args.training-student.learn-rate: 0.001, experiment.seeds.student: 2}}
target: evaluate_student
"""
NAME = f"{PARTITION}.rates.learn-rate-"
VARIANTS = [f"{NAME}0.003.student-1", f"{NAME}0.003.student-2", f"{NAME}0.001.student-1"]


@pytest.fixture
def rates(place: Place) -> Place:
    """A sweep of the tiny pair's student over learning rates, the first its own, and seeds."""
    folder = place.root / "configs" / "sweeps"
    folder.mkdir()
    (folder / "rates.yml").write_text(RATES)
    this_project.cache_clear()
    return place


def made_up(partition: str, chrf: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a variant's results, with a score of its own."""
    scores = {**METRICS["pipeline.eval.evaluate"], "chrf": {"score": chrf, "signature": "made up"}}
    monkeypatch.setitem(METRICS, "pipeline.eval.evaluate", scores)
    make("evaluate_student", run=f"run-{partition}", partition=partition, runner=MadeUpRunner(seconds=60.0))


def test_variants_are_partitions(rates: Place, command: Command) -> None:
    states = Project().configs.partitions().states
    assert [name for name in states if name.startswith(NAME)] == sorted(VARIANTS)
    config = Project().configs.read(VARIANTS[2]).config
    assert config.experiment.seeds.student == 1
    assert config.marian_args.training_student["learn-rate"] == 0.001
    assert config.marian_args.training_student["dim-emb"] == 64  # the base's own options stay
    assert named(["rates"]) == VARIANTS
    listed = json.loads(command("sweep", "--json").out)
    assert listed == {"rates": VARIANTS}
    assert command("sweep").out.startswith(f"rates: 3 variants of {PARTITION}, ")


def test_a_plan_counts_shared_steps_once(rates: Place, command: Command) -> None:
    said = command("plan", "rates")
    *each, total = said.out.splitlines()
    assert [line.split()[0] for line in each] == VARIANTS
    own = [int(re.findall(r"(\d+) steps:", line)[0]) for line in each]
    (steps, shared) = re.findall(r"together: (\d+) steps: .*; (\d+) steps shared", total)[0]
    assert int(steps) - int(shared) == 2 * 3  # each student's training and its evaluation
    assert sum(own) > 2 * int(steps)


def test_settings_are_compared(rates: Place, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    said = command("sweep", "rates")
    assert (said.code, said.out) == (1, "")
    assert "no variant of rates is evaluated yet. To make them: translations train rates" in said.err
    for partition, chrf in zip(VARIANTS, (50.0, 54.0, 40.0), strict=True):
        made_up(partition, chrf, monkeypatch)
    found = json.loads(command("sweep", "rates", "--json").out)
    assert (found["sweep"], found["model"]) == ("rates", "student")
    reference, other = found["settings"]
    assert reference["partitions"] == VARIANTS[:2]
    assert other["values"] == {"marian-args.training-student.learn-rate": 0.001}
    scores = other["scores"]["tiny"]["chrf"]
    seeds = reference["scores"]["tiny"]["chrf"]
    assert [len(seeds[name]) for name in ("scores", "ci")] == [2, 2]
    assert seeds["mean"] == pytest.approx(sum(seeds["scores"]) / 2, abs=1e-4)
    assert seeds["spread"] > 0
    assert "spread" not in scores
    assert scores["difference"] == pytest.approx(scores["mean"] - seeds["mean"], abs=2e-4)
    hours = [setting["own_cost"]["hours"] for setting in (reference, other)]
    assert hours == [pytest.approx(4 / 60, abs=1e-5), pytest.approx(2 / 60, abs=1e-5)]
    assert (reference["without_scores"], other["without_scores"]) == ([], [])
    worse, one_seed = found["findings"]
    assert re.match(r"tiny: learn-rate 0\.001 is significantly \w+ than learn-rate 0\.003: chrF [-+]", worse)
    assert one_seed.startswith("Settings with one seed: ")
    table = command("sweep", "rates").out
    assert re.search(r"learn-rate 0\.003 +│ +[\d.]+ ± [\d.]+ \(2 seeds\) +│", table)
    assert worse in table
    wrong = command("sweep", "rates", "--model", "studnet")
    assert (wrong.code, wrong.out) == (1, "")
    assert "No variant of rates has scores of studnet. Did you mean 'student'?" in wrong.err
    assert command("report", "rates").out == "rates.html\n"
    page = (rates.root / "rates.html").read_text()
    assert worse in page
    assert page.count("<svg") == 3  # BLEU, chrF, chrF++
    assert 'aria-label="chrF on tiny: learn-rate 0.003 ' in page


def test_variants_without_scores_are_named(
    rates: Place, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_up(VARIANTS[2], 40.0, monkeypatch)
    said = command("sweep", "rates")
    assert said.code == 0
    assert (
        f"Scores are missing of {VARIANTS[0]}, {VARIANTS[1]}. To make them: translations train rates"
        in said.err
    )
    found = json.loads(command("sweep", "rates", "--json").out)
    assert [setting["without_scores"] for setting in found["settings"]] == [VARIANTS[:2], []]
    assert found["settings"][1]["scores"]["tiny"]["chrf"] == {
        "scores": [40.0],
        "mean": 40.0,
        "ci": [],
    }


def test_the_base_is_the_reference_where_no_variant_is_as_it_is(rates: Place) -> None:
    path = rates.root / "configs" / "sweeps" / "rates.yml"
    path.write_text(RATES.replace("[0.003, 0.001]", "[0.002, 0.001]"))
    members = Project().configs.sweep("rates")
    assert members.reference == (PARTITION,)
    assert members.partitions[0] == PARTITION
    assert len(members.partitions) == 4


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("base:", "bse:", "unknown key. Did you mean 'base'?"),
        ("rate: 0.001, exp", "rate: 0.1, exp", "0.1 is no value of this axis; it has 0.003, 0.001"),
        ("- {marian-args.training-student", "- {marian-args.training-teacher", "is no axis. Did you mean"),
        ("[1, 2]", "[1, 1]", "has a value twice"),
        ("[1, 2]", "[]", "is empty; at least one is needed"),
        ("[0.003, 0.001]", f"{[*range(600)]}", "they make 1,200 variants; 1,000 are the most"),
        ("evaluate_student", "evaluate_studnet", "not a stage. Did you mean 'evaluate_student'?"),
    ],
)
def test_a_wrong_sweep_is_explained(rates: Place, command: Command, old: str, new: str, says: str) -> None:
    path = rates.root / "configs" / "sweeps" / "rates.yml"
    path.write_text(RATES.replace(old, new))
    said = command("plan", "rates")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"error: {path}:")
    assert says in said.err
    assert says in command("sweep").err
    assert PARTITION in Project().configs.partitions().states  # others stay


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (f"base: {PARTITION}", "base: en-eo.tny", "there is no training config 'en-eo.tny'"),
        ("seeds.student: [1, 2]", "seeds.studnet: [1, 2]", "unknown key. Did you mean 'student'?"),
        ("seeds.student: [1, 2]", "seeds.student: [one, 2]", "must be a whole number, not the text 'one'"),
    ],
)
def test_values_that_no_config_may_have_are_explained(
    rates: Place, command: Command, old: str, new: str, says: str
) -> None:
    path = rates.root / "configs" / "sweeps" / "rates.yml"
    path.write_text(RATES.replace(old, new).replace("  - {marian", "#  - {marian").replace("exclude:", ""))
    said = command("plan", "rates")
    assert said.code == 1
    assert says in said.err


def test_there_is_no_such_sweep(rates: Place, command: Command) -> None:
    said = command("sweep", "ratse")
    assert (said.code, said.out) == (1, "")
    assert "there is no sweep 'ratse' in " in said.err
    assert "Did you mean 'rates'?" in said.err
