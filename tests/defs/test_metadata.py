"""Tests of the metadata of materializations."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from dagster import TableMetadataValue

from tests.memory_store import MemoryStore
from translations_assets.config.deployment import Costs
from translations_assets.defs.metadata import KEY_DIGITS, MAX_SAMPLES, stage_metadata
from translations_assets.defs.quality import MAX_VALIDATIONS
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Blob, Manifest, Provenance, Usage, Worker
from translations_assets.running.events import StepResult
from translations_assets.running.prices import Prices

KEY = "0123456789abcdef" * 4
PNG = b"\x89PNG\r\n\x1a\nrest"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def result(store: MemoryStore, label: str, cached: bool = False, **files: Any) -> StepResult:
    """A finished step; a file's content is bytes, or a value that becomes JSON."""
    contents = {name.replace("_", "."): value for name, value in files.items()}
    outputs = {
        name: store.add_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        for name, value in contents.items()
    }
    step = Step("pipeline.demo.count", label, "demo", {}, {}, tuple(outputs))
    usage = Usage(seconds=1.5, cpu_seconds=1.25, peak_memory=20_000_000, disk=0)
    manifest = Manifest(
        key=KEY,
        generation=1,
        outputs=outputs,
        label="the label in another partition",
        bundle=Blob("", 0),
        provenance=Provenance(partition="en-lt"),
        attempt=2,
        host="here",
        started=0.0,
        ended=1.5,
        usage=usage,
    )
    return StepResult(step, manifest, cached, reason="library numpy 1 → 2")


def shown(store: MemoryStore, *results: StepResult, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """Name → value; a table as its rows."""
    metadata = stage_metadata(results, store, warnings)
    return {
        name: rows(value) if isinstance(value, TableMetadataValue) else value.value
        for name, value in metadata.items()
    }


def rows(table: TableMetadataValue) -> list[dict[str, Any]]:
    return [dict(record.data) for record in table.records]


def test_steps_cost_and_size_are_summed(store: MemoryStore) -> None:
    found = shown(store, result(store, "a", text=b"12345"), result(store, "b", cached=True, text=b"123"))
    assert (found["steps_run"], found["steps_cached"]) == (1, 1)
    assert found["size"] == 8
    assert (found["duration"], found["cpu_time"], found["peak_memory"]) == (3.0, 2.5, 20.0)


def test_with_levels_of_trust_each_step_has_one(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    made = result(store, "a", text=b"12345")
    assert "level" not in shown(store, made)["steps"][0]
    other = replace(made, manifest=replace(made.manifest, generation=2))
    monkeypatch.setattr(store, "level_of", lambda key, number: {1: "branch", 2: "release"}[number])
    assert [row["level"] for row in shown(store, made, other)["steps"]] == ["branch", "release"]


def with_gpus(result: StepResult, **used: Any) -> StepResult:
    """The same, of a step that had GPUs."""
    provenance = replace(result.manifest.provenance, worker=Worker(gpus=used["gpus"]))
    manifest = replace(result.manifest, usage=replace(result.manifest.usage, **used), provenance=provenance)
    return replace(result, manifest=manifest)


def test_what_was_used_of_gpus_is_told_where_there_were_some(store: MemoryStore) -> None:
    plain = result(store, "a", text=b"1")
    assert not [name for name in shown(store, plain) if "gpu" in name]
    long = with_gpus(plain, seconds=30.0, gpus=2, gpu_utilisation=0.9, gpu_memory=8_000_000_000)
    short = with_gpus(plain, seconds=20.0, gpus=1, gpu_utilisation=0.513, gpu_memory=9_000_000_000)
    found = shown(store, plain, long, short)
    assert found["gpu_time"] == 80.0
    assert found["gpu_utilisation"] == 80.3  # of 80.325
    assert found["peak_gpu_memory"] == 9000.0


def test_what_a_materialization_took_is_told_with_gpu_hours_money_and_energy(store: MemoryStore) -> None:
    costs = {"currency": "EUR", "worker-classes": {"cpu": {"price": 2, "watts": 100}}}
    prices = Prices(Costs.model_validate(costs), None, lambda stage: "")
    plain = result(store, "a", text=b"1")
    trained = with_gpus(plain, seconds=3600.0, gpus=4)
    cached = replace(with_gpus(plain, seconds=7200.0, gpus=2, earlier_seconds=1800.0), cached=True)
    names = ("gpu_hours", "money", "kwh")
    found = stage_metadata([trained, cached], store, (), prices)
    assert [found[name].value for name in names] == [9.0, 7.0, 0.35]  # with the attempts that were lost
    assert [found[f"{name}_spent"].value for name in names] == [4.0, 2.0, 0.1]
    assert found["currency"].value == "EUR"
    assert {type(found[name].value) for name in names} == {float}
    nothing = stage_metadata([cached], store, (), prices)
    assert [nothing[f"{name}_spent"].value for name in names] == [0.0, 0.0, 0.0]
    free = stage_metadata([trained], store, ())
    assert free["gpu_hours"].value == 4.0
    assert not {"money", "kwh", "currency"} & free.keys()


def test_each_step_has_a_row_and_a_link_to_its_log(store: MemoryStore) -> None:
    """The label is this config's, although another one made the result; the time is of both its attempts."""
    made = result(store, "a", cached=True, text=b"1")
    found = shown(store, with_gpus(made, seconds=1.0, gpus=0, earlier_seconds=0.5))
    assert found["logs"] == f"* [a](/step-logs/{KEY}/1?attempt=2)"
    assert found["steps"] == [
        {
            "step": "a",
            "state": "cached",
            "seconds": 1.5,
            "attempt": 2,
            "host": "here",
            "key": KEY[:KEY_DIGITS],
        }
    ]


def test_the_reasons_of_steps_that_ran_are_told(store: MemoryStore) -> None:
    found = shown(store, result(store, "a", text=b"1"), result(store, "b", cached=True, text=b"1"))
    assert found["reasons"] == [{"step": "a", "why it ran": "library numpy 1 → 2"}]
    assert "reasons" not in shown(store, result(store, "b", cached=True, text=b"1"))


def test_lines_are_counted_over_all_steps(store: MemoryStore) -> None:
    first = {"lines": {"in": 10, "kept": 7, "dropped": {"empty": 1, "too long": 2}}}
    second = {"lines": {"in": 5, "kept": 4, "dropped": {"empty": 1}}}
    found = shown(store, result(store, "a", stats_json=first), result(store, "b", stats_json=second))
    assert (found["lines_in"], found["dagster/row_count"], found["lines_dropped"]) == (15, 11, 4)
    assert sorted((row["reason"], row["lines"]) for row in found["dropped, by reason"]) == [
        ("empty", 2),
        ("too long", 2),
    ]


def test_where_datasets_came_from(store: MemoryStore) -> None:
    fetched = {
        "lines": {"in": 1, "kept": 1},
        "revision": "v9",
        "licence": "CC0-1.0",
        "source": [{"url": f"https://a/{n}", "sha256": "0", "bytes": 10} for n in range(5)],
    }
    unknown = fetched | {"revision": "", "licence": "", "source": fetched["source"][:1]}  # type: ignore[index]
    made = {"lines": {"in": 1, "kept": 1}, "source": []}
    results = [
        result(store, label, stats_json=stats)
        for label, stats in (("a", fetched), ("b", unknown), ("c", made))
    ]
    rows = shown(store, *results)["sources"]
    assert rows[0] == {
        "step": "a",
        "source": "https://a/0, https://a/1, https://a/2",
        "revision": "v9",
        "licence": "CC0-1.0",
        "downloaded (bytes)": 50,
    }
    assert [(row["step"], row["licence"]) for row in rows] == [("a", "CC0-1.0"), ("b", "not stated")]


def test_samples_are_limited_and_shown_as_they_are(store: MemoryStore) -> None:
    samples = [["*a*", "b"], *(f"line {number}" for number in range(20))]
    found = shown(store, result(store, "a", stats_json={"samples": samples}))
    lines = found["samples"].splitlines()
    assert len(lines) == MAX_SAMPLES
    assert lines[0] == "    *a* ||| b"  # indented: Markdown leaves it alone


def test_scores_of_an_evaluation(store: MemoryStore) -> None:
    sample = {"source": "A dog.", "reference": "Hundo.", "translation": "Hundo!"}
    metrics = {
        "dataset": "flores_dev",
        "lines": 1,
        "bleu": {"score": 31.5, "signature": "s"},
        "chrf": {"score": 58.25, "ci": 0.61, "signature": "s"},
        "samples": [sample],
    }
    found = shown(store, result(store, "evaluate-a", metrics_json=metrics))
    assert (found["bleu"], found["chrf"]) == (31.5, 58.25)
    assert found["scores"] == [{"step": "evaluate-a", "BLEU": "31.5", "chrF": "58.2 ± 0.6"}]
    assert {"metric": "chrF", "signature": "s"} in found["signatures"]
    assert found["translations"] == [{"step": "evaluate-a", **sample}]
    speed = {"words_per_second": 900.5, "memory_megabytes": 80.0, "model_bytes": 17}
    timed = {**metrics, "speed": speed}
    assert shown(store, result(store, "evaluate-b", metrics_json=timed))["words_per_second"] == 900.5


def test_numbers_are_those_of_the_first_test_set(store: MemoryStore) -> None:
    """The mean of a stage's models: two teachers have one number, whatever their labels are."""

    def evaluation(label: str, dataset: str, chrf: float) -> StepResult:
        scores = {"dataset": dataset, "chrf": {"score": chrf, "signature": "s"}}
        return result(store, label, metrics_json=scores)

    teachers = [("teacher-1", 40.0), ("teacher-2", 44.0)]
    sets = [
        evaluation(f"{label}-{name}", name, chrf + more)
        for label, chrf in teachers
        for name, more in (("a", 0), ("b", 9))
    ]
    found = shown(store, *sets)
    assert found["chrf"] == 42.0
    assert [row["chrF"] for row in found["scores"]] == ["40.0", "49.0", "44.0", "53.0"]


def training(updates: int) -> dict[str, Any]:
    curve: list[dict[str, Any]] = [
        {
            "kind": "train",
            "update": number,
            "cost": 9.0 / number,
            "words_per_second": 100.0,
            "learn_rate": None,
        }
        for number in range(1, updates + 1)
    ]
    curve.insert(1, {"kind": "valid", "update": 1, "chrf": 40.0, "bleu": 11.0})
    best = {"chrf": {"score": 40.0, "update": 1}, "bleu": {"score": 11.0, "update": 1}}
    return {
        "updates": updates,
        "best-model": "chrf",
        "best": best,
        "derived": {},
        "pairs": {},
        "curve": curve,
    }


def test_a_training_is_summed_up_with_its_curves(store: MemoryStore) -> None:
    found = shown(store, result(store, "train-a", metrics_json=training(3)))
    assert next(iter(found)) == "summary"
    assert found["summary"].startswith("train-a: chrF **40** at 1, BLEU **11** at 1; 3 updates ▄\n\n1 step, ")
    assert len(found["summary"]) < 1_000  # more is hidden behind a click
    pictures = re.findall(r"!\[(.*?)\]\(data:image/svg\+xml;base64,(.*?)\)", found["curves"])
    assert [title for title, _ in pictures] == ["scores on the dev set", "cross-entropy a word", "words/s"]
    for _, encoded in pictures:
        ElementTree.fromstring(b64decode(encoded))
    assert found["updates"] == 3
    assert (found["chrf"], found["bleu"]) == (40.0, 11.0)
    assert found["validations"] == [{"step": "train-a", "update": 1, "chrf": 40.0, "bleu": 11.0}]


def test_it_is_told_that_a_gpus_memory_ran_out(store: MemoryStore) -> None:
    metrics = {**training(3), "derived": {"optimizer-delay": 4, "out-of-memory-at": 0}}
    found = shown(store, result(store, "train-a", metrics_json=metrics))
    assert "train-a: a GPU's memory ran out; micro-batches are half as large from update 0 on" in str(
        found["summary"]
    )
    assert "memory" not in str(shown(store, result(store, "train-a", metrics_json=training(3)))["summary"])


def test_the_newest_validations_are_listed(store: MemoryStore) -> None:
    metrics = training(1)
    metrics["curve"] = [{"kind": "valid", "update": number, "chrf": 1.0} for number in range(100)]
    rows = shown(store, result(store, "train-a", metrics_json=metrics))["validations"]
    assert [row["update"] for row in rows] == list(range(100 - MAX_VALIDATIONS, 100))


def test_a_training_without_validation(store: MemoryStore) -> None:
    metrics = {"updates": 5, "best": {}, "curve": []}
    found = shown(store, result(store, "train-a", metrics_json=metrics))
    assert found["updates"] == 5
    assert found["summary"].startswith("train-a: no validation yet; 5 updates")
    assert "curves" not in found
    assert "validations" not in found


def test_images_stand_in_the_page(store: MemoryStore) -> None:
    found = shown(store, result(store, "a", words_png=PNG))
    assert found["a words.png"].startswith("![a words.png](data:image/png;base64,iVBORw0KGg")


def test_warnings_are_kept(store: MemoryStore) -> None:
    found = shown(store, result(store, "a", text=b"1"), warnings=("merge_corpus is out of date", "another"))
    assert found["warnings"] == "* merge_corpus is out of date\n* another"


def test_a_stage_without_steps_says_so(store: MemoryStore) -> None:
    found = shown(store)
    assert (found["steps_run"], found["steps_cached"]) == (0, 0)
    assert "no steps" in found["note"]
