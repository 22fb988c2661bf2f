"""An attempt of a step, by real workers and real scripts: what it keeps, what it refuses, what it says."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import COPY, KEY, attempt, eventually, job, leftovers, output, run, tar, written
from translations_assets.keys.programs import program_version
from translations_assets.records.manifest import Blob, Provenance
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.machine import script_memory
from translations_assets.running.events import JobEvent, Progress, Started
from translations_assets.store.local import LocalStore


def log(store: LocalStore, attempt: int = 1) -> str:
    """The whole log of an attempt."""
    return b"".join(store.read_log(KEY, 1, attempt)).decode()


def test_a_script_runs_on_its_inputs_and_its_outputs_are_kept(runner: LocalRunner, store: LocalStore) -> None:
    text = store.add_bytes("ĉu vi parolas Esperanton?\n".encode())
    work = job(
        store,
        COPY,
        command=("--text", "in/text/mono.eo", "--output", "out"),
        inputs={"text/mono.eo": text},
        provenance=Provenance(stage="translate_corpus"),
    )
    outcome = run(runner, store, work)
    assert outcome.kind == "done"
    assert output(store, outcome) == "ĉu vi parolas Esperanton?\n"
    assert store.latest(KEY) == outcome.manifest
    assert outcome.manifest is not None
    assert outcome.manifest.outputs["copy.txt"] == text
    assert outcome.manifest.provenance.stage == "translate_corpus"
    assert outcome.manifest.provenance.worker is not None
    assert outcome.manifest.provenance.worker.threads == 1
    assert (outcome.manifest.label, outcome.manifest.attempt) == ("copy-en", 1)


def test_the_log_is_whole_before_the_step_counts_as_finished(runner: LocalRunner, store: LocalStore) -> None:
    """A worker that is killed in between leaves a step without a result, and none whose log lacks its end."""
    outcome = run(runner, store, job(store, written("print('the last words')")))
    assert outcome.kind == "done"
    assert "the last words" in log(store)
    parts = [path.stat().st_mtime_ns for path in store.log_folder(KEY, 1, 1).iterdir()]
    assert max(parts) <= store.manifest_file(KEY, 1).stat().st_mtime_ns


@pytest.mark.parametrize(("worker", "share"), [("cpu", 4), ("large-cpu", 1)])
def test_steps_share_the_memory_of_the_machine_as_they_do_its_cpus(
    store: LocalStore, tmp_path: Path, worker: str, share: int
) -> None:
    runner = LocalRunner(tmp_path / "state", cpus=4, gpus=[])
    outcome = run(
        runner, store, job(store, written("print(os.environ['TRANSLATIONS_MEMORY'])"), worker=worker)
    )
    assert outcome.kind == "done"
    granted = next(int(line) for line in log(store).splitlines() if line.isdecimal())
    assert granted == pytest.approx(script_memory() / share, rel=0.01)


def test_nothing_is_left_behind(runner: LocalRunner, store: LocalStore) -> None:
    run(runner, store, job(store, COPY))
    assert leftovers(store.root) == []


def test_a_finished_step_does_not_run_again(runner: LocalRunner, store: LocalStore, tmp_path: Path) -> None:
    work = job(store, written(f"pathlib.Path({str(tmp_path / 'ran')!r}).open('a').write('x')"))
    first, second = run(runner, store, work), run(runner, store, work)
    assert first == second
    assert (tmp_path / "ran").read_text() == "x"


def test_a_step_does_not_run_with_another_version_of_a_program(
    runner: LocalRunner, store: LocalStore
) -> None:
    outcome = run(runner, store, job(store, COPY, programs={"sh-of-old": "1.0"}))
    assert outcome.kind == "failed"
    assert "sh-of-old 1.0, and here it is not installed" in outcome.message
    assert run(runner, store, job(store, COPY, programs={"sed": program_version("sed")})).kind == "done"


def test_a_missing_and_an_empty_output_are_named(runner: LocalRunner, store: LocalStore) -> None:
    work = job(store, written("(out / 'b.txt').touch()"), outputs=("a.txt", "b.txt", "copy.txt"))
    outcome = run(runner, store, work)
    assert outcome.kind == "failed"
    assert "a.txt is missing, b.txt is empty" in outcome.message
    assert "copy.txt" not in outcome.message
    assert store.latest(KEY) is None


def test_undeclared_outputs_are_logged_and_not_kept(runner: LocalRunner, store: LocalStore) -> None:
    outcome = run(runner, store, job(store, written("(out / 'more.txt').write_text('x')")))
    assert outcome.manifest is not None
    assert set(outcome.manifest.outputs) == {"copy.txt"}
    assert "out/more.txt is no declared output" in log(store)


def test_a_failing_script_shows_the_end_of_its_log(runner: LocalRunner, store: LocalStore) -> None:
    work = job(store, written("for n in range(50): print('line', n)\nsys.exit('error: no such corpus')"))
    outcome = run(runner, store, work)
    assert outcome.kind == "failed"
    assert outcome.message == "pipeline.script ended with exit code 1"
    assert outcome.log_tail.splitlines()[-2:] == ["line 49", "error: no such corpus"]
    assert len(outcome.log_tail.splitlines()) == 20
    assert "line 0\n" in log(store)


def test_exit_code_75_asks_for_another_attempt(runner: LocalRunner, store: LocalStore) -> None:
    outcome = run(runner, store, job(store, written("print('the network is away'); sys.exit(75)")))
    assert outcome.kind == "temporary"
    assert "75" in outcome.message
    assert outcome.log_tail.endswith("the network is away")


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit(137)"])
def test_a_script_that_is_killed_may_have_needed_more_memory(
    runner: LocalRunner, store: LocalStore, end: str
) -> None:
    outcome = run(runner, store, job(store, written(f"held = bytearray(200 << 20)\n{end}")))
    assert outcome.kind == "temporary"
    assert "SIGKILL" in outcome.message
    assert "memory" in outcome.message
    peak = float(outcome.message.split("peak was ")[1].split()[0])
    assert 0.19 < peak < 1.0


def test_a_script_that_the_kernel_killed_for_its_memory_is_told(
    runner: LocalRunner, store: LocalStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The worker finds a `sitecustomize` that puts a folder in place of its control group."""
    (tmp_path / "memory.max").write_text(str(2 << 30))
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib\n"
        "read = pathlib.Path.read_text\n"
        "def read_ours(path, *options):\n"
        f"    ours = pathlib.Path({str(tmp_path)!r}, path.name)\n"
        "    return read(ours if str(path).startswith('/sys/fs/cgroup/') else path, *options)\n"
        "pathlib.Path.read_text = read_ours\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    killed = (
        f"pathlib.Path({str(tmp_path)!r}, 'memory.events').write_text('oom_kill 1')\nos.kill(os.getpid(), 9)"
    )
    outcome = run(runner, store, job(store, written(killed)))
    assert outcome.kind == "temporary"
    assert outcome.message.startswith("out of memory: the step's peak was 0.")
    assert outcome.message.endswith(" GiB of the 2.00 GiB that it may use; its worker class needs more")


def test_a_crash_is_the_scripts_own_fault(runner: LocalRunner, store: LocalStore) -> None:
    outcome = run(runner, store, job(store, written("os.abort()")))
    assert outcome.kind == "failed"
    assert "signal 6" in outcome.message


CHANGES = {
    "written in place": "path.chmod(0o644); path.write_text('other words')",
    "same size": "path.chmod(0o644); path.write_text('A TEXT')",
    "replaced": "path.unlink(); path.write_text('other words')",
    "removed": "path.unlink()",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_script_that_changes_its_input_fails(runner: LocalRunner, store: LocalStore, change: str) -> None:
    text = store.add_bytes(b"a text")
    script = written(f"path = pathlib.Path('in/text/mono.en')\n{change}")
    outcome = run(runner, store, job(store, script, inputs={"text/mono.en": text}))
    assert outcome.kind == "failed"
    assert "changed its input in/text/mono.en" in outcome.message
    assert store.latest(KEY) is None
    if store.has_blob(text):  # else the change went through the hard link, was found, and put aside
        assert store.read_blob(text) == b"a text"
    assert store.read_blob(store.add_bytes(b"a text")) == b"a text"


def test_an_input_that_somebody_stores_again_meanwhile_is_not_changed(
    runner: LocalRunner, store: LocalStore
) -> None:
    """Storing equal contents touches the blob, to which the input is a hard link."""
    text = store.add_bytes(b"a text")
    script = written("os.utime('in/text/mono.en')")
    assert run(runner, store, job(store, script, inputs={"text/mono.en": text})).kind == "done"


def test_a_damaged_input_is_named_and_never_used(runner: LocalRunner, store: LocalStore) -> None:
    text = store.add_bytes(b"a text")
    path = store.root / "blobs" / text.digest[:2] / text.digest
    path.chmod(0o644)
    path.write_bytes(b"a TEXT")
    outcome = run(runner, store, job(store, COPY, inputs={"text/mono.en": text}))
    assert outcome.kind == "failed"
    assert text.digest in outcome.message
    assert not store.has_blob(text)


def test_an_input_cannot_be_placed_outside(runner: LocalRunner, store: LocalStore) -> None:
    text = store.add_bytes(b"a text")
    outcome = run(runner, store, job(store, COPY, inputs={"../../outside": text}))
    assert outcome.kind != "done"
    assert "outside" in outcome.message
    assert not list(store.root.rglob("outside"))


def test_a_bundle_cannot_write_outside(runner: LocalRunner, store: LocalStore) -> None:
    outcome = run(runner, store, job(store, COPY, bundle=store.add_bytes(tar({"../outside.py": ""}))))
    assert outcome.kind != "done"
    assert "../outside.py" in outcome.message
    assert not list(store.root.rglob("outside.py"))


def test_events_tell_of_the_start_and_of_live_numbers(runner: LocalRunner, store: LocalStore) -> None:
    script = written(
        "with open(os.environ['TRANSLATIONS_PROGRESS'], 'a') as live:\n"
        "    for line in ('{\"update\": 1}', 'no number', '{\"update\": 2}'):\n"
        "        print(line, file=live, flush=True)\n"
        "        time.sleep(0.1)"
    )
    events: list[JobEvent] = []
    work = job(store, script)
    assert attempt(runner, work, store, threading.Event(), events.append).kind == "done"
    started, *told = events
    assert isinstance(started, Started)
    assert started.threads == 1
    assert told == [Progress({"update": 1}), Progress({"update": 2})]


def test_the_log_is_stored_while_the_script_runs(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    script = written(
        "print('x' * 79, flush=True)\nfor _ in range(30_000): print('y' * 79)\nsys.stdout.flush()\n"
        f"while not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.05)"
    )
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(run, runner, store, job(store, script))
        seen = eventually(lambda: any(store.read_log(KEY, 1, 1)))
        assert not outcome.done()
        (tmp_path / "go").touch()
        assert outcome.result(PATIENCE).kind == "done"
    assert seen, "no part was stored while the script ran"
    parts = list(store.read_log(KEY, 1, 1))
    assert max(map(len, parts)) <= 1 << 20
    assert b"".join(parts).count(b"y" * 79) == 30_000


def test_what_a_step_used_is_measured(runner: LocalRunner, store: LocalStore) -> None:
    script = written(
        "import subprocess\n"
        "subprocess.run([sys.executable, '-c', 'import time; b = bytearray(150 << 20); time.sleep(1.5)'])\n"
        "start = time.process_time()\n"
        "while time.process_time() - start < 0.5: pass\n"
        "(out / 'big').write_bytes(bytes(3 << 20))"
    )
    outcome = run(runner, store, job(store, script))
    assert outcome.manifest is not None
    used = outcome.manifest.usage
    assert used.seconds >= 2.0
    assert 0.5 <= used.cpu_seconds < used.seconds
    assert 150 << 20 <= used.peak_memory < 600 << 20
    assert 3 << 20 <= used.disk < 4 << 20
    assert outcome.manifest.started <= outcome.manifest.ended <= time.time()


def test_what_earlier_attempts_took_is_kept_with_the_result(runner: LocalRunner, store: LocalStore) -> None:
    for earlier, seconds in ((1, 3600), (2, 1800)):
        for part in range(3):
            store.append_log(KEY, 1, earlier, part, b"update\n")
        os.utime(store.log_folder(KEY, 1, earlier) / "0", (1e9, 1e9))
        os.utime(store.log_folder(KEY, 1, earlier) / "2", (1e9 + seconds, 1e9 + seconds))
    outcome = run(runner, store, replace(job(store, written("print('hello')")), attempt=3))
    assert outcome.manifest is not None
    usage = outcome.manifest.usage
    assert usage.earlier_seconds == 5400
    assert usage.all_seconds == usage.seconds + 5400


def test_a_log_that_another_run_began_is_continued(runner: LocalRunner, store: LocalStore) -> None:
    store.append_log(KEY, 1, 1, 0, b"of a worker that was killed\n")
    run(runner, store, job(store, written("print('hello')")))
    assert log(store).startswith("of a worker that was killed\n")
    assert "hello" in log(store)


def test_children_that_outlive_their_script_are_ended_before_outputs_are_taken(
    runner: LocalRunner, store: LocalStore
) -> None:
    """One in the script's own process group, one that left it."""
    writing = "import time\nwhile True:\n    open('out/copy.txt', 'a').write('x')\n    time.sleep(0.01)\n"
    script = written(
        "import subprocess\n"
        f"group = subprocess.Popen([sys.executable, '-c', {writing!r}])\n"
        f"away = subprocess.Popen([sys.executable, '-c', {writing!r}], start_new_session=True)\n"
        "(out / 'pids').write_text(f'{group.pid} {away.pid}')\n"
        "time.sleep(0.5)"
    )
    outcome = run(runner, store, job(store, script, outputs=("copy.txt", "pids")))
    for pid in output(store, outcome, "pids").split():
        assert not os.path.exists(f"/proc/{pid}")
    assert outcome.manifest is not None
    stored = outcome.manifest.outputs["copy.txt"]
    assert len(store.read_blob(stored)) == stored.size


RESUMING = """
    import os, pathlib, sys
    sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    earlier = sorted(path.name for path in sets.iterdir())
    updates = int((sets / earlier[-1] / "updates").read_text()) if earlier else 0
    for _ in range(3):
        updates += 100
        new = sets / f".{updates:06}"
        new.mkdir()
        (new / "updates").write_text(str(updates))
        new.rename(sets / f"{updates:06}")
    if updates < 600:
        sys.exit(75)
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(f"{updates} after {earlier}")
"""


def test_an_interrupted_step_goes_on_from_its_checkpoint_sets(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    work = job(store, RESUMING, resumable=True)
    assert run(runner, store, work).kind == "temporary"
    (tmp_path / "placed").mkdir()
    assert store.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000200", "000300"]
    outcome = run(runner, store, job(store, RESUMING, resumable=True, attempt=2))
    assert output(store, outcome) == "600 after ['000200', '000300']"
    assert "continues from checkpoint sets 000200, 000300" in log(store, attempt=2)
    assert store.place_checkpoints(KEY, 1, tmp_path / "placed") == [], "a finished step needs none"


def test_checkpoint_sets_are_stored_while_the_script_runs(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    stored = store.root / "checkpoints" / KEY / "1" / "000100" / "set.json"
    script = f"""
    import os, pathlib, signal, time
    sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    (sets / ".half").mkdir()
    (sets / "000100").mkdir()
    (sets / "000100" / "model.npz").write_text("m")
    while not os.path.exists({str(stored)!r}):
        time.sleep(0.1)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
    """
    outcome = run(runner, store, job(store, script, resumable=True))
    assert outcome.kind == "temporary"
    assert "killed" in outcome.message
    assert store.place_checkpoints(KEY, 1, tmp_path) == ["000100"]


def test_a_store_that_cannot_be_written_is_temporary_and_breaks_nothing(
    runner: LocalRunner, store: LocalStore
) -> None:
    """The store's blobs folder gives way to a file while the script runs."""
    script = written("os.rename('../../blobs', '../../kept'); open('../../blobs', 'w').close()")
    outcome = run(runner, store, job(store, script))
    assert outcome.kind == "temporary"
    assert str(store.root / "blobs") in outcome.message
    assert store.latest(KEY) is None
    (store.root / "blobs").unlink()
    (store.root / "kept").rename(store.root / "blobs")
    assert run(runner, store, job(store, COPY)).kind == "done"


def test_a_disk_that_is_full_during_the_commit_is_temporary(
    runner: LocalRunner, store: LocalStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The worker finds a `sitecustomize` that lets every blob's link fail as on a full disk."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "sitecustomize.py").write_text(
        "import errno, os\n"
        "link = os.link\n"
        "def full(source, target, **options):\n"
        "    if 'steps' in str(target):\n"
        "        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "    return link(source, target, **options)\n"
        "os.link = full\n"
    )
    work = job(store, COPY)
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path / "full"))
        outcome = run(runner, store, work)
    assert outcome.kind == "temporary"
    assert "No space left" in outcome.message
    assert "Free some space" in outcome.message
    assert store.latest(KEY) is None
    assert list((store.root / "tmp").iterdir()) == []
    assert run(runner, store, work).kind == "done"


@pytest.mark.parametrize("code", [1, 75])
def test_a_disk_that_was_full_for_the_script_is_temporary_and_named(
    runner: LocalRunner, store: LocalStore, code: int
) -> None:
    """Whatever room there is when the script has tidied up behind itself."""
    script = written(f"print('error: No space left on device')\nsys.exit({code})")
    outcome = run(runner, store, job(store, script))
    assert outcome.kind == "temporary"
    assert outcome.message == f"no space left in {store.root / 'work'} (exit code {code}): free some"


def test_a_lost_bundle_is_named(runner: LocalRunner, store: LocalStore) -> None:
    lost = Blob("12" * 32, 10)
    outcome = run(runner, store, job(store, COPY, bundle=lost))
    assert outcome.kind == "failed"
    assert lost.digest in outcome.message
