"""Handles that stages pass to each other, to files that steps will produce, and the names of such files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from translations_assets.config.datasets import Dataset
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Arg, Folder, Input, Output, RepoFile

# A folder with model.npz, source.spm, target.spm and decoder.yml: a model carries its own vocabularies, in
# the order in which it was trained (a backwards model: target language first).
Model: TypeAlias = Folder
Side = Literal["src", "trg"]

MODEL_FILES = ("model.npz", "source.spm", "target.spm", "decoder.yml")
CONVERTED_FILES = (  # of a model in CTranslate2's form
    *("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json"),
    *("source.spm", "target.spm"),
)
SHORTLIST = "lex.bin"
QUANTIZED_FILES = (
    *("model.intgemm8.bin", "model.intgemm.alphas.bin", SHORTLIST),
    *("source.spm", "target.spm", "decoder.yml"),
)
PAIR_FILES = ("pairs.zst", "blocks.npy")  # that trainings read
TRAINED_WITH = "marian-args.yml"  # the options that a model was trained with
STATE_FILES = ("last.npz", "last.optimizer.npz", "last.progress.yml")  # as in pipeline.train.continuing
DECODING_CONFIGS = "pipeline/translate/configs"
CUDA = RepoFile("requirements/cuda.lock")  # of an environment with cuBLAS, for CTranslate2 on GPUs
GPU_ATTEMPTS = 5  # of a step that begins anew
RESUMED_ATTEMPTS = 10  # of a part of a text: each goes on from the last save, so machines may be taken away


class _OfDataset:
    """Text that may be a dataset's."""

    dataset: Dataset | None

    @property
    def name(self) -> str:
        """The dataset's name in scripts; empty when there is none."""
        return self.dataset.known_as if self.dataset else ""

    @property
    def short_name(self) -> str:
        """The dataset's name in the config, for labels and thresholds; empty when there is none."""
        return self.dataset.short_name if self.dataset else ""


@dataclass(frozen=True)
class Corpus(_OfDataset):
    """Parallel text: one file a side, line by line.

    dataset  that which it is of, if it is of one
    scores   a score a line, where a classifier has scored it
    """

    src: Output
    trg: Output
    dataset: Dataset | None = None
    scores: Output | None = None

    @property
    def sides(self) -> dict[str, Input | None]:
        """The inputs of scripts that read the corpus."""
        return {"corpus_src": self.src, "corpus_trg": self.trg}


@dataclass(frozen=True)
class Mono(_OfDataset):
    """Text in one language. `dataset` is that which it is of, if it is of one."""

    text: Output
    dataset: Dataset | None = None


@dataclass(frozen=True)
class ModelEvaluation:
    """A model's results on a test set; the model has its name in results.

    mozillas        how the names of its results in Mozilla's layout begin; empty where none are wanted
    spbleu_model    what spBLEU cuts texts by, where the config names it
    segments        what metrics give to each line, by the name that `pipeline.checks.differences` has for it
    """

    model: str
    test: Corpus
    translations: Output
    mozillas: str = ""
    spbleu_model: Output | None = None
    segments: Mapping[str, Output] = field(default_factory=dict)

    def mozillas_files(self, metric: str) -> list[str]:
        """The files of a metric in that layout, as in pipeline.eval.results."""
        kinds = ("metrics", "scores") if self.mozillas else ()
        return [f"{self.mozillas}__{metric}.{kind}.json" for kind in kinds]


Corpora: TypeAlias = "list[Corpus]"
Evaluations: TypeAlias = "list[ModelEvaluation]"


# What Mozilla's results call test sets, where it is not the short name.
MOZILLAS_SETS = {
    "flores200-plus_devtest": "flores200-plus",
    "wmt24pp_test": "wmt24pp",
    "bouquet_test": "bouquet",
}


def mozillas_name(config: TrainingConfig, test: Corpus, translator: str, model: str) -> str:
    """The beginning of the names of a model's results on a test set in Mozilla's layout.

    Its translator of exported students is the engine in Firefox, `bergamot`.
    """
    test_set = MOZILLAS_SETS.get(test.name, test.short_name)
    return "__".join((config.pair, test_set, translator, model, "latest"))


def aliases(texts: Sequence[Corpus | Mono]) -> dict[str, str]:
    """Map names of datasets in scripts to people's, for datasets with an alias or from files."""
    named = [text for text in texts if text.dataset and (text.dataset.alias or text.dataset.number)]
    return {text.name: text.short_name for text in named}


@dataclass(frozen=True)
class CleanMono:
    """The cleaned monolingual datasets of both sides."""

    src: list[Mono]
    trg: list[Mono]


@dataclass(frozen=True)
class Vocab:
    """The SentencePiece vocabularies; the same contents on both sides when joint."""

    src: Output
    trg: Output


@dataclass(frozen=True)
class Aligned:
    """A tokenised corpus with its word alignments; priors, if there are any, to align other text with."""

    src: Output
    trg: Output
    alignments: Output
    priors: Output | None = None


def languages(config: TrainingConfig) -> dict[str, Arg]:
    """The languages as arguments of a script."""
    return {"src": config.experiment.src, "trg": config.experiment.trg}


def unspaced(config: TrainingConfig) -> dict[str, Arg]:
    """The argument of scripts that time an engine, whose words have no spaces between them; else nothing."""
    return {} if config.source.spaced else {"src_unspaced": True}


def corpus_step(
    config: TrainingConfig,
    script: str,
    *,
    args: Mapping[str, Arg] | None = None,
    dataset: Dataset | None = None,
    more: Sequence[str] = (),
    **options: Any,
) -> Corpus:
    """The corpus that a step leaves, with statistics and `more` files; `options` are those of `step`.

    corpus_step(config, "pipeline.data.augment", label="dataset-test-x-en-ru", inputs=corpus.sides)
    """
    src, trg = f"corpus.{config.experiment.src}.zst", f"corpus.{config.experiment.trg}.zst"
    outputs = (src, trg, *more, "stats.json")
    made = step(script, args={**languages(config), **(args or {})}, outputs=outputs, **options)
    return Corpus(made[src], made[trg], dataset)


def aligned_step(
    config: TrainingConfig, script: str, *, args: Mapping[str, Arg] | None = None, **options: Any
) -> Aligned:
    """The tokens and alignments that a step leaves, with statistics; `options` are those of `step`."""
    names = [f"corpus.tok-icu.{lang}.zst" for lang in languages(config).values()] + ["corpus.aln.zst"]
    arguments, outputs = {**languages(config), **(args or {})}, (*names, "stats.json")
    made = step(script, args=arguments, outputs=outputs, **options)
    return Aligned(*(made[name] for name in names))


def marian_args(values: Mapping[str, Any]) -> str:
    """A section of `marian-args` as the JSON that scripts take; the order of its keys changes nothing."""
    return json.dumps(dict(values), sort_keys=True, ensure_ascii=False)


def modifier_shares(config: TrainingConfig, case_alone: bool = False) -> str | None:
    """The config's shares of OpusTrainer's modifiers as the JSON that scripts take; None without any."""
    own = config.experiment.modifiers
    shares = {"UpperCase": own.upper_case, "TitleCase": own.title_case}
    shares |= {} if case_alone else {"Typos": own.typos}
    given = {name: share for name, share in shares.items() if share is not None}
    return json.dumps(given) if given else None
