"""Tests of the import of datasets: codes, variants of Chinese, modifiers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stages.configs import FULL, IMPORTS, SMALL, files, graph, labels
from translations_assets.config.providers import MONO, PARALLEL

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("parallel", name) for name in PARALLEL), *(("mono", name) for name in MONO)],
)
def test_every_provider_has_a_script_and_a_row_in_the_docs(kind: str, name: str) -> None:
    assert (ROOT / "pipeline" / "data" / f"{kind}_{name.replace('-', '_')}.py").is_file()
    tables = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8").split("| monolingual |")
    assert name == "demo" or f"\n| `{name}` |" in tables[kind == "mono"]


def test_codes_of_providers() -> None:
    def codes(label: str) -> list[object]:
        args = graph(IMPORTS).step(f"{label}-unmodified").args
        return [args[name] for name in ("src_code", "trg_code", "code") if name in args]

    assert codes("dataset-train-opus_ParaCrawl_v9-en-zh_hant") == ["en", "zh"]
    assert codes("dataset-devtest-sacrebleu_wmt19-en-zh_hant") == ["en", "zh"]
    assert codes("dataset-test-tmx_aug-short_pontoon-en-zh_hant") == ["en", "zh-TW"]
    assert codes("dataset-test-ntrex_aug-noise_test-en-zh_hant") == ["eng", "zho-TW"]
    assert codes("dataset-mono-trg-hplt_mono_v2_0-zh_hant") == ["zho_Hant"]


def test_the_first_hplt_is_measured_by_the_fluency_of_lines() -> None:
    both = IMPORTS.replace("- hplt_mono/v2.0", "- hplt_mono/v1.2")
    given = "  hplt-min-fluency: {mono-src: 0.5}\ndatasets:\n"
    for text, expected in ((both, [0.8, 0.9]), (both.replace("datasets:\n", given), [0.5, 0.9])):
        steps = [step for step in graph(text).steps if step.args.get("dataset") == "mono/v1.2"]
        assert [step.args["min_score"] for step in steps] == expected


def test_a_score_is_given_to_hplt_alone() -> None:
    scores = {
        step.args["dataset"]: step.args.get("min_score")
        for step in graph(IMPORTS).steps
        if step.script.startswith("pipeline.data.mono_")
    }
    hub = "HuggingFaceFW/fineweb-2:cmn_Hani:train:text@v2.0.1"
    assert scores == {"mono/v3.0": 7.5, "mono/v1.2": 0.8, "mono/v2.0": 5.0, hub: None}


def test_every_dataset_with_chinese_is_brought_into_one_variant() -> None:
    """A source is converted, a target filtered, whichever provider it comes from."""
    into, out_of = graph(IMPORTS), graph(SMALL)
    chinese = [step for step in into.steps if step.script.startswith("pipeline.data.chinese_")]
    assert len(chinese) == 3 + 2 + 4 + 2
    assert {step.args.get("filter_trg") or step.args["filter"] for step in chinese} == {"traditional"}
    assert not any("convert" in name for step in chinese for name in step.args)
    [train, dev] = [step for step in out_of.steps if step.script == "pipeline.data.chinese_parallel"]
    assert train.args["convert_src"] == dev.args["convert_src"] == "simplified"
    assert files(train, "corpus_src") == ["dataset-train-opus_ParaCrawl_v9-zh-en-unmodified:corpus.zh.zst"]
    assert files(out_of.step("clean-corpus-opus_ParaCrawl_v9-zh-en"), "corpus_src") == [
        "dataset-train-opus_ParaCrawl_v9-zh-en:corpus.zh.zst"
    ]
    assert not any("chinese" in step.script for step in graph(FULL).steps)


def test_noise_inside_lines_needs_alignments_made_from_the_set_itself() -> None:
    label = "dataset-devtest-flores_aug-mix_dev-en-zh_hant"
    steps = [step for step in graph(IMPORTS).stages["dataset_devtest"] if "aug-mix" in step.label]
    assert labels(steps) == [
        f"{label}-unmodified",
        f"{label}-chinese",
        f"{label}-priors",
        f"{label}-alignments",
        label,
    ]
    augment = steps[-1]
    assert augment.args == {
        "modifier": "mix",
        "src": "en",
        "trg": "zh_hant",
        "bicameral": True,
        "phonemic": True,
    }
    assert files(augment, "corpus_src") == files(steps[3], "corpus_src") == [f"{label}-chinese:corpus.en.zst"]
    assert files(augment, "tokens_trg") == [f"{label}-alignments:corpus.tok-icu.zh_hant.zst"]
    for name in ("mix-cjk", "inline-noise"):
        step = graph(IMPORTS).step(f"dataset-test-flores_aug-{name}_devtest-en-zh_hant")
        assert "alignments" in step.inputs
        assert "bicameral" not in step.args
    assert "alignments" not in graph(IMPORTS).step("dataset-test-ntrex_aug-noise_test-en-zh_hant").inputs


def test_a_token_is_given_to_datasets_of_the_hub() -> None:
    given = {step.args["dataset"] for step in graph(IMPORTS).steps if step.secrets == ("HF_TOKEN",)}
    assert given == {
        "Helsinki-NLP/opus-100:en-zh:train:en:zh",
        "HuggingFaceFW/fineweb-2:cmn_Hani:train:text@v2.0.1",
    }
