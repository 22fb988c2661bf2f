"""All pairs at a glance, in the terminal and as a page: told is what the test made, reckoned anew."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.store.values import finish
from translations_assets.pairs.facts import MOST_KEPT, Pair, gather
from translations_assets.pairs.lines import lines
from translations_assets.pairs.page import as_html
from translations_assets.project import Project
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.registry.read import StoreReader


def stands(partition: str = PARTITION) -> Pair:
    return next(pair for pair in gather(Project()) if pair.partition == partition)


def evaluated(
    project: Project, partition: str, scores: Mapping[str, float], *, stage: str, name: str = ""
) -> tuple[str, tuple[str, int]]:
    """A result of an evaluation with these scores: label, and key and generation."""
    metrics: dict[str, Any] = {metric: {"score": score} for metric, score in scores.items()}
    made = finish(
        project.store,
        f"{stage}-{name}-{partition}",
        {"metrics.json": json.dumps({"dataset": "flores", **metrics}).encode()},
        stage=stage,
        args={"name": name} if name else {},
    )
    return made.label, (made.key, made.generation)


def record(project: Project, run: str, partition: str, **values: Any) -> RunRecord:
    """A run that began 100 s ago and has ended, as far as nothing else is given."""
    now = time.time()
    known = {"space": "ann", "pair": ("en", "xx"), "started": now - 100, "heartbeat": now, "ended": now}
    made = RunRecord(run=run, partition=partition, **{**known, **values})
    project.store.write_run(run, made)
    return made


def modelled(project: Project, partition: str, run: str = "run-1", **values: Any) -> RunRecord:
    """A run that evaluated an exported model, chrF 58.2, beside the released one, 59.0."""
    own = evaluated(project, partition, {"chrf": 58.2, "bleu": 30.1}, stage="evaluate_exported")
    other = evaluated(
        project, partition, {"chrf": 59.0, "bleu": 29.0}, stage="final_evaluation", name="released"
    )
    steps = {"evaluate_exported": {own[0]: "cpu"}, "final_evaluation": {other[0]: "cpu"}}
    return record(project, run, partition, **{"steps": steps, "uses": dict((own, other)), **values})


def test_scores_stand_beside_the_released_ones(place: Place) -> None:
    project = Project()
    made = modelled(project, "en-xx.base")
    pair = stands("en-xx.base")
    assert pair.made
    assert (pair.made.model, pair.made.dataset) == ("exported", "flores")
    assert pair.made.scores == {"chrf": 58.2, "bleu": 30.1}
    assert pair.made.released == {"chrf": 59.0, "bleu": 29.0}
    manifests = [project.store.generation(*used) for used in made.uses.values()]
    seconds = sum(one.usage.seconds for one in manifests if one)
    assert seconds > 0
    assert pair.made.spent["hours"] == pytest.approx(seconds / 3600, abs=1e-6)
    (line,) = lines([pair], "")
    assert "exported chrF 58.2 (released 59.0, -0.8)" in line
    page = as_html([pair], "")
    assert ">58.2<br><small>released 59.0, -0.8</small>" in page
    assert ">30.1<br><small>released 29.0, +1.1</small>" in page


def test_the_newest_model_counts_and_experiments_do_not(place: Place) -> None:
    project = Project()
    modelled(project, "en-xx.base", "old", started=1.0)
    modelled(project, "en-xx.base", "new", started=2.0)
    record(project, "data", "en-xx.base", started=3.0)  # makes no model
    modelled(project, "en-xx.base", "tried", started=4.0, options=RunOptions(overrides={"a": 1}))
    pair = stands("en-xx.base")
    assert pair.made
    assert (pair.made.run, pair.run, pair.experiments) == ("new", "data", 1)


@pytest.mark.parametrize(
    ("values", "state", "detail"),
    [
        ({"ended": None}, "running", "2 of 3 steps, run run-1"),
        ({"ended": None, "heartbeat": 5.0}, "lost its process", "2 of 3 steps"),
        ({"failed": {"left": "no space on the disk"}}, "failed", "left: no space on the disk"),
        ({}, "stopped", "2 of 3 steps"),
    ],
)
def test_states_of_runs(place: Place, values: Mapping[str, Any], state: str, detail: str) -> None:
    project = Project()
    made = modelled(project, "en-xx.base")
    steps = {**made.steps, "export": {"left": "cpu"}}
    project.store.write_run("run-1", replace(made, steps=steps, **values))
    pair = stands("en-xx.base")
    assert (pair.state, pair.detail) == (state, detail)


def test_what_waits_for_a_decision_is_named_with_its_gates(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same gates as `checks` names."""
    from translations_assets.checks import gates

    make("evaluate_exported", checks=True)
    project = Project()
    made = project.store.read_run("run-1")
    assert made
    project.store.write_run(
        "run-1", replace(made, steps={**made.steps, "export": {"left": "cpu"}}, failed={})
    )
    assert stands().state == "stopped"
    examine = gates.examine

    def fails(session: Any, gate: Any, errors: Any) -> Any:
        found = examine(session, gate, errors)
        is_failed = gate.name == "teacher-margin" or gate is gates.GATES[0]
        return (
            replace(found, state="failed", level="error" if gate is gates.GATES[0] else "warn")
            if is_failed
            else found
        )

    monkeypatch.setattr(gates, "examine", fails)
    pair = stands()
    assert (pair.state, pair.detail) == ("waits for a decision", gates.GATES[0].name)


def make_whole() -> RunRecord:
    """A run that was asked for the exported model's evaluation alone, and made it."""
    make("evaluate_exported")
    store = Project().store
    made = store.read_run("run-1")
    assert made
    steps = {
        stage: {label: worker for label, worker in labels.items() if label in made.uses}
        for stage, labels in made.steps.items()
    }
    whole = replace(made, steps=steps)
    store.write_run("run-1", whole)
    return whole


def test_a_changed_config_shows_as_stale_where_it_is_concerned(place: Place) -> None:
    make_whole()
    assert stands().state == "up to date"
    config = place.root / "configs" / f"{PARTITION}.yml"
    text = config.read_text()
    config.write_text(text.replace("spm-vocab-size: 400", "spm-vocab-size: 408"))
    pair = stands()
    assert (pair.state, pair.detail) == ("stale", "train_vocab")  # what follows hangs on its bytes
    config.write_text(text)
    assert stands().state == "up to date"


def test_what_was_kept_is_as_what_is_read(place: Place) -> None:
    make_whole()
    first, again = stands(), stands()
    assert first == again
    kept = [*(place.root / "state" / "pairs").iterdir()] or [*place.root.rglob("pairs/*.json")]
    assert 0 < len(kept) <= MOST_KEPT
    for path in kept:
        path.write_text("{")  # damaged: read anew
    assert stands() == first


def test_status_lists_pairs_before_runs(command: Command, place: Place) -> None:
    make_whole()
    said = command("status")
    assert said.out.splitlines()[0].startswith(f"{PARTITION}  up to date  exported chrF 2.0")
    values = json.loads(command("status", "--json").out)
    pair = next(one for one in values["pairs"] if one["partition"] == PARTITION)
    assert (pair["state"], pair["made"]["scores"]["chrf"]) == ("up to date", 2.0)
    assert values["runs"][0]["partition"] == PARTITION


def test_the_web_server_has_the_page(place: Place) -> None:
    from starlette.applications import Starlette
    from starlette.testclient import TestClient

    from translations_assets.ui.pairs import ROUTES

    modelled(Project(), "en-xx.base")
    answer = TestClient(Starlette(routes=ROUTES)).get("/pairs")
    assert answer.status_code == 200
    assert "released 59.0, -0.8" in answer.text
    assert 'href="/runs/run-1"' in answer.text


def forbidden(reader: StoreReader, record: RunRecord) -> None:
    raise AssertionError(f"the results of {record.run} are read again")


def test_a_hundred_and_fifty_pairs(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read again, without their results, and made into a page."""
    project = Project()
    made = make_whole()
    config = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    for number in range(150):
        name = f"en-eo.copy{number}"
        (place.root / "configs" / f"{name}.yml").write_text(config)
        project.store.write_run(f"run-copy{number}", replace(made, run=f"run-copy{number}", partition=name))
    gather(Project())
    monkeypatch.setattr(StoreReader, "manifests", forbidden)
    page = as_html(gather(Project()), "")
    assert page.count("up to date</a>") == 151
