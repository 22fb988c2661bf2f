"""The examples of automation: off, without GPUs, and right where somebody switches them on."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.golden import CONFIGS, graph_of
from translations_assets.definitions import defs
from translations_assets.defs import examples
from translations_assets.project import Project
from translations_assets.stages import ASSETS

OTHER = "en-eo.other"
JOB = defs.resolve_job_def("clean_data")
PARTITIONS = dg.StaticPartitionsDefinition([PARTITION, OTHER])


@dg.job(name=JOB.name, partitions_def=PARTITIONS)
def clean_data() -> None:
    """Stands for the job, whose partitions are the repository's own training configs."""


REPOSITORY = dg.Definitions(jobs=[clean_data]).get_repository_def()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The tiny pair, and another config whose training text is a file of its own."""
    place = make_place(tmp_path / "place")
    text = config(place, PARTITION).read_text()
    own = text.replace("url_file://", "").replace("name: tiny", "name: other")
    config(place, OTHER).write_text(own)
    for name, value in place.environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(examples, "PROJECT", Project())
    monkeypatch.setattr(examples, "TRAINING_CONFIGS", PARTITIONS)
    return place


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def config(place: Place, partition: str) -> Path:
    return place.root / "configs" / f"{partition}.yml"


def tick(instance: dg.DagsterInstance, cursor: str | None) -> tuple[list[str], str]:
    """The partitions that a tick of the sensor asks for, and its cursor."""
    context = dg.build_sensor_context(instance=instance, cursor=cursor, repository_def=REPOSITORY)
    result = examples.new_data.evaluate_tick(context)
    assert all(request.run_config == {} for request in result.run_requests or ())
    assert result.cursor
    return [str(request.partition_key) for request in result.run_requests or ()], result.cursor


def test_they_are_off_and_what_they_launch_needs_no_gpu() -> None:
    repository = defs.get_repository_def()
    schedule, sensor = repository.get_schedule_def("monthly_data"), repository.get_sensor_def("new_data")
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    assert [schedule.job_name, sensor.job_name] == [JOB.name] * 2
    made = {key.to_user_string() for key in JOB.asset_layer.selected_asset_keys}
    assert made >= {*examples.CLEANED, "dataset_train", "dataset_mono_src"}
    for path in CONFIGS:
        stages = graph_of(path.stem).stages
        assert {step.worker for stage in made for step in stages[stage]} <= {"cpu", "large-cpu"}
    assert not made & {stage for stage in ASSETS if stage.startswith(("train_", "translate_", "bicleaner"))}


def test_new_data_is_fetched_and_nothing_else(place: Place, instance: dg.DagsterInstance) -> None:
    asked, cursor = tick(instance, None)
    assert asked == []  # it takes note
    assert tick(instance, cursor) == ([], cursor)
    own = place.root / "data" / "train.en.gz"
    own.write_bytes(own.read_bytes() + b"\0")
    asked, cursor = tick(instance, cursor)
    assert asked == [OTHER]  # the datasets of the first are fetched from a URL
    own.unlink()
    asked, gone = tick(instance, cursor)
    assert asked == []
    config(place, PARTITION).write_text(
        config(place, PARTITION).read_text().replace("after: 20u", "after: 40u")
    )
    asked, cursor = tick(instance, cursor)
    assert asked == []  # it trains otherwise, on the same
    text = config(place, PARTITION).read_text()
    config(place, PARTITION).write_text(text.replace("mono-trg: [", "mono-trg: [] # ["))
    assert tick(instance, cursor)[0] == [PARTITION]
    broken = json.loads(cursor)
    del broken[OTHER]
    config(place, OTHER).write_text("experiment: {")
    assert tick(instance, json.dumps(broken))[0] == [PARTITION]


def test_each_month_all_data_is_fetched_again(place: Place, instance: dg.DagsterInstance) -> None:
    when = datetime(2026, 11, 1, 3, tzinfo=UTC)
    context = dg.build_schedule_context(instance, when, repository_def=REPOSITORY)
    requests = examples.monthly_data.evaluate_tick(context).run_requests or []
    assert [request.partition_key for request in requests] == [PARTITION, OTHER]
    assert [request.run_key for request in requests] == [f"{PARTITION} 2026-11", f"{OTHER} 2026-11"]
    for request in requests:
        assert dg.validate_run_config(JOB, request.run_config)
        assert request.run_config["resources"]["run"]["config"] == {"start": "dataset"}
