"""A run of short made-up steps, in a process of its own that can be killed: on Slurm, or on this machine.

    python -m tests.slurm.orchestrator FOLDER

FOLDER has `settings.json`: those of Slurm, empty for this machine. It gets the store. Where it has a
`deployment.yml`, that of Kubernetes, steps run there, with their results in its bucket. Events and logs are
written to standard output, and what the run has cost at its end. Ends with exit code 3 when a step fails.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from translations_assets.common.errors import StepFailed
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Slurm, load_deployment
from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step, WorkerClass
from translations_assets.keys.key import KeyMaker
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.slurm.runner import SlurmRunner
from translations_assets.running.engine import Engine
from translations_assets.running.events import StepEvent
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Runner
from translations_assets.running.session import Session
from translations_assets.store.local import LocalStore
from translations_assets.store.open import open_store

FAILED = 3
CONFIG = """\
experiment: {name: small, src: en, trg: ru}
datasets: {train: [opus_ParaCrawl/v9], devtest: [flores_dev], test: [flores_devtest]}
"""
WAIT = """\
import argparse
import hashlib
import pathlib
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--number")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--texts", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        print("working", options.number, flush=True)
        time.sleep(0.5)
    made = hashlib.sha256(options.number.encode())
    for path in options.texts:
        made.update(path.read_bytes())
    options.output.mkdir()
    (options.output / "text.txt").write_text(made.hexdigest())


if __name__ == "__main__":
    main()
"""
FILES = {
    "pipeline/__init__.py": '"""Scripts."""\n',
    "pipeline/wait.py": WAIT,
    "requirements/main.lock": "",
}
LONG_CLASS: WorkerClass = "large-cpu"  # of steps that last long enough to reach a time limit
_ATTEMPTS = 60  # as a step may be disturbed so often
_LONG_SECONDS = 45


def make_graph(texts: int, longs: int, pace: float = 1.0) -> Graph:
    """Steps of a second or a few, each of which half of the next stage's read; and some long ones.

    pace  by which their times are multiplied
    """

    def made(number: int, stage: str, seconds: float, *before: Step, worker: WorkerClass = "cpu") -> Step:
        return Step(
            "pipeline.wait",
            f"{stage}-{number}",
            stage,
            {"number": str(number), "seconds": pace * seconds},
            {"texts": [step["text.txt"] for step in before]} if before else {},
            ("text.txt",),
            worker=worker,
            resumable=True,
            attempts=_ATTEMPTS,
        )

    first = tuple(made(number, "texts", 1 + number % 5) for number in range(texts))
    pairs = zip(first[::2], first[1::2], strict=True)
    joined = tuple(made(number, "joined", 1 + number % 3, *pair) for number, pair in enumerate(pairs))
    long = tuple(made(number, "long", _LONG_SECONDS, worker=LONG_CLASS) for number in range(longs))
    last = made(0, "last", 1, *joined, *long)
    stages = {"texts": first, "joined": joined, "long": long, "last": (last,)}
    return Graph(stages, {"joined": ("texts",), "last": ("joined", "long")})


def write_settings(folder: Path, settings: Slurm | None, texts: int, longs: int, pace: float = 1.0) -> None:
    """Write what a run in a folder is asked for, and the scripts of its steps."""
    values = {
        "slurm": settings.model_dump_json() if settings else "",
        "texts": texts,
        "longs": longs,
        "pace": pace,
    }
    for name, text in {**FILES, "settings.json": json.dumps(values)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _listen(event: StepEvent) -> None:
    _say(f"{event.step.label} {event.what.kind}: {getattr(event.what, 'message', '')}")


def _take_line(label: str, line: bytes) -> None:
    _say(f"{label}| {line.decode(errors='replace')}")


def main(folder: Path) -> int:
    """Make all steps; return the exit code."""
    values = json.loads((folder / "settings.json").read_text())
    graph = make_graph(values["texts"], values["longs"], values.get("pace", 1.0))
    config = parse_config(CONFIG, "small.yml")
    store, runner = _store_and_runner(folder, values["slurm"])
    run, used = f"run-{time.time_ns()}", time.process_time()
    session = Session(run, "en-ru.small", "test", lambda: config, graph, store, KeyMaker(folder))
    try:
        Engine(store, runner).run(session, graph.steps, threading.Event(), _listen)
    except StepFailed as error:
        _say(f"the run failed: {error}")
        return FAILED
    finally:
        session.end()
    commands = runner.commands.counts if isinstance(runner, SlurmRunner) else {}
    _say(json.dumps({"cpu": time.process_time() - used, "commands": commands}))
    return 0


def _store_and_runner(folder: Path, slurm: str) -> tuple[Store, Runner]:
    if (path := folder / "deployment.yml").exists():
        deployment = load_deployment(path)
        assert deployment.kubernetes is not None
        kubeconfig = Path(os.environ["KUBECONFIG"])
        runner = KubernetesRunner(deployment.kubernetes, repository_root(), kubeconfig, _take_line)
        assert deployment.store is not None
        return open_store(deployment.store), runner
    store = LocalStore(folder / "state" / "store")
    if slurm:
        return store, SlurmRunner(Slurm.model_validate_json(slurm, by_name=True), _take_line)
    return store, LocalRunner(folder / "state" / "runner", gpus=[])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
