"""Runs of the tiny pair with something wrong in them: variants of its config, what ran, what was told."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from pipeline.common.lines import write_lines
from tests.end_to_end.tiny import PARTITION, Place, sentences
from translations_assets.config.load import load_config
from translations_assets.graph.stage import build_graph
from translations_assets.stages import STAGES
from translations_assets.store.local import LocalStore

Done = CompletedProcess[str]


def variant(place: Place, partition: str, *changes: tuple[str, str]) -> str:
    """Write a config like that of the tiny pair, but for some texts; its partition."""
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (place.root / "configs" / f"{partition}.yml").write_text(text, encoding="utf-8")
    return partition


def url(place: Place, name: str) -> str:
    """The dataset of a name: that of the tiny pair's config, wherever it stands, or in the data folder."""
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text(encoding="utf-8")
    named = re.search(rf'url_file://[^"]+/{name}\.\[LANG\]\.gz', text)
    return named[0] if named else f"url_file://{place.root / 'data'}/{name}.[LANG].gz"


def write_pairs(place: Place, name: str, lines: slice = slice(400)) -> None:
    """Write a corpus of good sentences into the data folder."""
    pairs = sentences()[lines]
    write_lines(place.root / "data" / f"{name}.en.gz", [english for english, _ in pairs])
    write_lines(place.root / "data" / f"{name}.eo.gz", [esperanto for _, esperanto in pairs])


def label_of(place: Place, partition: str, stage: str, dataset: str) -> str:
    """The label of a stage's step for the dataset whose key holds a text."""
    graph = build_graph(load_config(place.root / "configs" / f"{partition}.yml"), STAGES)
    found = [step.label for step in graph.stages[stage] if dataset in str(dict(step.args).get("dataset"))]
    assert len(found) == 1, found
    return found[0]


def train(place: Place, partition: str, target: str, **environment: str) -> Done:
    """Run `translations train` up to a stage."""
    return place.run("translations", "train", partition, "--yes", "--target", target, **environment)


def ended(done: Done, how: str = "done") -> set[str]:
    """The labels of the steps that the run made (`done`), or that `failed`."""
    return set(re.findall(rf"^\[ *\d+/\d+\] (\S+) {how} after", done.stdout, re.MULTILINE))


def told(done: Done) -> dict[str, list[str]]:
    """Failed step → the errors that its script told of."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"^The step ", done.stderr, flags=re.MULTILINE)[1:]:
        label, _, error = block.partition("\n")[0].partition(" failed: ")
        found[label] = [error]
    return found


def read_json(place: Place, partition: str, label: str, name: str) -> Any:
    """A JSON file that a step has made, copied out of the store by the command for it."""
    folder = place.root / "copies" / label
    done = place.run("translations", "artifacts", partition, label, "--download", str(folder))
    assert done.returncode == 0, done.stderr
    return json.loads((folder / name).read_text(encoding="utf-8"))


def assert_readable(done: Done) -> None:
    """Check the output of a failed run: no traceback, no doubled word, a remedy at its end."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "error: error" not in done.stderr
    assert re.search(r"^error: The run failed\. To see its steps: translations ", done.stderr, re.MULTILINE)


def assert_whole(place: Place) -> int:
    """Read every result in the place's store again, digests verified; how many steps there are."""
    store = LocalStore(place.root / "state" / "store")
    made = list(store.manifests())
    for manifest in made:
        for blob in (*manifest.outputs.values(), manifest.bundle):
            store.read_blob(blob)
    left = [path.name for name in ("tmp", "work") for path in (store.root / name).glob("*")]
    assert left == []
    assert not (store.root / "quarantine").exists()
    return len(made)


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """A server of a folder on this machine; its URL."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def mount(folder: Path, options: str, *more: str) -> str:
    """Mount a disk in memory, or mount it again with other options; why not, empty when it worked."""
    command: Sequence[str] = ["mount", "-t", "tmpfs", "-o", options, *more, "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except FileNotFoundError as error:
        return str(error)
    return done.stderr.strip() or ("" if done.returncode == 0 else f"exit code {done.returncode}")


def unmount(folder: Path) -> None:
    """Unmount it, whoever still looks at it."""
    subprocess.run(["umount", "--lazy", str(folder)], capture_output=True, timeout=30, check=True)


def fill(folder: Path, leave: int) -> Path:
    """A file that takes all the disk's space but for some bytes."""
    filler = folder / "filler"
    state = os.statvfs(folder)
    filler.write_bytes(bytes(state.f_bavail * state.f_frsize - leave))
    return filler
