"""Manifests are written as they always were, and say what is wrong with them when they are read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from translations_assets.records.manifest import Manifest, Ref

DIGEST = "ab" * 32
# As the project wrote it before provenance had a type; `others` are told by the worker.
WRITTEN: dict[str, Any] = {
    "key": "cd" * 32,
    "generation": 2,
    "outputs": {"numbers.json": {"digest": DIGEST, "size": 1860}},
    "label": "check-vocab-en-eo",
    "reason": "no earlier artifact",
    "bundle": {"digest": DIGEST, "size": 30720},
    "provenance": {
        "script": "pipeline.checks.vocabulary",
        "code": "ef" * 32,
        "args": {"langs": ["en", "eo"], "seed": 1111, "whole": False},
        "inputs": {"vocabs/0/vocab.en.spm": DIGEST},
        "outputs": ["numbers.json"],
        "libraries": {"sentencepiece": "0.1.99"},
        "python": "3.11",
        "env": {},
        "stage": "check_train_vocab",
        "repeatable": False,
        "files": {"vocabs/0/vocab.en.spm": {"digest": DIGEST, "size": 254078}},
        "run": "run-1",
        "partition": "en-eo.demo",
        "config": {"digest": DIGEST, "size": 3976},
        "options": {"start": "train-vocab"},
        "revision": "35ebda1",
        "worker": {
            "command": ["pipeline.checks.vocabulary", "--output", "out"],
            "threads": 1,
            "gpus": 0,
            "workspace": 512,
            "python": "3.11.7",
            "gpu_models": ["NVIDIA H200"],
        },
    },
    "attempt": 1,
    "host": "vm",
    "started": 1795352583.583249,
    "ended": 1795352584.1309793,
    "usage": {
        "seconds": 0.543,
        "cpu_seconds": 0.539,
        "peak_memory": 29134848,
        "disk": 1860,
        "gpus": 0,
        "gpu_utilisation": 0.0,
        "gpu_memory": 0,
    },
}


@pytest.mark.parametrize("absent", ["", "options", "config", "worker"])
def test_a_manifest_is_written_as_it_was_read(absent: str) -> None:
    provenance = {name: value for name, value in WRITTEN["provenance"].items() if name != absent}
    written = json.dumps({**WRITTEN, "provenance": provenance})
    assert json.dumps(Manifest.from_dict(json.loads(written)).to_dict()) == written


def test_earlier_attempts_are_written_where_there_were_some() -> None:
    manifest = Manifest.from_dict(WRITTEN)
    again = replace(manifest, usage=replace(manifest.usage, earlier_seconds=7.5))
    assert Manifest.from_dict(again.to_dict()) == again


def test_a_field_that_is_wrong_is_named() -> None:
    wrong = {**WRITTEN, "provenance": {**WRITTEN["provenance"], "files": {"../x": {}}}}
    with pytest.raises(ValueError, match="provenance: files: the name '../x' leads out of its folder"):
        Manifest.from_dict(wrong)
    with pytest.raises(ValueError, match="it has no host"):
        Manifest.from_dict({name: value for name, value in WRITTEN.items() if name != "host"})


def test_a_ref_with_the_digest_of_its_config_is_read() -> None:
    written = {"space": "ann", "partition": "en-ru", "stage": "join", "run": "run-1", "time": 1.0}
    written |= {"config_digest": DIGEST, "steps": {"join": ["key", 1]}, "outputs": {"join": {}}}
    assert Ref.from_dict(written).steps == {"join": ("key", 1)}
