"""Jobs: everything, everything up to a stage, and everything from a stage on; and a pasted training config.

`train_pasted_config` takes a whole training config, pasted into the Launchpad, and trains it. The definitions
know a config's partition only when they are loaded again, which a run cannot do in its own process. So the
job keeps the config in the store and has the web server reload the code location and launch the training, a
run of its own. Where no server answers (a run of the command line, a bare daemon), it runs
`translations train` as a child.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

import dagster as dg
import yaml

from translations_assets.common import settings
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root
from translations_assets.config.errors import ConfigError
from translations_assets.config.stage_names import resolve_stage
from translations_assets.defs.endings import ToldCancellation
from translations_assets.defs.executor import cancel_event, threaded_executor
from translations_assets.defs.metadata import notes_table, tell_notes
from translations_assets.defs.runs import CONFIG
from translations_assets.defs.shared import PROJECT, reported_failures
from translations_assets.instance.server import PAIRS, WANDB, Server, ServerUnreachable, assets_of, run_path
from translations_assets.records.run import RunOptions
from translations_assets.stages import ASSETS

# Where people stop to look, or start again.
UP_TO = ("merge_corpus", "train_backwards", "train_teacher", "evaluate_teacher", "train_student", "export")
FROM = ("train_teacher", "merge_translated", "train_student", "finetune_student")

# Without the assets that are made when somebody asks for one, or whose partitions are no training configs
MADE = dg.AssetSelection.assets(*ASSETS, WANDB)

SELECTIONS = {
    "all": (
        MADE,
        f"Everything: from datasets to export, analysis and evaluation. [All pairs at a glance]({PAIRS}).",
    ),
    **{
        f"up_to_{stage}": (dg.AssetSelection.assets(stage).upstream(), f"{stage} and everything it needs.")
        for stage in UP_TO
    },
    **{
        f"from_{stage}": (
            dg.AssetSelection.assets(stage).downstream() & MADE,
            f"{stage} and everything that is made from it.",
        )
        for stage in FROM
    },
}
SELECTED_JOBS = [
    dg.define_asset_job(name, selection, description=description, executor_def=threaded_executor)
    for name, (selection, description) in SELECTIONS.items()
]

_LOOK_SECONDS = 0.2
_END_SECONDS = 9.0  # the executor waits ten

_SCHEMA = {
    "config": dg.Field(
        dg.Any, description="The training config: its YAML as text (`config: |`), or the mapping itself."
    ),
    "name": dg.Field(
        str,
        default_value="",
        description="The experiment is kept as <src>-<trg>.<name>; by default the config's experiment.name.",
    ),
    "target": dg.Field(
        str,
        default_value="",
        description="The last stage to make. Defaults to the config's target-stage, else to all stages.",
    ),
    "options": dg.Field(CONFIG, default_value={}, description="What else is asked of the run."),
}


@dg.op(config_schema=_SCHEMA, out=dg.Out(dg.Nothing))
def pasted_config(context: dg.OpExecutionContext) -> None:
    """Check the config, keep it in the store as an experiment of its pair, and launch its training."""
    asked = context.op_config
    with reported_failures():
        options = RunOptions.from_dict(asked["options"])
        if asked["target"]:
            resolve_stage(asked["target"])  # before anything is kept for good
        key = PROJECT.configs.keep(_text(asked["config"]), asked["name"])
        context.log.info(f"The training config is kept as {key}.")
        read = PROJECT.configs.read(key, options.overrides)
        tell_notes(context.instance, context.run_id, context.log, read.notes)
        if read.notes:
            context.add_output_metadata({"notes": notes_table(read.notes)})
        assets = assets_of(read.graph.up_to(asked["target"]), read.config)
        _train(context, key, assets, asked["target"], options)


def _text(config: object) -> str:
    if isinstance(config, str):
        return config
    try:
        return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
    except RecursionError:
        raise ConfigError.of("is nested too deeply", "the pasted config") from None


def _train(
    context: dg.OpExecutionContext, key: str, assets: Sequence[str], target: str, options: RunOptions
) -> None:
    server = Server(settings.server_url())
    try:
        server.check()
    except ServerUnreachable as error:
        context.log.info(f"{error} Training in a process of this run.")
        _train_in_child(context, key, target, options)
        return
    server.load_partition(key)
    run = server.launch(key, assets, options)
    context.log.info(f"Launched {run_path(run)}")
    context.add_output_metadata({"partition": key, "run": dg.MetadataValue.url(run_path(run))})


def _train_in_child(context: dg.OpExecutionContext, key: str, target: str, options: RunOptions) -> None:
    """Train in a process of its own, with a run of its own; ends with this one."""
    cancel = cancel_event(context.run_id)
    command = [sys.executable, "-m", "translations_assets.cli.main"]
    # its config was pasted: a command line of one's own may read files that this one must not
    files = os.environ.get("TRANSLATIONS_FILES", "")
    environment = {**os.environ, "DAGSTER_HOME": context.instance.root_directory, "TRANSLATIONS_FILES": files}
    # a session of its own: Ctrl-C in a terminal is for this process, which then ends the child
    process = subprocess.Popen(
        [*command, "train", key, "--yes", *(("--target", target) if target else ()), *options.words()],
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while process.poll() is None and not cancel.wait(_LOOK_SECONDS):
            pass
    finally:
        _end(process)
    if cancel.is_set():
        raise ToldCancellation(f"The training of {key} was cancelled.")
    if process.returncode:
        raise TranslationsError(
            f"The training of {key} did not succeed; the output of this run shows why. "
            f"To go on: translations train {key}"
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _template() -> dict[str, object]:
    """Return the Launchpad's first config: the demo as an experiment of its own, which trains as it is."""
    text = (repository_root() / "configs" / "en-eo.demo.yml").read_text(encoding="utf-8")
    config = yaml.safe_load(text)
    config["experiment"]["name"] = "my-experiment"
    asked = {"config": config, "name": "", "target": "", "options": {}}
    return {"ops": {"pasted_config": {"config": asked}}}


@dg.job(executor_def=threaded_executor, config=_template())
def train_pasted_config() -> None:
    """Train a whole training config that is pasted here, in place of the one that stands here at first.

    It is checked, kept as an experiment of its pair, and trained in a run of its own. `config` is a training
    config, as YAML or as text (`config: |`, which keeps comments and lines); `target` is the last stage to
    make.
    """
    pasted_config()
