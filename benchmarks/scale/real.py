"""A production config's whole graph at 1/N, run by the engine and the runner of this machine.

What reads, splits, merges, aligns, pairs and feeds is real; `benchmarks.scale.marian` stands in for Marian.
Datasets are not scored by Bicleaner-AI and Monocleaner, whose models are not here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.scale.measured import Measured, measure
from benchmarks.scale.pair import PAIRS, WORDS, Pair
from benchmarks.scale.rates import MODELS
from benchmarks.scale.text import Text, write_sides
from benchmarks.timing import BIN
from translations_assets.config.load import load_config
from translations_assets.configs.own_corpus import TRIAL
from translations_assets.graph.stage import build_graph
from translations_assets.records.manifest import Manifest
from translations_assets.running.protocols import Store
from translations_assets.stages import STAGES
from translations_assets.store.open import open_store

SIDES = ("en", "ru")
DEV_LINES = 200
FREQUENCIES = {"disp-freq": "50u", "save-freq": "200u", "valid-freq": "200u"}
# Of the models whose weights Marian makes: what they look like changes nothing that is measured here.
SMALL = {"dim-emb": 64, "transformer-dim-ffn": 64, "transformer-heads": 2, "enc-depth": 1, "dec-depth": 1}
PASSES = 1  # of a training over its text


def scaled(pair: Pair, scale: int) -> Pair:
    """A pair with a scale-th of the text, in as many datasets as fit with a thousand lines each."""
    parallel, mono = pair.parallel // scale, pair.mono // scale
    datasets = max(1, min(pair.datasets, parallel // 5_000))
    return Pair(pair.name, parallel, mono, datasets, max(1, min(pair.mono_datasets, mono // 5_000)))


def run(folder: Path, name: str, scale: int, target: str, words_per_second: float) -> dict[str, Measured]:
    """Make the text, and run the graph up to a stage in a folder that keeps all results; what they took.

    What a folder has of an earlier run is not made again. Ends the program where the run fails.
    """
    pair = scaled(PAIRS[name], scale)
    partition = f"en-ru.scale-{scale}"
    write_config(folder, partition, pair)
    environment = {
        **os.environ,
        "TRANSLATIONS_CONFIGS": str(folder / "configs"),
        "TRANSLATIONS_STATE": str(folder / "state"),
        "TRANSLATIONS_STORE": str(folder / "store"),
        "TRANSLATIONS_FILES": str(folder),
    }
    environment.pop("TRANSLATIONS_DEPLOYMENT", None)
    weights = MODELS["teacher", "model.npz"] / scale / 1e6
    python = make_environment(folder / "environment", words_per_second, weights)
    command = [python, str(BIN / "translations"), "train", partition, "--target", target, "--yes"]
    if subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode:
        sys.exit(f"The run failed; what it has made is kept in {folder}: the same command goes on.")
    config = load_config(folder / "configs" / f"{partition}.yml")
    store = open_store(str(folder / "store"))
    with TemporaryDirectory() as scratch:
        return measure(build_graph(config, STAGES), manifests(store, partition), store, Path(scratch))


def make_environment(folder: Path, words_per_second: float, weights_mb: float) -> str:
    """This environment with the stand-in for Marian; its Python, beside which scripts look for Marian."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("lib", "pyvenv.cfg"):
        if not (folder / name).exists():
            (folder / name).symlink_to(BIN.parent / name)
    python = folder / "bin" / "python"
    if not python.exists():
        python.symlink_to(Path(sys.executable).resolve())
    marian = folder / "bin" / "pymarian"
    options = f"--words-per-second {words_per_second} --weights-mb {weights_mb}"
    stand_in = f"{sys.executable} -I -m benchmarks.scale.marian {options}"
    marian.write_text(f'#!/bin/sh\nexec {stand_in} "$@"\n', encoding="utf-8")
    marian.chmod(0o755)
    return str(python)


def manifests(store: Store, partition: str) -> Iterable[Manifest]:
    """The newest result of each step of a partition."""
    found: dict[str, Manifest] = {}
    for manifest in store.manifests():
        if manifest.provenance.partition == partition:
            old = found.get(manifest.label)
            if old is None or old.ended < manifest.ended:
                found[manifest.label] = manifest
    return found.values()


@dataclass(frozen=True)
class _File:
    """A dataset to be written: its text, and the files of its sides."""

    text: Text
    files: dict[str, Path]


def write_config(folder: Path, partition: str, pair: Pair) -> None:
    """Write the pair's text, unless it is there, and its training config."""
    config = yaml.safe_load(pair.config(chunks=2))
    data = folder / partition
    data.mkdir(parents=True, exist_ok=True)
    files: list[_File] = []

    def dataset(kind: str, lines: int, sides: Iterable[str]) -> str:
        number = len(files)
        paths = {side: data / f"{kind}-{number}.{side}.gz" for side in sides}
        files.append(_File(Text(number, 0, lines), paths))
        return f"url_file://{data}/{kind}-{number}.[LANG].gz"

    config["datasets"] = {
        "train": [dataset("train", lines, SIDES) for lines in pair.train()],
        "devtest": [dataset("dev", DEV_LINES, SIDES)],
        "test": [dataset("test", DEV_LINES, SIDES)],
        "mono-src": [dataset("mono-src", lines, SIDES[:1]) for lines in pair.monolingual()],
        "mono-trg": [dataset("mono-trg", lines, SIDES[1:]) for lines in pair.monolingual()],
    }
    config["experiment"] |= {"bicleaner": {"default-threshold": 0}, "monocleaner": {}}
    config["experiment"] |= _vocabulary(pair)
    config["marian-args"] = _trainings(pair)
    config["checks"] = yaml.safe_load(TRIAL)["checks"] | {"exported-loss": {"level": "warn"}}
    configs = folder / "configs"
    configs.mkdir(exist_ok=True)
    (configs / f"{partition}.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_write, files))


def _write(file: _File) -> None:
    missing = {side: path for side, path in file.files.items() if not path.exists()}
    if missing:
        parts = {side: path.with_suffix(".part") for side, path in missing.items()}
        write_sides(file.text, parts)
        for side, path in missing.items():
            parts[side].rename(path)


def _vocabulary(pair: Pair) -> dict[str, Any]:
    size = 32_000 if pair.parallel >= 100_000 else 4_000 if pair.parallel >= 1_000 else 1_000
    return {"spm-vocab-size": size, "spm-sample-size": max(2_000, pair.parallel // 6)}


def _trainings(pair: Pair) -> dict[str, Any]:
    """Trainings that read their text once, in batches of production."""
    lines = {
        "backward": pair.parallel,
        "teacher": pair.parallel + pair.mono,
        "student": pair.parallel + pair.mono,
    }
    batches = {"backward": 40_000, "teacher": 25_000, "student": 65_000}
    updates = {name: max(2, PASSES * lines[name] * WORDS // batches[name]) for name in lines}
    small: dict[str, Any] = {**SMALL, **FREQUENCIES}
    return {
        "training-backward": {
            **small,
            "type": "transformer",
            "layer-normalization": False,
            "after": f"{updates['backward']}u",
        },
        "training-teacher": {**small, "after": f"{updates['teacher']}u"},
        "training-student": {**small, "after": f"{updates['student']}u"},
        "training-student-finetuned": {**FREQUENCIES, "after": f"{max(2, updates['student'] // 10)}u"},
        "decoding-backward": {"beam-size": 12},
    }
