"""Tests of pipeline.train.train with Marian: results, and what must be refused."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.common.made_from import MadeFrom
from pipeline.train.checkpoints import Checkpoints, Place, decided_by
from pipeline.train.pair_blocks import PairBlockWriter
from pipeline.train.pair_facts import STATS
from pipeline.train.train import best_or_last, feed_of, parse_arguments, prepare
from tests.pipeline.train import tiny
from tests.pipeline.train.test_checkpoints import save_like_marian
from tests.pipeline.train.training import (
    QUICK,
    arguments,
    metrics,
    names,
    train,
    write_curriculum,
)

pytestmark = pytest.mark.marian


def test_the_result_is_a_models_folder() -> None:
    model = tiny.model()
    assert names(model) == [
        *("decoder.yml", "last.npz", "last.optimizer.npz", "last.progress.yml", "marian-args.yml"),
        *("metrics.json", "model.npz", "source.spm", "target.spm"),
    ]
    assert yaml.safe_load((model / "marian-args.yml").read_text()) == {**tiny.TINY, "after": "400u"}
    for own, given in zip(("source.spm", "target.spm"), tiny.corpus().vocabs, strict=True):
        assert (model / own).read_bytes() == given.read_bytes()
    config = yaml.safe_load((model / "decoder.yml").read_text())
    assert config["relative-paths"] is True
    assert config["models"] + config["vocabs"] == ["model.npz", "source.spm", "target.spm"]
    assert "/" not in (model / "decoder.yml").read_text()


def test_metrics_hold_the_curve_and_what_was_derived() -> None:
    facts = json.loads((tiny.model() / "metrics.json").read_text())
    assert facts["best"]["chrf"]["score"] > 70
    assert {point["kind"] for point in facts["curve"]} == {"train", "valid"}
    assert facts["derived"]["cpu-threads"] == 2
    assert facts["derived"]["optimizer-delay"] == 1
    assert facts["pairs"]["original"] == {"in": 600, "kept": 600, "dropped": {}}
    assert str(tiny.model().parent) not in json.dumps(facts)


@pytest.mark.slow
def test_a_batch_is_the_same_in_any_number_of_micro_batches(tmp_path: Path) -> None:
    curves = []
    for delay in (1, 3):
        folder = tmp_path / str(delay)
        folder.mkdir()
        done = train(folder, {**QUICK, "after": "4u", "disp-freq": 1, "optimizer-delay": delay})
        assert done.returncode == 0, done.stderr
        training = [point for point in metrics(folder)["curve"] if point["kind"] == "train"]
        curves.append([(point["update"], point["sentences"]) for point in training])
    assert curves[0] == curves[1] == [(1, 32), (2, 64), (3, 96), (4, 128)]


def test_s2s_trains_three_updates(tmp_path: Path) -> None:
    production = {
        "model-config": tiny.CONFIGS / "model/backward.yml",
        "training-config": tiny.CONFIGS / "training/backward.train.yml",
        "curriculum": tiny.CONFIGS / "curriculum/backward.yml",
    }
    small = {"dim-emb": 64, "dim-rnn": 128, "mini-batch": 4, "maxi-batch": 10, "beam-size": 1}
    done = train(tmp_path, {**small, "after": "3u"}, production)
    assert done.returncode == 0, done.stderr
    assert metrics(tmp_path)["updates"] == 3


def test_the_last_model_is_taken_when_none_was_validated(tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"last")
    assert best_or_last(tmp_path, "chrf").read_bytes() == b"last"
    (tmp_path / "model.npz.best-chrf.npz").write_bytes(b"best")
    assert best_or_last(tmp_path, "chrf").read_bytes() == b"best"


@pytest.mark.slow
def test_only_the_last_stage_stops_early(tmp_path: Path) -> None:
    two = {
        "stages": ["first", "second"],
        "first": ["original 0.5", "backtranslated 0.5", "until backtranslated 1"],
        "second": ["original 1.0", "until original inf"],
    }
    done = train(
        tmp_path,
        {**QUICK, "learn-rate": 0.0, "lr-warmup": 0, "valid-freq": 4, "early-stopping": 2, "beam-size": 1},
        {
            "curriculum": write_curriculum(tmp_path, two),
            "backtranslated": tiny.corpus().pairs,
        },
    )
    assert done.returncode == 0, done.stderr
    validations = [point["update"] for point in metrics(tmp_path)["curve"] if point["kind"] == "valid"]
    # 600 back-translated pairs among 1,200 in batches of 32; without learning nothing improves, so that
    # the first stage would have stopped at update 12.
    assert 36 <= metrics(tmp_path)["updates"] <= 48
    assert validations[0] == 4
    assert "Stage 2 of 2" in done.stderr


def test_a_model_is_trained_on_better_text_with_a_share_of_the_old(tmp_path: Path) -> None:
    """600 pairs to finetune on, which are read once, in batches of 32 lines of which a quarter are old."""
    mix = {"train": ["original {old-text}", "finetune {new-text}", "until finetune 1"]}
    options = {"curriculum": write_curriculum(tmp_path, mix), "finetune": tiny.corpus().pairs}
    done = train(tmp_path, {**QUICK, "after": "0e"}, {**options, "old-text": 0.25})
    assert done.returncode == 0, done.stderr
    assert metrics(tmp_path)["pairs"].keys() == {"original", "finetune", "dev"}
    assert metrics(tmp_path)["updates"] == 600 / 24


@pytest.mark.parametrize("share", ["1", "-0.1"])
def test_a_share_that_leaves_nothing_to_finetune_on_is_refused(tmp_path: Path, share: str) -> None:
    done = train(tmp_path, QUICK, {"finetune": tiny.corpus().pairs, "old-text": share})
    assert done.returncode == 2
    assert "a share from 0 to less than 1" in done.stderr


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    done = train(
        tmp_path,
        {**QUICK, "after": "200u", "learn-rate": 1e30, "lr-warmup": 0, "disp-freq": 1, "clip-norm": 0},
    )
    assert done.returncode == 1
    assert "training diverged" in done.stderr
    assert names(tmp_path / "out") == []


def machine(folder: Path, threads: int, workspace: int) -> Any:
    """The metrics of a training of two updates on a machine with so much of each."""
    folder.mkdir()
    asked = {**QUICK, "mini-batch-words": 18_000, "maxi-batch": 100, "after": "2u", "disp-freq": 1}
    given = {"TRANSLATIONS_THREADS": threads, "TRANSLATIONS_WORKSPACE": workspace}
    done = train(folder, asked, env=given)
    assert done.returncode == 0, done.stderr
    return metrics(folder)


@pytest.mark.slow
def test_an_update_has_the_same_batch_on_any_machine(tmp_path: Path) -> None:
    """One device with two micro-batches, or two devices; a batch in words is full to a sentence or two."""
    small, large = machine(tmp_path / "small", 1, 128), machine(tmp_path / "large", 2, 256)
    derived = [
        (facts["derived"]["cpu-threads"], facts["derived"]["optimizer-delay"]) for facts in (small, large)
    ]
    assert derived == [(1, 2), (2, 1)]
    counted = [
        [point["sentences"] for point in facts["curve"] if point["kind"] == "train"]
        for facts in (small, large)
    ]
    assert len(counted[0]) == 2
    assert counted[0] == pytest.approx(counted[1], rel=0.02)


def test_an_error_of_marian_is_told(tmp_path: Path) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    done = train(tmp_path, QUICK, env={"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "failing"})
    assert done.returncode == 1
    assert "error: marian train failed (status 1): Error: out of ideas" in done.stderr
    assert "valid-reset-stalled: True" in done.stderr


def input_of(folder: Path, marian_args: Mapping[str, object]) -> MadeFrom:
    """Inputs of a training of `train`."""
    (folder / "prepared").mkdir()
    args = parse_arguments([str(part) for part in arguments(folder, marian_args, {})])
    training = prepare(args, folder / "prepared")
    return decided_by(args, training.pairs, training.merged)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"marian_args": {**QUICK, "learn-rate": 0.5}}, "learn-rate is 0.5, and was "),
        ({"options": {"seed": 7}}, "--seed is 7, and was 1"),
        ({"marian_args": {**QUICK, "after": "7u", "save-freq": 3}}, ""),
    ],
)
def test_checkpoints_of_another_training_are_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    save_like_marian(tmp_path / "work", 10)
    files = sorted((tmp_path / "work").iterdir())
    place = Place(10, 0, {"stage": "train"})
    Checkpoints(tmp_path / "sets", input_of(tmp_path, QUICK)).save(tmp_path / "work", files, place)
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "failing"}
    environ = {**given, "TRANSLATIONS_CHECKPOINTS": tmp_path / "sets"}
    done = train(tmp_path, changes.get("marian_args", QUICK), changes.get("options"), env=environ)
    assert done.returncode == 1
    assert (f"of another input: {told}" in done.stderr) == bool(told), done.stderr
    assert ("Going on from checkpoint 000001-update-000000010" in done.stderr) != bool(told)


def test_an_empty_dataset_is_told_once(tmp_path: Path) -> None:
    """By the script, and not by the feed and its workers as well, with all their frames."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with PairBlockWriter(empty):
        pass
    (empty / STATS).write_bytes((tiny.corpus().pairs / STATS).read_bytes())
    mix = {"train": ["original 0.5", "backtranslated 0.5", "until original inf"]}
    done = train(tmp_path, QUICK, {"backtranslated": empty, "curriculum": write_curriculum(tmp_path, mix)})
    assert done.returncode == 1
    assert done.stderr.endswith(
        "error: The stage train mixes 32 lines of backtranslated into each batch, and it is empty. Give it "
        "text, or take it out of the curriculum.\n"
    )
    assert "Traceback" not in done.stderr


def test_patience_goes_on_in_a_stage_that_is_resumed(tmp_path: Path) -> None:
    save_like_marian(tmp_path / "work", 10)
    files = sorted((tmp_path / "work").iterdir())
    Checkpoints(tmp_path / "sets", input_of(tmp_path, QUICK)).save(
        tmp_path / "work", files, Place(10, 0, {"stage": "train"})
    )
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "failing"}
    done = train(tmp_path, QUICK, env={**given, "TRANSLATIONS_CHECKPOINTS": tmp_path / "sets"})
    assert "Going on from checkpoint 000001-update-000000010" in done.stderr
    assert "valid-reset-stalled: False" in done.stderr


def test_the_length_of_pairs_and_the_batch_count_and_not_those_of_an_earlier_training(tmp_path: Path) -> None:
    (tmp_path / "earlier.yml").write_text("{max-length: 7, dim-emb: 64, mini-batch-words: 25000}")
    (tmp_path / "work").mkdir()
    given = tiny.corpus().arguments(
        tmp_path / "out", {"after": "1u", "mini-batch": 5}, {"pretrained-args": tmp_path / "earlier.yml"}
    )
    training = prepare(parse_arguments([str(part) for part in given]), tmp_path / "work")
    assert training.merged["max-length"] == training.expanded["max-length"] == 100
    assert (training.merged["mini-batch"], training.merged["mini-batch-words"]) == (5, 0)
    assert training.marian_args == {"dim-emb": 64, "after": "1u", "mini-batch": 5}


def test_the_feed_has_as_many_workers_as_cores_and_memory_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    given = tiny.corpus().arguments(tmp_path / "out", {"after": "1u"})
    training = prepare(parse_arguments([str(part) for part in given]), tmp_path / "work")
    monkeypatch.setenv("TRANSLATIONS_THREADS", "16")
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "64000")
    assert feed_of(training, 0, None).workers == 1, "without modifiers"
    modified = replace(training, curriculum=replace(training.curriculum, modifiers=[{"UpperCase": 0.1}]))
    assert feed_of(modified, 0, None).workers == 16
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "1000")
    assert feed_of(modified, 0, None).workers == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curriculum": tiny.CONFIGS / "curriculum/student.yml"}, "lacks|has the modifier Tags"),
        ({"curriculum": tiny.CONFIGS / "curriculum/teacher.original.yml"}, "are not: they were made with"),
        ({"curriculum": tiny.CONFIGS / "curriculum/teacher.two-stage.yml"}, "give --backtranslated, its"),
        ({"source-vocab": tiny.corpus().vocabs[1]}, "were made for other vocabularies"),
        ({"original": tiny.CONFIGS}, "holds no training pairs"),
        ({"marian-args": '{"max-length": 99}'}, "Make them again with --max-length 99"),
        ({"training-config": tiny.CONFIGS / "training/student.train.yml"}, "guided-alignment"),
        ({"seed": 0}, "at least 1"),
        ({"original": "/nowhere/pairs"}, "does not exist"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    done = train(tmp_path, QUICK, options)
    assert done.returncode in (1, 2)
    assert any(part in done.stderr for part in message.split("|"))
    assert not (tmp_path / "out").exists() or names(tmp_path / "out") == []
