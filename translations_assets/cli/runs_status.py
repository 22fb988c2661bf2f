"""`translations status`: the newest runs; the steps of a run or of a partition."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, TypeAlias

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Set
from translations_assets.cli.output import counts, number_of, print_json, print_line, shown
from translations_assets.cli.runs_end import next_steps
from translations_assets.cli.watch import URGENT, Block, Look, show_page, watch
from translations_assets.project import this_project
from translations_assets.records.cost import HOUR, Cost, amount, duration
from translations_assets.records.manifest import Usage
from translations_assets.records.run import RunOptions
from translations_assets.running.budget import spent_of
from translations_assets.running.plan import Plan
from translations_assets.running.prices import Prices, spent_on
from translations_assets.running.protocols import Reading
from translations_assets.runs.run import Run
from translations_assets.runs.steps import StepProgress, step_of_plan, steps_of_run

NEWEST = 15
Row: TypeAlias = dict[str, Any]  # of a step, as it is shown and printed as JSON
Costs: TypeAlias = "dict[str, float]"  # as `plan --json` says them


@common.reads
def status(
    name: Annotated[str | None, common.PARTITION_OR_RUN] = None,
    steps: common.Steps = False,
    every: Annotated[
        bool,
        typer.Option("--all", help="List all runs; for a run or a partition, also list cached steps."),
    ] = False,
    watching: Annotated[
        bool,
        typer.Option("--watch", help="Refresh until the run ends. Ctrl-C stops watching; the run continues."),
    ] = False,
    web: Annotated[
        bool,
        typer.Option(
            "--web", help="Print and open the page in Dagster's UI: the run's, or the newest one's."
        ),
    ] = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print all pairs and the newest runs; of a run or a partition, each step's state, time and memory."""
    if json and watching:
        raise typer.BadParameter("--watch goes on for people: ask again with --json instead.")
    if web:
        show_page(name)
    elif json:
        print_json(_values(name, every, overrides))
    elif watching:
        watch(lambda: _look(name, steps, every, overrides))
    else:
        for line in _look(name, steps, every, overrides).lines:
            print_line(line)


def _look(name: str | None, steps: bool, every: bool, overrides: list[str] | None) -> Look:
    """Collect what to show now."""
    if name is None:
        return Look((), [*_lines_of_pairs(), *_lines_of_newest(every)])
    if run := common.run_named(name):
        rows, currency = _rows_of_run(run)
        return Look(_blocks(rows, steps, every), [*_lines_of_run(run, rows, currency)], run.is_over)
    rows, plan = _rows_now(name, overrides)
    return Look(_blocks(rows, steps, every), [plan.summary()])


def _values(name: str | None, every: bool, overrides: list[str] | None) -> dict[str, Any]:
    """The same for programs."""
    if name is None:
        runs = [(run, *run.record.progress) for run in common.known_runs().newest(None if every else NEWEST)]
        listed = [{**_as_json(run), "steps_done": done, "steps": total} for run, done, total in runs]
        return {"pairs": [*_pairs_as_json()], "runs": listed}
    if run := common.run_named(name):
        rows, currency = _rows_of_run(run)
        steps, expected, taken = _forecast(run, rows)
        forecast = {"steps": steps, "expected": expected, "taken": taken, "currency": currency or None}
        return {**_as_json(run), "forecast": forecast, "steps": rows}
    rows, _ = _rows_now(name, overrides)
    return {"steps": rows}


def _lines_of_pairs() -> Iterator[str]:
    """All pairs that have runs, and an empty line."""
    from translations_assets.pairs.facts import currency_of, gather
    from translations_assets.pairs.lines import lines

    project = this_project()
    pairs = gather(project)
    if any(pair.run for pair in pairs):
        yield from lines(pairs, currency_of(project))
        yield ""


def _pairs_as_json() -> Iterator[dict[str, Any]]:
    from translations_assets.pairs.facts import gather

    for pair in gather(this_project()):
        values = asdict(pair)
        if values["made"]:
            del values["made"]["recipes"]
        yield values


def _lines_of_newest(every: bool) -> Iterator[str]:
    runs = common.known_runs().newest(None if every else NEWEST + 1)
    shown_runs = runs if every else runs[:NEWEST]
    if not runs:
        yield "No run yet. To start one: translations train PARTITION"
    cells = [[*_cells(run)] for run in shown_runs]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for run, (partition, state, started, took, steps) in zip(shown_runs, cells, strict=True):
        yield (
            f"{run.short}  {partition:{widths[0]}}  {shown(state, widths[1])}  {started:{widths[2]}}  "
            f"{took:>{widths[3]}}  {steps:>{widths[4]}} steps" + "".join(f"  {part}" for part in _asked(run))
        )
    if len(runs) > len(shown_runs):
        yield f"These are the newest {NEWEST} runs; to list all: translations status --all"


def _cells(run: Run) -> Iterator[str]:
    """The cells of a row in the list of runs, after the id."""
    done, total = run.record.progress
    yield run.partition
    yield run.state
    yield time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started)) if run.started else "-"
    yield duration(run.seconds) if run.seconds is not None else "-"
    yield f"{done}/{total}" if total else "-"


def _asked(run: Run) -> Iterator[str]:
    """Marks that tell a run from others of its partition: failures, owner, target, reason, its
    options.
    """
    from translations_assets.stages import last_asset

    if run.state == "failed" and run.record.failed:
        label, *others = run.record.failed
        yield f"failed: {label}" + (f" and {len(others)} more" if others else "")
    if run.record.space:
        yield run.record.space
    if last := last_asset(run.record.stages):
        yield f"up to {last}"
    if run.record.repeats:
        yield f"rerun of {run.record.repeats[:8]}"
    yield from run.record.options.words()


def _lines_of_run(run: Run, rows: list[Row], currency: str) -> Iterator[str]:
    """Describe a run as a whole."""
    asked = ", ".join(_asked(run))
    state = shown(run.state) + (f" ({asked})" if asked else "")
    yield f"run {run.id} of {run.partition}: {state}, {_count(rows)}"
    made, expected, taken = _forecast(run, rows)
    if made:
        those = f"{number_of(made, 'step')} that it made"
        told = ", ".join(_parts(expected, currency))
        yield f"Forecast for the {those}: {told}; they took {', '.join(_parts(taken, currency, expected))}"
    if run.record.options.budget:
        yield spent_of(run.record.spent, run.record.options.budget, currency)
    if run.state in ("failed", "cancelled", "lost its process"):
        yield from next_steps(run)


def _rows_of_run(run: Run) -> tuple[list[Row], str]:
    """The steps of a run, and the currency of what they cost; empty when there are no prices."""
    project = this_project()
    prices = project.prices(lambda stage: "")  # what was made says on which machine
    rows = [_row_of(step, project.store, prices) for step in steps_of_run(project.store, run)]
    return rows, prices.currency if prices else ""


def _forecast(run: Run, rows: list[Row]) -> tuple[int, Costs, Costs]:
    """Compare forecast and cost: the number of finished steps with a forecast, the forecast, the cost."""
    made = [row for row in rows if row["state"] == "finished" and row["label"] in run.record.expected]
    expected = sum((run.record.expected[row["label"]] for row in made), Cost()).values
    return len(made), expected, {name: sum(row["cost"][name] for row in made) for name in expected}


def _parts(costs: Costs, currency: str, expected: Costs | None = None) -> Iterator[str]:
    """Costs for people, each with its difference from the forecast: `49 h of GPU (-13 %)`."""
    shown = {
        "hours": duration(costs["hours"] * HOUR),
        "gpu_hours": f"{duration(costs['gpu_hours'] * HOUR)} of GPU",
    }
    if currency:
        shown |= {"money": f"{amount(costs['money'])} {currency}", "kwh": f"{amount(costs['kwh'])} kWh"}
    for name, text in shown.items():
        if name == "hours" or costs[name]:
            before = expected[name] if expected else 0.0
            yield f"{text} ({100 * (costs[name] / before - 1):+.0f} %)" if before else text


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "partition": run.partition,
        "state": run.state,
        "space": run.record.space,
        "repeats": run.record.repeats or None,
        "started": run.started,
        "ended": run.ended,
        "seconds": run.seconds,
        "stages": list(run.record.stages),
        "options": run.record.options.to_dict(),
    }


def _rows_now(partition: str, overrides: list[str] | None) -> tuple[list[Row], Plan]:
    """The steps of a partition as they are now."""
    project, options = this_project(), RunOptions(overrides=common.overrides_of(overrides))
    read = project.configs.read(partition, options.overrides)
    session = project.new_session(
        common.READING, read, options, ()
    )  # what was looked up before may have changed
    plan = common.plan_of(session, "all")
    prices = project.prices(session.machine)
    steps = (step_of_plan(session.store, planned) for planned in plan.steps)
    return [_row_of(step, session.store, prices) for step in steps], plan


def _blocks(rows: list[Row], steps: bool, every: bool) -> list[Block]:
    """Make a block for each step or stage; cached ones are left out, unless all are to be listed."""
    if not steps:
        return [*_blocks_of_stages(rows, every)]
    shown_rows = [row for row in rows if every or row["state"] != "cached"]
    width = max((len(row["label"]) for row in shown_rows), default=0)
    return [Block(row["state"], [_line_of_step(row, width), *_notes(row)]) for row in shown_rows]


def _line_of_step(row: Row, width: int) -> str:
    attempts = f"  {row['attempts']} attempts" if row["attempts"] > 1 else ""
    level = f"  level {row['level']}" if row["level"] else ""
    return (
        f"{shown(row['state'], 11)} {row['label']:{width}} {_number(row['seconds'], 's', 1):>11} "
        f"{_number(row['cpu_seconds'], 's CPU', 1):>15} {_number(row['memory_mb'], 'MB'):>11}  "
        f"{_gpu(row):22}{row['worker']:9} {row['host'] or '-'}{attempts}{level}"
    )


def _number(value: float | None, unit: str, digits: int = 0) -> str:
    """A number with its unit; `-` for what is not measured yet."""
    return "-" if value is None else f"{value:.{digits}f} {unit}"


def _gpu(row: Row) -> str:
    if not row["gpus"]:
        return ""
    return f"{row['gpus']} GPU {row['gpu_utilisation']:.0%} {row['gpu_memory_mb']:.0f} MB"


def _blocks_of_stages(rows: list[Row], every: bool) -> Iterator[Block]:
    stages = dict.fromkeys(row["stage"] for row in rows if every or row["state"] != "cached")
    width = max(map(len, stages), default=0)
    for stage in stages:
        mine = [row for row in rows if row["stage"] == stage]
        seconds = [row["seconds"] for row in mine if row["seconds"] is not None]
        memory = [row["memory_mb"] for row in mine if row["memory_mb"] is not None]
        told = (
            f"{stage:{width}} {_count(mine, 24)} {_number(sum(seconds) if seconds else None, 's', 1):>10} "
            f"{_number(max(memory) if memory else None, 'MB'):>9}{_levels(mine)}"
        )
        state = min((row["state"] for row in mine), key=URGENT.index)
        yield Block(state, [told, *(line for row in mine for line in _notes(row))])


def _levels(rows: list[Row]) -> str:
    """The levels of trust of the results of some steps; empty where there are none."""
    found = Counter(row["level"] for row in rows if row["level"])
    return "".join(f"  {number} of level {level}" for level, number in found.items())


def _notes(row: Row) -> Iterator[str]:
    """Explain why a step failed, and the point from which it resumes."""
    if row["why"]:
        yield f"    {row['label']}: {row['why']}"
    if row["goes_on_from"]:
        yield f"    {row['label']} continues from {row['goes_on_from']}"


def _count(rows: list[Row], width: int = 0) -> str:
    return counts([row["state"] for row in rows], width) or "no steps"


def _row_of(step: StepProgress, store: Reading, prices: Prices | None) -> Row:
    """Make the row of a step; `prices` tell its cost. What nobody has measured yet is None."""
    manifest, since = step.manifest, step.since
    level = store.level_of(manifest.key, manifest.generation) if manifest else ""
    usage = manifest.usage if manifest else Usage()
    spent = spent_on(step.needs, manifest, prices) if manifest else Cost()
    return {
        "label": step.label,
        "stage": step.stage,
        "state": step.state,
        "attempts": step.attempts,
        "worker": step.worker,
        "host": manifest.host if manifest else None,
        "started": manifest.started if manifest else since,
        "seconds": usage.all_seconds if manifest else None if since is None else time.time() - since,
        "cpu_seconds": usage.cpu_seconds if manifest else None,
        "memory_mb": usage.peak_memory / 1e6 if manifest else None,
        "gpus": usage.gpus,
        "gpu_utilisation": usage.gpu_utilisation,
        "gpu_memory_mb": usage.gpu_memory / 1e6,
        "cost": spent.values,
        "level": level or None,
        "why": step.why or None,
        "goes_on_from": step.saved or None,
    }
