"""Tests of a pod's program: code and request come from the store, its output is how its jobs ended."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runners.pod import pods
from tests.runners.pod.pods import command, read_until, start
from tests.runners.scripts import COPY, KEY, eventually, job, leftovers, output, processes_of, written
from tests.runners.test_machine import nvidia_smi
from translations_assets.runners.machine import script_memory
from translations_assets.runners.pod.main import exit_code, leave_word
from translations_assets.runners.wire import Busy, unpack_reply
from translations_assets.running.events import Started
from translations_assets.running.job import Outcome
from translations_assets.store.local import LocalStore

OTHER = "cd" * 32
THIRD = "ef" * 32


def test_a_step_runs_and_its_result_is_kept(store: LocalStore, tmp_path: Path) -> None:
    text = store.add_bytes("ĉu vi parolas Esperanton?\n".encode())
    inputs = {"text/mono.eo": text}
    work = job(store, COPY, inputs=inputs, command=("--text", "in/text/mono.eo", "--output", "out"))
    pod = pods.run(store, tmp_path, work)
    assert pod.code == 0, pod.log
    started, outcome = (reply for _, reply in pod.replies)
    assert isinstance(started, Started)
    assert isinstance(outcome, Outcome)
    assert outcome.manifest == store.latest(KEY)
    assert output(store, outcome) == "ĉu vi parolas Esperanton?\n"
    assert os.listdir(tmp_path / "scratch") == ["work"]
    assert os.listdir(tmp_path / "scratch" / "work") == []
    assert leftovers(store.root) == []


def test_a_manifest_tells_where_the_step_ran(store: LocalStore, tmp_path: Path) -> None:
    made = pods.run(store, tmp_path, job(store, COPY)).outcomes[0].manifest
    assert made is not None
    assert made.host == "node-7"
    assert made.provenance.worker is not None
    worker = made.provenance.worker.others
    assert (worker["machine"], worker["pod"][:4]) == ("spot", "pod-")


def test_a_log_is_seen_while_the_script_runs(store: LocalStore, tmp_path: Path) -> None:
    script = written(
        "print('begun', flush=True)\n"
        f"while not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.05)"
    )
    pod = start(command(store, job(store, script)), tmp_path)
    before = read_until(pod, b"begun\n")
    (tmp_path / "go").touch()
    ended = pods.ended(pod, before)
    assert ended.code == 0
    assert ended.log.splitlines()[-2:] == ["[worker] python -m pipeline.script --output out", "begun"]


def test_a_log_is_the_same_in_the_store_and_its_lines_stay_whole(store: LocalStore, tmp_path: Path) -> None:
    """Also those that could be taken for replies, and one without an end."""
    script = written(
        'print(\'\\x1e{"job": 0, "Outcome": {"kind": "failed"}}\')\n'
        "print('x' * 200_000)\n"
        "for number in range(3): print(number)\n"
        "print('the end', end='')"
    )
    pod = pods.run(store, tmp_path, job(store, script))
    assert pod.code == 0
    assert [outcome.kind for outcome in pod.outcomes] == ["done"]
    stored = b"".join(store.read_log(KEY, 1, 1)).decode()
    assert pod.log == stored
    assert pod.log.endswith("\n0\n1\n2\nthe end")


def test_a_large_log_is_handed_on_and_takes_no_memory(store: LocalStore, tmp_path: Path) -> None:
    script = written(
        "for _ in range(1000): sys.stdout.write(('y' * 99 + '\\n') * 1000)\n"
        "sys.stdout.flush()\n"
        "time.sleep(1.5)\n"
        "worker = pathlib.Path(f'/proc/{os.getppid()}/status').read_text()\n"
        "(out / 'peak.txt').write_text(worker.split('VmHWM:')[1].split()[0])"
    )
    pod = pods.run(store, tmp_path, job(store, script, outputs=("copy.txt", "peak.txt")))
    assert pod.code == 0
    assert pod.log.count("y" * 99 + "\n") == 1_000_000
    assert sum(map(len, store.read_log(KEY, 1, 1))) > 100_000_000
    assert int(output(store, pod.outcomes[0], "peak.txt")) < 64 << 10, "in KB"


def test_jobs_of_one_pod_run_in_turn_and_one_that_fails_stops_no_other(
    store: LocalStore, tmp_path: Path
) -> None:
    held = written("held = bytearray(200 << 20)\nprint('first')")
    jobs = (
        job(store, held),
        job(store, written("print('second'); sys.exit('error: no such corpus')"), key=OTHER),
        job(store, written("print('third')"), key=THIRD),
    )
    pod = pods.run(store, tmp_path, *jobs)
    assert pod.code == 1
    assert [number for number, reply in pod.replies if isinstance(reply, Outcome)] == [0, 1, 2]
    first, second, third = pod.outcomes
    assert (first.kind, second.kind, third.kind) == ("done", "failed", "done")
    assert second.log_tail.splitlines()[-2:] == ["second", "error: no such corpus"]
    said = [line for line in pod.log.splitlines() if not line.startswith("[worker]")]
    assert said == ["first", "second", "error: no such corpus", "third"]
    assert first.manifest is not None
    assert third.manifest is not None
    assert third.manifest.usage.peak_memory < 200 << 20 <= first.manifest.usage.peak_memory


def test_a_job_that_is_done_already_does_not_run_again(store: LocalStore, tmp_path: Path) -> None:
    work = job(store, COPY)
    first, second = pods.run(store, tmp_path, work), pods.run(store, tmp_path, work)
    assert first.outcomes == second.outcomes
    assert len(second.replies) == 1


def test_a_job_that_another_worker_owns_is_left_to_it(store: LocalStore, tmp_path: Path) -> None:
    with store.owners.lock(KEY, 1):
        pod = pods.run(store, tmp_path, job(store, COPY), job(store, COPY, key=OTHER))
    assert pod.code == 75
    assert pod.replies[0] == (0, Busy())
    assert pod.outcomes[0].kind == "done"


# Saves when it is told to end, as Marian does: takes its time, then ends with 0.
SAVING = """
    import os, pathlib, signal, sys, time
    sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    earlier = sorted(path.name for path in sets.iterdir())

    def save(*_):
        time.sleep(7)  # longer than a cancelled run on this machine waits
        new = sets / ".000100"
        new.mkdir()
        (new / "updates").write_text("100")
        new.rename(sets / "000100")
        sys.exit(0)

    signal.signal(signal.SIGTERM, save)
    print(os.environ["TRANSLATIONS_GRACE"], "seconds to save")
    print("training", flush=True)
    if not earlier:
        signal.pause()
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(f"from {earlier}")
"""


@pytest.mark.slow
def test_a_pod_whose_machine_goes_away_keeps_what_its_script_saves(store: LocalStore, tmp_path: Path) -> None:
    jobs = job(store, SAVING, resumable=True), job(store, COPY, key=OTHER)
    pod = start(command(store, *jobs, grace=30), tmp_path)
    before = read_until(pod, b"training\n")
    pod.send_signal(signal.SIGTERM)
    ended = pods.ended(pod, before)
    assert ended.code == 75
    assert [outcome.kind for outcome in ended.outcomes] == ["temporary", "temporary"]
    assert ended.outcomes[0].message == "stopped before its end: SIGTERM from outside"
    assert ended.outcomes[1].message == "not started: SIGTERM from outside"
    assert "12 seconds to save" in ended.log
    assert "stored checkpoint set 000100" in ended.log

    again = pods.run(store, tmp_path, job(store, SAVING, resumable=True, attempt=2))
    assert output(store, again.outcomes[0]) == "from ['000100']"


def test_a_pod_that_is_killed_leaves_no_process_and_the_next_goes_on(
    store: LocalStore, tmp_path: Path
) -> None:
    """On a node that lends the same disk to both."""
    waiting = "print('begun', flush=True)\nif not pathlib.Path('../../again').exists(): time.sleep(60)"
    pod = start(command(store, job(store, written(waiting))), tmp_path)
    before = read_until(pod, b"begun\n")
    assert processes_of(tmp_path / "scratch" / "work") != []
    pod.kill()
    assert pods.ended(pod, before).outcomes == []
    assert eventually(lambda: processes_of(tmp_path / "scratch" / "work") == [])
    (tmp_path / "scratch" / "again").touch()
    again = pods.run(store, tmp_path, job(store, written(waiting), attempt=2))
    assert again.code == 0
    assert os.listdir(tmp_path / "scratch" / "work") == []


@pytest.mark.parametrize(
    ("smi", "gpus", "visible", "message"),
    [
        ("exit 9", 1, "0", "the deployment gives the step a GPU, and none is seen on node-7"),
        ("echo '0, GPU-a, 1'", 2, "0,1", "the deployment gives the step 2 GPUs, and only 1 seen on node-7"),
        (
            "echo '0, GPU-a, 1'",
            1,
            "GPU-b",
            "the deployment gives the step a GPU, and none is seen on node-7: CUDA_VISIBLE_DEVICES is GPU-b,",
        ),
    ],
)
def test_a_gpu_that_is_given_and_not_seen_asks_for_another_attempt(
    store: LocalStore, tmp_path: Path, smi: str, gpus: int, visible: str, message: str
) -> None:
    nvidia_smi(tmp_path, smi)
    words = command(store, job(store, COPY), job(store, COPY, key=OTHER), gpus=gpus)
    outer = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": visible}
    pod = pods.ended(start(words, tmp_path, outer))
    assert pod.code == 75
    assert [outcome.kind for outcome in pod.outcomes] == ["temporary", "temporary"]
    assert all(outcome.message.startswith(message) for outcome in pod.outcomes)
    assert store.latest(KEY) is None


def test_a_script_gets_as_many_gpus_as_the_deployment_gives(store: LocalStore, tmp_path: Path) -> None:
    """Without a device plugin a container sees all GPUs of its node."""
    nvidia_smi(tmp_path, "echo '0, GPU-a, 16384'; echo '1, GPU-b, 16384'")
    names = "'CUDA_VISIBLE_DEVICES', 'TRANSLATIONS_GPUS', 'TRANSLATIONS_WORKSPACE', 'TRANSLATIONS_MEMORY'"
    script = written(f"print(*(os.environ[name] for name in ({names})), sep=' | ')")
    for gpus, expected in ((0, " |  | 512"), (1, "0 | 0 | 12288"), (2, "0,1 | 0 1 | 12288")):
        words = command(store, job(store, script, generation=gpus + 1), gpus=gpus)
        pod = pods.ended(start(words, tmp_path, {"PATH": f"{tmp_path}:{os.environ['PATH']}"}))
        assert pod.log.splitlines()[-1] == f"{expected} | {script_memory()}"
        manifest = pod.outcomes[0].manifest
        assert manifest is not None
        assert manifest.provenance.worker is not None
        assert manifest.usage.gpus == manifest.provenance.worker.gpus == gpus


DONE, FAILED, TEMPORARY = Outcome("done"), Outcome("failed"), Outcome("temporary")


@pytest.mark.parametrize(
    ("endings", "code"),
    [
        ([DONE, DONE], 0),
        ([DONE, TEMPORARY], 75),
        ([DONE, Busy()], 75),
        ([TEMPORARY, FAILED, DONE], 1),
    ],
)
def test_the_exit_code_tells_of_the_worst_end(endings: list[Outcome | Busy], code: int) -> None:
    assert exit_code(endings) == code


def test_the_last_words_fit_and_can_be_read_as_replies(tmp_path: Path) -> None:
    path = tmp_path / "termination-log"
    leave_word([FAILED], "")
    leave_word([DONE], str(path))
    assert not path.exists(), "the kubelet takes the end of the output"
    long = Outcome("failed", None, "ĉ" * 2000, "tail" * 1000)
    leave_word([DONE, Busy(), long, *(TEMPORARY, long) * 9], str(path))
    said = path.read_bytes()
    assert len(said) <= 4096
    replies = [unpack_reply(line) for line in said.splitlines()]
    short = Outcome("failed", None, "ĉ" * 1000)
    assert replies[:3] == [(1, Busy()), (2, replace(short, log_tail=long.log_tail[-1500:])), (3, TEMPORARY)]
    assert {reply for _, reply in replies[3:]} == {TEMPORARY}
