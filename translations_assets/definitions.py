"""What Dagster loads: everything in `defs`, with the executor that all runs use."""

from pathlib import Path

import dagster as dg

from translations_assets.defs.executor import threaded_executor

defs = dg.Definitions.merge(
    dg.load_from_defs_folder(path_within_project=Path(__file__).parent),
    dg.Definitions(executor=threaded_executor),
)
