"""What a search asks for, and what it finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from translations_assets.config.languages import Language

BYTES_PER_SENTENCE = 113  # of compressed text, as measured upstream on one dataset
LICENCE_LENGTH = 60


@dataclass(frozen=True)
class Query:
    """A language pair, and the mirror that is looked at first: a folder, `gs://bucket/prefix` or nothing."""

    src: Language
    trg: Language
    mirror: str = ""

    @property
    def sides(self) -> tuple[tuple[str, Language], tuple[str, Language]]:
        """The categories of monolingual text with their languages."""
        return ("mono-src", self.src), ("mono-trg", self.trg)


@dataclass(frozen=True)
class Found:
    """A dataset that was found.

    importer   where it was found
    key        its dataset key; a repository's name where the columns must be chosen by a person
    use        train, devtest, test, mono-src or mono-trg; empty where a person must say
    sentences  their number, None when unknown; `estimated` when it was made from the size
    bytes      the size of the download, None when unknown
    extent     the size in other words
    licence    as the source states it; empty when it does not
    skipped    why it is left out of a config; empty when it need not be
    """

    importer: str
    key: str
    use: str
    sentences: int | None = None
    estimated: bool = False
    bytes: int | None = None
    extent: str = ""
    licence: str = ""
    url: str = ""
    skipped: str = ""


@dataclass(frozen=True)
class Problem:
    """What a source could not tell."""

    importer: str
    message: str


def estimate(size: int | None) -> int | None:
    """About how many sentences a compressed file of so many bytes holds."""
    return None if size is None else size // BYTES_PER_SENTENCE


def reason_of(name: str, reasons: Mapping[str, str]) -> str:
    """Why a name is left out, by the first form that it has; empty when it has none."""
    return next((why for form, why in reasons.items() if re.fullmatch(form, name)), "")


def one_line(text: str) -> str:
    """Text of a server on one line, without characters that would end a comment or show nothing."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def licence_text(stated: object) -> str:
    """A licence on one line, without HTML and not too long; empty for what is none."""
    text = re.sub(r"<[^>]*>", "", stated) if isinstance(stated, str) else ""
    text = one_line(text)
    if text.lower() in ("empty", "unknown", "none", "n/a"):
        return ""
    return text if len(text) <= LICENCE_LENGTH else f"{text[: LICENCE_LENGTH - 1]}…"
