"""The config section `evaluation`: metrics beyond the usual, and its checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from translations_assets.config.datasets import Dataset, listed, pair_of
from translations_assets.config.errors import among
from translations_assets.config.providers import FILE
from translations_assets.config.section import (
    FROM_LIST,
    Commit,
    HubName,
    InJsonSchema,
    Section,
    Texts,
    Url,
    default,
    formed,
)
from translations_assets.config.yaml_reader import Found, KeyPath, at, mapping_at

SHA256 = "[0-9a-f]{64}"
SECTION = "evaluation"
PARAGRAPHS, UNALIGNED = (SECTION, "paragraphs"), (SECTION, "unaligned")
METRICX = (SECTION, "metricx")
SELECTIONS = (("experiment", "selection", "corpus"), ("experiment", "selection", "mono"))
NOT_IN_MT5 = ("as", "bs", "ff", "gn", "hr", "nn", "oc", "or")  # of the languages here (Xue et al. 2021)
JUDGE, JUDGE_PROMPT = (SECTION, "judge"), (SECTION, "judge-prompt")
HUB_DOCUMENTS = ("flores200-plus", "wmt24pp", "bouquet")  # as in pipeline.data.hub_documents
# Those of files are in a file beside them; the others as in pipeline.data.documents
WITH_DOCUMENTS = ("flores", "ntrex", "sacrebleu", *HUB_DOCUMENTS, FILE.name)
# FLORES-200's SentencePiece model, whose pieces sacreBLEU's spBLEU counts. It is published without a digest;
# the same file is NLLB-200's tokenizer, which has one.
SPBLEU_URL = "https://tinyurl.com/flores200sacrebleuspm"
SPBLEU_SHA256 = "14bb8dfb35c0ffdea7bc01e56cea38b9e3d5efcdcb9c251d6b40538e1aab555a"


Digest: TypeAlias = Annotated[
    str,
    formed(SHA256, "must be a SHA-256, 64 digits of 0 to 9 and a to f"),
    "SHA-256",
    InJsonSchema(lambda: {"pattern": f"^{SHA256}$"}),
]
Weights: TypeAlias = Annotated[
    Url, formed(r".*\.(npz|bin)", "must be the URL of weights in Marian's form, which end in .npz or .bin")
]


class Comet(Section):
    """COMET's model, in Marian's form."""

    name: str = Field(description="name of the model, such as `wmt22-comet-da`; part of the signature")
    url: Weights = Field(description="URL of its weights in Marian's form, `.npz` or `.bin`")
    sha256: Digest = Field(description="their SHA-256")
    vocab_url: Url = Field(description="URL of its SentencePiece vocabulary")
    vocab_sha256: Digest = Field(description="its SHA-256")


class MetricXModel(Section):
    """A model of MetricX-24 on the Hugging Face hub; it estimates errors with references and without."""

    model: HubName = default("google/metricx-24-hybrid-large-v2p6-bfloat16", "its name on the hub")
    revision: Commit = default("febb720e29a059df2e8af3ffd71dcdc9e0a24910", "the hub's commit, 40 digits")
    pieces: HubName = default("google/mt5-xl", "the model on the hub whose `spiece.model` cuts its text")
    pieces_revision: Commit = default("63fc6450d80515b48e026b69ef2fbbd426433e84", "that one's commit")


class Evaluation(Section):
    """Metrics besides BLEU, chrF and chrF++ of sentences. The models that they need are fetched."""

    spbleu: bool = default(False, "spBLEU, by FLORES-200's SentencePiece model, which is fetched")
    comet: Comet | None = default(None, "COMET, by a model that is fetched; none when left out")
    metricx: Annotated[tuple[Literal["reference", "qe"], ...], FROM_LIST, "list"] = default(
        (), "MetricX-24: `reference`, `qe` (quality estimation, without references), or both; lower is better"
    )
    unaligned: Texts = default((), "test sets of short text whose words without a link are counted")
    judge: str | None = default(
        None, "an endpoint of `translators` that gives each translated line a score; none when left out"
    )
    judge_prompt: str | None = default(None, "file with its prompt; none: the pipeline's")
    paragraphs: Texts = default(
        (),
        "test sets that are evaluated by paragraphs, too: of FLORES, NTREX, sacreBLEU, WMT24++, BOUQuET, and "
        "own files with a third file, `documents` in place of `[LANG]`",
    )


def check_evaluation(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `evaluation`."""
    yield from _judge(config)
    known = _test_sets(config)
    for path, name in (*_named(config, PARAGRAPHS), *_named(config, UNALIGNED)):
        dataset = known.get(str(name))
        if dataset is None:
            yield path, f"{name!r} is not in datasets.test.{among(str(name), [*known])}"
        elif path[:2] == PARAGRAPHS and (dataset.provider not in WITH_DOCUMENTS or dataset.augmentation):
            yield path, f"{name!r} tells no documents; those of {', '.join(WITH_DOCUMENTS)} do, as they come"
    target = pair_of(config)[1]
    if at(config, PARAGRAPHS) and target and target.chinese:
        yield (
            PARAGRAPHS,
            f"{target.name} has no paragraphs: lines in another variant are left out of its test sets, and "
            "nothing tells the documents of the rest; remove it",
        )
    if at(config, UNALIGNED) and not _trains_teachers(config):
        yield (
            UNALIGNED,
            "needs the alignments of the corpus that teachers are trained on, and none is trained; remove it",
        )


def own_documents(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The files with the documents of test sets that are files themselves, where paragraphs are asked for."""
    known = _test_sets(config)
    for path, name in _named(config, PARAGRAPHS):
        dataset = known.get(str(name))
        if dataset and dataset.provider == FILE.name:
            yield path, documents_file(dataset)


def documents_file(dataset: Dataset) -> str:
    """The path of the file that tells the document of each line of a test set that is files itself."""
    return dataset.file("documents")


def _test_sets(config: Mapping[str, Any]) -> Mapping[str, Dataset]:
    """The test sets of a config as it was read, by all names that `evaluation` may call them."""
    datasets = [dataset for _, dataset in listed(config, "test")]
    return {name: dataset for dataset in datasets for name in (dataset.key, dataset.short_name)}


def remarks(config: Mapping[str, Any]) -> Found:
    """Warn about MetricX for languages that mT5 has not read."""
    uses = [
        path
        for path in (*SELECTIONS, METRICX, ("experiment", "filter"))
        if at(config, path) == "qe" or (path == METRICX and at(config, path))
    ]
    for code in (at(config, ("experiment", side)) for side in ("src", "trg")):
        if uses and code in NOT_IN_MT5:
            yield (
                uses[0],
                f"MetricX may know little {code!r}: its base, mT5, was not trained on that language",
            )


def _named(config: Mapping[str, Any], path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    names = at(config, path)
    for index, name in enumerate(names if isinstance(names, list) else ()):
        yield (*path, index), name


def _trains_teachers(config: Mapping[str, Any]) -> bool:
    """As `trains_teachers` of the stages."""
    if at(config, ("continuation", "corpora", "distillation")) or at(config, ("experiment", "teacher")):
        return False
    return bool(at(config, ("continuation", "models", "teacher", "mode")) != "use")


def _judge(config: Mapping[str, Any]) -> Found:
    """A judge that cannot be asked; `translators` tells of names that it does not have."""
    name = at(config, JUDGE)
    translator = mapping_at(config, ("translators", name)) if isinstance(name, str) else {}
    if translator and translator.get("endpoint") is None:
        yield JUDGE, f"{name!r} is no endpoint, and nothing else can judge; name a translator that is one"
    if at(config, JUDGE_PROMPT) and not name:
        yield JUDGE_PROMPT, "is the prompt of a judge, and there is none; give evaluation.judge, or remove it"
