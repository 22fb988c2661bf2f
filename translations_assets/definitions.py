"""Dagster's entry point: everything in `defs`, with the executor that all runs use.

Dagster's `load_from_defs_folder` would do the same, but first imports all libraries that register components:
pandas, BigQuery and Dataproc among them, more than a second of each start.
"""

import gc

import dagster as dg

from translations_assets.checks.gates import GATES
from translations_assets.defs.assets import make_asset, make_checks
from translations_assets.defs.description import linked_to_repository
from translations_assets.defs.examples import clean_data, monthly_data, new_data
from translations_assets.defs.executor import threaded_executor
from translations_assets.defs.jobs import SELECTED_JOBS, train_pasted_config
from translations_assets.defs.looking import report, wandb_publication
from translations_assets.defs.notices import NOTICES
from translations_assets.defs.recipes import make_recipe, recipes_sensor
from translations_assets.defs.runs import run
from translations_assets.defs.sweeps import sweep_comparisons
from translations_assets.stages import ASSETS

defs = dg.Definitions(
    assets=[
        *linked_to_repository([*map(make_asset, ASSETS.values())]),
        *map(make_recipe, ASSETS),
        report,
        wandb_publication,
        *sweep_comparisons(),
    ],
    asset_checks=[make_checks(stage) for stage in dict.fromkeys(gate.stage for gate in GATES)],
    jobs=[*SELECTED_JOBS, train_pasted_config, clean_data],
    schedules=[monthly_data],
    sensors=[recipes_sensor, new_data, *NOTICES],
    resources={"run": run},
    executor=threaded_executor,
)
# What is imported and defined stays for as long as the process. The garbage collector need not look through
# it again, nor at the end: a third of the processor time of a run in which everything is cached.
gc.freeze()
