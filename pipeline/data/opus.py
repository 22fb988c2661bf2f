"""Names and addresses of corpora at OPUS."""

import re

from pipeline.common.errors import InputError


def corpus_name(dataset: str) -> str:
    """The corpus of a dataset `corpus/version`: `ELRC_2922` of `ELRC_2922/v1`."""
    if not re.fullmatch(r"[^/\s]+/[^/\s]+", dataset):
        raise InputError(f"{dataset!r} is no OPUS dataset. Give corpus and version, as in ELRC_2922/v1.")
    return dataset.split("/")[0]


def corpus_url(dataset: str) -> str:
    """The address under which all files of a dataset `corpus/version` stand."""
    corpus_name(dataset)
    return f"https://object.pouta.csc.fi/OPUS-{dataset}"
