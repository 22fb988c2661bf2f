"""Languages of text: how steps identify them, and the letters of their alphabets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import regex

from translations_assets.common.settings import repository_root
from translations_assets.config.errors import ConfigError
from translations_assets.config.identification import (
    FASTTEXT,
    HELIPORT,
    MODELS,
    NLLB,
    OPENLID_2,
    heli_labels,
    identifier_of,
    labels,
    whole_labels,
)
from translations_assets.config.languages import Language, languages
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Output
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS

TABLE = repository_root() / "pipeline" / "clean" / "filters" / "alphabets.json"
LARGE = ("Latin", "Han")
# Of text in all languages, as NFKC leaves it.
SIGNS = "".join(map(chr, range(0x21, 0x7F))) + "‐–—−‘’‚“”„‹›«»•·°§©®±×÷€£¥₹"
# In no alphabet, nor a mark of the script: of a sound in foreign names; Japanese for "from … to".
OTHERS = {"Arabic": "ڤ", "Japanese": "～"}
_HANGUL = re.compile("[가-힣]")


@dataclass(frozen=True)
class Identification:
    """The labels of a language, and the model that has them; HeLI-OTS where that is None."""

    labels: Sequence[str]
    model: Output | None


class Identifying:
    """Makes the steps that fetch the models of one stage, each once.

    purpose  what the stage needs them for; part of the steps' labels
    """

    def __init__(self, config: TrainingConfig, purpose: str) -> None:
        self._choice, self._purpose = config.experiment.language_identification, purpose
        self._models: dict[str, Output] = {}

    @property
    def always(self) -> bool:
        """True if models are believed however unsure they are, as upstream does with its models."""
        return self._choice == FASTTEXT

    def of_pairs(self, spoken: Language, named: str) -> Identification:
        """For a side of pairs; `named` is their filter file's model, empty when it identifies nothing.

        Raises ConfigError for a model that is not known.
        """
        if not named:
            return Identification([], None)
        if self._choice == FASTTEXT:
            return Identification(labels(spoken, named), self._model(named))
        return self._of(spoken)

    def of_text(self, spoken: Language) -> Identification:
        """For text of one language."""
        if self._choice == FASTTEXT:  # upstream's: NLLB's model takes much simplified Chinese for traditional
            model = OPENLID_2 if spoken.iso639_1 == "zh" else NLLB
            return Identification(whole_labels(spoken), self._model(model))
        return self._of(spoken)

    def _of(self, spoken: Language) -> Identification:
        name = identifier_of(self._choice, spoken)
        if name == HELIPORT:
            return Identification(heli_labels(spoken), None)
        return Identification(labels(spoken, name), self._model(name))

    def _model(self, name: str) -> Output:
        if name not in MODELS:
            raise ConfigError.of(f"{name!r} is no known model of fastText; write one of {', '.join(MODELS)}.")
        if name not in self._models:
            fetched = step(
                "pipeline.clean.fetch_model",
                label=f"language-model-{name}-{self._purpose}",
                args={"url": MODELS[name].url, "sha256": MODELS[name].sha256},
                outputs=("model.bin",),
                attempts=DOWNLOAD_ATTEMPTS,
            )
            self._models[name] = fetched["model.bin"]
        return self._models[name]


@cache
def letters(language: Language) -> str:
    """Characters that bytes may not spell: SIGNS, the script's marks, and letters; scripts know the capitals.

    The letters are those of all languages of the script, for names of the neighbours'; in LARGE scripts
    the language's own, among them two or three thousand ideographs, but none of Hangul's 11,172 syllables.
    Where no alphabet is known they are all that Unicode has of the script.
    """
    alike = {known for known in languages().values() if known.script == language.script} | {language}
    if language.script in LARGE:
        variant = {known for known in alike if known.script_code == language.script_code}
        alike = {language} if alphabet(language) else variant
    own = {letter for known in alike for letter in alphabet(known)} or {*_letters_of(language.script)}
    small = {letter for letter in own if not _HANGUL.match(letter)}
    return "".join(sorted({*SIGNS, *language.marks, *OTHERS.get(language.script, ""), *small}))


@cache
def alphabet(language: Language) -> Sequence[str]:
    """The small letters of a language, or all that there are."""
    members = _table().get(opuscleaner_code(language), "")
    return re.findall(f"[{members}]", _characters(_is_beyond_bmp(members))) if members else []


def _letters_of(script: str) -> Sequence[str]:
    """The small letters of a script, or all that there are, with its marks."""
    pattern = regex.compile(rf"(?V1)[\p{{Script={script}}}&&[\p{{L}}\p{{M}}]--\p{{Lu}}]")
    found: list[str] = pattern.findall(_characters(beyond_bmp=True))
    return found


@cache
def _table() -> Mapping[str, str]:
    table: dict[str, str] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def _is_beyond_bmp(alphabet: str) -> bool:
    """True if an alphabet may have characters beyond U+FFFF; looking through those takes long."""
    return "\\U" in alphabet or max(alphabet) > "\uffff"


@cache
def _characters(beyond_bmp: bool) -> str:
    codes = chain(range(0xD800), range(0xE000, sys.maxunicode + 1 if beyond_bmp else 0x10000))
    return "".join(map(chr, codes))


def opuscleaner_code(spoken: Language) -> str:
    """The code by which OpusCleaner knows a language: `zh_Hant` for zh_hant, `pt_BR` for pt_br."""
    base, separator, variant = spoken.code.partition("_")
    return f"{base}{separator}{variant.title() if len(variant) == 4 else variant.upper()}"
