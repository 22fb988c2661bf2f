"""Tests of the origin of a report's lines."""

from typing import Any

from translations_assets.graph.step import Output, Step
from translations_assets.results.lines import SAMPLES, dropped_lines, lines_by_dataset, sources
from translations_assets.results.statistics import Statistics


def made(label: str, stage: str, text: Output | list[Output] | None = None, **args: Any) -> Step:
    inputs = {"corpus_src": text, "corpus_trg": text} if text is not None else {}
    return Step("pipeline.x", label, stage, args, inputs, ("corpus.zst", "stats.json"))


def lines(read: int, kept: int, **dropped: int) -> dict[str, Any]:
    return {"lines": {"in": read, "kept": kept, "dropped": dropped}}


def statistics(*told: tuple[Step, dict[str, Any]]) -> dict[Step, Statistics]:
    return {step: Statistics.from_dict(found) for step, found in told}


def test_each_dataset_is_followed_from_its_import_to_the_text_that_holds_it() -> None:
    """The lines of a stage that did not count are those that the next one read."""
    imported = [made(f"dataset-train-{name}-en-eo", "dataset_train") for name in "ab"]
    cleaned = [made(f"clean-{one.label}", "clean_corpus", one["corpus.zst"]) for one in imported]
    merged = made("merge", "merge_corpus", [one["corpus.zst"] for one in cleaned], datasets=["a", "b"])
    counts = [{"dataset": "a", "in": 70, "kept": 60}, {"dataset": "b", "in": 7, "kept": 5}]
    documents = statistics(
        (imported[0], lines(100, 90, empty=10)),
        (cleaned[0], lines(90, 70, length=20)),
        (cleaned[1], lines(8, 7, length=1)),
        (merged, {**lines(77, 65, duplicate=12), "datasets": counts}),
    )
    found = {each.dataset: dict(each.lines) for each in lines_by_dataset(documents)}
    assert found == {
        "a": {"dataset_train": 90, "clean_corpus": 70, "merge_corpus": 60},
        "b": {"dataset_train": 8, "clean_corpus": 7, "merge_corpus": 5},
    }
    assert [*found["a"]] == ["dataset_train", "clean_corpus", "merge_corpus"]
    assert {each.merged for each in lines_by_dataset(documents)} == {"merge_corpus"}


def test_of_a_text_that_an_early_version_merged_no_dataset_is_told() -> None:
    """It counted all lines, and none of a dataset."""
    imported = made("dataset-train-a-en-eo", "dataset_train")
    merged = made("merge", "merge_corpus", [imported["corpus.zst"]], datasets=["a"])
    assert lines_by_dataset(statistics((imported, lines(9, 9)), (merged, lines(9, 7)))) == []


def test_what_a_step_dropped_is_told_with_lines_that_show_it() -> None:
    samples = [f"empty: line {number}" for number in range(2 * SAMPLES)]
    told = {**lines(10, 7, empty=3, copied=0), "samples": ["a line that stays", ["a", "b"], *samples]}
    (found,) = dropped_lines(
        statistics((made("clean", "clean_corpus"), told), (made("all", "x"), lines(5, 5)))
    )
    assert (found.label, found.read, found.kept, found.reasons) == ("clean", 10, 7, {"empty": 3})
    assert found.samples == samples[:SAMPLES]


def test_lines_that_a_merge_kept_are_told() -> None:
    counts = [{"dataset": "a", "in": 9, "kept": 7}]
    pairs = [[f"Satz {number}", f"Фраза {number}"] for number in range(2 * SAMPLES)]
    told = {**lines(9, 7, duplicate=2), "datasets": counts, "samples": pairs}
    (found,) = dropped_lines(statistics((made("merge", "merge_corpus", datasets=["a"]), told)))
    assert found.samples == []
    assert found.kept_samples == [f"Satz {number} | Фраза {number}" for number in range(SAMPLES)]


def test_pairs_that_scores_dropped_are_told() -> None:
    told = {"lines": {"in": 20, "kept": 19, "dropped": {"low score": 1}}, "samples": [["schlecht", "плохо"]]}
    step = Step("pipeline.cefilter.filter", "cefilter-de-ru", "cefilter", {}, {}, ("stats.json",))
    (found,) = dropped_lines(statistics((step, told)))
    assert (found.samples, found.kept_samples) == (["schlecht | плохо"], [])


def test_sources_are_told_with_what_was_imported() -> None:
    files = [{"url": "a", "bytes": 3}, {"url": "b", "bytes": 4}]
    told = {**lines(10, 7, empty=3), "licence": "CC0", "source": files}
    step = made("dataset-train-opus_Books_v1-en-eo-unmodified", "dataset_train")
    counted = statistics((step, told), (made("x", "x"), lines(1, 1)))
    (found,) = sources({step.label: stats for step, stats in counted.items()}, "en-eo")
    assert (found.dataset, found.lines, found.revision) == ("train-opus_Books_v1", 7, "")
    assert (found.licence, found.urls, found.synthetic) == ("CC0", ["a", "b"], False)
