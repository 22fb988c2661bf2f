"""`translations trace`: sentences in the texts of partitions, over made-up results."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from pipeline.data import text_index
from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.defs.runner import MadeUpRunner
from tests.end_to_end.tiny import PARTITION
from translations_assets.project import Project
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

DOG, HUNDO = "The big dog sees the old cat.", "La granda hundo vidas la maljunan katon."
TRAIN = [("Birds fly over it.", "Birdoj flugas."), (DOG, HUNDO), ("What a dull evening.", "Kia vespero.")]
Texts = Mapping[str, Mapping[str, Sequence[str]]]  # beginning of a label → file → lines


def pairs(lines: Sequence[tuple[str, str]]) -> dict[str, Sequence[str]]:
    return dict(zip(("corpus.en.zst", "corpus.eo.zst"), zip(*lines, strict=True), strict=True))


class TextRunner(MadeUpRunner):
    """Makes results up but for given texts, and for indexes, which the script makes."""

    def __init__(self, texts: Texts) -> None:
        super().__init__()
        self._texts = texts
        self.indexed: list[str] = []

    def run(self, submission: Submission) -> Work[Outcome]:
        self._store: Store = submission.store
        return super().run(submission)

    def _contents(self, job: Job, name: str) -> bytes:
        if job.script == "pipeline.data.text_index":
            return self._index(job, name)
        for label, files in self._texts.items():
            if job.label.startswith(label) and name in files:
                return zstandard.compress("".join(f"{line}\n" for line in files[name]).encode())
        return super()._contents(job, name)

    def _index(self, job: Job, name: str) -> bytes:
        self.indexed += [job.label] if job.label not in self.indexed else []
        with tempfile.TemporaryDirectory() as folder:
            ((_, blob),) = job.inputs.items()
            placed, out = Path(folder) / "text.zst", Path(folder) / "out"
            self._store.place_blob(blob, placed)
            text_index.main(["--text", str(placed), "--output", str(out)])
            return (out / name).read_bytes()


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> TextRunner:
    """Datasets, what became of them, and the indexes of all texts."""
    runner = TextRunner(
        {
            "dataset-train-": pairs(TRAIN),
            "clean-corpus-": pairs(TRAIN[:2]),
            "merge-corpus-": pairs(TRAIN[1::-1]),
            "collect-corpus-": {"corpus.eo.zst": ["La hundo vidas katon.", "Birdoj!"]},
            "merge-translated-": pairs([(DOG, "La hundo vidas katon."), ("Birds fly over it.", "Birdoj!")]),
            "collect-score-": {"scores.zst": ["-9.5", "-0.5"]},
            "cefilter-": pairs([("Birds fly over it.", "Birdoj!")]),
        }
    )
    monkeypatch.setattr(Project, "runner", runner)
    return runner


def traced(command: Command, *words: str) -> dict[str, Any]:
    said = command("trace", *words, "--json")
    assert said.code == 0, said.err
    value: dict[str, Any] = json.loads(said.out)
    check_shape("trace", value)
    return value


def test_a_sentence_is_followed_from_the_dataset_to_the_distilled_corpus(
    command: Command, runner: TextRunner
) -> None:
    make("cefilter", runner=runner)
    value = traced(command, PARTITION, DOG)
    assert value["sentence"] == DOG
    partition = value["partitions"][PARTITION]
    assert (partition["texts"], partition["missing"]) == (17, [])
    found = {place["label"].partition("-url")[0]: place for place in partition["found"]}
    assert list(found) == [
        *("dataset-train", "clean-corpus", "merge-corpus-en-eo", "collect-corpus-en-eo"),
        "merge-translated-en-eo",
    ]
    places = {label: [line["line"] for line in place["found"]] for label, place in found.items()}
    assert list(places.values()) == [[2], [2], [1], [1], [1]]
    assert found["collect-corpus-en-eo"]["found"][0]["sides"] == [DOG, "La hundo vidas katon."]
    merged = found["merge-corpus-en-eo"]
    assert merged["read_by"] == ["train-backwards-en-eo", "train-teacher-en-eo-1"]
    assert merged["stage"] == "merge_corpus"
    assert not found["dataset-train"]["read_by"]
    (dropped,) = found["merge-translated-en-eo"]["dropped"]
    assert dropped == {
        "label": "cefilter-en-eo",
        "lines": [1],
        "rules": ["score -9.5"],
        "changed": "",
        "reasons": {"empty": 1},
    }
    assert not any(place["dropped"] for label, place in found.items() if label != "merge-translated-en-eo")


def test_a_translation_drops_no_line_and_has_the_source_first(command: Command, runner: TextRunner) -> None:
    """Also of back-translations: what is made of a line is not the line, however alike it is."""
    back = {"collect-mono-trg": {"mono.en.zst": [HUNDO, "Birds!"]}}
    mono = {"merge-mono-trg": {"mono.eo.zst": [HUNDO.replace(".", "!"), "Birdoj flugas."]}}
    runner._texts = {**runner._texts, **back, **mono}
    make("cefilter", runner=runner)
    partition = traced(command, PARTITION, HUNDO)["partitions"][PARTITION]
    found = {place["label"]: place for place in partition["found"]}
    assert found["collect-mono-trg-en-eo"]["found"][0]["sides"] == [HUNDO, HUNDO.replace(".", "!")]
    assert not found["merge-corpus-en-eo"]["dropped"]
    assert not found["merge-mono-trg-eo"]["dropped"]


def test_the_answer_is_told_in_words(command: Command, runner: TextRunner) -> None:
    make("merge_corpus", runner=runner)
    said = command("trace", PARTITION, "vidas la maljunan")
    assert said.code == 0
    assert "found in 3 of " in said.out
    assert "(1 inside of 2 lines; read by train-backwards-en-eo, train-teacher-en-eo-1)" in said.out
    assert f"| {HUNDO}" in said.out
    assert "not made yet, such as" in said.err


def test_what_was_dropped_is_told_with_the_counts_of_the_step(command: Command, runner: TextRunner) -> None:
    runner._texts = {**runner._texts, "merge-corpus-": pairs(TRAIN[:1])}
    make("merge_corpus", runner=runner)
    said = command("trace", PARTITION, DOG)
    assert "merge-corpus-en-eo drops or changes line 2; of all its lines it dropped: empty 1" in said.out


@pytest.mark.slow
def test_the_rule_that_drops_a_line_is_named_and_what_a_rule_makes_of_one_is_shown(
    command: Command, runner: TextRunner
) -> None:
    same = "This sentence of many words stands unchanged here."
    repaired = ("The old cat &amp; the young dog find it.", "La maljuna kato &amp; la juna hundo ĝin trovas.")
    train = [(DOG, HUNDO), (same, same), repaired]
    runner._texts = {"dataset-train-": pairs(train), "clean-corpus-": pairs(train[:1])}
    make("clean_corpus", runner=runner)
    said = command("trace", PARTITION, same)
    assert "drops line 2: untranslated" in said.out
    said = command("trace", PARTITION, repaired[0])
    assert "changes line 3: The old cat & the young dog find it. | La maljuna kato & la juna" in said.out


def test_an_index_is_made_once_for_the_same_text(command: Command, runner: TextRunner) -> None:
    runner._texts = {"dataset-train-": pairs(TRAIN), "clean-corpus-": pairs(TRAIN)}
    make("clean_corpus", runner=runner)
    assert command("trace", PARTITION, DOG).code == 0
    of_train = [label for label in runner.indexed if "-train-" in label or "-clean-" in label]
    assert len(of_train) == 2
    made = len(runner.indexed)
    said = command("trace", PARTITION, "another sentence")
    assert len(runner.indexed) == made
    assert "index-" not in said.err


def test_indexes_are_in_no_plan_and_make_no_newer_run_of_the_partition(
    command: Command, runner: TextRunner
) -> None:
    make("merge_corpus", runner=runner)
    before = command("plan", PARTITION, "--target", "merge_corpus", "--json").out
    assert command("trace", PARTITION, DOG).code == 0
    assert command("plan", PARTITION, "--target", "merge_corpus", "--json").out == before
    runs = json.loads(command("status", "--json").out)["runs"]
    assert {run["partition"] for run in runs} >= {"en-eo.trace"}
    assert all(run["stages"] == ["trace"] for run in runs if run["partition"] == "en-eo.trace")


def test_a_sentence_that_is_nowhere_is_told_with_where_it_was_looked_for(
    command: Command, runner: TextRunner
) -> None:
    make("clean_corpus", runner=runner)
    said = command("trace", PARTITION, "Nobody has ever written this.")
    assert said.code == 0
    assert f"{PARTITION}: not found in 2 texts with 5 lines." in said.out


def test_without_a_partition_it_is_looked_for_in_all(command: Command, runner: TextRunner) -> None:
    make("clean_corpus", runner=runner)
    assert traced(command, DOG)["partitions"][PARTITION]["found"]
    assert [*traced(command, "*.tiny", DOG)["partitions"]][:1] == [PARTITION]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([PARTITION, "  "], "Give a sentence to look for"),
        ([PARTITION, DOG], f"The store has no texts of {PARTITION}. To make them: translations train"),
        (["de-*", DOG], "No training config matches 'de-*'"),
        (["en-xx.none", DOG], "en-xx.none"),
    ],
)
def test_what_cannot_be_looked_for_is_told(command: Command, words: list[str], says: str) -> None:
    said = command("trace", *words)
    assert said.code == 1
    assert says in said.err
