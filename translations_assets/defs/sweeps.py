"""The asset that compares the variants of sweeps, a partition for each sweep."""

import dagster as dg

from translations_assets.configs.sweeps import usable_sweeps
from translations_assets.defs.looking import EVALUATIONS
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS, reported_failures
from translations_assets.defs.tables import as_metadata
from translations_assets.records.canonical import json_digest
from translations_assets.sweeps.of_project import compare
from translations_assets.sweeps.words import as_json, findings


def sweep_comparisons() -> list[dg.AssetsDefinition]:
    """The asset that compares the variants of sweeps; none where there is no sweep.

    No base is read, which may be in a store that is away: whether it is compared as well depends on its
    values, so that each sweep is taken to depend on its base.
    """
    sweeps = {name: sweep for name, (_, sweep) in usable_sweeps()[0].items()}
    known = {*TRAINING_CONFIGS.get_partition_keys()}
    by_partition: dict[str, list[str]] = {}
    for name, sweep in sweeps.items():
        for partition in known & {sweep.file.base, *(variant.partition for variant in sweep.variants)}:
            by_partition.setdefault(partition, []).append(name)
    mapping = dg.StaticPartitionMapping(by_partition)

    @dg.asset(
        name="sweep_comparison",
        deps=[dg.AssetDep(name, partition_mapping=mapping) for name in EVALUATIONS],
        group_name="reports",
        kinds={"html"},
        partitions_def=dg.StaticPartitionsDefinition([*sweeps]),
        automation_condition=dg.AutomationCondition.any_deps_updated()
        & ~dg.AutomationCondition.in_progress(),
    )
    def sweep_comparison(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        """The settings of a sweep compared: scores over seeds, significance, sizes, speed and cost.

        It is made anew when a variant is evaluated, if Dagster's automation is switched on.
        """
        with reported_failures():
            found = compare(PROJECT, context.partition_key)
        values = {
            "findings": [f"* {finding}" for finding in findings(found)],
            "comparison": dg.MetadataValue.json(as_json(found)),
            "report": f"translations report {context.partition_key}",
        }
        version = json_digest(as_json(found))
        return dg.MaterializeResult(metadata=as_metadata(values), data_version=dg.DataVersion(version))

    return [sweep_comparison] if sweeps else []
