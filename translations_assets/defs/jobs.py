"""Jobs: everything, everything up to a stage, and everything from a stage on."""

import dagster as dg

from translations_assets.defs.executor import threaded_executor

# Where people stop to look, or start again.
UP_TO = ("merge_corpus", "train_backwards", "train_teacher", "evaluate_teacher", "train_student", "export")
FROM = ("train_teacher", "merge_translated", "train_student", "finetune_student")

SELECTIONS = {
    "all": (dg.AssetSelection.all(), "Everything: from datasets to export, analysis and evaluation."),
    **{
        f"up_to_{stage}": (dg.AssetSelection.assets(stage).upstream(), f"{stage} and everything it needs.")
        for stage in UP_TO
    },
    **{
        f"from_{stage}": (
            dg.AssetSelection.assets(stage).downstream(),
            f"{stage} and everything that is made from it.",
        )
        for stage in FROM
    },
}


def jobs() -> dg.Definitions:
    """The jobs of the common selections."""
    return dg.Definitions(
        jobs=[
            dg.define_asset_job(
                name,
                selection=selection,
                description=description,
                executor_def=threaded_executor,
            )
            for name, (selection, description) in SELECTIONS.items()
        ]
    )
