"""`explain` and the reasons and costs of `plan`: what differs from the nearest earlier artifact."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.common import settings

STUDENT = "train-student-en-eo"
VOCAB = "train-vocab-en-eo"
CORPUS = "merge-corpus-en-eo"
ROOT = settings.repository_root()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the code that steps run, to be edited."""
    root = tmp_path / "repository"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pipeline", root / "pipeline", ignore=ignored)
    shutil.copytree(ROOT / "requirements", root / "requirements", ignore=ignored)
    monkeypatch.setattr("translations_assets.common.settings.repository_root", lambda: root)
    return root


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def config(place: Place) -> Path:
    return place.root / "configs" / f"{PARTITION}.yml"


def reasons(command: Command, label: str, *options: str) -> list[str]:
    said = command("explain", PARTITION, label, "--json", *options)
    assert said.code == 0, said.err
    found: list[str] = json.loads(said.out)["reasons"]
    return found


def test_a_config_key_is_named(command: Command, place: Place) -> None:
    make("train_student")
    edit(config(place), "training-student: *model", "training-student: {after: 30u}")
    keys = reasons(command, STUDENT)
    assert "marian-args.training-student.after: 20u → 30u" in keys
    assert all(line.startswith("marian-args.training-student.") for line in keys)
    assert reasons(command, STUDENT, "--set", "experiment.best-model=ce-mean-words")[0] == (
        "experiment.best-model: chrf → ce-mean-words"
    )


def test_overrides_are_explained_without_an_edit(command: Command) -> None:
    make("train_student")
    asked = ("--set", "marian-args.training-student.early-stopping=20")
    assert reasons(command, STUDENT, *asked) == ["marian-args.training-student.early-stopping: not set → 20"]
    people = command("explain", PARTITION, STUDENT, *asked)
    assert people.out.splitlines()[0] == f"{STUDENT}: will run"
    assert "  marian-args.training-student.early-stopping: not set → 20" in people.out.splitlines()


def test_a_key_that_concerns_other_steps_only_is_not_named(command: Command) -> None:
    make("train_student")
    asked = ("--set", "experiment.student-model=base", "--set", "taskcluster.split-chunks=3")
    assert reasons(command, STUDENT, *asked)[0] == "experiment.student-model: tiny → base"


def test_an_added_dataset_is_named(command: Command, place: Place) -> None:
    make("merge_corpus")
    data = place.root / "data"
    edit(config(place), "train: [", f'train: ["url_file://{data}/mono.[LANG].gz", ')
    make("clean_corpus")
    (line,) = reasons(command, CORPUS)
    assert line.startswith("datasets.train: url_file://")
    assert line.endswith(" added")


def test_a_function_and_a_constant_are_named(command: Command, repository: Path) -> None:
    make("train_vocab")
    path = repository / "pipeline" / "train" / "vocab.py"
    source = path.read_text()
    name = re.findall(r"^def (?!main)(\w+)\(.*:$", source, re.M)[0]
    path.write_text(re.sub(rf"^(def {name}\(.*:)$", r"\1\n    print('more')", source, flags=re.M))
    assert reasons(command, VOCAB) == [f"pipeline.train.vocab: function {name} changed"]
    path.write_text(source + "\n# a comment\n")
    assert json.loads(command("explain", PARTITION, VOCAB, "--json").out)["status"] == "cached"


def test_a_key_of_a_file_of_the_repository_is_named(command: Command, repository: Path) -> None:
    make("train_student")
    path = "pipeline/train/configs/model/student.tiny.yml"
    edit(repository / path, "enc-depth: ", "enc-depth: 1")
    (line,) = reasons(command, STUDENT)
    assert re.fullmatch(rf"{re.escape(path)}: enc-depth: (\d+) → 1\1", line)


def test_a_library_is_named(command: Command, repository: Path) -> None:
    make("train_vocab")
    lock = repository / "requirements" / "main.lock"
    lock.write_text(re.sub(r"(?m)^sentencepiece==0\.1\.99", "sentencepiece==0.2.0", lock.read_text()))
    assert reasons(command, VOCAB) == ["library sentencepiece 0.1.99 → 0.2.0"]


def test_an_input_that_was_made_anew_is_named_with_the_step_that_made_it(
    command: Command, repository: Path
) -> None:
    make("train_vocab")
    script = repository / "pipeline" / "clean" / "merge_parallel.py"
    edit(script, "def main(", "EXTRA = print()\n\n\ndef main(")
    make("merge_corpus")
    found = reasons(command, VOCAB)
    assert len(found) == 2
    for line, lang in zip(found, ("en", "eo"), strict=True):
        digests = r"\([0-9a-f]{8} → [0-9a-f]{8}\)"
        assert re.fullmatch(rf"input corpus\.{lang}\.zst: made again by {CORPUS} {digests}", line)


def test_a_step_that_waits_names_what_must_run_first(command: Command) -> None:
    make("train_student")
    said = command("explain", PARTITION, STUDENT, "--set", "experiment.spm-vocab-size=392")
    lines = said.out.splitlines()
    assert lines[0] == f"{STUDENT}: runs if its input changes; first must run:"
    assert lines[1:3] == [f"  {VOCAB}", "    experiment.spm-vocab-size: 400 → 392"]
    assert re.search(rf"source_vocab/vocab.en.spm +not known yet +made by {VOCAB}", said.out)


def test_a_cached_step_says_since_when_and_by_which_run(command: Command) -> None:
    make("train_vocab")
    said = command("explain", PARTITION, VOCAB)
    first, why, *_ = said.out.splitlines()
    assert re.fullmatch(rf"{VOCAB}: cached since \d{{4}}-\d\d-\d\d \d\d:\d\d, by run run-1 of .*", first)
    assert why == "  it was made because: no earlier artifact"
    found = json.loads(command("explain", PARTITION, VOCAB, "--json").out)
    assert (found["status"], found["made"]["run"]) == ("cached", "run-1")
    assert found["parts"]["script"] == "pipeline.train.vocab"
    assert found["parts"]["args"]["vocab_size"] == 400
    assert found["parts"]["inputs"]["corpus_src/corpus.en.zst"]["made_by"] == CORPUS
    assert found["parts"]["libraries"]["sentencepiece"] == "0.1.99"


def test_the_reasons_are_those_of_the_plan_and_of_the_manifest(command: Command) -> None:
    make("train_vocab")
    asked = ("--set", "experiment.spm-vocab-size=392")
    plan = command("plan", PARTITION, "--target", "train_vocab", "--steps", *asked)
    assert f"run    {VOCAB}  (experiment.spm-vocab-size: 400 → 392)" in plan.out
    make("train_vocab", overrides={"experiment.spm-vocab-size": 392}, run="run-2")
    made = json.loads(command("explain", PARTITION, VOCAB, "--json", *asked).out)["made"]
    assert made["reason"] == "experiment.spm-vocab-size: 400 → 392"


def test_an_edit_is_compared_with_the_config_and_not_with_an_experiment(
    command: Command, place: Place
) -> None:
    make("train_vocab")
    make("train_vocab", overrides={"experiment.spm-vocab-size": 392}, run="run-2")
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("spm-vocab-size: 400", "spm-vocab-size: 384"))
    assert reasons(command, VOCAB) == ["experiment.spm-vocab-size: 400 → 384"]
    plan = command("plan", PARTITION, "--target", "train_vocab", "--steps")
    assert f"run    {VOCAB}  (experiment.spm-vocab-size: 400 → 384)" in plan.out


def test_a_step_that_never_ran(command: Command) -> None:
    said = command("explain", PARTITION, "dataset-url_train-en-eo")
    assert said.code == 1
    assert "No step is called" in said.err
    label = re.findall(r"dataset-[^ ,]+", said.err)[1]
    assert reasons(command, label) == ["no earlier artifact"]
    assert f"  {label} has no earlier artifact" in command("explain", PARTITION, label).out.splitlines()
