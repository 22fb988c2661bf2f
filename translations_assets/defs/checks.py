"""Asset checks, made from the table of gates: one computation an asset, with all of its gates.

It runs the steps that compute the numbers, which are cached as all are, and judges. A blocking gate depends
on nothing that is downstream of its asset. A gate whose numbers cannot be had, because a stage was never
made, is a warning and stops nothing.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import dagster as dg

from translations_assets.checks.gates import GATES, Finding, Gate, examine
from translations_assets.defs.assets import run_session, run_stage
from translations_assets.defs.shared import TRAINING_CONFIGS, reported_failures
from translations_assets.errors import StepFailed, TranslationsError
from translations_assets.running.session import UpstreamMissing
from translations_assets.stages import ASSETS

MAX_SAMPLES = 10


def check_name(gate: Gate) -> str:
    """A gate's name as Dagster allows it."""
    return gate.name.replace("-", "_")


def make_checks(stage: str) -> dg.AssetChecksDefinition:
    """The asset checks of a stage's gates."""
    gates = [gate for gate in GATES if gate.stage == stage]

    @dg.multi_asset_check(
        name=f"checks_of_{stage}",
        specs=[_spec(gate) for gate in gates],
        required_resource_keys={"run"},
    )
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        for found in _examine(context.op_execution_context, gates):
            yield _result(found)

    return check


def _spec(gate: Gate) -> dg.AssetCheckSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitions of checks are one
        return dg.AssetCheckSpec(
            name=check_name(gate),
            asset=gate.stage,
            description=gate.description,
            blocking=gate.blocking,
            additional_deps=[stage for stage in gate.reads if stage in ASSETS and stage != gate.stage],
            partitions_def=TRAINING_CONFIGS,
        )


def _examine(context: dg.OpExecutionContext, gates: list[Gate]) -> list[Finding]:
    with reported_failures():
        session = run_session(context)
        errors: dict[str, TranslationsError] = {}
        for name in session.graph.checks:
            if any(name in gate.reads for gate in gates):
                try:
                    run_stage(context, session, name)
                except (UpstreamMissing, StepFailed) as error:
                    errors[name] = error
        return [examine(session, gate, errors) for gate in gates]


def _result(found: Finding) -> dg.AssetCheckResult:
    error = found.state == "failed" and found.level == "error"
    return dg.AssetCheckResult(
        asset_key=dg.AssetKey(found.gate.stage),
        check_name=check_name(found.gate),
        passed=found.state in ("passed", "off"),
        severity=dg.AssetCheckSeverity.ERROR if error else dg.AssetCheckSeverity.WARN,
        description=found.description,
        metadata=_metadata(found),
    )


def _metadata(found: Finding) -> dict[str, dg.MetadataValue[Any]]:
    """The numbers that decided, the thresholds, and lines that show what is meant."""
    metadata: dict[str, dg.MetadataValue[Any]] = {"level": dg.MetadataValue.text(found.level)}
    for name, threshold in found.thresholds.items():
        metadata[f"checks.{found.gate.name}.{name}"] = dg.MetadataValue.float(float(threshold))
    if found.overridden:
        metadata["overridden for this run"] = dg.MetadataValue.json(dict(found.overridden))
    if found.verdict:
        for name, number in found.verdict.numbers.items():
            metadata[name] = dg.MetadataValue.float(float(number))
        samples = found.verdict.samples[:MAX_SAMPLES]
        if samples:
            metadata["samples"] = dg.MetadataValue.md("\n".join(f"    {sample}" for sample in samples))
    return metadata
