"""Steps on a Kubernetes cluster, results in a bucket: is all the same, how fast, what survives disturbances.

The API server is a real one when KUBE_BINARIES names a folder with its programs, else a fake; nodes run pods
as local processes; the bucket is that of an emulator. Ends with exit code 1 when something is wrong.

    python -m benchmarks.cluster --only tiny
    python -m benchmarks.cluster --only chaos --chaos 100
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import psutil

from tests.end_to_end.chaos import EVENTS, Chaos
from tests.end_to_end.evidence import digests, newest, unequal
from tests.end_to_end.kills import repeatable_labels
from tests.end_to_end.on_cluster import Site
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.kube.cluster import Cluster, best_kind
from tests.runners.scripts import COPY, attempt, job, written
from tests.store.gcs_server import BUCKET, GcsServer, serve

PARTS = ("tiny", "chunks", "log", "chaos")
CHUNKS, MOST_JOBS = 200, 2
LOG_BYTES, LINE_BYTES, BYTES_PER_SECOND = 100_000_000, 500, 5_000_000


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="which part; all by default")
    parser.add_argument("--chaos", type=int, default=20, help="how many disturbances")
    parser.add_argument("--seed", type=int, default=1, help="of what happens when, and to which pod")
    parser.add_argument("--target", default="all", help="the last stage to make")
    options = parser.parse_args()
    parts = options.only or PARTS
    logging.getLogger("api.object").setLevel(logging.CRITICAL)  # the emulator tells of every miss
    print(f"API server: {best_kind()}", flush=True)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as name, cluster_and_bucket() as site:
        folder = Path(name)
        if "tiny" in parts:
            problems += tiny(site(), folder, options.target)
        if "chunks" in parts:
            problems += chunks(site())
        if "log" in parts:
            problems += log(site(), folder)
        if "chaos" in parts:
            problems += chaos(site, folder, options.chaos, options.seed, options.target)
    print(f"problems: {len(problems)} (bar: 0)", *problems, sep="\n  ")
    sys.exit(bool(problems))


class Sites:
    """New namespaces of one cluster, with one bucket."""

    def __init__(self, cluster: Cluster, bucket: GcsServer) -> None:
        self._cluster, self._bucket = cluster, bucket

    def __call__(self) -> Site:
        """A new one."""
        return Site(self._cluster, self._cluster.make_namespace(), self._bucket)


@contextmanager
def cluster_and_bucket() -> Iterator[Sites]:
    """A cluster and a bucket, until the end of the block."""
    cluster = Cluster(best_kind())
    try:
        with serve(BUCKET) as bucket:
            os.environ["STORAGE_EMULATOR_HOST"] = bucket.url
            yield Sites(cluster, bucket)
    finally:
        cluster.close()


def tiny(site: Site, folder: Path, target: str) -> list[str]:
    """The tiny pair on the cluster, once more, and all that is repeatable on this machine."""
    place = site.make_place(folder / "cluster")
    seconds, jobs, problems = train(place, site, target)
    print(f"tiny pair on the cluster: {seconds:.0f} s, {jobs} jobs", flush=True)
    if problems:
        return problems
    seconds, jobs, problems = train(place, site, target)
    print(f"again, everything cached: {jobs} jobs (bar: 0), {seconds:.1f} s (bar: 15 s)", flush=True)
    other = without_repeatable(place, folder / "here")
    done = other.run("translations", "train", PARTITION, "--yes", "--target", target)
    if done.returncode:
        return [f"the local run failed: {done.stderr[-2000:]}"]
    one, two = digests(place), digests(other)
    labels = [label for label in repeatable_labels(place) if label in one]
    different = unequal(one, two, labels)
    print(
        f"repeatable steps with the digests of a local run: {len(labels) - len(different)} of {len(labels)}"
    )
    return problems + [f"{label} has other bytes" for label in different] + ["a job"] * jobs


def train(place: Place, site: Site, target: str) -> tuple[float, int, list[str]]:
    """Seconds and jobs of a run, and what went wrong."""
    with site.census() as census:
        began = time.perf_counter()
        done = place.run("translations", "train", PARTITION, "--yes", "--target", target)
        seconds = time.perf_counter() - began
        problems = [f"the run failed: {done.stdout[-1500:]}{done.stderr[-1500:]}"] if done.returncode else []
        return seconds, len(census.names), problems


def without_repeatable(place: Place, root: Path) -> Place:
    """A place on this machine that has of another's results those that cannot be repeated byte by byte."""
    here, repeatable = make_place(root), set(repeatable_labels(place))
    (root / "configs" / f"{PARTITION}.yml").write_bytes(
        (place.root / "configs" / f"{PARTITION}.yml").read_bytes()
    )
    for label, manifest in newest(place).items():
        if label not in repeatable:
            for blob in manifest.outputs.values():
                here.store.add_bytes(place.store.read_blob(blob))
            here.store.commit(manifest)
    return here


def chunks(site: Site) -> list[str]:
    """A stage of many tiny steps that share pods."""
    classes = site.deployment()["kubernetes"]["worker-classes"]
    classes["cpu"] |= {"steps-per-pod": CHUNKS // (2 * MOST_JOBS), "max-jobs": MOST_JOBS}
    orchestrator = site.orchestrator(**{"worker-classes": classes})
    jobs = [
        job(site.store, COPY, key=f"{number:064x}", label=f"chunk-{number}", stage="split")
        for number in range(CHUNKS)
    ]
    with site.census() as census, ThreadPoolExecutor(64) as pool:
        began = time.perf_counter()
        outcomes = list(pool.map(lambda work: orchestrator.start(work).outcome(300), jobs))
        seconds = time.perf_counter() - began
        print(
            f"a stage of {CHUNKS} steps: {seconds:.1f} s (bar: 60 s), {len(census.names)} jobs, at most "
            f"{census.most} at once (bar: {MOST_JOBS})",
            flush=True,
        )
    orchestrator.close()
    problems = [outcome.message for outcome in outcomes if outcome.kind != "done"]
    return problems + (["too many jobs at once"] if census.most > MOST_JOBS else [])


def log(site: Site, folder: Path) -> list[str]:
    """A pod that writes a long log, followed by a process of its own."""
    settings = site.write_deployment(folder / "deployment.yml")
    os.environ |= settings
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        size, delay, growth, kind = pool.submit(follow, site.namespace, site.url).result(600)
    print(
        f"{size / 1e6:.0f} MB of log from one pod: {delay:.1f} s from written to shown at most (bar: 10 s), "
        f"memory grew by {growth / 1e6:.0f} MB",
        flush=True,
    )
    return [] if kind == "done" else [f"the step that writes a long log: {kind}"]


def follow(namespace: str, store_url: str) -> tuple[int, float, int, str]:
    """Bytes of log, the longest delay of a line, growth of this process's memory, how the step ended."""
    import threading

    from tests.end_to_end.on_cluster import ROOT
    from translations_assets.config.deployment import load_deployment
    from translations_assets.runners.kubernetes.runner import KubernetesRunner
    from translations_assets.store.open import open_store

    delays, sizes, memory = [0.0], [0], list[int]()
    process = psutil.Process()

    def take(_label: str, line: bytes) -> None:
        head, _, _ = line.partition(b" x")
        sizes[0] += len(line) + 1
        if head.startswith(b"at "):
            delays[0] = max(delays[0], time.time() - float(head[3:]))
        if sizes[0] // 1_000_000 > len(memory):
            memory.append(process.memory_info().rss)

    deployment = load_deployment(Path(os.environ["TRANSLATIONS_DEPLOYMENT"]))
    assert deployment.kubernetes is not None
    store, runner = open_store(store_url), KubernetesRunner(deployment.kubernetes, ROOT, sink=take)
    script = written(f"""
began, written = time.time(), 0
while written < {LOG_BYTES}:
    now = time.time()
    if written / {BYTES_PER_SECOND} > now - began:
        time.sleep(0.01)
        continue
    line = f"at {{now}} ".ljust({LINE_BYTES - 1}, "x")
    print(line)
    written += len(line) + 1
""")
    outcome = attempt(runner, job(store, script), store, threading.Event(), lambda event: None)
    return sizes[0], delays[0], max(memory[5:]) - memory[4], outcome.message or outcome.kind


def chaos(sites: Sites, folder: Path, times: int, seed: int, target: str) -> list[str]:
    """Disturbances of runs of the tiny pair, each run in a new store, until there were enough."""
    chance, events, rounds, began = random.Random(seed), cycle(EVENTS), list[Chaos](), time.monotonic()
    left = times
    while left > 0:
        place = sites().make_place(folder / f"chaos-{len(rounds) + 1}")
        one = Chaos(place, target, chance, events)
        left -= one.run(left)
        rounds.append(one)
        print(f"run {len(rounds)}: {one.happened.total()} disturbances, {one.starts} starts", flush=True)
        if one.problems:
            break
    happened = sum((one.happened for one in rounds), Counter[str]())
    kinds = ", ".join(f"{kind} {happened[kind]}" for kind in EVENTS)
    seconds = time.monotonic() - began
    print(f"disturbed {happened.total()} times ({kinds}) in {len(rounds)} runs, {seconds:.0f} s")
    print(f"runs that ended as a step had used up its attempts: {sum(one.gave_up for one in rounds)}")
    return [problem for one in rounds for problem in one.problems]


if __name__ == "__main__":
    main()
