"""Tests of pipeline.train.batches and pipeline.train.workspace: what Marian makes of text, what it needs."""

import logging
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from benchmarks.batches import LENGTHS, TRAININGS
from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.marian_options import Options, Value, read_options, write_options
from pipeline.train import batches
from pipeline.train.batches import count_pieces, plan_batch, sample_lengths, simulate
from pipeline.train.pair_blocks import BLOCK, PairBlockWriter
from pipeline.train.settings import MARIAN_DEFAULTS, expand
from pipeline.train.workspace import Numbers, estimate
from tests import marian
from tests.pipeline.train import tiny
from tests.pipeline.train.test_settings import grant, merged

SMALL: Options = {**MARIAN_DEFAULTS, "type": "transformer", "dim-emb": 64, "transformer-dim-ffn": 256}
SMALL |= {"mini-batch": 100, "maxi-batch": 10, "mini-batch-words": 900}
VOCAB_SIZE = 32000


def skewed(pairs: int, seed: int, longest: int = 200) -> Numbers:
    """Lengths as of a cleaned corpus: most pairs short, few long, one in fifty of sides that differ."""
    random = np.random.default_rng(seed)
    source = np.exp(random.normal(3.2, 0.75, pairs))
    spread = np.where(random.random(pairs) < 0.02, 0.5, 0.18)
    target = source * np.exp(random.normal(0, 1, pairs) * spread)
    lengths = np.round(np.stack([source, target], axis=1)).astype(np.int64)
    return lengths[((lengths > 1) & (lengths <= longest)).all(axis=1)]


def by_hand(lengths: Numbers, words: int, parts: int) -> list[list[tuple[int, int, int]]]:
    """Batches of micro-batches, (sentences, longest source, longest target), as Marian's rules say them."""
    batches, batch = [], []
    for target, source in sorted(((target, source) for source, target in lengths.tolist()), reverse=True):
        batch.append((source, target))
        if sum(source for source, _ in batch) > words:
            batches.append(batch)
            batch = []
    found = []
    for each in [*batches, batch] if batch else batches:
        size = -(-len(each) // parts)
        micro = [each[start : start + size] for start in range(0, len(each), size)]
        found.append([(len(some), max(s for s, _ in some), max(t for _, t in some)) for some in micro])
    return found


@pytest.mark.parametrize("parts", [1, 3, 1000])
def test_batches_are_cut_and_divided_as_marian_does(parts: int) -> None:
    made = next(simulate(skewed(500, seed=1), SMALL))
    lengths = np.stack([made.source, made.target], axis=1)
    assert len(lengths) == 1000
    micro = made.divide(parts)
    expected = [each for batch in by_hand(lengths, 900, parts) for each in batch]
    assert list(zip(micro.sentences, micro.source, micro.target, strict=True)) == expected


def test_a_batch_in_sentences_has_so_many() -> None:
    made = next(simulate(skewed(500, seed=1), {**SMALL, "mini-batch-words": 0}))
    assert made.begins.tolist() == list(range(0, 1000, 100))


def test_sentences_are_sorted_as_asked() -> None:
    lengths = skewed(500, seed=1)
    by_source = next(simulate(lengths, {**SMALL, "maxi-batch-sort": "src"}))
    assert (np.diff(by_source.source) <= 0).all()
    as_read = next(simulate(lengths, {**SMALL, "maxi-batch-sort": "none"}))
    assert (np.diff(as_read.source) > 0).any()
    assert (np.diff(as_read.target) > 0).any()


@pytest.mark.marian
def test_marian_makes_these_batches(tmp_path: Path) -> None:
    """The sentences of each update are those that a simulation without chance has."""
    lines = [
        " ".join(["the cat."] * (1 + n % 7)) + "\t" + " ".join(["LA TAC."] * (1 + n % 5)) for n in range(300)
    ]
    (tmp_path / "text.tsv").write_text("".join(f"{line}\n" for line in lines))
    asked: dict[str, Any] = {name: value for name, value in tiny.TINY.items() if not name.startswith("valid")}
    asked |= {"train-sets": [str(tmp_path / "text.tsv")], "tsv": True, "shuffle": "none", "cpu-threads": 2}
    asked |= {"vocabs": [str(vocab) for vocab in tiny.corpus().vocabs], "model": str(tmp_path / "model.npz")}
    asked |= {"mini-batch": 100, "maxi-batch": 3, "mini-batch-words": 700, "mini-batch-fit": False}
    asked |= {"sync-sgd": True, "after": "1e", "disp-freq": 1, "optimizer-delay": 2, "workspace": 128}
    write_options(tmp_path / "train.yml", asked)
    done = marian.run(["train", "--config", tmp_path / "train.yml"])
    seen = [int(count.replace(",", "")) for count in re.findall(r"Up\. \d+ : Sen\. ([\d,]+)", done.stderr)]
    lengths = count_pieces(lines, tiny.corpus().vocabs, tokenized=False)
    sizes = [sum(sentences for sentences, _, _ in batch) for batch in by_hand(lengths, 700, 4)]
    assert len(sizes) > 5
    assert np.diff([0, *seen]).tolist() == sizes


def test_pieces_are_counted_as_marian_reads_them() -> None:
    vocabs = tiny.corpus().vocabs
    pairs = [*tiny.pairs(20, seed=3), ("a", "b")]
    expected = [
        [
            len(SentencePieceProcessor(model_file=str(vocab)).encode(text)) + 1
            for vocab, text in zip(vocabs, pair, strict=True)
        ]
        for pair in pairs
    ]
    plain = [f"{source}\t{target}" for source, target in pairs]
    assert count_pieces(plain, vocabs, tokenized=False).tolist() == expected
    sides = [
        [" ".join(tokenize(text, lang)) for text, lang in zip(pair, ("en", "eo"), strict=True)]
        for pair in pairs
    ]
    assert any("▁" in source for source, _ in sides)
    lines = [f"{source}\t{target}\t0-0 1-1" for source, target in sides]
    assert count_pieces(lines, vocabs, tokenized=True).tolist() == expected


def test_a_sample_is_of_blocks_from_all_over_the_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "SAMPLE", 6 * BLOCK)
    with PairBlockWriter(tmp_path) as writer:
        for number in range(100 * BLOCK):
            writer.write("the cat." + " the cat." * (number // BLOCK) + "\tLA TAC.")
    vocabs = tiny.corpus().vocabs
    lengths = sample_lengths([tmp_path, tmp_path], vocabs, tokenized=False)
    assert len(lengths) == 6 * BLOCK
    pieces = SentencePieceProcessor(model_file=str(vocabs[0]))
    expected = [len(pieces.encode(" ".join(["the cat."] * times))) + 1 for times in (1, 50, 100)]
    assert sorted(set(lengths[:, 0].tolist())) == expected


def largest(expanded: Mapping[str, Value], lengths: Numbers, *parts: int) -> list[float]:
    """MB of the micro-batch that needs the most, where batches are divided into so many."""
    need = estimate(expanded, VOCAB_SIZE)
    found = [0.0 for _ in parts]
    for made in simulate(lengths, expanded):
        for number, each in enumerate(parts):
            micro = made.divide(each)
            needed = need.of(micro.sentences, micro.source, micro.target).max()
            found[number] = max(found[number], float(needed) / 1e6)
    return found


@pytest.mark.marian
@pytest.mark.slow
@pytest.mark.parametrize(("model", "training"), TRAININGS)
def test_no_micro_batch_of_a_skewed_text_exceeds_the_workspace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: str, training: str
) -> None:
    """Of other pairs than those that it was planned with; one micro-batch less would not do."""
    grant(monkeypatch, gpus="0 1 2 3", workspace=12000)
    longest = LENGTHS[training]
    expanded = {**expand(merged(model, training), tmp_path), "max-length": longest}
    delay = int(str(plan_batch(expanded, VOCAB_SIZE, skewed(50_000, 1, longest))["optimizer-delay"]))
    other = skewed(100_000, 2, longest)
    by_words_alone = math.ceil(unpadded(expanded, other) / (4 * 12000))
    parts = (4 * delay, 4 * max(1, delay - 1), 4 * by_words_alone)
    planned, one_less, by_words = largest(expanded, other, *parts)
    assert planned <= 12000
    assert delay == 1 or one_less > 9000
    assert by_words > 12000


def unpadded(expanded: Mapping[str, Value], lengths: Numbers) -> float:
    """MB of the batch of an update if no word were padded."""
    source, target = lengths.T
    ones = np.ones_like(source)
    pairs = int(str(expanded["mini-batch-words"])) / float(source.mean())
    each = estimate(expanded, VOCAB_SIZE).of(ones, source, target)
    return float(np.mean(each) * pairs / 1e6)


@pytest.mark.marian
def test_fewer_devices_make_more_micro_batches_of_the_same_batch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expanded = expand(merged("teacher", "teacher.train"), tmp_path)
    plans = []
    for gpus in ("0 1 2 3", "0"):
        grant(monkeypatch, gpus=gpus, workspace=12000)
        plans.append(plan_batch(expanded, VOCAB_SIZE, skewed(100_000, 1, 100)))
    few, many = (int(str(plan["optimizer-delay"])) for plan in plans)
    assert 4 * (few - 1) < many <= 4 * few
    assert all("mini-batch-words" not in plan and plan["mini-batch-fit"] is False for plan in plans)


def test_text_of_one_length_needs_fewer_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, gpus="0", workspace=100)
    asked = {**SMALL, "mini-batch-words": 40_000}
    even = plan_batch(asked, 1000, np.full((1000, 2), 30))["optimizer-delay"]
    uneven = plan_batch(asked, 1000, skewed(100_000, 1))["optimizer-delay"]
    assert 1 < int(str(even)) < int(str(uneven)) / 2


def test_a_delay_that_is_given_stays_and_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    grant(monkeypatch, gpus="0", workspace=100)
    asked = {**SMALL, "mini-batch-words": 40_000, "optimizer-delay": 2}
    assert plan_batch(asked, 1000, skewed(1000, 1))["optimizer-delay"] == 2
    assert "may run out of memory" in caplog.text


def test_where_nothing_fits_micro_batches_are_of_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, gpus="0", workspace=1)
    asked = {**SMALL, "mini-batch-words": 0, "mini-batch": 20}
    assert plan_batch(asked, VOCAB_SIZE, np.full((100, 2), 200))["optimizer-delay"] == 20


def test_a_log_says_what_is_planned(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    grant(monkeypatch, gpus="0 1", workspace=100)
    caplog.set_level(logging.INFO)
    plan_batch({**SMALL, "mini-batch-words": 3000}, 1000, np.full((100, 2), [30, 20]))
    assert (
        "2 device(s) × 1 micro-batch(es). The largest, of 51 sentences of up to 30 and 20 pieces"
        in caplog.text
    )


def test_fitting_the_batch_to_memory_is_for_gpus_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Options = {**MARIAN_DEFAULTS, "type": "s2s", "mini-batch-fit": True, "mini-batch-words": 4000}
    grant(monkeypatch, gpus="0")
    assert plan_batch(asked, 1000, np.full((100, 2), 30)) == {}
    grant(monkeypatch)
    assert plan_batch(asked, 1000, np.full((100, 2), 30))["mini-batch-fit"] is False


@pytest.mark.parametrize(("path", "megabytes"), [("student.tiny", 1036), ("student.base-memory", 1632)])
def test_the_estimate_is_what_marian_was_measured_to_need(path: str, megabytes: int) -> None:
    """128 pairs of 30 pieces each, with 8,000 pieces in the vocabulary."""
    options = {**MARIAN_DEFAULTS, **read_options(tiny.CONFIGS / f"model/{path}.yml")}
    sides = np.array([30])
    needed = estimate(options, 8000).of(np.array([128]), sides, sides)[0]
    assert needed / 2**20 == pytest.approx(megabytes, rel=0.05)
