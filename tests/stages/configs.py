"""Training configs that the tests of the stages read, and their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Output, Step, placed
from translations_assets.results.evaluations import evaluates
from translations_assets.stages import STAGES

FULL = """\
experiment:
  name: full
  src: en
  trg: ru
  teacher-ensemble: 2
  student-model: tiny
datasets:
  train:
    - opus_ParaCrawl/v9
    - mtdata_ELRC-swedish_myndigheten-1-eng-rus
    - url_https://example.com/corpus.[LANG].zst
  devtest:
    - flores_dev
    - flores_aug-typos_dev
    - sacrebleu_wmt19
  test:
    - flores_devtest
    - flores_aug-upper_devtest
    - ntrex_test
  mono-src:
    - news-crawl_news.2021
    - url_https://example.com/mono.en.zst
  mono-trg:
    - news-crawl_news.2020
    - opus_NewsCommentary/v16
marian-args:
  decoding-teacher: {mini-batch-words: 1000}
taskcluster: {split-chunks: 3}
"""
SMALL = """\
experiment:
  name: small
  src: zh
  trg: en
  spm-vocab-split: true
datasets:
  train: [opus_ParaCrawl/v9]
  devtest: [flores_dev]
  test: []
taskcluster: {split-chunks: 1}
"""
DEMO = """\
experiment:
  name: demo
  src: en
  trg: eo
  teacher-mode: one-stage
  student-model: base
datasets:
  train: [demo_train]
  devtest: [demo_dev]
  test: [demo_test]
  mono-src: [demo_mono]
  mono-trg: [demo_mono]
"""
BETTER = "url_https://example.org/better.[LANG]"
# The demo with text to finetune on, which the student is trained on at its end
FINETUNED = DEMO.replace("  devtest:", f"  finetune: [{{dataset: '{BETTER}', alias: better}}]\n  devtest:", 1)
IMPORTS = """\
experiment:
  name: imports
  src: en
  trg: zh_hant
  hplt-min-doc-score: {mono-src: 7.5, mono-trg: 5}
datasets:
  train:
    - opus_ParaCrawl/v9
    - hfp_Helsinki-NLP/opus-100:en-zh:train:en:zh
    - tmx_https://example.com/memory.tmx
  devtest:
    - flores_aug-mix_dev
    - sacrebleu_wmt19
  test:
    - flores_aug-mix-cjk_devtest
    - flores_aug-inline-noise_devtest
    - ntrex_aug-noise_test
    - tmx_aug-short_pontoon
  mono-src:
    - hplt_mono/v3.0
    - hplt_mono/v1.2
  mono-trg:
    - hplt_mono/v2.0
    - hf_HuggingFaceFW/fineweb-2:cmn_Hani:train:text@v2.0.1
"""
METRICS = f"""{FULL}
evaluation:
  spbleu: true
  comet:
    name: wmt22-comet-da
    url: https://huggingface.co/Unbabel/wmt22-comet-da-marian/resolve/main/checkpoints/marian.model.bin
    sha256: {"0" * 64}
    vocab-url: https://huggingface.co/microsoft/infoxlm-large/resolve/main/sentencepiece.bpe.model
    vocab-sha256: {"1" * 64}
  paragraphs: [flores_devtest, ntrex_test]
"""
MOZILLAS = """\
experiment:
  name: sets
  src: en
  trg: ru
datasets:
  train: [opus_ParaCrawl/v9]
  devtest: [bouquet_dev]
  test: [wmt24pp_test, bouquet_test, flores200-plus_devtest, tmx_aug-short_pontoon]
evaluation:
  paragraphs: [wmt24pp_test, bouquet_test]
  unaligned: [tmx_aug-short_pontoon]
"""
TEXTS = {
    "full": FULL,
    "small": SMALL,
    "demo": DEMO,
    "imports": IMPORTS,
    "metrics": METRICS,
    "mozillas": MOZILLAS,
}


@cache
def graph(text: str) -> Graph:
    return build_graph(parse_config(text, "config.yml"), STAGES)


def labels(steps: Sequence[Step]) -> list[str]:
    return [step.label for step in steps]


def files(step: Step, name: str) -> list[str]:
    """Names of inputs: `label:file` of a step's output, else the path in the repository."""
    return [
        f"{handle.step.label}:{handle.name}" if isinstance(handle, Output) else handle.path
        for _, handle in placed(step.inputs[name])
    ]


def shown_steps(graph: Graph) -> list[Step]:
    """The steps of stages that people look at: evaluations, and those that no stage reads but to check."""
    read = {
        name for stage, upstream in graph.upstream.items() if stage not in graph.checks for name in upstream
    }
    return [step for step in graph.steps if step.stage not in read or evaluates(step.stage)]
