"""What Dagster loads: everything in `defs`, with the executor that all runs use.

Dagster's `load_from_defs_folder` would do the same, but first imports all libraries that register components:
pandas, BigQuery and Dataproc among them, more than a second of each start.
"""

import dagster as dg

from translations_assets.defs import assets, checks, jobs, pasted, recipe_sensor, recipes, resources
from translations_assets.defs.executor import threaded_executor

defs = dg.Definitions.merge(
    assets.assets(),
    checks.checks(),
    jobs.jobs(),
    pasted.pasted(),
    recipes.recipes(),
    recipe_sensor.sensors(),
    resources.resources(),
    dg.Definitions(executor=threaded_executor),
)
