"""Assets that people look at: the report of a partition, and its runs in Weights & Biases.

They are made from the store, only if asked for, and nothing is made of them. `report` is in no job: somebody
materializes it. `wandb_publication` is in the jobs that make models, and does nothing unless the training
config has `wandb-publication: true`; what goes wrong there fails no run.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import state_folder
from translations_assets.configs.training_configs import ReadConfig
from translations_assets.defs.engine_events import log_event
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS, reported_failures
from translations_assets.defs.tables import Metadata, as_metadata
from translations_assets.instance.server import REPORT, STAGE, WANDB, report_path
from translations_assets.records.run import RunOptions
from translations_assets.report.facts import Report, gather
from translations_assets.report.machines import hours, money
from translations_assets.results.evaluations import evaluates
from translations_assets.stages import ASSETS

if TYPE_CHECKING:
    from translations_assets.tracking.wandb_runs import Published

# In a run that makes some of what they show, they come after all of it.
EVALUATIONS = [name for name in ASSETS if evaluates(name)]
TRAININGS = ["train_backwards", "train_teacher", "train_student", "finetune_student"]

Results = Iterator[dg.MaterializeResult[None]]


def _asset(
    name: str, kind: str, deps: Sequence[str]
) -> Callable[[Callable[..., Results]], dg.AssetsDefinition]:
    return dg.asset(
        name=name,
        deps=deps,
        group_name="reports",
        kinds={kind},
        partitions_def=TRAINING_CONFIGS,
        required_resource_keys={"run"},
        output_required=False,
    )


@_asset(REPORT, "html", EVALUATIONS)
def report(context: dg.AssetExecutionContext) -> Results:
    """All that can be told of a training, as a page and a model card: kept in the store, and made anew only
    when what it shows has changed.
    """
    from translations_assets.report.kept import PAGE, keep
    from translations_assets.report.page import tiles

    with reported_failures():
        read = _read(context)
        found = _gathered(context, read)
        if not found.results:
            raise TranslationsError(f"The store has no results of {read.partition} to report.")
        made, is_new = keep(found, read.text)
    context.log.info("The report is made." if is_new else "The newest report shows the same: it stays.")
    values = {
        "summary": ["; ".join(f"**{value}** {name}" for name, value, _ in tiles(found))],
        "report": dg.MetadataValue.url(report_path(made.key, made.generation)),
        **_numbers(found),
        "currency": found.prices.currency if found.prices else None,
        "cost, by model": _models(found),
        "size": made.outputs[PAGE].size,
        "missing_results": len(found.lacking),
    }
    yield from _told(context, as_metadata(values), made.key)


@_asset(WANDB, "wandb", [*TRAININGS, *EVALUATIONS])
def wandb_publication(context: dg.AssetExecutionContext) -> Results:
    """Curves, scores and machine use as runs in Weights & Biases, if the training config asks for that.

    A run of stages sends the curves of its trainings while they grow; this tells the rest to the same runs.
    """
    read = _read(context)
    if not read.config.wandb_publication:
        context.log.info("Nothing is sent: the training config has no wandb-publication: true.")
        return
    try:
        published = _publish(context, read)
    except Exception as error:  # tracking is not worth a run that has trained for days
        bug = not isinstance(error, TranslationsError)
        how = f"To send it later: translations wandb {read.partition}"
        context.log.warning(f"{error} {how}", exc_info=bug)
        return
    if published is None:
        context.log.info("Nothing is sent: WANDB_MODE=disabled.")
        return
    values = {
        "pages": [f"* [{name}]({page})" for name, page in published.pages.items()],
        "runs_sent": len(published.sent),
        "runs_known": len(published.known),
    }
    yield from _told(context, as_metadata(values), published.digest)


def _publish(context: dg.AssetExecutionContext, read: ReadConfig) -> "Published | None":
    """Publish the runs, and return what was sent; None when Weights & Biases is switched off."""
    from translations_assets.tracking.live import end_live
    from translations_assets.tracking.wandb_runs import asked_mode, publish

    end_live(context.run_id)  # what is told now goes on from there
    mode = asked_mode()
    return publish(_gathered(context, read), state_folder() / "wandb", mode) if mode else None


def _read(context: dg.AssetExecutionContext) -> ReadConfig:
    """The run's training config, with its overrides."""
    with reported_failures():
        return PROJECT.configs.read(context.partition_key, context.resources.run.overrides)


def _gathered(context: dg.AssetExecutionContext, read: ReadConfig) -> Report:
    """Gather the partition's results, independently of the run's own session."""
    options = RunOptions(overrides=context.resources.run.overrides)
    session = PROJECT.new_session(context.run_id, read, options, ())
    history, prices = PROJECT.history(session.partition), PROJECT.prices(session.machine)
    return gather(session, history, prices, PROJECT.cluster)


def _numbers(found: Report) -> dict[str, float]:
    """Scores, size and speed of the model that users get, and what it took with all that it was made from
    (`model_hours`, `model_money`, …); gates by state, hours of all results: under names that stay.
    """
    shown = found.shown_scores
    model = found.cost(found.origins(found.shown_model)).values
    numbers = {
        **(shown.numbers if shown else {}),
        **{f"model_{name}": value for name, value in model.items() if value},
        **hours(found.classes),
        **money(found.classes),
    }
    states = [gate.state for gate in found.gates]
    return {
        **{name: float(value) for name, value in numbers.items()},
        **{f"gates_{state}": states.count(state) for state in ("passed", "failed")},
    }


def _models(found: Report) -> list[dict[str, Any]]:
    """The cost of each model, alone and with all that it was made from."""
    return [
        {
            "model": model,
            **found.cost(steps).values,
            **{f"{name}, all": v for name, v in found.cost(found.origins(model)).values.items()},
        }
        for model, steps in found.models.items()
    ]


def _told(context: dg.AssetExecutionContext, metadata: Metadata, version: str) -> Results:
    """The materialization; of a run with overrides a line of its log, as what it made is not the config's."""
    if context.resources.run.overrides:
        name = context.asset_key.to_user_string()
        log_event(context, "INFO", f"{name}: made with overrides", {STAGE: name, **metadata})
        return
    yield dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(version))
