"""How often a training reads its texts."""

from __future__ import annotations

import json

import pytest

from tests.memory_store import MemoryStore
from tests.stages.configs import FINETUNED, graph
from tests.store.values import finish
from translations_assets.common.settings import repository_root
from translations_assets.keys.key import KeyMaker
from translations_assets.why.training_work import epochs

GIVEN = FINETUNED + (
    "finetuning: {old-text: 0.25}\n"
    "marian-args: {training-on-finetune: {after: 40u, mini-batch: 50, mini-batch-fit: false}}\n"
)


def test_a_text_to_finetune_on_and_the_old_text_have_the_shares_of_the_config() -> None:
    store, new = MemoryStore(), graph(GIVEN)
    step = new.step("train-student-on-finetune-en-eo")
    results = {}
    for name, lines in (("finetune", 500), ("original", 10_000)):
        pairs = new.step(f"training-pairs-{name}-student-en-eo")
        counted = {"lines": {"in": lines, "kept": lines, "dropped": {}}}
        results[pairs] = finish(store, pairs.label, {"stats.json": json.dumps(counted).encode()})
    found = epochs(step, KeyMaker(repository_root()), store, results)
    assert found
    assert (found.updates, found.batch) == (40, 50)
    assert found.by_text == {"original": 0.25 * 2000 / 10_000, "finetune": pytest.approx(0.75 * 2000 / 500)}
