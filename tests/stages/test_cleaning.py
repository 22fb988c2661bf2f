"""Tests of a dataset's filters, its language identifier, and the scores that drop cleaned text."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from pipeline.clean.filtering import registry
from tests.stages.configs import FULL, IMPORTS, SMALL, files, graph, labels
from translations_assets.config.datasets import check_mono, parse_dataset
from translations_assets.config.languages import language
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import RepoFile
from translations_assets.stages.cleaning import BICLEANER_FILES, max_tokens
from translations_assets.stages.filter_files import (
    FAST,
    FILTERS,
    FIXES,
    ROOT,
    filter_files,
    mono_filter_files,
    pattern_files,
)
from translations_assets.stages.languages import opuscleaner_code

PARACRAWL = "opus_ParaCrawl_v9-en-ru"


def chosen(mode: str, src: str, trg: str, key: str) -> list[str]:
    files = filter_files(mode, src, trg, parse_dataset(key))
    return [str(PurePosixPath(file.path).relative_to(FILTERS)) for file in files]


@pytest.mark.parametrize(
    ("mode", "src", "trg", "key", "expected"),
    [
        ("custom", "en", "ru", "opus_ParaCrawl/v9", "default.filters.json"),
        ("custom", "en", "ru", "opus_ada83/v1", "opus_ada83-v1.filters.json"),
        ("custom", "en", "fr", "opus_UNPC/v1.0", "en-fr/opus_UNPC-v1.0.filters.json"),
        ("custom", "en", "ru", "opus_UNPC/v1.0", "opus_UNPC-v1.0.filters.json"),
        ("custom", "ru", "en", "opus_wikimedia/v20230407", "opus_wikimedia-v20230407.filters.json"),
        ("custom", "zh", "en", "opus_UNPC/v1.0", "zh-en/default.filters.json"),
        ("custom", "en", "zh_hant", "opus_WikiMatrix/v1", "en-zh_hant/opus_WikiMatrix-v1.filters.json"),
        ("defaults", "zh", "en", "opus_UNPC/v1.0", "default.filters.json"),
        ("upstream", "en", "ru", "opus_ParaCrawl/v9", "upstream/default.filters.json"),
        ("upstream", "en", "fr", "opus_UNPC/v1.0", "upstream/en-fr/opus_UNPC-v1.0.filters.json"),
        ("upstream", "zh", "en", "opus_UNPC/v1.0", "upstream/zh-en/default.filters.json"),
    ],
)
def test_the_filter_file_of_a_dataset(mode: str, src: str, trg: str, key: str, expected: str) -> None:
    assert chosen(mode, src, trg, key) == [expected]


@pytest.mark.parametrize(
    ("src", "trg", "key", "fixes"),
    [
        ("zh", "en", "opus_ParaCrawl/v9", []),
        ("en", "ru", "opus_SETIMES/v2", ["detokenize"]),
        ("en", "ro", "mtdata_OPUS-setimes-v2-eng-ron", ["detokenize"]),
        ("ca", "es", "mtdata_OPUS-dogc-v2-cat-spa", ["catalan", "spanish", "detokenize"]),
        ("fr", "en", "opus_UNPC/v1.0", ["french", "english"]),
        ("en", "ro", "mtdata_Neulab-tedtalks_train-1-eng-ron", ["romanian", "detokenize"]),
        ("de", "en", "mtdata_ELRC-luxembourg.lu-1-deu-eng", ["markup"]),
    ],
)
def test_legacy_cleaning_mends_what_is_wrong_with_single_datasets(
    src: str, trg: str, key: str, fixes: list[str]
) -> None:
    names = ["repairs", *fixes, "rules"]
    assert chosen("legacy", src, trg, key) == [f"legacy/{name}.filters.json" for name in names]
    assert chosen("defaults", src, trg, key) == ["default.filters.json"]


def test_every_fix_is_there_and_is_of_use() -> None:
    files = {file.name.removesuffix(".filters.json") for file in (ROOT / FILTERS / "legacy").iterdir()}
    assert files == {"repairs", "rules", *FIXES.values()}


def test_every_file_has_its_counterpart_of_upstream() -> None:
    """Those of our own differ in four filters, have one more, and differ in nothing else."""
    folder = ROOT / FILTERS
    upstream = {path.relative_to(folder / "upstream") for path in (folder / "upstream").rglob("*.json")}
    ours = {path.relative_to(folder) for path in folder.rglob("*.filters.json")}
    assert upstream == {path for path in ours if path.parts[0] not in ("upstream", "legacy")}
    renamed = {
        "alpha_ratio": "alphabet_ratio",
        "src_trg_ratio": "length_ratio",
        "num_mismatch": "number_mismatch",
        "url_mismatch": "address_mismatch",
    }
    added = {"length_ratio": "word", "untranslated": None}
    for path in upstream:
        theirs, mine = (
            json.loads((root / path).read_text(encoding="utf-8"))["filters"]
            for root in (folder / "upstream", folder)
        )
        names = [renamed.get(entry["filter"], entry["filter"]) for entry in theirs]
        own = [entry["filter"] for entry in mine]
        assert names == [
            entry["filter"]
            for entry in mine
            if added.get(entry["filter"], "") != entry["parameters"].get("UNIT")
        ]
        assert own[own.index("untranslated") + 1] == "fasttext_filter"
        assert [entry for entry in mine if entry["filter"] not in {*renamed.values(), *added}] == [
            entry for entry in theirs if entry["filter"] not in renamed
        ]


def test_filter_files_are_inputs() -> None:
    step = graph(FULL).step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(step, "filters") == [f"{FILTERS}/default.filters.json"]
    assert files(step, "patterns") == [f"{FILTERS}/remove_frequent_patterns.txt"]
    assert not {"src_language_model", "trg_language_model"} & step.inputs.keys()
    assert (step.args["src_labels"], step.args["trg_labels"]) == (["eng"], ["rus"])
    assert "patterns" not in graph(SMALL).step("clean-corpus-opus_ParaCrawl_v9-zh-en").inputs


@pytest.mark.parametrize(
    ("trg", "mode", "fixed"), [("de", "custom", True), ("ru", "custom", False), ("de", "legacy", False)]
)
def test_currencies_are_compared_between_latin_scripts(trg: str, mode: str, fixed: bool) -> None:
    text = SMALL.replace("src: zh", f"src: en\n  opuscleaner-mode: {mode}").replace("trg: en", f"trg: {trg}")
    step = graph(text).step(f"clean-corpus-opus_ParaCrawl_v9-en-{trg}")
    assert step.args["fix_currencies"] is fixed


def test_a_language_that_heli_does_not_tell_apart_is_identified_by_glotlid() -> None:
    text = SMALL.replace("src: zh", "src: hr")
    pairs = graph(text).step("clean-corpus-opus_ParaCrawl_v9-hr-en")
    assert "trg_language_model" not in pairs.inputs
    assert files(pairs, "src_language_model") == ["language-model-glotlid-corpus:model.bin"]
    assert (pairs.args["src_labels"], pairs.args["trg_labels"]) == (["hrv", "hr", "hbs", "sh"], ["eng"])
    assert pairs.args["believe_always"] is False
    model = graph(text).step("language-model-glotlid-corpus")
    assert str(model.args["url"]).startswith("https://huggingface.co/cis-lmu/glotlid/resolve/")
    assert re.fullmatch("[0-9a-f]{64}", str(model.args["sha256"]))
    offline = text.replace("src: hr", "src: hr\n  language-identification: heliport")
    pairs = graph(offline).step("clean-corpus-opus_ParaCrawl_v9-hr-en")
    assert "src_language_model" not in pairs.inputs
    assert pairs.args["src_labels"] == ["hbs"]


def test_one_model_may_identify_all_languages() -> None:
    text = FULL.replace("  src: en\n", "  src: en\n  language-identification: openlid-v3\n")
    found = graph(text)
    pairs = found.step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(pairs, "src_language_model") == files(pairs, "trg_language_model")
    assert [step.label for step in found.steps if step.script.endswith("fetch_model")] == [
        *("language-model-openlid-v3-corpus", "language-model-openlid-v3-mono"),
        *("language-model-openlid-v3-check-corpus", "language-model-openlid-v3-check-mono-src"),
        *("language-model-openlid-v3-check-mono-trg", "language-model-openlid-v3-check-distilled"),
    ]


def test_gates_identify_as_cleaning_does() -> None:
    check = graph(SMALL.replace("src: zh", "src: hr")).step("check-corpus-hr-en")
    assert (check.args["scripts"], check.args["labels_second"]) == (["Latin", "Latin"], ["eng"])
    assert files(check, "language_model_first") == ["language-model-glotlid-check-corpus:model.bin"]
    assert "language_model_second" not in check.inputs


def test_upstreams_models_identify_languages_by_filter_files() -> None:
    text = FULL.replace("  src: en\n", "  src: en\n  language-identification: fasttext\n")
    pairs = graph(text).step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(pairs, "trg_language_model") == ["language-model-nllb-corpus:model.bin"]
    assert (pairs.args["trg_labels"], pairs.args["believe_always"]) == (["rus", "ru"], True)
    mono = graph(text).step("clean-mono-src-news-crawl_news_2021-en")
    assert files(mono, "language_model") == ["language-model-nllb-mono:model.bin"]
    assert (mono.args["labels"], mono.args["believe_always"]) == (["eng_Latn"], True)


def test_upstream_identifies_chinese_by_openlid() -> None:
    text = SMALL.replace("src: zh", "src: zh\n  language-identification: fasttext")
    pairs = graph(text).step("clean-corpus-opus_ParaCrawl_v9-zh-en")
    assert files(pairs, "src_language_model") == ["language-model-openlid-v2-corpus:model.bin"]


def test_codes() -> None:
    codes = [opuscleaner_code(language(code)) for code in ("en", "zh", "zh_hant", "pt_br")]
    assert codes == ["en", "zh", "zh_Hant", "pt_BR"]


def test_tokens_are_words_or_characters() -> None:
    cleaned = {
        step.args["lang"]: (step.args["unspaced"], step.args["max_tokens"], step.args["alphabet"])
        for step in graph(IMPORTS).steps
        if step.label.startswith("clean-mono")
    }
    assert cleaned == {"en": (False, 200, "en"), "zh_hant": (True, 200, "zh_Hant")}
    assert [max_tokens(language(code)) for code in ("ru", "ko", "ja", "th")] == [200, 200, 200, 600]


def test_fast_filters_need_no_opuscleaner() -> None:
    assert FAST == registry.FILTERS
    assert "opuscleaner_lock" not in graph(FULL).step("clean-corpus-opus_ParaCrawl_v9-en-ru").inputs


def test_other_filters_bring_the_lock_of_opuscleaner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translations_assets.stages.filter_files.ROOT", tmp_path)
    mine = tmp_path / FILTERS / "en-ru" / "opus_ParaCrawl-v9.filters.json"
    mine.parent.mkdir(parents=True)
    mine.write_text('{"filters": [{"filter": "bifixer", "parameters": {}, "language": "en"}]}')
    step = graph(FULL + "# with a file of its own\n").step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(step, "filters") == [f"{FILTERS}/en-ru/opus_ParaCrawl-v9.filters.json"]
    assert files(step, "opuscleaner_lock") == ["requirements/opuscleaner.lock"]


def test_the_programs_that_filters_run_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert graph(FULL).step("clean-corpus-opus_ParaCrawl_v9-en-ru").programs == ()
    monkeypatch.setattr("translations_assets.stages.filter_files.ROOT", tmp_path)
    mine = tmp_path / FILTERS / "en-ru" / "default.filters.json"
    mine.parent.mkdir(parents=True)
    filters: list[dict[str, Any]] = [
        {"filter": name, "parameters": {}, "language": "en"} for name in ("sed", "regexp", "sed")
    ]
    mine.write_text(json.dumps({"filters": filters}))
    step = graph(FULL + "# with another file of its own\n").step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert step.programs == ("perl", "sed")


def test_patterns_of_a_filter_that_names_no_file_are_the_default_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translations_assets.stages.filter_files.ROOT", tmp_path)
    frequent: dict[str, Any] = {"filter": "remove_frequent_patterns", "parameters": {}, "language": None}
    (tmp_path / "frequent.filters.json").write_text(json.dumps({"filters": [frequent]}))
    expected = [RepoFile(f"{FILTERS}/remove_frequent_patterns.txt")]
    assert pattern_files([RepoFile("frequent.filters.json")]) == expected


# Filter files of monolingual text


@pytest.fixture
def mono_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of filter files of monolingual text, empty, in another repository."""
    monkeypatch.setattr("translations_assets.stages.filter_files.ROOT", tmp_path)
    folder = tmp_path / FILTERS / "mono"
    folder.mkdir(parents=True)
    (folder.parent / "default.filters.json").write_text('{"filters": []}')
    return folder


def add_mono_file(folder: Path, name: str, *filters: str) -> None:
    """Write a filter file of monolingual text."""
    entries = [{"filter": one, "parameters": {}, "language": "<lang>"} for one in filters]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({"filters": entries}))


@pytest.mark.parametrize(
    ("mode", "there", "expected"),
    [
        ("custom", [], []),
        ("custom", ["en/default.filters.json", "default.filters.json"], ["default.filters.json"]),
        ("custom", ["ru/default.filters.json", "default.filters.json"], ["ru/default.filters.json"]),
        ("custom", ["ru/news.filters.json", "ru/default.filters.json"], ["ru/news.filters.json"]),
        ("custom", ["news.filters.json", "default.filters.json"], ["news.filters.json"]),
        ("custom", ["opus_NewsCommentary-v16.filters.json"], ["opus_NewsCommentary-v16.filters.json"]),
        ("defaults", ["ru/default.filters.json", "default.filters.json"], ["default.filters.json"]),
        ("defaults", ["ru/default.filters.json"], []),
        ("upstream", ["default.filters.json"], []),
        ("legacy", ["default.filters.json"], []),
    ],
)
def test_the_filter_file_of_a_monolingual_dataset(
    mode: str, there: list[str], expected: list[str], mono_files: Path
) -> None:
    for name in there:
        add_mono_file(mono_files, name)
    dataset = check_mono({"dataset": "opus_NewsCommentary/v16", "alias": "news"})
    found = [file.path for file in mono_filter_files(mode, "ru", dataset)]
    assert found == [f"{FILTERS}/mono/{name}" for name in expected]


def test_a_filter_file_of_monolingual_text_is_a_step_before_the_rules(mono_files: Path) -> None:
    add_mono_file(mono_files, "ru/default.filters.json", "sed", "strip_suffix")
    found = graph(FULL + "# with filters of monolingual text\n")
    filtered = found.step("filters-mono-trg-news-crawl_news_2020-ru")
    assert files(filtered, "filters") == [f"{FILTERS}/mono/ru/default.filters.json"]
    assert files(filtered, "opuscleaner_lock") == ["requirements/opuscleaner.lock"]
    assert filtered.programs == ("sed",)
    assert filtered.args == {"lang": "ru", "code": "ru"}
    clean = found.step("clean-mono-trg-news-crawl_news_2020-ru")
    assert files(clean, "text") == [f"{filtered.label}:mono.ru.zst"]
    assert not [label for label in labels(found.steps) if label.startswith("filters-mono-src")]


def test_without_filter_files_monolingual_text_is_cleaned_as_before() -> None:
    """The project has no such files, so no step of any config changes."""
    assert not (ROOT / FILTERS / "mono").exists()
    found = graph(FULL)
    assert not [step for step in labels(found.steps) if step.startswith("filters-mono")]
    clean = found.step("clean-mono-trg-news-crawl_news_2020-ru")
    assert files(clean, "text") == ["dataset-mono-trg-news-crawl_news_2020-ru:mono.ru.zst"]


# Scores


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
    assert files(scored, "model") == [f"bicleaner-model-en-ru:{name}" for name in BICLEANER_FILES]
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
