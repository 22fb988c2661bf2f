"""`uses`: the models that were trained on a dataset, of runs with made-up results; and configs without it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.session import once
from translations_assets.project import this_project
from translations_assets.records.manifest import Publication

TESTING, TEXT = "en-eo.testing", "en-eo.text"
DATASETS = """\
datasets:
  train:
    - opus_Books/v1
    - opus_Web/v1 # crawled
    - dataset: opus_Web/v2
      alias: newer-web
  devtest: [flores_dev]
  test: [flores_devtest]
  mono-src: [news-crawl_news.2021]
  mono-trg: [opus_Web/v2]
"""
FEW = "datasets:\n  train: [opus_{}/v1]\n  devtest: [{}]\n  test: [{}]\n"
CONFIGS = {
    PARTITION: DATASETS,
    TESTING: FEW.format("Other", "opus_Web/v2", "opus_Web/v1"),  # judges by what the first one trains on
    TEXT: FEW.format("Text", "flores_dev", "flores_devtest"),
}
EXPORTED = ["student", "finetuned-student", "quantized", "exported"]


def write_configs(place: Place) -> None:
    """Write three configs of the tiny pair, with other datasets."""
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    start, end = text.index("datasets:"), text.index("marian-args:")
    for partition, datasets in CONFIGS.items():
        (place.root / "configs" / f"{partition}.yml").write_text(text[:start] + datasets + text[end:])


def _make_runs(folder: Path) -> None:
    place = make_place(folder / "place")
    write_configs(place)
    with pytest.MonkeyPatch.context() as patched:
        for name, value in place.environment.items():
            if name.startswith("TRANSLATIONS_"):
                patched.setenv(name, value)
        make("train_teacher", run="teacher")
        make("export", run="whole")
        make("evaluate_backwards", run="tests", partition=TESTING)
        make("merge_corpus", run="text", partition=TEXT)


@pytest.fixture
def web(place: Place) -> Path:
    """The config of the first pair, in a place with runs of all three."""
    write_configs(place)
    store = Path("state") / "store"
    shutil.copytree(once("uses", _make_runs) / "place" / store, place.root / store)
    return place.root / "configs" / f"{PARTITION}.yml"


def found(command: Command, *words: str) -> Any:
    said = command("uses", *words, "--json")
    assert said.code == 0, said.err
    value = json.loads(said.out)
    check_shape("uses", value)
    return value


def names(run: Any) -> list[str]:
    return [model["name"] for model in run["models"]]


def test_every_model_of_a_run_is_named(command: Command, web: Path) -> None:
    answer = found(command, "opus_Web/v1")
    whole, teacher = answer["trained"]
    assert (whole["run"], names(whole)) == ("whole", ["backwards", "teacher-1", *EXPORTED])
    assert (teacher["run"], names(teacher)) == ("teacher", ["backwards", "teacher-1"])
    assert (whole["partition"], whole["roles"]) == (PARTITION, ["parallel"])
    assert whole["lines"] == {"merge-corpus-en-eo": 2}
    said = command("uses", "opus_Web/v1")
    assert "run whole  en-eo.tiny" in said.out
    assert "parallel; 2 lines in merge-corpus-en-eo" in said.out
    assert "teacher-1          train-teacher-en-eo-1" in said.out


@pytest.mark.parametrize(
    ("name", "datasets"),
    [
        ("opus_Web", ["opus_Web/v1", "opus_Web/v2"]),
        ("opus_Web_v1", ["opus_Web/v1"]),
        ("newer-web", ["opus_Web/v2"]),
        ("opus_Web/v2", ["opus_Web/v2"]),
        ("news-crawl_news", ["news-crawl_news.2021"]),
    ],
)
def test_names(name: str, datasets: list[str], command: Command, web: Path) -> None:
    assert found(command, name)["datasets"] == datasets


def test_monolingual_text_goes_only_where_it_was_used(command: Command, web: Path) -> None:
    (run,) = found(command, "news-crawl_news.2021")["trained"]
    assert (run["run"], run["roles"], names(run)) == ("whole", ["monolingual"], EXPORTED)
    assert run["lines"] == {"merge-mono-src-en": 2}


def test_a_dataset_of_two_uses_has_both(command: Command, web: Path) -> None:
    whole, _ = found(command, "opus_Web/v2")["trained"]
    assert whole["roles"] == ["parallel", "monolingual"]
    assert whole["lines"] == {"merge-corpus-en-eo": 2, "merge-mono-trg-eo": 2}


def test_dev_and_test_sets_train_nothing(command: Command, web: Path) -> None:
    for name, role in (("flores_dev", "dev"), ("flores_devtest", "test")):
        answer = found(command, name)
        assert (answer["trained"], answer["only_text"]) == ([], [])
        roles = {run["run"]: run["roles"] for run in answer["dev_or_test"]}
        assert roles["whole"] == [role]
    assert "No model was trained on flores_dev.\n" in command("uses", "flores_dev").out


def test_models_that_are_judged_by_a_dataset_are_not_trained_on_it(command: Command, web: Path) -> None:
    answer = found(command, "opus_Web/v2")
    assert [run["run"] for run in answer["trained"]] == ["whole", "teacher"]
    assert [(run["run"], run["roles"]) for run in answer["dev_or_test"]] == [("tests", ["dev"])]


def test_one_import_serves_training_here_and_tests_there(command: Command, web: Path) -> None:
    answer = found(command, "opus_Web/v1")
    assert [(run["run"], run["roles"]) for run in answer["dev_or_test"]] == [("tests", ["test"])]
    assert {one["role"] for one in answer["imports"]} == {"parallel", "test"}
    assert [(one["dataset"], one["lines"], one["licence"]) for one in answer["imports"]] == [
        ("opus_Web/v1", 2, "")
    ] * 2
    assert answer["configs"] == [
        {"partition": TESTING, "categories": ["test"]},
        {"partition": PARTITION, "categories": ["train"]},
    ]


def test_text_without_a_model(command: Command, web: Path) -> None:
    answer = found(command, "opus_Text/v1")
    assert answer["trained"] == []
    assert [run["lines"] for run in answer["only_text"]] == [{"merge-corpus-en-eo": 2}]


def test_publications_are_named(command: Command, web: Path) -> None:
    store = this_project().store
    record = store.read_run("whole")
    assert record is not None
    store.add_publication(Publication(*record.uses["export-en-eo"], "gs://bucket/released", 86_400.0))
    whole, teacher = found(command, "opus_Books/v1")["trained"]
    assert whole["published"] == [{"url": "gs://bucket/released", "time": 86_400.0}]
    assert teacher["published"] == []
    assert "published: gs://bucket/released" in command("uses", "opus_Books/v1").out


def test_collected_results_are_remembered(command: Command, web: Path, place: Place) -> None:
    before = found(command, "opus_Web/v1")
    for manifest in [*place.store.manifests()]:
        if manifest.stage not in ("train_backwards", "export"):
            place.store.retire(manifest.key, manifest.generation)
    assert len([*place.store.manifests()]) < 10
    assert found(command, "opus_Web/v1")["trained"] == before["trained"]


def test_an_unknown_dataset(command: Command, web: Path) -> None:
    said = command("uses", "opus_Wob/v1")
    assert said.code == 1
    assert said.err.startswith(
        "error: No run and no training config has a dataset 'opus_Wob/v1'. Did you mean 'opus_Web/v1'? "
        "Names: opus_Web/v1, "
    )


def test_a_dataset_of_a_config_that_nobody_has_trained(command: Command, place: Place) -> None:
    write_configs(place)
    said = command("uses", "newer-web")
    assert said.code == 0
    assert said.out == "No model was trained on newer-web.\ntraining config en-eo.tiny: train\n"


def test_configs_are_written_without_it(command: Command, web: Path) -> None:
    before = web.read_text()
    said = command("uses", "opus_Web", "--without", "--output", "new/folder")
    assert said.code == 0, said.err
    path = Path("new/folder") / f"{PARTITION}.yml"
    assert path.read_text() == before.replace("    - opus_Web/v1 # crawled\n", "").replace(
        "    - dataset: opus_Web/v2\n      alias: newer-web\n", ""
    ).replace("[opus_Web/v2]", "[]")
    assert web.read_text() == before
    assert [*path.parent.iterdir()] == [path]  # the other config only tests on it
    assert f"{path}: without datasets.train[1], datasets.train[2], datasets.mono-trg[0]\n" in said.out
    again = command("uses", "opus_Web", "--without", "--output", "new/folder")
    assert again.code == 1
    assert f"error: {path}: already there, and nothing is replaced. " in again.err


def test_the_steps_that_would_run(command: Command, web: Path) -> None:
    (written,) = found(command, "opus_Web/v1", "--without", "--output", "new")["without"]
    assert written["problem"] is None
    assert written["removed"] == ["datasets.train[1]"]
    assert written["runs"]["merge_corpus"] == ["merge-corpus-en-eo"]
    assert "dataset_train" not in written["runs"]
    assert "clean_corpus" not in written["runs"]


def test_a_config_that_would_train_on_nothing_is_not_written(command: Command, web: Path) -> None:
    said = command("uses", "opus_Text/v1", "--without", "--output", "new")
    assert said.code == 0
    assert "en-eo.text is not written: its config is not valid without the dataset:\n" in said.out
    assert "datasets.train: is empty" in said.out
    assert not [*Path("new").iterdir()]


def test_nothing_is_to_be_trained_again(command: Command, web: Path) -> None:
    said = command("uses", "flores_dev", "--without", "--output", "new")
    assert (said.code, said.out) == (1, "")
    assert said.err == "error: No training config trains on flores_dev: there is nothing to write.\n"
    assert not Path("new").exists()


def test_without_and_output_go_together(command: Command, web: Path) -> None:
    for words in (("--without",), ("--output", "new")):
        said = command("uses", "opus_Web/v1", *words)
        assert (said.code, said.out) == (2, "")
