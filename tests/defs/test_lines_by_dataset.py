"""Tests of the lines of a dataset from import to merge, as people read them."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from dagster import TableMetadataValue

from tests.defs.test_metadata import result, rows
from tests.memory_store import MemoryStore
from translations_assets.defs.metadata import lines_by_dataset
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Blob
from translations_assets.running.events import StepResult
from translations_assets.running.session import Result


class KnownResults:
    """Stands for a session that knows the results of some steps."""

    def __init__(self) -> None:
        self.outputs: dict[Step, dict[str, Blob]] = {}
        self.results = self

    def result(self, step: Step) -> Result | None:
        return Result("", 1, self.outputs[step]) if step in self.outputs else None


Pair = tuple[int, int]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def made(stage: str, **inputs: Sequence[Step]) -> Step:
    """A step of a stage; inputs are steps whose text it reads."""
    handles = {name: [step["text"] for step in steps] for name, steps in inputs.items()}
    args = {"datasets": ["opus_A/v1", "opus_B/v1"]} if stage.startswith("merge") else {}
    return Step(f"pipeline.{stage}", f"{stage} {id(inputs)}", stage, args, handles, ("text", "stats.json"))


def counted(store: MemoryStore, before: int, after: int) -> dict[str, Blob]:
    """The outputs of a step that read and left so many lines."""
    stats = {"lines": {"in": before, "kept": after, "dropped": {"empty": before - after}}}
    return {"stats.json": store.add_bytes(json.dumps(stats).encode())}


def merged(store: MemoryStore, step: Step, a: Pair = (900, 800), b: Pair = (100, 30)) -> StepResult:
    """The result of a step that merged A and B: of each, how many lines it read and kept."""
    datasets = [
        {"dataset": f"opus_{name}/v1", "in": read, "kept": kept}
        for name, (read, kept) in (("A", a), ("B", b))
    ]
    made_result = result(store, step.label, stats_json={"datasets": datasets})
    return StepResult(step, made_result.manifest, cached=False)


@pytest.mark.parametrize("name", ["corpus_trg", "text"])
def test_lines_are_followed_from_import_to_merge(store: MemoryStore, name: str) -> None:
    session = KnownResults()
    imports = [made("dataset_train"), made("dataset_train")]
    cleaned = [made("clean_corpus", **{name: [step]}) for step in imports]
    scored = made("score_corpus", **{name: [cleaned[0]]})
    merge = made("merge_corpus", **{name: [scored, cleaned[1]]})
    session.outputs = {
        imports[0]: counted(store, 1_200, 1_000),
        cleaned[0]: counted(store, 1_000, 950),
        scored: counted(store, 950, 900),
        cleaned[1]: counted(store, 400, 100),  # nothing is known of its import
    }
    found = lines_by_dataset(session, [merged(store, merge)], store)  # type: ignore[arg-type]
    table = found["lines by dataset"]
    assert isinstance(table, TableMetadataValue)
    a = {"dataset_train": 1_000, "clean_corpus": 950, "score_corpus": 900, "merge_corpus": 800}
    b = {"dataset_train": 400, "clean_corpus": 100, "score_corpus": None, "merge_corpus": 30}
    assert rows(table) == [{"dataset": "opus_A/v1", **a}, {"dataset": "opus_B/v1", **b}]
    drawn = str(found["lines by dataset, drawn"].value).splitlines()
    assert drawn[0] == "    opus_A/v1"
    assert drawn[1] == f"      dataset_train    {'█' * 40} 1,000"
    assert drawn[4] == f"      merge_corpus     {'█' * 32} 800"
    assert drawn[6] == f"      dataset_train    {'█' * 16} 400"
    assert drawn[-1] == "      merge_corpus     █▎ 30"


def test_datasets_are_told_by_their_aliases(store: MemoryStore) -> None:
    merge = replace(made("merge_corpus", text=[made("a"), made("b")]), aliases={"opus_B/v1": "books"})
    found = lines_by_dataset(KnownResults(), [merged(store, merge)], store)  # type: ignore[arg-type]
    table = found["lines by dataset"]
    assert isinstance(table, TableMetadataValue)
    assert [row["dataset"] for row in rows(table)] == ["opus_A/v1", "books"]


@pytest.mark.parametrize("count", [0, 1])
def test_few_lines_are_drawn_like_many(store: MemoryStore, count: int) -> None:
    merge = made("merge_corpus", text=[made("a"), made("b")])
    session = KnownResults()
    few = merged(store, merge, (count, count), (0, 0))
    found = lines_by_dataset(session, [few], store)  # type: ignore[arg-type]
    drawn = str(found["lines by dataset, drawn"].value).splitlines()
    assert drawn[2] == f"      merge_corpus     {'█' * 40 * count} {count}"
    assert drawn[-1].split() == ["b", "0"]


def test_stages_that_merge_no_datasets_say_nothing(store: MemoryStore) -> None:
    plain = result(store, "a", stats_json={"lines": {"in": 2, "kept": 1, "dropped": {}}})
    assert lines_by_dataset(KnownResults(), [plain], store) == {}  # type: ignore[arg-type]
    assert lines_by_dataset(KnownResults(), [], store) == {}  # type: ignore[arg-type]
