"""A dataset that the config gives a name: in labels, results and filter files, never in a key."""

from pathlib import Path

import pytest

from tests.stages.configs import FULL, files, graph, labels
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob
from translations_assets.stages import filter_files

URL = "url_https://example.com/corpus.[LANG].zst"
NAMED = (
    FULL.replace(f"- {URL}", f"- {{dataset: '{URL}', alias: bulletins}}")
    .replace("- flores_aug-upper_devtest", "- {dataset: flores_aug-upper_devtest, alias: loud}")
    .replace("- news-crawl_news.2020", "- {dataset: news-crawl_news.2020, alias: news}")
)
ROOT = Path(__file__).resolve().parents[2]


def test_labels_hold_the_alias() -> None:
    named = labels(graph(NAMED).steps)
    assert "dataset-train-bulletins-en-ru" in named
    assert "clean-corpus-bulletins-en-ru" in named
    assert "bicleaner-ai-score-bulletins-en-ru" in named
    assert "evaluate-student-loud-en-ru" in named
    assert "clean-mono-trg-news-ru" in named
    assert not [label for label in named if "example" in label and "mono-src" not in label]


def keys_of(graph: Graph) -> list[str]:
    """The key of each step, with the digest of each output made up from the key of its step."""
    maker, outputs, keys = KeyMaker(ROOT), dict[Output, Blob](), list[str]()
    for step in graph.steps:
        keys.append(maker.parts(step, outputs).digest)
        outputs |= {step[name]: Blob(f"{keys[-1]} {name}", 1) for name in step.outputs}
    return keys


def test_an_alias_changes_no_key() -> None:
    plain, named = graph(FULL), graph(NAMED)
    assert labels(plain.steps) != labels(named.steps)
    assert keys_of(plain) == keys_of(named)


def test_a_threshold_of_an_alias_is_used() -> None:
    line = "  bicleaner: {dataset-thresholds: {bulletins: 0, opus_ParaCrawl_v9: 0.7}}\n"
    named = graph(NAMED.replace("  trg: ru\n", f"  trg: ru\n{line}"))
    assert "bicleaner-ai-bulletins-en-ru" not in named.by_label
    assert named.step("bicleaner-ai-opus_ParaCrawl_v9-en-ru").args["threshold"] == 0.7


def test_a_weight_of_an_alias_is_used() -> None:
    line = "  corpus-max-sentences: 9\n  merging: {dataset-weights: {train: {bulletins: 2}}}\n"
    named = graph(NAMED.replace("  trg: ru\n", f"  trg: ru\n{line}"))
    assert named.step("merge-corpus-en-ru").args["weights"] == ["1.0", "1.0", "2.0"]


def test_results_are_told_by_the_alias() -> None:
    named = graph(NAMED)
    assert named.step("merge-corpus-en-ru").aliases == {URL: "bulletins"}
    assert named.step("merge-mono-trg-ru").aliases == {"news-crawl_news.2020": "news"}
    assert named.step("evaluate-student-loud-en-ru").aliases == {"flores_aug-upper_devtest": "loud"}
    assert named.step("evaluate-student-flores_devtest-en-ru").aliases == {}


@pytest.mark.parametrize("name", ["bulletins", "url_example_com_corpus_58db41"])
def test_a_filter_file_of_a_url_has_the_datasets_short_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = tmp_path / filter_files.FILTERS
    filters.mkdir(parents=True)
    for file in ("default.filters.json", f"{name}.filters.json"):
        (filters / file).write_text('{"filters": []}')
    monkeypatch.setattr(filter_files, "ROOT", tmp_path)
    text = NAMED if name == "bulletins" else f"{FULL}\n"  # not the text that other tests have in the cache
    label = f"clean-corpus-{name}-en-ru"
    step = graph(f"{text}\n\n").step(label)
    assert files(step, "filters") == [f"{filter_files.FILTERS}/{name}.filters.json"]
