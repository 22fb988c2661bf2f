"""Which filters clean a dataset, and what tells languages apart."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from pipeline.clean.filtering import registry
from tests.stages.configs import FULL, IMPORTS, SMALL, files, graph
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.languages import language
from translations_assets.stages import cleaning
from translations_assets.stages.cleaning import FAST, FILTERS, filter_file, labels, opuscleaner_code


def chosen(mode: str, src: str, trg: str, key: str) -> str:
    return str(PurePosixPath(filter_file(mode, src, trg, parse_dataset(key)).path).relative_to(FILTERS))


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
        ("legacy", "zh", "en", "opus_UNPC/v1.0", "legacy.filters.json"),
    ],
)
def test_the_filter_file_of_a_dataset(mode: str, src: str, trg: str, key: str, expected: str) -> None:
    assert chosen(mode, src, trg, key) == expected


def test_filter_files_are_inputs() -> None:
    step = graph(FULL).step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(step, "filters") == [f"{FILTERS}/default.filters.json"]
    assert files(step, "patterns") == [f"{FILTERS}/remove_frequent_patterns.txt"]
    assert "language_model" not in step.inputs
    assert "patterns" not in graph(SMALL).step("clean-corpus-opus_ParaCrawl_v9-zh-en").inputs


@pytest.mark.parametrize(
    ("trg", "mode", "fixed"), [("de", "custom", True), ("ru", "custom", False), ("de", "legacy", False)]
)
def test_currencies_are_compared_between_latin_scripts(trg: str, mode: str, fixed: bool) -> None:
    text = SMALL.replace("src: zh", f"src: en\n  opuscleaner-mode: {mode}").replace("trg: en", f"trg: {trg}")
    step = graph(text).step(f"clean-corpus-opus_ParaCrawl_v9-en-{trg}")
    assert step.args["fix_currencies"] is fixed


def test_languages_may_be_identified_by_fasttext() -> None:
    text = FULL.replace("  src: en\n", "  src: en\n  language-identification: fasttext\n")
    pairs = graph(text).step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(pairs, "language_model") == ["clean-corpus-opus_ParaCrawl_v9-en-ru-language-model:model.bin"]
    assert pairs.args["trg_labels"] == ["rus", "ru"]
    model = graph(text).step("clean-mono-src-news-crawl_news_2021-en-language-model")
    assert model.args == {"url": "https://dl.fbaipublicfiles.com/nllb/lid/lid218e.bin"}
    mono = graph(text).step("clean-mono-src-news-crawl_news_2021-en")
    assert mono.args["labels"] == ["eng_Latn"]


def test_chinese_is_identified_by_openlid() -> None:
    text = SMALL.replace("src: zh", "src: zh\n  language-identification: fasttext")
    model = graph(text).step("clean-corpus-opus_ParaCrawl_v9-zh-en-language-model")
    assert model.args == {"url": "https://huggingface.co/laurievb/OpenLID-v2/resolve/main/model.bin"}


def test_codes_and_labels() -> None:
    assert [opuscleaner_code(language(code)) for code in ("en", "zh", "zh_hant")] == ["en", "zh", "zh_Hant"]
    assert labels(language("zh_hant")) == ["zho", "cmn", "zh"]
    assert labels(language("lv")) == ["lvs", "lav", "lv"]
    assert labels(language("nb")) == ["nob", "nb", "no"]


def test_a_script_without_spaces_is_said_to_have_none() -> None:
    cleaned = {
        step.args["lang"]: step.args["unspaced"]
        for step in graph(IMPORTS).steps
        if step.label.startswith("clean-mono")
    }
    assert cleaned == {"en": False, "zh_hant": True}


def test_fast_filters_need_no_opuscleaner() -> None:
    assert FAST == registry.FILTERS
    assert "opuscleaner_lock" not in graph(FULL).step("clean-corpus-opus_ParaCrawl_v9-en-ru").inputs


def test_other_filters_bring_the_lock_of_opuscleaner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "ROOT", tmp_path)
    mine = tmp_path / FILTERS / "en-ru" / "opus_ParaCrawl-v9.filters.json"
    mine.parent.mkdir(parents=True)
    mine.write_text('{"filters": [{"filter": "bifixer", "parameters": {}, "language": "en"}]}')
    step = graph(FULL + "# with a file of its own\n").step("clean-corpus-opus_ParaCrawl_v9-en-ru")
    assert files(step, "filters") == [f"{FILTERS}/en-ru/opus_ParaCrawl-v9.filters.json"]
    assert files(step, "opuscleaner_lock") == ["requirements/opuscleaner.lock"]
