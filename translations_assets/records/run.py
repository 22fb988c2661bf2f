"""A run: its options, and the record of it in the store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from translations_assets.records.canonical import json_digest
from translations_assets.records.checked import Record
from translations_assets.records.cost import Cost

SILENT_SECONDS = 180.0  # a run's record is renewed each minute
_OVERRIDDEN = "@"  # between a partition and the digest of a run's overrides


def is_overridden(name: str) -> bool:
    """True if refs of this name are those of runs with overrides (`RunOptions.ref_partitions`)."""
    return _OVERRIDDEN in name


def partition_of(name: str) -> str:
    """The partition whose refs have a name, or those of its runs with overrides."""
    return name.partition(_OVERRIDDEN)[0]


@dataclass(frozen=True)
class Option:
    """The form of a run's option on the command line.

    default  the value of an option that is not given; its type is that of the option: text, a flag, a number,
             keys with values
    flag     its name on the command line
    metavar  the placeholder of its value in the help
    """

    default: str | bool | float | Mapping[str, Any]
    flag: str
    help: str
    metavar: str | None = None


def _option(default: Any, flag: str, help: str, metavar: str | None = None) -> Any:
    return field(default_factory=lambda: default, metadata={"option": Option(default, flag, help, metavar)})


@dataclass(frozen=True)
class RunOptions(Record):
    """Options that make a run differ from "make what is missing".

    This is the only list of these options. The options of `translations train` and `plan`, the config of
    Dagster's resource `run`, the record of a run and the command of a child process are made from it.
    """

    start: str = _option(
        "", "--start", "Repeat this stage and everything made from it, even if cached.", "STAGE"
    )
    previous_run: str = _option(
        "",
        "--previous-run",
        "Use this run's results for the stages before --start, whatever their keys.",
        "RUN",
    )
    force: bool = _option(False, "--force", "Use results of the previous run even if they do not fit.")
    repair: bool = _option(False, "--repair", "Make lost results again.")
    budget: float = _option(
        0.0,
        "--budget",
        "Start no step that would push the run's cost above this, by the deployment file's prices.",
        "MONEY",
    )
    hard_budget: bool = _option(
        False, "--hard-budget", "Also stop running steps that exceed what is left of the budget."
    )
    sweep: str = _option(
        "", "--sweep", "The run of a sweep that this run is part of: all its runs share the budget.", "ID"
    )
    overrides: Mapping[str, Any] = _option(
        {},
        "--set",
        "Override a key of the training config in this run, such as "
        "marian-args.training-student.after. Repeatable.",
        "KEY=VALUE",
    )

    def ref_partitions(self, partition: str) -> tuple[str, ...]:
        """The names of the refs that such a run of a partition uses; the first one is for its own refs.

        A run with overrides has its own name, and also uses results under the partition's.
        """
        if not self.overrides:
            return (partition,)
        return f"{partition}{_OVERRIDDEN}{json_digest(self.overrides)[:12]}", partition

    def to_dict(self) -> dict[str, Any]:
        """Return the options that were given, as JSON values; those not given are left out."""
        return {name: value for name, value in vars(self).items() if value}

    def words(self) -> Iterator[str]:
        """The options of `translations train` that ask the same."""
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if isinstance(value, Mapping):
                yield from (f"{option.flag}={key}={json.dumps(inner)}" for key, inner in value.items())
            elif value:
                yield option.flag if value is True else f"{option.flag}={value}"


OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(RunOptions)}


@dataclass(frozen=True)
class RunRecord(Record):
    """A run: its options, its last sign of life, the results that it uses, and the state of its other steps.

    pair     source and target language
    config   the digest of the training config
    stages   the stages that it was asked for
    repeats  the run that it continues, if it does
    steps    stage → label → worker class, of all steps that it was to make
    uses     label → key and generation, of the steps that have a result
    begun    the same, of the steps without a result that it began, or waited for
    since    label → the start of the running attempt, of these steps
    failed   label → the reason in a line, of the steps that failed
    reasons  label → the reason why it began to make the step
    expected label → the expected cost, by the prices of that time, as far as it was known
    spent    of its budget, in the currency of the prices; 0 without a budget
    """

    run: str = ""
    partition: str = ""
    space: str = ""
    pair: tuple[str, ...] = ()
    config: str = ""
    options: RunOptions = field(default_factory=RunOptions)
    stages: tuple[str, ...] = ()
    repeats: str = ""
    started: float | None = None
    heartbeat: float = 0.0
    ended: float | None = None
    steps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    uses: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    begun: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    since: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, Cost] = field(default_factory=dict)
    spent: float = 0.0

    def is_silent(self, now: float) -> bool:
        """True if a run that has not ended has stopped sending signs of life: its process is gone."""
        return self.ended is None and now - self.heartbeat > SILENT_SECONDS

    @property
    def labels(self) -> dict[str, str]:
        """Label → stage, of all steps that the run was to make."""
        return {label: stage for stage, labels in self.steps.items() for label in labels}

    @property
    def progress(self) -> tuple[int, int]:
        """The number of its own steps that are done, and of all; 0 of 0 before it began."""
        labels = self.labels.keys()
        return len(labels & self.uses.keys()), len(labels)
