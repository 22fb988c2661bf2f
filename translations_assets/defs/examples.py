"""Examples of automation, switched off until somebody switches them on: data that is fetched and cleaned.

They launch `clean_data`, whose stages need no GPU. What is to be trained from the text that it leaves is for
people to decide, who look at it first: `translations plan` says what it costs.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import dagster as dg

from translations_assets.config.errors import ConfigError
from translations_assets.defs.executor import threaded_executor
from translations_assets.defs.shared import PROJECT, TRAINING_CONFIGS
from translations_assets.graph.step import LocalFile
from translations_assets.records.canonical import json_digest

SENSOR_SECONDS = 300
DATASETS = "dataset"  # what the stages that fetch are called together
CLEANED = ("clean_corpus", "clean_mono", "dataset_devtest", "dataset_test")

clean_data = dg.define_asset_job(
    "clean_data",
    dg.AssetSelection.assets(*CLEANED).upstream(),
    description="The datasets, fetched and cleaned by rules: needs no GPU.",
    executor_def=threaded_executor,
)


@dg.schedule(job=clean_data, cron_schedule="0 3 1 * *", default_status=dg.DefaultScheduleStatus.STOPPED)
def monthly_data(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest]:
    """Fetches the datasets of all training configs again each month, for providers whose texts change, and
    cleans them. Off until it is switched on.
    """
    again = {"resources": {"run": {"config": {"start": DATASETS}}}}
    for partition in TRAINING_CONFIGS.get_partition_keys():
        month = f"{context.scheduled_execution_time:%Y-%m}"
        yield dg.RunRequest(run_key=f"{partition} {month}", partition_key=partition, run_config=again)


class TrainingData(NamedTuple):
    """The data that a training config was seen to train on.

    config    something that changes when the config does
    datasets  a digest of its datasets
    files     path → time of change and size of each file of its own; "" of one that is not there
    """

    config: str
    datasets: str
    files: Mapping[str, str]


@dg.sensor(
    job=clean_data,
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.STOPPED,
)
def new_data(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Fetches and cleans the data of a training config that is new, whose datasets were edited, or whose own
    files have changed. Off until it is switched on; its first tick only takes note of what there is.
    """
    seen = {key: TrainingData(*known) for key, known in json.loads(context.cursor or "{}").items()}
    is_first = not context.cursor
    states = PROJECT.configs.partitions().states
    found: dict[str, TrainingData] = {}
    problems: list[str] = []
    for partition in TRAINING_CONFIGS.get_partition_keys():
        try:
            found[partition] = _data_of(partition, states.get(partition, ""), seen.get(partition))
        except ConfigError as error:
            problems.append(f"{partition}: {error}")
    context.update_cursor(json.dumps({**seen, **found}))
    changed = [key for key, data in found.items() if not is_first and _is_new(data, seen.get(key))]
    requests = [
        dg.RunRequest(run_key=f"{key} {json_digest(found[key][1:])}", partition_key=key) for key in changed
    ]
    if requests:
        return dg.SensorResult(run_requests=requests)
    return dg.SkipReason("\n".join(["No new data.", *problems]))


def _is_new(data: TrainingData, known: TrainingData | None) -> bool:
    """True if there is text that was not known; a file that is missing is not new."""
    return data[1:] != (known[1:] if known else None) and all(data.files.values())


def _data_of(partition: str, state: str, known: TrainingData | None) -> TrainingData:
    """Describe a config's data; files are read only when they have changed."""
    if known and known.config == state:
        return known._replace(files={path: _state(path) for path in known.files})
    read = PROJECT.configs.read(partition)
    datasets = json_digest(read.config.datasets.model_dump(mode="json", by_alias=True))
    paths = {
        handle.path
        for step in read.graph.steps
        for handle in step.files().values()
        if isinstance(handle, LocalFile)
    }
    return TrainingData(state, datasets, {path: _state(path) for path in sorted(paths)})


def _state(path: str) -> str:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"
