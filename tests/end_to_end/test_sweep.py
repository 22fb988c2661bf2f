"""A sweep from its file to the comparison, by the commands, with real trainings."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.end_to_end.tiny import BIN, PARTITION, Place
from tests.patience import PATIENCE
from translations_assets.records.run import RunRecord

pytestmark = [pytest.mark.slow, pytest.mark.marian]

RATE = "marian-args.training-student.learn-rate"
SEEDS = f"""
base: {PARTITION}
axes:
  {RATE}: [0.003, 0.0001]
  experiment.seeds.student: [1111, 2]
target: evaluate_student
"""


def write_sweep(place: Place, name: str, text: str) -> None:
    folder = place.root / "configs" / "sweeps"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yml").write_text(text)


def records(place: Place, sweep: str) -> Iterator[RunRecord]:
    """The runs of a sweep's run."""
    for run in place.store.runs():
        record = place.store.read_run(run)
        if record and record.options.sweep.startswith(f"{sweep}-"):
            yield record


def test_variants_are_trained_and_compared(trained: Place) -> None:
    write_sweep(trained, "rates", SEEDS)
    done = trained.run("translations", "train", "rates", "--yes")
    assert done.returncode == 0, done.stderr
    runs = {record.partition: record for record in records(trained, "rates")}
    names = [
        f"{PARTITION}.rates.learn-rate-{rate}.student-{seed}"
        for rate in ("0.003", "0.0001")
        for seed in (1111, 2)
    ]
    assert {*runs} == {*names[1:]}  # the first one is as the base, which is trained
    manifests = trained.store.manifests()
    made = Counter(made.label for made in manifests if made.provenance.partition in names)
    assert made.pop("train-student-en-eo") == 3
    # Gates that find the same numbers are not made again
    assert {label.partition("-url_")[0]: number for label, number in made.items()} in (
        {"evaluate-student": 3, "check-student": 2},
        {"evaluate-student": 3, "check-student": 3},
    )
    again = trained.run("translations", "plan", "rates")
    assert again.stdout == "4 with everything cached; to list them: --all\n"

    told = trained.run("translations", "sweep", "rates", "--json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    reference, other = found["settings"]
    assert (reference["partitions"], other["partitions"]) == (names[:2], names[2:])
    for setting in (reference, other):
        (scores,) = setting["scores"].values()
        for place, partition in enumerate(setting["partitions"]):
            results = json.loads(trained.run("translations", "results", partition, "--json").stdout)
            (sacrebleu,) = results["student"].values()
            for metric in ("bleu", "chrf"):  # by sacreBLEU's own bootstrap
                assert scores[metric]["scores"][place] == sacrebleu[metric]
                assert scores[metric]["ci"][place] == pytest.approx(sacrebleu["ci"][metric], abs=1e-4)
    (scores,) = other["scores"].values()
    assert scores["chrf"]["spread"] > 0  # those of the reference translate all, and differ in nothing
    assert scores["chrf"]["p_value"] < 0.05
    assert other["model_bytes"] == reference["model_bytes"] > 0


def test_one_variant_cancelled_cancels_all(trained: Place) -> None:
    long = "marian-args.training-student.after"
    write_sweep(
        trained,
        "long",
        f"base: {PARTITION}\naxes: {{{long}: [90000u, 90001u, 90002u]}}\ntarget: train_student\n",
    )
    command = [str(BIN / "translations"), "train", "long", "--yes"]
    with subprocess.Popen(
        command, env=trained.environment, cwd=trained.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not any(record.since for record in records(trained, "long")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        cancelled = trained.run("translations", "cancel", "long")
        assert cancelled.returncode == 0, cancelled.stderr
        assert process.wait(PATIENCE) == 130
    assert cancelled.stdout.startswith("Run ")
    assert ": cancelled. " in cancelled.stdout
    assert len({record.partition for record in records(trained, "long")}) == 1  # no other began
