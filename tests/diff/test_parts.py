"""Lines of text, vocabularies, sizes and costs, of results that differ in known ways."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceTrainer

from tests.diff.values import evaluated, run
from tests.store.values import finish
from translations_assets.diff.evaluations import evaluations_of
from translations_assets.diff.lines import DatasetChange, FilterChange, compare_lines
from translations_assets.diff.needs import compare_costs, compare_needs
from translations_assets.diff.vocabularies import compare_vocabularies
from translations_assets.diff.words import cost_line, needs_line
from translations_assets.records.cost import HOUR
from translations_assets.records.manifest import Manifest, Usage, Worker
from translations_assets.store.local import LocalStore


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def counted(store: LocalStore, name: str, label: str, lines: dict[str, Any], **more: Any) -> Manifest:
    stats = json.dumps({"lines": lines, **more}).encode()
    return replace(finish(store, name, {"stats.json": stats}, stage="clean_corpus"), label=label)


def used(store: LocalStore, name: str, *made: Manifest) -> Any:
    """A run that used results of these labels."""
    uses = {one.label: one for one in made}
    return replace(run(store, name, *made), results=uses)


def test_lines_are_told_by_dataset_and_filter(store: LocalStore) -> None:
    def merged(name: str, **datasets: int) -> Manifest:
        found = [{"dataset": dataset, "in": 9, "kept": kept} for dataset, kept in datasets.items()]
        return counted(store, name, "merge", {"in": 9, "kept": 9, "dropped": {}}, datasets=found)

    old = used(
        store,
        "0a",
        counted(store, "1", "clean-a", {"in": 10, "kept": 7, "dropped": {"empty": 1, "length": 2}}),
        counted(store, "2", "clean-b", {"in": 10, "kept": 9, "dropped": {"empty": 1}}),
        counted(store, "3", "clean-c", {"in": 5, "kept": 5, "dropped": {}}),
        merged("4", books=7, news=9),
    )
    new = used(
        store,
        "0b",
        counted(store, "5", "clean-a", {"in": 10, "kept": 5, "dropped": {"empty": 1, "length": 4}}),
        counted(store, "6", "clean-b", {"in": 10, "kept": 8, "dropped": {"empty": 1, "length": 1}}),
        counted(store, "3", "clean-c", {"in": 5, "kept": 5, "dropped": {}}),
        merged("7", books=5, web=3),
    )
    found = compare_lines(store, old, new)
    assert found.filters == [FilterChange("clean_corpus", "length", 2, 5, 2)]
    stage = "clean_corpus"
    assert found.datasets == [
        DatasetChange("books", stage, {stage: 7}, {stage: 5}),
        DatasetChange("web", stage, {}, {stage: 3}),
        DatasetChange("news", stage, {stage: 9}, {}),
    ]
    assert [(one.label, one.old and one.old.kept, one.new and one.new.kept) for one in found.steps] == [
        ("clean-a", 7, 5),
        ("clean-b", 9, 8),
    ]


def vocabulary(size: int, text: str) -> bytes:
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines() * 20),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def test_pieces_that_only_one_vocabulary_has_are_counted(store: LocalStore) -> None:
    first = vocabulary(40, "the dog sees the cat\nthe cat sees a bird\na bird hears the dog")
    second = vocabulary(40, "the dog sees the cat\nthe cat sees a fox\na fox jumps with quartz")
    old = run(
        store, "0a", finish(store, "1", {"vocab.spm": first, "vocab.en.spm": first}, stage="train_vocab")
    )
    new = run(
        store, "0b", finish(store, "2", {"vocab.spm": second, "vocab.en.spm": b"none"}, stage="train_vocab")
    )
    found, broken = compare_vocabularies(store, old, new)
    assert found.name == "vocab.spm"
    assert found.old is not None
    assert found.new is not None
    assert found.old - found.only_old == found.new - found.only_new  # those which both have
    assert "z" in "".join(found.new_examples)
    assert "z" not in "".join(found.old_examples)
    assert found.only_new > 0
    assert (broken.old, broken.new, broken.only_old, broken.only_new) == (found.old, None, 0, 0)
    assert compare_vocabularies(store, old, old) == []


def test_sizes_speeds_and_costs(store: LocalStore) -> None:
    files = {f"models/0/{name}": store.add_bytes(name.encode() * 9) for name in ("model.npz", "vocab.spm")}
    files["models/1/model.npz"] = files["models/0/model.npz"]  # an ensemble
    speed = {"words_per_second": 2000.0, "memory_megabytes": 150.0, "model_bytes": 17_000_000}
    timed = {"chrf": {"score": 2.0}, "speed": speed}
    made = evaluated(store, "1", {"chrf": {"score": 1.0}}, inputs=files), evaluated(store, "2", timed)
    worker = Worker(gpus=2)
    slow = replace(
        made[0],
        usage=Usage(seconds=HOUR, gpus=2),
        provenance=replace(made[0].provenance, worker=worker),
    )
    fast = replace(made[1], usage=Usage(seconds=60.0, cpu_seconds=50.0))
    old, new = used(store, "0a", slow), used(store, "0b", fast)
    (change,) = compare_needs(evaluations_of(store, old), evaluations_of(store, new))
    assert change.old.size == 2 * 9 * len("model.npz")
    assert needs_line(change) == "student: 0.0 MB → 17.0 MB, - → 2,000 words/s, - → 150 MB of memory"
    whole, stage = compare_costs(old, new, None)
    assert (whole.stage, stage.stage) == ("", "evaluate_student")
    assert cost_line(whole, "") == "all stages: 60 min, 2.0 h of GPU → 60 s"
    assert compare_costs(old, old, None) == []
