"""The steps that score cleaned text, and what is dropped by its score."""

from __future__ import annotations

from tests.stages.configs import FULL, SMALL, files, graph, labels
from translations_assets.config.languages import language
from translations_assets.graph.graph import Graph
from translations_assets.stages.classifying import MODEL_FILES

PARACRAWL = "opus_ParaCrawl_v9-en-ru"


def with_lines(text: str, lines: str) -> Graph:
    """The graph of a config with lines added to its experiment."""
    return graph(text.replace("datasets:\n", f"{lines}datasets:\n", 1))


def stage(found: Graph, name: str) -> list[str]:
    return labels(found.stages[name])


def test_a_dataset_is_scored_and_then_filtered_by_its_threshold() -> None:
    found = with_lines(FULL, "  bicleaner: {dataset-thresholds: {opus_ParaCrawl_v9: 0.7}}\n")
    scored = found.step(f"bicleaner-ai-score-{PARACRAWL}")
    filtered = found.step(f"bicleaner-ai-{PARACRAWL}")
    assert scored.resumable
    assert scored.worker == "gpu"
    assert files(scored, "corpus_trg") == [f"clean-corpus-{PARACRAWL}:corpus.ru.zst"]
    assert files(scored, "model") == [f"bicleaner-model-en-ru:{name}" for name in MODEL_FILES]
    assert files(scored, "bicleaner_lock") == ["requirements/bicleaner.lock"]
    assert files(filtered, "scores") == [f"{scored.label}:scores.zst"]
    assert filtered.args["threshold"] == 0.7
    assert found.step("bicleaner-ai-url_example_com_corpus_58db41-en-ru").args["threshold"] == 0.5


def test_another_threshold_scores_nothing_anew() -> None:
    label = f"bicleaner-ai-score-{PARACRAWL}"
    one, other = (with_lines(FULL, f"  bicleaner: {{default-threshold: {t}}}\n") for t in (0.5, 0.6))
    assert one.step(label).args == other.step(label).args == {"src": "en", "trg": "ru"}
    assert one.step(f"bicleaner-ai-{PARACRAWL}").args != other.step(f"bicleaner-ai-{PARACRAWL}").args


def test_a_threshold_of_0_leaves_no_step_and_the_text_goes_on() -> None:
    found = with_lines(FULL, "  bicleaner: {default-threshold: 0}\n")
    assert stage(found, "bicleaner_model") == stage(found, "bicleaner") == []
    merged = found.step("merge-corpus-en-ru")
    assert files(merged, "corpus_src")[0] == f"clean-corpus-{PARACRAWL}:corpus.en.zst"
    assert "scores" not in merged.inputs
    assert "scored" not in merged.args


def test_datasets_with_and_without_scores_are_merged() -> None:
    found = with_lines(FULL, "  bicleaner: {dataset-thresholds: {opus_ParaCrawl_v9: 0}}\n")
    merged = found.step("merge-corpus-en-ru")
    assert files(merged, "corpus_src")[0] == f"clean-corpus-{PARACRAWL}:corpus.en.zst"
    assert merged.args["scored"] == [
        "mtdata_ELRC-swedish_myndigheten-1-eng-rus",
        "url_https://example.com/corpus.[LANG].zst",
    ]
    assert [name.rpartition(":")[2] for name in files(merged, "scores")] == ["scores.zst"] * 2


def test_dev_sets_have_no_scores() -> None:
    assert "scores" in graph(FULL).step("merge-corpus-en-ru").inputs
    assert "scores" not in graph(FULL).step("merge-devset-en-ru").inputs


def test_the_model_is_asked_for_by_bicleaners_codes() -> None:
    assert graph(SMALL).step("bicleaner-model-zh-en").args == {"src": "zh", "trg": "en"}
    serbian = graph(SMALL.replace("src: zh", "src: sr"))
    assert serbian.step("bicleaner-model-sr-en").args == {"src": "hbs", "trg": "en"}
    codes = {code: language(code).bicleaner for code in ("bs", "hr", "no", "nb", "zh_hant", "pt")}
    assert codes == {"bs": "hbs", "hr": "hbs", "no": "nb", "nb": "nb", "zh_hant": "zh", "pt": "pt"}


def test_a_corpus_of_an_earlier_run_is_not_scored() -> None:
    urls = "{src: https://example.com/c.zh.zst, trg: https://example.com/c.en.zst}"
    text = SMALL.replace("  train: [opus_ParaCrawl/v9]\n", "")
    found = graph(f"{text}continuation:\n  corpora:\n    parallel: {urls}\n")
    assert stage(found, "bicleaner_model") == stage(found, "bicleaner") == []


def test_text_of_one_language_is_not_scored_unless_it_is_asked_for() -> None:
    assert stage(graph(FULL), "monocleaner") == []
    merged = graph(FULL).step("merge-mono-src-en")
    assert files(merged, "text")[0] == "clean-mono-src-news-crawl_news_2021-en:mono.en.zst"


def test_text_of_one_language_is_scored_by_side_and_dataset() -> None:
    thresholds = "{default-threshold: 0.8, dataset-thresholds: {opus_NewsCommentary_v16: 0}}"
    found = with_lines(FULL, f"  monocleaner: {{mono-trg: {thresholds}}}\n")
    news = "trg-news-crawl_news_2020-ru"
    assert stage(found, "monocleaner") == [
        "monocleaner-model-trg-ru",
        f"monocleaner-score-{news}",
        f"monocleaner-{news}",
    ]
    assert found.step("monocleaner-model-trg-ru").args == {"lang": "ru"}
    assert found.step(f"monocleaner-{news}").args == {"lang": "ru", "threshold": 0.8}
    assert files(found.step("merge-mono-trg-ru"), "text") == [
        f"monocleaner-{news}:mono.ru.zst",
        "clean-mono-trg-opus_NewsCommentary_v16-ru:mono.ru.zst",
    ]
