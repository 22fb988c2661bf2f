"""The forecast of a run beside its real cost: the third of three runs, on more text each time.

    python -m benchmarks.forecasts

All run here, from text that the demo's grammar writes, up to the alignments of the distilled corpus: six
minutes on two quiet cores. Trainings make the same number of updates in all of them. After one run nothing is
known of what scripts take before they come to their text, which is most of the time of so short steps.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import BIN
from pipeline.common.lines import write_lines
from pipeline.data.demo_grammar import sentence
from translations_assets.common.settings import repository_root
from translations_assets.configs.own_corpus import TRIAL

PAIRS = {"small": 5_000, "middle": 10_000, "large": 30_000}
UPDATES = 200
TARGET = "alignments_student"
BAR = 0.25


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size, pairs in PAIRS.items():
            write_config(folder, size, pairs)
        *earlier, last = PAIRS
        for number, size in enumerate(earlier, start=1):
            run(folder, "train", f"en-eo.{size}", "--target", TARGET, "--yes", "--json")
            said = last_line(run(folder, "plan", f"en-eo.{last}", "--target", TARGET))
            print(f"After {number} runs: {said}", flush=True)
        made = json.loads(run(folder, "train", f"en-eo.{last}", "--target", TARGET, "--yes", "--json"))
        print_comparison(folder, made["run"])


def print_comparison(folder: Path, name: str) -> None:
    """Print what the steps of a run took beside their forecasts, by stage."""
    found = json.loads(run(folder, "status", name, "--json"))
    (record,) = (folder / "store" / "runs").glob(f"{name}*")
    forecast: dict[str, dict[str, float]] = json.loads(record.read_text())["expected"]
    by_stage: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for step in found["steps"]:
        if step["state"] == "finished" and step["label"] in forecast:
            by_stage[step["stage"]].append((forecast[step["label"]]["seconds"], step["seconds"]))
    for stage, pairs in by_stage.items():
        expected, took = map(sum, zip(*pairs, strict=True))
        print(f"{stage:28} {len(pairs):3} steps: forecast {expected:6.1f} s, took {took:6.1f} s")
    whole = found["forecast"]
    seconds, took = (3600 * whole[name]["hours"] for name in ("expected", "taken"))
    off = took / seconds - 1
    print(
        f"Forecast for {whole['steps']} steps: {seconds:.0f} s; they took {took:.0f} s "
        f"({off:+.0%}; aim: within {BAR:.0%})"
    )


def write_config(folder: Path, size: str, pairs: int) -> None:
    """Write the demo's config with text of another size and short trainings."""
    data, configs = folder / f"data-{size}", folder / "configs"
    data.mkdir()
    configs.mkdir(exist_ok=True)
    texts = list(_distinct(pairs + pairs // 2 + pairs // 2, size))
    parts = {"train": texts[:pairs], "mono": texts[pairs:]}
    for part, lines in parts.items():
        write_lines(data / f"{part}.en.gz", (en for en, _ in lines))
        write_lines(data / f"{part}.eo.gz", (eo for _, eo in lines))
    text = (repository_root() / "configs" / "en-eo.demo.yml").read_text(encoding="utf-8")
    for part in parts:
        text = text.replace(f"demo_{part}", f"{data}/{part}.[LANG].gz")
    text = re.sub(r"after: \d+u", f"after: {UPDATES}u", text)
    gates = TRIAL[TRIAL.index("checks:") :]
    (configs / f"en-eo.{size}.yml").write_text(f"{text}\n{gates}\n", encoding="utf-8")


def _distinct(number: int, seed: str) -> Iterator[tuple[str, str]]:
    rng, seen = random.Random(seed), set[str]()
    while len(seen) < number:
        text = sentence(rng)
        if text[0] not in seen:
            seen.add(text[0])
            yield text[0], text[1]


def last_line(said: str) -> str:
    """The last line of what a command has printed."""
    return said.splitlines()[-1]


def run(folder: Path, *words: str) -> str:
    """Run a command with the folder's configs, state and store, and return its output."""
    environment = {
        **os.environ,
        "TRANSLATIONS_CONFIGS": str(folder / "configs"),
        "TRANSLATIONS_STATE": str(folder / "state"),
        "TRANSLATIONS_STORE": str(folder / "store"),
    }
    command = [str(BIN / "translations"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
