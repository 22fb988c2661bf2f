"""Sections of `experiment` that decide what is left of the datasets: scores, merging, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from translations_assets.config.section import Section, default

Threshold: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Weight: TypeAlias = Annotated[float, Field(gt=0)]
DocumentScore: TypeAlias = Annotated[float, Field(ge=0, le=10)]
Sentences: TypeAlias = Annotated[int, Field(gt=0)]


class Thresholds(Section):
    """Scores that a line must exceed to be kept: one for all datasets, and for some their own."""

    default_threshold: Threshold = default(0.0, "for datasets not named below; 0 keeps all")
    dataset_thresholds: Mapping[str, Threshold] = default(
        {}, "by alias, or by key with `_` for `/`, `.` and `:`: `opus_ParaCrawl_v9: 0.7`"
    )


class Bicleaner(Thresholds):
    """Thresholds of parallel datasets."""

    default_threshold: Threshold = default(0.5, "for datasets not named below; 0 keeps all")


class Monocleaner(Section):
    """Thresholds of monolingual datasets."""

    mono_src: Thresholds = default({}, "fluency filter of source text")
    mono_trg: Thresholds = default({}, "fluency filter of target text")


class DatasetWeights(Section):
    """Chances of datasets' lines, relative to others', where a limit drops some lines; 1 by default."""

    train: Mapping[str, Weight] = default(
        {}, "for `corpus-max-sentences`; names as for thresholds: `opus_ParaCrawl_v9: 2`"
    )
    mono_src: Mapping[str, Weight] = default({}, "for `mono-max-sentences-src.total`")
    mono_trg: Mapping[str, Weight] = default({}, "for `mono-max-sentences-trg.total`")


class Merging(Section):
    """Merging of datasets into one text for training."""

    near_duplicates: bool = default(
        False, "treat lines that differ only in case, punctuation and white space as equal"
    )
    dataset_weights: DatasetWeights = default({}, "shares of datasets in a text that a limit cuts")
    mono_sampling: Literal["uniform", "diverse"] = default(
        "uniform",
        "which lines `mono-max-sentences-*.total` keeps: each is as likely, or fewer that repeat others",
    )


class MonoLimits(Section):
    """Limits on the number of sentences of monolingual text."""

    total: Sentences = default(100_000_000, "in the merged corpus")
    per_dataset: Sentences = default(70_000_000, "of each dataset, so that none dominates")


class DocumentScores(Section):
    """The least score of an HPLT document."""

    mono_src: DocumentScore = default(7.0, "source text")
    mono_trg: DocumentScore = default(7.0, "target text")


class Fluency(Section):
    """The least fluency of a line of HPLT 1.2, whose scores are of another kind than those of documents."""

    mono_src: Threshold = default(0.8, "source text")
    mono_trg: Threshold = default(0.9, "target text")
