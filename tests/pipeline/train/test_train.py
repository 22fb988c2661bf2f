"""Tests of pipeline.train.train with Marian: results, stopping, going on, and what must be refused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.lines import write_lines
from pipeline.train.checkpoints import find_fault
from pipeline.train.train import best_or_last
from tests.pipeline.train import tiny

pytestmark = pytest.mark.marian

QUICK = {**tiny.TINY, "save-freq": 10, "valid-freq": 1000, "disp-freq": 5, "maxi-batch": 2}
SMALL_CURRICULUM = {
    "batch-size": 64,
    "chunk-size": 32,
    "stages": ["train"],
    "train": ["original 1.0", "until original inf"],
    "modifiers": [],
}


def write_curriculum(folder: Path, changes: Mapping[str, object]) -> Path:
    path = folder / "curriculum.yml"
    path.write_text(yaml.safe_dump({**SMALL_CURRICULUM, **changes}, sort_keys=False))
    return path


def arguments(folder: Path, marian_args: Mapping[str, object], options: Mapping[str, object]) -> list[object]:
    """To train in folder/out, by default with small batches of text."""
    given = dict(options)
    if "curriculum" not in given:
        given["curriculum"] = write_curriculum(folder, {})
    return tiny.corpus().arguments(folder / "out", marian_args, given)


def train(
    folder: Path,
    marian_args: Mapping[str, object],
    options: Mapping[str, object] | None = None,
    env: Mapping[str, object] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Train in folder/out to the end."""
    return tiny.run_script("pipeline.train.train", *arguments(folder, marian_args, options or {}), env=env)


def metrics(folder: Path) -> Any:
    return json.loads((folder / "out/metrics.json").read_text())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_result_is_a_models_folder() -> None:
    model = tiny.model()
    assert names(model) == [
        *("decoder.yml", "marian-args.yml", "metrics.json", "model.npz", "source.spm", "target.spm")
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


def student_files(folder: Path) -> dict[str, object]:
    """Tokenised text with alignments, one pair of it far too long for the model."""
    sides: list[list[str]] = [[], [], []]
    for source, target in [*tiny.pairs(200, seed=1), ("the cat " * 400, "LA TAC " * 400)]:
        tokens = tokenize(source.strip(), "en"), tokenize(target.strip(), "eo")
        words = [[i for i, token in enumerate(side) if token != "▁"] for side in tokens]
        links = " ".join(f"{i}-{j}" for i, j in zip(*words, strict=False))
        for side, line in zip(sides, (" ".join(tokens[0]), " ".join(tokens[1]), links), strict=True):
            side.append(line)
    files = [folder / f"tokenised.{number}.zst" for number in range(3)]
    for file, lines in zip(files, sides, strict=True):
        write_lines(file, lines)
    keys = ("original-src", "original-trg", "original-alignments")
    return {**dict(zip(keys, files, strict=True)), "tokenized": True, "bicameral": True, "phonemic": True}


STUDENT = {
    "dim-emb": 32,
    "transformer-dim-ffn": 64,
    "transformer-heads": 2,
    "enc-depth": 2,
    "dec-depth": 1,
    "mini-batch": 32,
    "maxi-batch": 2,
    "lr-warmup": 5,
    "disp-freq": 1,
}


def student_configs(step: str) -> dict[str, object]:
    return {
        "model-config": tiny.CONFIGS / "model/student.tiny.yml",
        "training-config": tiny.CONFIGS / f"training/student.{step}.yml",
        "curriculum": tiny.CONFIGS / "curriculum/student.yml",
    }


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student of six updates, trained with guided alignment."""
    folder = tmp_path_factory.mktemp("student")
    return train_student(folder, "train", {"after": "6u"})


def train_student(
    folder: Path, step: str, marian_args: Mapping[str, object], options: Mapping[str, object] | None = None
) -> Path:
    given = {**student_files(folder), **student_configs(step), **(options or {})}
    done = train(folder, {**STUDENT, **marian_args}, given)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_student_learns_from_alignments_and_long_pairs_are_dropped(student: Path) -> None:
    costs = [point["cost"] for point in metrics(student)["curve"] if point["kind"] == "train"]
    assert len(costs) == 6
    assert all(cost == cost for cost in costs)  # a pair that is cropped makes the cost NaN
    assert metrics(student)["pairs"]["original"] == {"in": 201, "kept": 200, "dropped": {"too long": 1}}


def test_a_student_is_finetuned_with_its_options_and_others_over_them(student: Path, tmp_path: Path) -> None:
    """Without its options (`dim-emb` …) another model would be built, into which its weights do not fit."""
    begun = {"pretrained": student / "out", "pretrained-args": student / "out/marian-args.yml"}
    files = {**student_files(tmp_path), **student_configs("finetune"), **begun}
    done = train(tmp_path, {"after": "2u"}, files)
    assert done.returncode == 0, done.stderr
    other = tmp_path
    options = yaml.safe_load((other / "out/marian-args.yml").read_text())
    assert options == {**STUDENT, "after": "2u"}
    assert metrics(other)["updates"] == 2
    first = metrics(other)["curve"][0]["cost"]
    begun, ended = (metrics(student)["curve"][i]["cost"] for i in (0, 5))
    assert abs(first - ended) < abs(first - begun)


def test_a_pretrained_model_with_another_vocabulary_is_refused(student: Path, tmp_path: Path) -> None:
    vocabs = tiny.corpus().vocabs
    done = train(
        tmp_path, {**QUICK, "after": "1u"}, {"pretrained": student / "out", "source-vocab": vocabs[1]}
    )
    assert done.returncode == 1
    assert "The pretrained model has another vocabulary" in done.stderr
    assert names(tmp_path / "out") == []


def test_the_last_model_is_taken_when_none_was_validated(tmp_path: Path) -> None:
    (tmp_path / "model.npz").write_bytes(b"last")
    assert best_or_last(tmp_path, "chrf").read_bytes() == b"last"
    (tmp_path / "model.npz.best-chrf.npz").write_bytes(b"best")
    assert best_or_last(tmp_path, "chrf").read_bytes() == b"best"


def test_only_the_last_stage_stops_early(tmp_path: Path) -> None:
    two = {
        "stages": ["first", "second"],
        "first": ["original 0.5", "backtranslated 0.5", "until backtranslated 1"],
        "second": ["original 1.0", "until original inf"],
    }
    src, trg = tiny.corpus().train
    done = train(
        tmp_path,
        {**QUICK, "learn-rate": 0.0, "lr-warmup": 0, "valid-freq": 2, "early-stopping": 2, "beam-size": 1},
        {
            "curriculum": write_curriculum(tmp_path, two),
            "backtranslated-src": src,
            "backtranslated-trg": trg,
        },
    )
    assert done.returncode == 0, done.stderr
    validations = [point["update"] for point in metrics(tmp_path)["curve"] if point["kind"] == "valid"]
    # 600 back-translated pairs among 1,200 in batches of 32; without learning nothing improves, so that
    # the first stage would have stopped at update 6.
    assert 36 <= metrics(tmp_path)["updates"] <= 48
    assert validations[0] == 2
    assert "Stage 2 of 2" in done.stderr


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    done = train(
        tmp_path,
        {**QUICK, "after": "200u", "learn-rate": 1e30, "lr-warmup": 0, "disp-freq": 1, "clip-norm": 0},
    )
    assert done.returncode == 1
    assert "training diverged" in done.stderr
    assert names(tmp_path / "out") == []


@contextmanager
def running(
    folder: Path,
    options: Mapping[str, object],
    env: Mapping[str, object] | None = None,
    marian_args: Mapping[str, object] = QUICK,
) -> Iterator["subprocess.Popen[str]"]:
    """A training in folder/out with checkpoints in folder/sets; killed at the end."""
    given = map(str, arguments(folder, {**marian_args, "after": "100000u"}, options))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.train.train", *given],
            env=tiny.environment({"TRANSLATIONS_CHECKPOINTS": folder / "sets", **(env or {})}),
            stderr=log,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def wait_for_sets(folder: Path, number: int) -> None:
    deadline = time.monotonic() + 90
    while len(list(folder.glob("sets/0*"))) < number:
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.1)


def wait_until_gone(processes: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(processes, timeout=8)
    assert not alive


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was asked to stop after its second save, and its sets."""
    folder = tmp_path_factory.mktemp("stopped")
    with running(folder, {}) as process:
        wait_for_sets(folder, 2)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2  # Marian, and what feeds it
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=9)
        assert time.monotonic() - asked < 8
        wait_until_gone(children)
    assert status == 75, (folder / "log").read_text()
    return folder


def test_sigterm_leaves_a_complete_set_of_that_update(stopped: Path) -> None:
    newest = sorted(stopped.glob("sets/*"))[-1]
    assert find_fault(newest) is None
    facts = json.loads((newest / "set.json").read_text())
    assert f"Stopped at update {facts['update']}, as asked" in (stopped / "log").read_text()
    assert facts["update"] > 20
    assert json.loads((newest / "feed.json").read_text())["feed"]["stage"] == "train"


def test_a_stopped_training_is_no_finished_step(stopped: Path) -> None:
    assert names(stopped / "out") == []


def resume(stopped: Path, folder: Path, updates: int) -> "subprocess.CompletedProcess[str]":
    env = {"TRANSLATIONS_CHECKPOINTS": stopped / "sets"}
    return train(folder, {**QUICK, "after": f"{updates}u"}, env=env)


def newest_update(folder: Path) -> int:
    return int(max(path.name for path in folder.glob("sets/0*")).split("-")[-1])


def test_training_goes_on_from_a_set_and_from_the_one_before_a_damaged_one(
    stopped: Path, tmp_path: Path
) -> None:
    target = newest_update(stopped) + 15
    done = resume(stopped, tmp_path, target)
    assert done.returncode == 0, done.stderr
    assert f"Going on from checkpoint {newest_set_before(stopped, done.stderr)}" in done.stderr
    updates = [point["update"] for point in metrics(tmp_path)["curve"] if point["kind"] == "train"]
    assert metrics(tmp_path)["updates"] == target
    assert updates == list(range(5, target + 1, 5))  # of both attempts, each once
    damaged = max(stopped.glob("sets/0*"))
    os.truncate(damaged / "model.npz.optimizer.npz", 1000)
    again = tmp_path / "again"
    again.mkdir()
    done = resume(stopped, again, target + 5)
    assert f"Checkpoint {damaged.name} is damaged" in done.stderr
    assert metrics(again)["updates"] == target + 5


def newest_set_before(stopped: Path, log: str) -> str:
    """The set that was the newest when the training began: none of those it wrote itself."""
    own = [line.split()[-1] for line in log.splitlines() if "checkpoints: Checkpoint 0" in line]
    return max(path.name for path in stopped.glob("sets/0*") if path.name not in own)


@pytest.mark.parametrize(("mode", "update"), [("polite", 20), ("validating", 10), ("deaf", 10)])
def test_a_stop_is_exit_75_in_time_whatever_marian_does(tmp_path: Path, mode: str, update: int) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    with running(tmp_path, {}, {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": mode}) as process:
        wait_for_sets(tmp_path, 1)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=8) == 75, (tmp_path / "log").read_text()
        wait_until_gone(children)
    assert newest_update(tmp_path) == update  # what follows a validation cut short is not kept
    assert names(tmp_path / "out") == []


@pytest.mark.parametrize(("grace", "update"), [(6, 10), (25, 20)])
def test_a_worker_that_gives_more_time_lets_a_large_model_be_saved(
    tmp_path: Path, grace: int, update: int
) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    given = {"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "slow", "TRANSLATIONS_GRACE": str(grace)}
    with running(tmp_path, {}, given) as process:
        wait_for_sets(tmp_path, 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=grace) == 75, (tmp_path / "log").read_text()
    assert newest_update(tmp_path) == update


def machine(folder: Path, threads: int, workspace: int) -> Any:
    """The metrics of a training of four updates on a machine with so much of each."""
    folder.mkdir()
    asked = {**QUICK, "mini-batch-words": 12_000, "maxi-batch": 100, "after": "4u", "disp-freq": 1}
    given = {"TRANSLATIONS_THREADS": threads, "TRANSLATIONS_WORKSPACE": workspace}
    done = train(folder, asked, env=given)
    assert done.returncode == 0, done.stderr
    return metrics(folder)


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
    assert len(counted[0]) == 4
    assert counted[0] == pytest.approx(counted[1], rel=0.02)


def test_marian_that_is_told_to_stop_by_others_has_not_finished(tmp_path: Path) -> None:
    """It saves and ends well, as it would at the end of its training."""
    with running(tmp_path, {}) as process:
        wait_for_sets(tmp_path, 1)
        (marian,) = (
            child
            for child in psutil.Process(process.pid).children()
            if any("pymarian" in part for part in child.cmdline())
        )
        marian.terminate()
        assert process.wait(timeout=9) == 75, (tmp_path / "log").read_text()
    assert names(tmp_path / "out") == []
    assert find_fault(max(tmp_path.glob("sets/0*"))) is None


def test_an_error_of_marian_is_told(tmp_path: Path) -> None:
    fake = f"{sys.executable} -m tests.pipeline.train.fake_marian"
    done = train(tmp_path, QUICK, env={"TRANSLATIONS_MARIAN": fake, "FAKE_MARIAN": "failing"})
    assert done.returncode == 1
    assert "error: marian train failed (status 1): Error: out of ideas" in done.stderr


def test_nothing_outlives_a_script_that_is_killed(tmp_path: Path) -> None:
    student = {**student_files(tmp_path), "curriculum": tiny.CONFIGS / "curriculum/teacher.one-stage.yml"}
    back = {f"backtranslated-{side}": student[f"original-{side}"] for side in ("src", "trg", "alignments")}
    with running(tmp_path, {**student, **back}) as process:
        wait_for_sets(tmp_path, 1)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 4  # Marian, what feeds it, and its two workers
        process.kill()
        wait_until_gone(children)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curriculum": tiny.CONFIGS / "curriculum/student.yml"}, "lacks|has the modifier Tags"),
        ({"tokenized": True}, "lacks the modifier Tags"),
        ({"curriculum": tiny.CONFIGS / "curriculum/teacher.two-stage.yml"}, "give --backtranslated-src"),
        ({"training-config": tiny.CONFIGS / "training/student.train.yml"}, "guided-alignment"),
        ({"seed": 0}, "at least 1"),
        ({"original-src": "/nowhere/corpus.zst"}, "does not exist"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    done = train(tmp_path, QUICK, options)
    assert done.returncode in (1, 2)
    assert any(part in done.stderr for part in message.split("|"))
    assert not (tmp_path / "out").exists() or names(tmp_path / "out") == []
