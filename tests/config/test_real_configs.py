"""The configs that come with the project, and upstream's real ones where they are at hand."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import config_notes, load_config, parse_config, read_values
from translations_assets.config.partitions import find_configs, partition_key
from translations_assets.config.schema import PRODUCTION_OPTIONS, TrainingConfig
from translations_assets.config.section import Section
from translations_assets.config.stage_names import resolve_stage, stage_names
from translations_assets.records.canonical import canonical_json

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = ROOT.parent / "shared" / "data" / "configs"
PRODUCTION = UPSTREAM / "taskcluster--config.prod.yml"

ALL = sorted(UPSTREAM.glob("*.yml"))

needs_upstream = pytest.mark.skipif(not PRODUCTION.is_file(), reason="upstream's configs are not at hand")


def problems_in(path: Path) -> list[Problem]:
    """Problems of a config; none when it is accepted."""
    try:
        load_config(path)
    except ConfigError as error:
        return error.problems
    return []


@pytest.mark.parametrize("name", ["en-eo.demo", "en-ru.sample"])
def test_the_projects_own_configs(name: str) -> None:
    path = find_configs([ROOT / "configs"])[name]
    config = load_config(path)
    assert partition_key(path, config) == name
    assert resolve_stage(config.target_stage) == stage_names()
    assert config_notes(path.read_text(encoding="utf-8"), name) == []


def test_every_config_of_the_project_can_be_read() -> None:
    for key, path in find_configs([ROOT / "configs"]).items():
        assert partition_key(path, load_config(path)) == key


def test_a_config_of_a_runs_record_which_has_all_keys_can_be_read_again() -> None:
    for path in find_configs([ROOT / "configs"]).values():
        config = load_config(path)
        whole = canonical_json(config.model_dump(mode="json", by_alias=True)).decode()
        assert parse_config(whole, "a record", lambda values: ()) == config


def test_the_demo_trains_every_model_for_a_fixed_number_of_updates() -> None:
    for name in ("en-eo.demo", "en-ru.sample"):
        args = load_config(find_configs([ROOT / "configs"])[name]).marian_args
        sections = (args.training_backward, args.training_teacher, args.training_student)
        for section in (*sections, args.training_student_finetuned):
            assert re.fullmatch(r"[1-9][0-9]{1,3}u", str(section["after"]))


@needs_upstream
def test_the_notes_on_upstreams_production_config() -> None:
    """A set that is listed twice, and thresholds of datasets that it does not list."""
    notes = config_notes(PRODUCTION.read_text(encoding="utf-8"), str(PRODUCTION))
    thresholds = "experiment.monocleaner.mono-{}.dataset-thresholds.{}"
    found = [(note.line, note.key) for note in notes if "no effect" not in note.message]
    assert found == [
        (57, thresholds.format("src", "hplt_mono_v2_0")),
        (59, thresholds.format("src", "opus_NLLB_v1")),
        (66, thresholds.format("trg", "hplt_mono_v2_0")),
        (68, thresholds.format("trg", "opus_NLLB_v1")),
        (152, "datasets.test[2]"),
    ]


@needs_upstream
def test_defaults_are_those_of_the_production_config() -> None:
    """All but the decoder (docs/decisions/0001), what only one language pair can have, a limit, and tracking.

    Upstream without `dev-max-sentences` has no limit. Nothing is sent to Weights & Biases unless asked for.
    """
    defaults = _defaults(TrainingConfig)
    written = dict(_leaves(yaml.safe_load(PRODUCTION.read_text(encoding="utf-8")), ()))
    own = ("name", "src", "trg", "datasets", "dataset-thresholds", "continuation", "worker-classes")
    different = {
        ".".join(path)
        for path, value in written.items()
        if not set(own) & set(path) and defaults.get(path) != value
    }
    own_defaults = {"experiment.teacher-decoder", "experiment.dev-max-sentences", "wandb-publication"}
    assert different == own_defaults


@needs_upstream
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_upstreams_configs_are_accepted(path: Path) -> None:
    assert problems_in(path) == []


@needs_upstream
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_the_meaning_of_upstreams_configs_is_kept(path: Path) -> None:
    """Datasets, thresholds, Marian's options and all other values, against a reading of the bare YAML."""
    text = path.read_text(encoding="utf-8")
    config = TrainingConfig.model_validate(read_values(text, path.name).value)
    written = yaml.safe_load(text)
    _check_datasets(config, written)
    _check_thresholds(config, written["experiment"])
    _check_marian_args(config, written["marian-args"])
    _check_experiment(config, written["experiment"])
    _check_continuation(config, written)
    for key in ("target-stage", "start-stage", "wandb-publication"):
        if key in written:
            assert getattr(config, key.replace("-", "_")) == written[key]
    for key in ("previous-group-ids", "previous_group_ids"):
        if key in written:
            assert list(config.previous_group_ids) == written[key]
    _check_taskcluster(config, written.get("taskcluster", {}))


def _check_taskcluster(config: TrainingConfig, written: dict[str, Any]) -> None:
    for key, value in written.items():
        read = getattr(config.taskcluster, key.replace("-", "_"))
        if key == "worker-classes":
            assert read == {kind: value[kind] for kind in value if kind != "alignments-priors2"}
        else:
            assert read == value


def _check_datasets(config: TrainingConfig, written: dict[str, Any]) -> None:
    for category in ("train", "devtest", "test", "mono-src", "mono-trg"):
        expected = list(dict.fromkeys(written["datasets"].get(category) or ()))
        datasets = getattr(config.datasets, category.replace("-", "_"))
        assert [dataset.key for dataset in datasets] == expected


def _check_thresholds(config: TrainingConfig, written: dict[str, Any]) -> None:
    """Every threshold of a dataset that is listed; others do nothing."""
    cleaner = config.experiment.monocleaner
    for listed, section, given in (
        (config.datasets.train, config.experiment.bicleaner, written.get("bicleaner", {})),
        (config.datasets.mono_src, cleaner.mono_src, written.get("monocleaner", {}).get("mono-src", {})),
        (config.datasets.mono_trg, cleaner.mono_trg, written.get("monocleaner", {}).get("mono-trg", {})),
    ):
        short_names = {re.sub("[/.:]", "_", dataset.key) for dataset in listed}
        thresholds = {
            re.sub("[/.:]", "_", name): value for name, value in given.get("dataset-thresholds", {}).items()
        }
        assert section.dataset_thresholds == {
            name: value for name, value in thresholds.items() if name in short_names
        }
        if "default-threshold" in given:
            assert section.default_threshold == given["default-threshold"]


def _check_marian_args(config: TrainingConfig, written: dict[str, Any]) -> None:
    """Options as they are written, but for epochs, which curricula count, and a teacher's two trainings.

    Beside them there are those of production alone.
    """
    base = written.pop("training-teacher-base", {})
    tuned = written.pop("training-teacher-finetuned", {})
    if base or tuned:
        written["training-teacher"] = {**base, **tuned}
    assert set(written) <= set(PRODUCTION_OPTIONS)
    for section, production in PRODUCTION_OPTIONS.items():
        options = written.get(section, {})
        read = getattr(config.marian_args, section.replace("-", "_"))
        assert set(read) <= (
            {*options} if section == "training-student" and options else {*options, *production}
        )
        counted = {"training-backward": "10e", "training-teacher": "2e"}.get(section)
        for name, value in options.items():
            if name == "after" and value == counted:
                assert "after" not in read
            else:
                assert read[name] == value


def _check_experiment(config: TrainingConfig, written: dict[str, Any]) -> None:
    for key, value in written.items():
        if key in ("bicleaner", "monocleaner", "use-opuscleaner", "pretrained-models", "split-length"):
            continue
        if key in ("backward-model", "vocab"):
            assert value == ""
        elif key == "split-chunks":
            assert config.taskcluster.split_chunks == value
        else:
            read = getattr(config.experiment, key.replace("-", "_"))
            is_limit = key.startswith("mono-max-sentences") and isinstance(value, int)
            given = {"total": value, "per-dataset": value} if is_limit else value
            assert (read.model_dump(by_alias=True) if isinstance(given, dict) else read) == given


def _check_continuation(config: TrainingConfig, written: dict[str, Any]) -> None:
    continuation = written.get("continuation", {})
    models = dict(continuation.get("models", {}))
    for name, model in written["experiment"].get("pretrained-models", {}).items():
        models[name.removeprefix("train-")] = model
    read = config.continuation.model_dump(by_alias=True, exclude_none=True)
    for name in ("vocab", "corpora"):
        assert read.get(name, {}) == continuation.get(name, {})
    assert set(read["models"]) == set(models)
    for name, model in models.items():
        urls = model.get("urls") or [model["url"]]
        assert (read["models"][name]["mode"], read["models"][name]["type"]) == (model["mode"], model["type"])
        assert list(read["models"][name].get("urls") or [read["models"][name]["url"]]) == urls


def _defaults(section: type[Section], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    found: dict[tuple[str, ...], object] = {}
    for name, field in section.model_fields.items():
        inner = (*path, field.alias or name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found |= _defaults(field.annotation, inner)
        elif isinstance(field.default, dict):
            found |= {(*inner, key): value for key, value in field.default.items()}
        else:
            found[inner] = field.default
    return found


def _leaves(values: object, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], object]]:
    if not isinstance(values, dict):
        return [(path, values)]
    return [leaf for key, value in values.items() for leaf in _leaves(value, (*path, key))]
