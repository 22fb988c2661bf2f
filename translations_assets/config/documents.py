"""The config section `documents`: neighbouring lines as one, for models that translate more at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from translations_assets.config.datasets import listed
from translations_assets.config.errors import among
from translations_assets.config.section import Section, Texts, default
from translations_assets.config.yaml_reader import Found, at

SECTION = "documents"


def _separator(text: str) -> str:
    stays = unicodedata.normalize("NFKC", text) == text
    if len(text) != 1 or text.isalnum() or text.isspace() or not text.isprintable() or not stays:
        raise ValueError(f"must be one sign, neither letter, digit nor space, such as ¶, and not {text!r}")
    return text


class Documents(Section):
    """Windows of neighbouring lines, joined by a separator, as further lines of the parallel corpus.

    All models read them, and the teachers translate them. Dev and test sets have the variant `aug-documents`.
    """

    datasets: Texts = default((), "short names of those of `datasets.train` whose lines stand in their order")
    share: Annotated[float, Field(gt=0, le=1)] = default(
        0.1, "windows for each line of these datasets, at most"
    )
    max_words: Annotated[int, Field(ge=2)] = default(
        60, "words of a window, on its longer side; what training's max-length allows must be more in pieces"
    )
    separator: Annotated[str, AfterValidator(_separator)] = default(
        "¶", "the sign between the lines, with a space on each side; the vocabulary has it"
    )


def check_documents(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `documents`, in a config as it was read."""
    names = at(config, (SECTION, "datasets"))
    known = [dataset.short_name for _, dataset in listed(config, "train")]
    for number, name in enumerate(names if isinstance(names, list) else ()):
        if name not in known:
            yield (
                (SECTION, "datasets", number),
                f"{name!r} is no dataset in datasets.train.{among(name, known)}",
            )
