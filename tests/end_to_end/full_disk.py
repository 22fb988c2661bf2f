"""A step on a disk with too little room: for the run's record, for the script, for the commit alone.

    unshare --user --map-root-user --mount python -m tests.end_to_end.full_disk FOLDER

In a mount namespace of its own, where everybody may mount a disk in memory. Prints a JSON object a line, as
`Told`, for each attempt.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.end_to_end.defects import fill, mount, variant
from tests.end_to_end.evidence import defects, newest, scratch, store_folder
from tests.end_to_end.tiny import Place, make_place
from translations_assets.common.errors import TranslationsError
from translations_assets.graph.graph import Graph
from translations_assets.project import Project
from translations_assets.running.session import Session

PAGE = 4096  # what a file takes at least
MOST = 512  # pages that are room enough
PARTITION = "en-eo.disk"
COMMIT = re.compile(r"could not write \S+/store/steps/")
STAGE = "dataset_devtest"  # its script needs no room that it gives back, so the commit may be what lacks it


@dataclass(frozen=True)
class Told:
    """Result of the step with so many free pages: the error (none: it was made), the state of the store."""

    free: int
    error: str
    defects: list[str]
    left: list[str]
    finished: list[str]


def main() -> None:
    """Make a disk, and run one step on it with little room and with enough."""
    place = make_place(Path(sys.argv[1]))
    variant(
        place, PARTITION, (f'devtest: ["url_file://{place.root}/data/dev.[LANG].gz"]', "devtest: [demo_dev]")
    )
    os.environ.update(place.environment)
    state = place.root / "state"
    state.mkdir()
    if problem := mount(state, "size=32m"):
        sys.exit(f"no disk can be mounted: {problem}")
    assert run_stage("dataset_test", "first") == ""  # makes the store
    for told in with_little_room(place):
        print(json.dumps(asdict(told)), flush=True)


def with_little_room(place: Place) -> Iterator[Told]:
    """With no room at all, and with a half of what is between too little and enough, again and again.

    So it comes to where the commit alone lacks a page. That moves a little with the time that the script
    takes (its log is stored meanwhile): numbers around it are tried until it was seen. At last with enough.
    """
    yield attempt(place, 0)
    low, high = 0, MOST
    while high - low > 1:
        told = attempt(place, (low + high) // 2)
        low, high = (told.free, high) if told.error else (low, told.free)
        yield told
    for free in (low, high, low - 1, high + 1) * 3:
        if COMMIT.search(told.error):
            break
        told = attempt(place, free)
        yield told
    yield attempt(place, MOST)


def attempt(place: Place, free: int) -> Told:
    """Run the step, which has no result, with so many free pages on the disk."""
    unmake(place)
    filler = fill(place.root / "state", free * PAGE)
    error = run_stage(STAGE, f"{free}-pages")
    left = sorted(scratch(place))
    filler.unlink()
    return Told(free, error, defects(place), left, sorted(newest(place)))


def unmake(place: Place) -> None:
    """Forget the step's result, if it has one."""
    for label, manifest in newest(place).items():
        if label.startswith("dataset-devtest"):
            shutil.rmtree(store_folder(place) / "steps" / manifest.key[:2] / manifest.key)


def run_stage(stage: str, run: str) -> str:
    """Make a stage, each step by one attempt; the error, empty when it worked."""
    project = Project()
    read = project.configs.read(PARTITION)
    graph = with_one_attempt(read.graph, stage)
    session = Session(run, PARTITION, "test", lambda: read.config, graph, project.store, project.keys)
    try:
        project.engine.run(session, graph.stages[stage], threading.Event(), lambda event: None)
    except TranslationsError as error:
        return str(error)
    return ""


def with_one_attempt(graph: Graph, stage: str) -> Graph:
    """The graph with a stage whose steps are not tried again; nothing is made from them here."""
    once = tuple(replace(step, attempts=1) for step in graph.stages[stage])
    return Graph({**graph.stages, stage: once}, graph.upstream)


if __name__ == "__main__":
    main()
