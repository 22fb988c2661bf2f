"""A training config for two files of text of one's own; nothing in it needs a network.

A script splits the files (`pipeline.data.hold_out`). Here the config is written, with models and trainings of
sizes that fit so much text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from filecmp import cmpfiles
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from translations_assets.common.scripts import run_script
from translations_assets.config.errors import ConfigError
from translations_assets.config.identification import HELIPORT, weakness
from translations_assets.config.load import parse_config
from translations_assets.config.providers.provider import Query
from translations_assets.config.text import table
from translations_assets.config.urls import PLACEHOLDER
from translations_assets.configs.generate import scalar, taskcluster_section

Files: TypeAlias = "tuple[Path, Path]"

NAME, TRIAL_NAME = "own", "trial"
STATS = "stats.json"
LARGE, MEDIUM = 2_000_000, 200_000  # pairs from which on models are production's, or transformer-base
CHARACTERS_A_PIECE = 4  # of text in letters; where a script has thousands of characters, about 1
# Pairs up to which a vocabulary has so many pieces: of little text, few are learnt well.
VOCABULARIES = ((5000, 1000), (20_000, 2000), (100_000, 8000), (1_000_000, 16_000), (math.inf, 32_000))
MANY_CHARACTERS = 4000  # pieces at least, where a script has thousands of characters
VALIDATIONS = 50  # of a training that goes on to its end

MODELS = table(__file__, "own_corpus.yml")
TRIAL_PAIRS, TRIAL_DEV = 3000, 20
TRIAL = Path(__file__).with_name("trial.yml").read_text(encoding="utf-8").partition("\n\n")[2].rstrip()


@dataclass(frozen=True)
class Given:
    """The files that a person gives, source before target; sets not given are taken from `corpus`."""

    corpus: Files
    dev: Files | None = None
    test: Files | None = None
    mono_src: Path | None = None
    mono_trg: Path | None = None

    def options(self) -> Iterator[str]:
        """They, as the script takes them."""
        for name, files in vars(self).items():
            if isinstance(files, tuple):
                yield from (f"--{name}-src={files[0]}", f"--{name}-trg={files[1]}")
            elif files:
                yield f"--{name.replace('_', '-')}={files}"


@dataclass(frozen=True)
class Split:
    """The text as it will be trained on, in a folder that is not yet where it shall stay.

    stats  what the script says of each of its files, by name: `lines`, `characters` (of its first side)
    """

    folder: Path
    stats: Mapping[str, Any]

    def lines(self, name: str) -> int:
        """The number of lines of train, dev, test, mono_src or mono_trg; 0 without it."""
        return int(self.stats.get(name, {}).get("lines", 0))

    @property
    def left_out(self) -> int:
        """The number of pairs and lines in no file: they are empty, or like dev or test lines."""
        return sum(self.stats["left_out"].values())

    def refuse_other(self, target: Path) -> None:
        """Raise ConfigError when a folder is there and holds other files than these."""
        if not target.exists():
            return
        names = sorted(file.name for file in self.folder.iterdir())
        there = sorted(file.name for file in target.iterdir()) if target.is_dir() else []
        _, differing, unread = cmpfiles(self.folder, target, names, shallow=False)
        if there != names or differing or unread:
            message = "exists, and holds other text; remove it, or give another --name"
            raise ConfigError.of(message, str(target))

    def move(self, target: Path) -> None:
        """Put the folder where it shall stay, unless its like is there."""
        if not target.exists():
            self.folder.chmod(0o755)
            self.folder.rename(target)


@contextmanager
def split(query: Query, given: Given, beside: Path) -> Iterator[Split]:
    """Split the files of a pair, in a folder that is gone at the end unless it is moved.

    Raises TranslationsError for files that cannot be used: that are not parallel, too short, or no text.
    """
    with TemporaryDirectory(prefix=".own-", dir=beside) as scratch:
        folder = Path(scratch) / "text"
        pair = ["--src", query.src.code, "--trg", query.trg.code]
        run_script("pipeline.data.hold_out", [*pair, *given.options(), "--output", str(folder)])
        yield Split(folder, json.loads((folder / STATS).read_bytes()))


def write(name: str, query: Query, made: Split, config: Path, *, trial: bool) -> str:
    """The text of the config, for a file whose text lies in a folder of its name."""
    blocks = [
        [*_head(name, query, made, trial), *_experiment(name, query, made, trial)],
        [*_datasets(f"./{data_folder(config).name}", made)],
        [TRIAL] if trial else [*_marian_args(query, made)],
        ["target-stage: all # evaluate-teacher, the default, makes no student"],
        [*taskcluster_section(map(made.lines, ("train", "mono_src", "mono_trg")))],
    ]
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    parse_config(text, config)
    return text


def data_folder(config: Path) -> Path:
    """Return the folder of the text of a config's file: beside it, under its name."""
    return config.with_suffix("")


def _head(name: str, query: Query, made: Split, trial: bool) -> Iterator[str]:
    src, trg = query.src, query.trg
    made_by = f"translations-assets {version('translations-assets')}"
    yield f"# {src.name} to {trg.name}, made by {made_by} from files:"
    options = f"--name {name}{' --trial' * trial}"
    yield f"#   translations config generate {src.code} {trg.code} --files … {options}"
    yield "#"
    if trial:
        yield "# A trial, in which all stages run and no model learns to translate."
    else:
        yield "# The sizes of models and trainings fit the text; see docs/own-corpus.md."
    yield "# What is not set here is as in production: see docs/config.md. Nothing here needs a network."


def _experiment(name: str, query: Query, made: Split, trial: bool) -> Iterator[str]:
    pairs = TRIAL_PAIRS if trial else made.lines("train")
    yield "experiment:"
    yield f"  name: {scalar(name)}"
    yield f"  src: {scalar(query.src.code)}"
    yield f"  trg: {scalar(query.trg.code)}"
    unknown = [message for spoken in (query.src, query.trg) if (message := weakness(HELIPORT, spoken))]
    yield f"  language-identification: heliport # {'; '.join(unknown) or 'which needs no network'}"
    yield "  bicleaner:"
    yield "    default-threshold: 0 # clean by rules only; 0.5 fetches Bicleaner-AI and its model"
    if pairs < MEDIUM:
        yield "  student-model: tiny # or base-memory, or base: see docs/config.md"
    if made.lines("mono_trg"):
        yield "  teacher-mode: one-stage # the text and its back-translations are mixed throughout"
    many = not (query.src.phonemic and query.trg.phonemic)
    size = next(size for most, size in VOCABULARIES if pairs < most)
    yield f"  spm-vocab-size: {max(size, MANY_CHARACTERS) if many else size}"
    if not query.src.phonemic:
        yield f"  spm-vocab-split: true # the script of {query.src.name} has many characters"
    if trial:
        yield f"  corpus-max-sentences: {TRIAL_PAIRS}"
        yield f"  dev-max-sentences: {TRIAL_DEV}"
        for side in ("src", "trg"):
            if made.lines(f"mono_{side}"):
                yield f"  mono-max-sentences-{side}: {{total: {TRIAL_PAIRS}, per-dataset: {TRIAL_PAIRS}}}"


def _datasets(folder: str, made: Split) -> Iterator[str]:
    """Relative paths count from the config's file, so that both may be moved together."""
    yield "# Paths count from this file. A file that has changed is noticed; where it lies does not matter."
    yield "datasets:"
    for category, name in (("train", "train"), ("devtest", "dev"), ("test", "test")):
        yield f"  {category}:"
        yield f"    - {folder}/{name}.{PLACEHOLDER}.zst # {made.lines(name):,} pairs"
    for side in ("src", "trg"):
        if lines := made.lines(f"mono_{side}"):
            yield f"  mono-{side}:"
            yield f"    - {folder}/mono.{PLACEHOLDER}.zst # {lines:,} lines"
    if not made.lines("mono_trg"):
        yield "  # Without mono-trg, text in the target language alone, nothing is translated back."


def _marian_args(query: Query, made: Split) -> Iterator[str]:
    sections = _sections(query, made)
    if not sections:
        return
    yield "marian-args:"
    for section, options in sections.items():
        yield f"  {section}:"
        yield from (f"    {name}: {_value(value)}" for name, value in options.items())


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sections(query: Query, made: Split) -> dict[str, dict[str, Any]]:
    """Options of training for less text than production's are made for."""
    pairs = made.lines("train")
    if pairs >= LARGE:
        return {}
    pieces = made.stats["train"]["characters"] / (CHARACTERS_A_PIECE if query.src.phonemic else 1)
    model, epochs = (MODELS["iwslt"], 60) if pairs < MEDIUM else (MODELS["base"], 40)
    batch, rate = model["mini-batch-words"], model["learn-rate"]
    # So many thousands of sentences are read ahead: production's million is a small text hundreds of times
    ahead = {"maxi-batch": min(1000, max(10, pairs // 1000))}
    teacher = {**model, **ahead, "enc-depth": 6, "dec-depth": 6, **_course(pieces * epochs / batch)}
    student = {"mini-batch-words": 2 * batch, **ahead, "learn-rate": rate}
    return {
        "training-backward": {**MODELS["transformer"], **teacher},
        "training-teacher": teacher,
        "training-student": student | _course(pieces * epochs / batch) | {"early-stopping": 15},
        "training-student-finetuned": student | {"learn-rate": 0.0003} | _course(pieces * 5 / batch),
    }


def _course(updates: float) -> dict[str, Any]:
    """Return the options of a training of at most so many updates; it stops early without progress."""
    after = max(10_000, math.ceil(updates / 1000) * 1000)
    often = after // VALIDATIONS
    warmup = min(8000, after // 10)
    return {
        "lr-warmup": warmup,
        "lr-decay-inv-sqrt": warmup,
        "valid-freq": often,
        "save-freq": often,
        "disp-freq": often // 2,
        "after": f"{after}u",
    }
