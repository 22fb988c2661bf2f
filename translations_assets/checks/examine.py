"""Judges the gates of a session's results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from translations_assets.checks.gates import Gate
from translations_assets.checks.verdict import Documents, NotComputed, Verdict
from translations_assets.running.session import Session, UpstreamMissing

State = Literal["passed", "failed", "off", "not computed"]


@dataclass(frozen=True)
class Finding:
    """What came of a gate.

    description  for people, overrides included
    thresholds   its section of the training config
    overridden   keys of that section which have another value in this run
    verdict      None when the numbers are not there
    """

    gate: Gate
    level: str
    state: State
    description: str
    thresholds: Mapping[str, Any]
    overridden: Mapping[str, Any]
    verdict: Verdict | None = None


def examine(session: Session, gate: Gate) -> Finding:
    """Judge a gate by the results that the session has, or finds by key or ref. Nothing is run."""
    try:
        verdict = gate.judge(documents(session, gate), gate.thresholds(session.graph.config))
    except (UpstreamMissing, NotComputed) as error:
        return finding(session, gate, None, str(error))
    return finding(session, gate, verdict, verdict.description)


def finding(session: Session, gate: Gate, verdict: Verdict | None, description: str) -> Finding:
    """What came of a gate, by its verdict and its level in this run."""
    section = gate.thresholds(session.graph.config)
    values = section.model_dump(by_alias=True)
    overridden = {key: values[key] for key in _overridden_keys(gate, session.options.overrides)}
    told = {key: value for key, value in values.items() if key != "level"}
    state: State = "not computed" if verdict is None else "passed" if verdict.passed else "failed"
    if section.level == "off":
        description = f"off; it would have {state}: {description}" if verdict else "off"
        state = "off"
    if overridden:
        keys = ", ".join(f"checks.{gate.name}.{key}: {value}" for key, value in overridden.items())
        description = f"overridden for this run ({keys}): {description}"
    return Finding(gate, section.level, state, description, told, overridden, verdict)


def documents(session: Session, gate: Gate) -> Documents:
    """The numbers that a gate reads. Raises UpstreamMissing when steps were never made."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for stage in gate.reads:
        steps = session.graph.stages[stage]
        session.need(steps)
        found[stage] = {}
        for step in steps:
            result = session.result_of(step)
            name = "numbers.json" if stage in session.graph.checks else "metrics.json"
            if name in result.outputs:  # not of a model that was fetched
                found[stage][step.label] = json.loads(session.store.read_blob(result.outputs[name]))
    return found


def _overridden_keys(gate: Gate, overrides: Mapping[str, Any]) -> list[str]:
    """The overridden keys of a gate's section; overrides are nested, dotted, or both."""
    prefix = f"checks.{gate.name}."
    return [key.removeprefix(prefix) for key in _dotted(overrides, "") if key.startswith(prefix)]


def _dotted(values: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key
