"""The configs that come with the project, and upstream's real ones where they are at hand."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import load_config
from translations_assets.config.partitions import find_configs, partition_key
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import Section
from translations_assets.config.stage_names import STAGE_NAMES, resolve_stage
from translations_assets.config.unused import unused_keys

ROOT = Path(__file__).resolve().parents[2]
UPSTREAM = ROOT.parent / "shared" / "data" / "configs"
PRODUCTION = UPSTREAM / "taskcluster--config.prod.yml"
CI = UPSTREAM / "taskcluster--config.ci.yml"

needs_upstream = pytest.mark.skipif(not PRODUCTION.is_file(), reason="upstream's configs are not at hand")


def problems_of(path: Path) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return caught.value.problems


@pytest.mark.parametrize("name", ["en-eo.demo", "en-ru.sample"])
def test_the_projects_own_configs(name: str) -> None:
    path = find_configs([ROOT / "configs"])[name]
    config = load_config(path)
    assert partition_key(path, config) == name
    assert resolve_stage(config.target_stage) == STAGE_NAMES
    assert unused_keys(config) == []


def test_every_config_of_the_project_can_be_read() -> None:
    for key, path in find_configs([ROOT / "configs"]).items():
        assert partition_key(path, load_config(path)) == key


def test_the_demo_trains_every_model_for_a_fixed_number_of_updates() -> None:
    for name in ("en-eo.demo", "en-ru.sample"):
        args = load_config(find_configs([ROOT / "configs"])[name]).marian_args
        sections = (args.training_backward, args.training_teacher, args.training_student)
        for section in (*sections, args.training_student_finetuned):
            assert re.fullmatch(r"[1-9][0-9]{1,3}u", str(section["after"]))


@needs_upstream
def test_the_problems_of_upstreams_production_config() -> None:
    """What is not built yet; a set listed twice, and thresholds of datasets that it does not list."""
    problems = problems_of(PRODUCTION)
    not_built = [problem for problem in problems if "not built yet" in problem.message]
    assert Counter(re.sub(r"\[\d+\]", "", problem.key) for problem in not_built) == {
        "experiment.teacher-decoder": 1,
        "datasets.devtest": 5,
        "datasets.test": 3,
        "continuation": 1,
    }
    mistakes = [(problem.line, problem.key) for problem in problems if problem not in not_built]
    thresholds = "experiment.monocleaner.mono-{}.dataset-thresholds.{}"
    assert mistakes == [
        (57, thresholds.format("src", "hplt_mono_v2_0")),
        (59, thresholds.format("src", "opus_NLLB_v1")),
        (66, thresholds.format("trg", "hplt_mono_v2_0")),
        (68, thresholds.format("trg", "opus_NLLB_v1")),
        (152, "datasets.test[2]"),
    ]


@needs_upstream
def test_the_only_problem_of_upstreams_ci_config() -> None:
    (problem,) = problems_of(CI)
    assert (problem.line, problem.key) == (101, "datasets.test[1]")
    assert "the provider 'tmx' is not built yet" in problem.message


@needs_upstream
def test_defaults_are_those_of_the_production_config() -> None:
    """All but the decoder (docs/decisions/0001), and what only one language pair can have."""
    defaults = _defaults(TrainingConfig)
    written = dict(_leaves(yaml.safe_load(PRODUCTION.read_text(encoding="utf-8")), ()))
    own = ("name", "src", "trg", "datasets", "dataset-thresholds", "continuation", "worker-classes")
    different = {
        ".".join(path)
        for path, value in written.items()
        if not set(own) & set(path) and defaults.get(path) != value
    }
    assert different == {"experiment.teacher-decoder"}


@needs_upstream
@pytest.mark.parametrize("path", sorted(UPSTREAM.glob("*.yml")), ids=lambda path: path.stem)
def test_upstreams_configs_get_problems_with_lines_and_never_a_crash(path: Path) -> None:
    assert all(problem.line and problem.message for problem in problems_of(path))


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
