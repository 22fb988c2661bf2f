"""`cache du` and `forget`: what partitions and their variants keep."""

import json
from pathlib import Path

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION
from translations_assets.project import Project
from translations_assets.records.retention import Rules
from translations_assets.store.gc import collect

SMALLER = {"experiment.spm-vocab-size": 392}


def test_partitions_and_variants_are_listed_with_what_they_take(command: Command) -> None:
    assert command("cache", "du").out.endswith("has no results.\n")
    make("train_vocab")
    make("train_vocab", overrides=SMALLER, run="run-2")
    found = json.loads(command("cache", "du", "--json").out)
    assert sorted(one["partition"].partition("@")[0] for one in found) == [PARTITION, PARTITION]
    (base,) = (one for one in found if one["partition"] == PARTITION)
    (variant,) = (one for one in found if one["partition"] != PARTITION)
    assert (base["overrides"], variant["overrides"]) == ({}, SMALLER)
    made = {each.label: each for each in Project().store.manifests()}
    vocabulary = sum(blob.size for blob in made["train-vocab-en-eo"].outputs.values())
    assert base["artifacts"] == variant["artifacts"] == len(made)
    assert base["bytes"] >= vocabulary
    assert 0 <= base["alone"] <= base["bytes"]
    people = command("cache", "du").out
    assert "experiment.spm-vocab-size=392" in people


def test_what_is_forgotten_is_freed_and_the_rest_stays(command: Command) -> None:
    make("train_vocab")
    make("train_vocab", overrides=SMALLER, run="run-2")
    found = json.loads(command("cache", "du", "--json").out)
    (variant,) = (one["partition"] for one in found if "@" in one["partition"])
    store = Project().store
    before = {made.key for made in store.manifests() if made.label == "train-vocab-en-eo"}
    said = command("cache", "forget", variant, "--yes")
    assert (said.code, said.out.partition(" in ")[0]) == (0, f"Forgotten: {variant}")
    left = json.loads(command("cache", "du", "--json").out)
    assert [one["partition"] for one in left] == [PARTITION]
    collect(store, Rules(keep_days=0, keep_refs=1, grace_days=0), delete=True)  # type: ignore[arg-type]
    after = {made.key for made in store.manifests() if made.label == "train-vocab-en-eo"}
    assert len(before) == 2
    assert len(after) == 1
    again = command("cache", "forget", variant, "--yes")
    assert again.code == 1
    assert "no results of" in again.err


def test_the_report_of_a_variant_has_a_name_of_its_own(command: Command, tmp_path: Path) -> None:
    make("evaluate_backwards")
    make("evaluate_backwards", overrides=SMALLER, run="run-2")
    base = Path(command("report", PARTITION).out.strip())
    variant = Path(command("report", PARTITION, "--set", "experiment.spm-vocab-size=392").out.strip())
    assert base.name == f"{PARTITION}.html"
    assert variant.name.startswith(f"{PARTITION}@")
    assert "spm-vocab-size" in variant.read_text()
