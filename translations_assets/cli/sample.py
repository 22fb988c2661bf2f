"""`translations sample`: random lines of the text of a stage."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli import common, completion
from translations_assets.cli.common import Json, Set
from translations_assets.cli.output import number_of, print_json, print_line, print_note, shown
from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.config.errors import among
from translations_assets.config.stage_names import resolve_stage
from translations_assets.project import this_project
from translations_assets.results.known import known_results

if TYPE_CHECKING:
    from translations_assets.answers.samples import Asked, DrawnLine, Sample
    from translations_assets.records.manifest import Manifest
    from translations_assets.runs.run import Run

NONE_DRAWN = "none of those that were asked about; to draw some: --filter {}"
NOT_KNOWN = "which lines, the step does not tell"
LONGEST = 300  # characters of a line on a terminal
# They would turn the direction of what follows on a terminal
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@common.reads
def sample(
    name: Annotated[str, common.PARTITION_OR_RUN],
    stage: Annotated[
        str,
        typer.Argument(
            metavar="STAGE", help="A stage, such as clean_corpus.", autocompletion=completion.stages
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(metavar="DATASET", help="Only text of this dataset: its key, short name or alias."),
    ] = None,
    filter: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Only lines that this filter dropped, as statistics call it."),
    ] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=1000, help="Lines of each kind.")] = 5,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Draw the same lines as the command that printed this seed.")
    ] = None,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print random lines of each step of a stage: what went in, what came out, what was dropped, and why.

    The choice is uniform among all lines of its kind. The reasons are those of the step's own filters, asked
    again about the lines. The text is that of the newest results, or of a run.
    """
    from translations_assets.answers.samples import Asked, Sampler

    drawn_by = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    asked = Asked(number, drawn_by, dataset or "", filter or "")
    stages, run = resolve_stage(stage), common.run_named(name)
    labels, results = _of_run(run, stages) if run else _of_partition(name, stages, overrides)
    samples = []
    for made in Sampler(this_project().store, results).samples(", ".join(stages), labels, asked):
        samples.append(made)
        if not json:
            _print(made, asked)
    if json:
        print_json([_as_json(made, drawn_by) for made in samples])


def _of_partition(
    name: str, stages: Sequence[str], overrides: list[str] | None
) -> tuple[list[str], dict[str, Manifest]]:
    """The steps of some stages, and the results of all steps up to them, that count for a partition."""
    session = common.reading_session(name, overrides)
    steps = common.steps_of(session.graph, [stage for stage in stages if stage in session.graph.stages])
    if not steps:
        others = [stage for stage, made in session.graph.stages.items() if made]
        raise TranslationsError(
            f"{session.partition} has no steps of {', '.join(stages)}: its training config asks for none."
            f"{among(stages[0], others)}"
        )
    known = known_results(session, session.graph.step_closure(steps))
    common.print_warnings(session)
    _tell_missing([step.label for step in steps], known, session.command("train", "--target", stages[-1]))
    return [step.label for step in steps], {label: found.manifest for label, found in known.items()}


def _of_run(run: Run, stages: Sequence[str]) -> tuple[list[str], dict[str, Manifest]]:
    """The steps of some stages, and all results, of a run."""
    from translations_assets.registry.read import StoreReader

    stage_of = run.record.labels
    results = StoreReader(this_project().store).manifests(run.record)
    stage_of = {**{label: made.stage for label, made in results.items()}, **stage_of}
    labels = [label for label, stage in stage_of.items() if stage in stages]
    if not labels:
        others = list(dict.fromkeys(stage_of.values()))
        raise TranslationsError(
            f"Run {run.short} has no steps of {', '.join(stages)}.{among(stages[0], others)}"
        )
    _tell_missing(labels, results, f"translations rerun {run.short}")
    return labels, results


def _tell_missing(labels: Sequence[str], results: Collection[str], remedy: str) -> None:
    """Name the steps without a result. Raises TranslationsError if none has one."""
    missing = [label for label in labels if label not in results]
    if not missing:
        return
    said = f"not made: {some(missing)}"
    if len(missing) == len(labels):
        raise TranslationsError(f"{said}. To make them: {remedy}")
    print_note(f"{said}. To make them: {remedy}")


def _as_json(sample: Sample, seed: int) -> dict[str, Any]:
    return {
        "step": sample.label,
        "stage": sample.stage,
        "datasets": sample.datasets,
        "seed": seed,
        "lines": sample.lines.to_dict() if sample.lines else None,
        **sample.drawn.to_dict(),
    }


def _print(sample: Sample, asked: Asked) -> None:
    drawn, lines, seed = sample.drawn, sample.lines, asked.seed
    typer.echo(f"{sample.label}  {', '.join(sample.datasets)}".rstrip())
    if lines:
        typer.echo(f"{lines.read:,} lines went in, {lines.kept:,} came out; drawn by the seed {seed}")
    else:
        typer.echo(f"{number_of(drawn.rows, 'line')}; drawn by the seed {seed}")
    if drawn.judged < drawn.rows:
        typer.echo(f"Filters were asked of {drawn.judged:,} lines, drawn as well")
    before, is_named = set[tuple[str, int]](), len(sample.datasets) > 1
    _print_part("went in", drawn.read, before, is_named)
    _print_part("came out", drawn.kept, before, is_named)
    for reason, counted in _reasons(sample, asked.filter).items():
        share = f", {counted:,} of {lines.read:,}" if lines and counted else ""
        print_line(f"\n{shown('dropped')} by {reason}{share}:")
        for line in drawn.dropped.get(reason, ()):
            _print_row(line, is_named)
        if reason not in drawn.dropped:
            typer.echo(f"           {NONE_DRAWN.format(reason) if sample.is_explained else NOT_KNOWN}")
    _print_part("changed or dropped, not known why", drawn.unknown, before, is_named)
    for note in drawn.notes:
        print_note(note)
    typer.echo()


def _reasons(sample: Sample, filter: str) -> dict[str, int]:
    """The reasons for which lines were dropped, with their numbers as far as the step counted them."""
    counted = sample.lines.dropped if sample.lines else {}
    reasons = {**{reason: number for reason, number in counted.items() if number}, **sample.drawn.dropped}
    return {reason: counted.get(reason, 0) for reason in reasons if filter in ("", reason)}


def _print_part(title: str, lines: Iterable[DrawnLine], before: set[tuple[str, int]], is_named: bool) -> None:
    """Print lines that were not printed before."""
    others = [line for line in lines if (line.dataset, line.line) not in before]
    if others:
        print_line(f"\n{title}:")
    for line in others:
        before.add((line.dataset, line.line))
        _print_row(line, is_named)


def _print_row(line: DrawnLine, is_named: bool) -> None:
    """Print a line and what became of it; of one of several datasets also which one it is of."""
    number = f"{line.line:>9,}  "
    for text in line.text or line.result or ():
        typer.echo(f"{number}{_plain(text)}")
        number = " " * len(number)
    margin = " " * len(number)
    if line.text and line.result is not None and line.result != line.text:
        for text in line.result:
            typer.echo(f"{margin}→ {_plain(text)}")
    beside = "".join(f"; {name} {_plain(value)}" for name, value in line.beside.items())
    of = f", of {line.dataset}" if is_named else ""
    print_line(f"{margin}{_fate(line)}{of}{beside}")
    if line.instead:
        other = line.instead
        where = f"line {other.line:,}{f' of {other.dataset}' if is_named else ''}"
        typer.echo(f"{margin}in its place {where}: {_plain(' | '.join(other.text))}")


def _fate(line: DrawnLine) -> str:
    if line.reason:
        return f"{shown('dropped')}: {line.reason}"
    return shown("kept") if line.is_known else "changed or dropped"


def _plain(text: str) -> str:
    """The text as a terminal may show it: cut, and without what would steer it."""
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
    steers = (unicodedata.category(sign) == "Cc" or sign in _TURNING for sign in cut)
    return "".join(f"\\u{ord(sign):04x}" if bad else sign for sign, bad in zip(cut, steers, strict=True))
