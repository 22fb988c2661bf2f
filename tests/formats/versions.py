"""The versions that wrote a format of their own, with the fixture that each has left behind.

The only list of both. If you change what a store, a record, a checkpoint set, a worker's message or a Job
holds, add a version here once the change is committed, and make its fixture: `python -m tests.formats.make
VERSION`. A test fails if the number of a format is changed without that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

WRITTEN = Path(__file__).with_name("written")


class Version(NamedTuple):
    """A version.

    commit    that wrote its fixture
    new       what it was the first to write
    numbers   the numbers of formats in it, by the names of `NUMBERS`; 0 where there was none yet
    """

    commit: str
    new: str
    numbers: tuple[int, int, int, int]


# Constants with the number of a format: module and name. `store` is the mark of a folder
NUMBERS: Mapping[str, str] = {
    "store": "translations_assets.store.files:_FORMAT",
    "manifests": "translations_assets.store.artifacts:FORMAT",
    "keys": "translations_assets.records.manifest:FORMAT",
    "code": "translations_assets.keys.code.fingerprint:FORMAT",
}

VERSIONS: Mapping[str, Version] = {
    "first": Version(
        "7b8e46a2", "manifests, refs, logs, configs, checkpoint sets, run records", (0, 0, 1, 1)
    ),
    "marked": Version("2d0ed5fa", "a mark, numbered manifests, sealed logs and configs, pins", (1, 1, 1, 1)),
    "clusters": Version("585a41d0", "Jobs of Kubernetes, a worker's place, stores in buckets", (1, 1, 1, 1)),
    "records": Version("8b9c3866", "typed provenance and run records", (1, 1, 1, 1)),
    "publications": Version(
        "18344406", "publications, what runs cost, readers of several kinds", (1, 1, 1, 1)
    ),
    "plain-form": Version(
        "b80aff4c", "states of steps in run records, keys of code in plain form", (1, 1, 1, 2)
    ),
    "fingerprints": Version("7634c34d", "keys by one text of a script", (1, 1, 1, 3)),
    "replies": Version("97eac978", "a worker's replies in the parts of its log", (1, 1, 1, 3)),
    "services": Version("25102218", "tokens and characters that services are paid for", (1, 1, 1, 3)),
    "sweeps": Version("ed2ffa2a", "runs of a sweep, Jobs with variables of S3", (1, 1, 1, 3)),
    "pins": Version("c2c71328", "pins that name what was gone", (1, 1, 1, 3)),
}
