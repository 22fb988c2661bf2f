"""Recipes: what shows as stale after an edit of a training config or of a script."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.end_to_end.damage import copy_of
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.session import once
from translations_assets.configs.training_configs import TrainingConfigs
from translations_assets.defs import recipes
from translations_assets.defs.recipes import (
    CurrentKeys,
    file_state,
    observe_recipes,
    observed_versions,
    recipe_tags,
    recipe_versions,
)
from translations_assets.instance.home import prepare
from translations_assets.project import Project
from translations_assets.stages import ASSETS

OTHER = "en-eo.other"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The tiny pair and a copy of it, named by the environment."""
    place = make_place(tmp_path / "place")
    config(place, OTHER).write_text(config(place).read_text())
    for name, value in place.environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    return place


def config(place: Place, partition: str = PARTITION) -> Path:
    return place.root / "configs" / f"{partition}.yml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def versions(partition: str = PARTITION) -> dict[str, str]:
    project = Project()
    return recipe_versions(project.configs.read(partition).graph, project.keys)


def observe(instance: dg.DagsterInstance, project: Project, *partitions: str) -> int:
    """Number of the partitions' recipes that were reported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipes, "PROJECT", project)
        return sum(observe_recipes(instance, project.configs.read(key), project.keys) for key in partitions)


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {stage for stage in ASSETS if before[stage] != after[stage]}


def test_there_is_a_version_for_every_asset_that_only_edits_change(place: Place) -> None:
    first, second = versions(), versions()
    assert first == second
    assert set(first) == set(ASSETS)


@pytest.mark.parametrize(
    ("old", "new", "stages"),
    [
        (
            "training-student-finetuned:\n    mini-batch: 32",
            "training-student-finetuned:\n    mini-batch: 16",
            {"finetune_student"},
        ),
        ("spm-vocab-size: 400", "spm-vocab-size: 392", {"train_vocab"}),
        ("split-chunks: 2", "split-chunks: 2 # as before", set()),
    ],
)
def test_an_edit_changes_the_recipes_that_it_concerns(
    place: Place, old: str, new: str, stages: set[str]
) -> None:
    before = versions()
    edit(config(place), old, new)
    assert changed(before, versions()) == stages


def test_only_what_changed_is_observed(place: Place) -> None:
    project = Project()
    with dg.DagsterInstance.ephemeral() as instance:
        assert observe(instance, project, PARTITION, OTHER) == 2 * len(ASSETS)
        assert observe(instance, project, PARTITION, OTHER) == 0
        edit(config(place), "spm-vocab-size: 400", "spm-vocab-size: 392")
        assert observe(instance, project, PARTITION, OTHER) == 1


def test_keys_are_made_anew_when_a_file_changes_and_only_then(tmp_path: Path) -> None:
    code = copy_of_the_code(tmp_path)
    keys = CurrentKeys(code)
    before = keys.get().fingerprint("pipeline.train.vocab")
    assert keys.get() is keys.get()
    edit(code / "pipeline" / "train" / "vocab.py", "THREADS = 16", "THREADS = 15")
    assert keys.get().fingerprint("pipeline.train.vocab").digest != before.digest


@pytest.mark.slow
def test_exactly_what_an_edit_concerns_is_stale(tmp_path: Path) -> None:
    """Of a config and of a script; a config that cannot be read is named and stops no other."""
    made, code = made_up_place(tmp_path / "made"), copy_of_the_code(tmp_path)
    path, broken = config(made, OTHER), config(made, "en-eo.broken")
    broken.write_text("experiment: {\n")
    vocab, demo = code / "pipeline" / "train" / "vocab.py", code / "pipeline" / "data" / "demo_corpus.py"
    edit(vocab, "THREADS = 16\n", "THREADS = 16  # that is a lot\n")
    student = ["training-student: *model", "training-student: {after: 30u}"]
    provider = ["train: [", "train: [demo_train, "]
    threads, buckets = ["THREADS = 16", "THREADS = 15"], ["BUCKETS = 5", "BUCKETS = 6"]
    fresh, edited, another = look(
        made,
        [[path, *student], [vocab, *threads], [demo, *buckets]],
        [[path, *student[::-1]], [vocab, *threads[::-1]], [demo, *buckets[::-1]], [path, *provider]],
        code=code,
    )
    skip, problem = fresh.pop("skip").splitlines()
    assert skip == "0 recipes changed"
    assert "en-eo.broken.yml:1: not valid YAML" in problem
    assert fresh == {"stale": {}, "said": {}}
    # what is made from the student is stale once it is trained anew
    assert edited["stale"] == {
        "train_student": [OTHER],
        "train_vocab": [PARTITION, OTHER],
        "dataset_test": [OTHER],
    }
    assert "* marian-args.training-student.after: 20u → 30u" in edited["said"]["train_student"]
    assert edited["said"]["train_vocab"] == "* pipeline.train.vocab: constant THREADS changed"
    assert "* pipeline.data.demo_corpus: constant BUCKETS changed" in edited["said"]["dataset_test"]
    assert set(another["stale"]) == {"dataset_train", "analyze_corpus", "clean_corpus", "merge_corpus"}
    assert {key for keys in another["stale"].values() for key in keys} == {OTHER}
    assert "* datasets.train: demo_train added" in another["said"]["merge_corpus"]


def test_with_other_builders_of_graphs_nothing_is_observed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = tmp_path / "stage.py"
    builder.write_text("")
    monkeypatch.setattr(recipes, "_BUILDERS", [tmp_path])
    monkeypatch.setattr(recipes, "_LOADED", file_state(tmp_path))
    sensor = Sensor(monkeypatch, PARTITION)
    assert "recipes changed" in sensor.tick()
    builder.write_text("edited")
    assert "Reload the code location" in sensor.tick()


class Sensor:
    """The sensor over some partitions, with an instance of its own; counts the queries of its ticks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *partitions: str) -> None:
        self.instance = dg.DagsterInstance.ephemeral()
        self.queries = 0
        self.cursor: str | None = None
        monkeypatch.setattr(recipes, "PROJECT", Project())
        monkeypatch.setattr(recipes, "WORK_SECONDS", math.inf)
        monkeypatch.setattr(recipes, "TRAINING_CONFIGS", dg.StaticPartitionsDefinition([*partitions]))
        storage = self.instance.event_log_storage
        ask = storage.get_latest_tags_by_partition

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.queries += 1
            return ask(*args, **kwargs)

        monkeypatch.setattr(storage, "get_latest_tags_by_partition", counted)

    def tick(self) -> str:
        """Result of a tick."""
        with dg.build_sensor_context(self.instance, cursor=self.cursor) as context:
            skip = recipes.recipes_sensor(context)
            self.cursor = context.cursor
        assert isinstance(skip, dg.SkipReason)
        return str(skip.skip_message)


def test_a_tick_looks_only_at_what_has_changed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    sensor = Sensor(monkeypatch, PARTITION, OTHER)
    assert sensor.tick() == f"{2 * len(ASSETS)} recipes changed"
    assert sensor.queries == len(ASSETS), "one query a stage, for all partitions"
    monkeypatch.setattr(TrainingConfigs, "read", lambda *given: pytest.fail(f"{given} was read"))
    assert sensor.tick() == "0 recipes changed"
    assert sensor.queries == len(ASSETS)


def test_a_tick_ends_in_time_and_the_next_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    sensor = Sensor(monkeypatch, PARTITION, OTHER)
    monkeypatch.setattr(recipes, "WORK_SECONDS", -1.0)
    assert "2 of 2 training configs are left" in sensor.tick()
    monkeypatch.setattr(recipes, "WORK_SECONDS", math.inf)
    assert sensor.tick() == f"{2 * len(ASSETS)} recipes changed"


def test_what_is_wrong_with_a_config_is_told_until_it_is_mended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(place, OTHER).write_text("experiment: {\n")
    sensor = Sensor(monkeypatch, PARTITION, OTHER)
    for reported in (len(ASSETS), 0):
        first, problem = sensor.tick().splitlines()
        assert first == f"{reported} recipes changed"
        assert f"{OTHER}.yml:1: not valid YAML" in problem
    config(place, OTHER).write_text(config(place).read_text())
    assert sensor.tick() == f"{len(ASSETS)} recipes changed"


def test_a_config_that_is_no_partition_yet_asks_for_a_reload(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"New training configs: {OTHER}. Reload" in Sensor(monkeypatch, PARTITION).tick()


def test_a_materialization_names_the_recipe_of_its_run_although_another_was_observed(place: Place) -> None:
    project = Project()
    with dg.DagsterInstance.ephemeral() as instance:
        observe(instance, project, PARTITION)
        session = project.session("run-1", PARTITION)
        first = recipe_tags(instance, session, "train_vocab")
        assert recipe_tags(instance, session, "train_vocab") == first
        edit(config(place), "spm-vocab-size: 400", "spm-vocab-size: 392")
        assert observe(instance, project, PARTITION) == 1
        second = recipe_tags(instance, session, "train_vocab")
        version, pointer = sorted(first, key=lambda tag: "pointer" in tag)
        assert second[version] == first[version]
        assert int(second[pointer]) > int(first[pointer])
        last = observed_versions(instance, ["train_vocab"], [PARTITION])
        assert last[PARTITION]["train_vocab"] != first[version], "as the config is now: it shows as stale"


def made_up_place(root: Path) -> Place:
    """The whole of two partitions, made once a session with a runner that makes results up; see `made_up`.

    Only the second has a dataset of the demo.
    """
    return copy_of(Place(once("made_up", _make) / "place"), root)


def made_up_runs() -> list[dict[str, Any]]:
    """Output of `made_up make` about the runs that made it."""
    lines = (once("made_up", _make) / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _make(folder: Path) -> None:
    place = make_place(folder / "place")
    other = config(place).read_text().replace("  test: [", "  test: [demo_test, ")
    config(place, OTHER).write_text(other)
    prepare(place.root / "dagster")
    done = place.run("python", "-m", "tests.defs.made_up", "make", PARTITION, OTHER, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    (folder / "runs.jsonl").write_text(done.stdout, encoding="utf-8")


def copy_of_the_code(folder: Path) -> Path:
    for name in ("pipeline", "requirements"):
        shutil.copytree(ROOT / name, folder / "code" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "code"


def look(place: Place, *edits: list[list[Any]], code: Path = ROOT) -> list[dict[str, Any]]:
    """Results of `made_up look`: at first, and after each list of edits."""
    text = "".join(json.dumps(some, default=str) + "\n" for some in edits)
    command = ("python", "-m", "tests.defs.made_up", "look", PARTITION, OTHER)
    done = place.run(*command, text=text, PYTHONPATH=str(ROOT), CODE=str(code))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
