"""The config section `distillation`: the text that a student learns from, beyond what is usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from translations_assets.config.cleaning import Sentences, Threshold
from translations_assets.config.section import Section, default
from translations_assets.config.yaml_reader import Found, at, mapping_at

SECTION = "distillation"
NOISE = (SECTION, "noise")


class Noise(Section):
    """Noise in source lines whose translations stay as they are: shares of the lines, each with one kind."""

    typos: Threshold = default(0.0, "typing errors, where the script spells sounds")
    upper_case: Threshold = default(0.0, "all in upper case, where the script has two cases")
    lower_case: Threshold = default(0.0, "all in lower case, likewise")
    punctuation: Threshold = default(0.0, "without the punctuation at the end")
    spacing: Threshold = default(0.0, "one space too many or too few")


class Distillation(Section):
    """The text that a student learns from."""

    corpus_max_sentences: Sentences | None = default(
        None, "pairs of the parallel corpus whose source the teacher translates, drawn at random; none: all"
    )
    backtranslated_max_sentences: Sentences | None = default(
        None, "pairs of target text and its back-translation that the student also reads; none: no such pairs"
    )
    noise: Noise = default({}, "noise in the source lines, which the teacher has translated as they were")


def check_distillation(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `distillation`, in a config as it was read."""
    noise = mapping_at(config, NOISE)
    shares = [share for share in noise.values() if isinstance(share, int | float)]
    if sum(shares) > 1:
        yield NOISE, f"the shares sum up to {sum(shares):g}; a line has noise of one kind, so 1 is the most"
    if any(shares) and (message := _without_noise(config)):
        yield NOISE, f"is not used: {message}"
    where = (SECTION, "backtranslated-max-sentences")
    translated = at(config, ("datasets", "mono-trg")) or at(
        config, ("continuation", "corpora", "backtranslations")
    )
    if at(config, where) and not translated:
        yield where, "needs target text: datasets.mono-trg, or continuation.corpora.backtranslations"
    if at(config, ("continuation", "corpora", "distillation")):
        for key in ("corpus-max-sentences", "backtranslated-max-sentences"):
            if at(config, (SECTION, key)):
                yield (SECTION, key), "is not used: the student learns from continuation.corpora.distillation"


def _without_noise(config: Mapping[str, Any]) -> str:
    """The reason that a student's text gets no noise; "" where it does."""
    corpora = mapping_at(config, ("continuation", "corpora"))
    if mapping_at(corpora, ("distillation",)).get("alignments"):
        return (
            "the student reads the tokens of continuation.corpora.distillation as they are; remove it, or "
            "leave tok-src, tok-trg and alignments out, which are then made here"
        )
    others = at(config, ("datasets", "train")), corpora.get("parallel"), corpora.get("distillation")
    if at(config, ("datasets", "finetune")) and not any(others):
        return "the student is trained on datasets.finetune alone, which gets none; remove it"
    return ""
