"""Names and addresses of corpora at OPUS."""

import re
from pathlib import Path

from pipeline.common.errors import InputError

TEXT = 1 << 16  # bytes of a README or LICENSE that are looked at
SHOWN = 100  # characters of a licence's first line


def corpus_name(dataset: str) -> str:
    """The corpus of a dataset `corpus/version`: `ELRC_2922` of `ELRC_2922/v1`."""
    if not re.fullmatch(r"[^/\s]+/[^/\s]+", dataset):
        raise InputError(f"{dataset!r} is no OPUS dataset. Give corpus and version, as in ELRC_2922/v1.")
    return dataset.split("/")[0]


def corpus_url(dataset: str) -> str:
    """The address under which all files of a dataset `corpus/version` stand."""
    corpus_name(dataset)
    return f"https://object.pouta.csc.fi/OPUS-{dataset}"


def corpus_version(dataset: str) -> str:
    """The version of a dataset `corpus/version`."""
    corpus_name(dataset)
    return dataset.split("/")[1]


def licence(file: Path) -> str:
    """The licence in a README's line `License:`, or a licence's first line; "" when there is none."""
    text = re.sub(r"<[^>]*>", "", file.read_bytes()[:TEXT].decode("utf-8", "replace"))
    if file.name == "README":
        stated = re.search(r"^ *License: *(\S.*)$", text, re.MULTILINE)
        return stated[1].strip() if stated else ""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:SHOWN]
