"""What stages hand to each other: handles to files that steps will produce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from translations_assets.steps.step import Folder, Output, Step

# A folder with model.npz, source.spm, target.spm and decoder.yml: a model carries its own vocabularies, in
# the order in which it was trained (a backwards model: target language first).
Model: TypeAlias = Folder

MODEL_FILES = ("model.npz", "source.spm", "target.spm", "decoder.yml")
CONVERTED_FILES = (  # of a model in CTranslate2's form
    *("model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json"),
    *("source.spm", "target.spm"),
)
QUANTIZED_FILES = ("model.intgemm8.bin", "lex.bin", "source.spm", "target.spm", "decoder.yml")


@dataclass(frozen=True)
class Corpus:
    """Parallel text: one file a side, line by line.

    name    the dataset's key, when it is a dataset
    scores  a score a line, where a classifier has scored it
    """

    src: Output
    trg: Output
    name: str = ""
    scores: Output | None = None


@dataclass(frozen=True)
class Mono:
    """Text in one language. `name` is the dataset's key, when it is a dataset."""

    text: Output
    name: str = ""


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


def corpus_of(step: Step, src: str, trg: str, name: str = "") -> Corpus:
    """The corpus that a step leaves as corpus.{src}.zst and corpus.{trg}.zst."""
    return Corpus(step[f"corpus.{src}.zst"], step[f"corpus.{trg}.zst"], name)


def corpus_files(src: str, trg: str, *more: str) -> tuple[str, ...]:
    """The output names of a step that leaves a corpus and stats.json."""
    return (f"corpus.{src}.zst", f"corpus.{trg}.zst", *more, "stats.json")
