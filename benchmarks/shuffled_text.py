"""The worth of shuffling merged text: the evenness of batches, and trainings with and without it.

    python -m benchmarks.shuffled_text --folder DIR --datasets ddtp kde gnome libreoffice apps --dev dev \\
        --langs en fr --work WORK [--updates 1000] [--seeds 1 2] [--at-once 2]

DIR holds NAME.LANG.gz of each data set and of the dev set. They are cleaned (without identification) and
merged by the project's scripts; beside the merged text, which is shuffled, stands the same in the order of
the data sets. Printed is, for the feed's batches and for stretches of 1,000 lines of it (an update of
production), the standard deviation of each data set's share beside that of lines drawn independently; then,
for each way and seed, the validations of a small transformer that learns from it by the backwards model's
curriculum, and the means over the seeds. What is in WORK already is not made again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.cleaning import without_language
from pipeline.clean import clean_parallel, merge_parallel
from pipeline.common.lines import write_lines, zip_lines
from pipeline.common.marian_options import Options
from pipeline.train import training_pairs, vocab
from pipeline.train.curriculum import read_curriculum
from pipeline.train.curve import Point
from pipeline.train.feed import Feed
from translations_assets.common.settings import repository_root
from translations_assets.config.languages import language
from translations_assets.stages.languages import letters

FILTERS = repository_root() / "pipeline" / "clean" / "filters"
CONFIGS = repository_root() / "pipeline" / "train" / "configs"
CURRICULUM = CONFIGS / "curriculum" / "backward.yml"
WAYS = ("in order", "shuffled")
UPDATE = 1_000  # lines
VOCABULARY = 2_000
MAX_LENGTH = 100
METRICS: Mapping[str, Callable[[Point], float]] = {
    "perplexity": lambda point: math.exp(point["ce-mean-words"]),
    "chrF": lambda point: float(point["chrf"]),
}
MODEL: Options = {
    "type": "transformer",
    "layer-normalization": False,
    "dim-emb": 64,
    "transformer-dim-ffn": 256,
    "transformer-heads": 4,
    "enc-depth": 1,
    "dec-depth": 1,
    "learn-rate": 0.002,
    "lr-warmup": 100,
    "lr-decay-inv-sqrt": 400,
    "mini-batch": 256,
    "maxi-batch": 64,  # sorted together by length: a batch of the feed
    "mini-batch-fit": False,
    "beam-size": 1,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    merged = merge(args)
    texts = {"shuffled": merged, "in order": in_order(args, merged)}
    learn(args, merged)
    for way in WAYS:
        pair(args, way, texts[way])
    print_shares(args)
    trainings = list(product(args.seeds, WAYS))
    with ThreadPoolExecutor(args.at_once) as pool:
        list(pool.map(lambda training: train(args, *training), trainings))
    print_curves(args, {(way, seed): validations(args, way, seed) for seed, way in trainings})


def corpus(args: argparse.Namespace, folder: Path) -> list[Path]:
    """The two files that the scripts write into a folder."""
    return [folder / f"corpus.{lang}.zst" for lang in args.langs]


def languages(args: argparse.Namespace) -> list[str]:
    """The options that name the languages."""
    return [f"--src={args.langs[0]}", f"--trg={args.langs[1]}"]


def of_sides(option: str, values: Sequence[object]) -> list[str]:
    """An option that there is for each side, such as --corpus-src and --corpus-trg."""
    return [f"--{option.format(side)}={value}" for side, value in zip(("src", "trg"), values, strict=True)]


def clean(args: argparse.Namespace, name: str) -> Path:
    """A data set after the default filters, without that of languages."""
    output: Path = args.work / "clean" / name
    if not output.exists():
        output.parent.mkdir(exist_ok=True)
        options = [
            *of_sides("{}-script", [language(lang).script for lang in args.langs]),
            *of_sides("corpus-{}", given(args, name)),
            f"--filters={without_language(args.work, 'default')}",
            f"--patterns={FILTERS / 'remove_frequent_patterns.txt'}",
            f"--alphabets={FILTERS / 'alphabets.json'}",
            f"--words={FILTERS / 'words.json'}",
            f"--currencies={FILTERS / 'currencies.json'}",
        ]
        clean_parallel.main([*languages(args), *options, "--output", str(output)])
    return output


def given(args: argparse.Namespace, name: str) -> list[Path]:
    """The two files of a data set."""
    return [args.folder / f"{name}.{lang}.gz" for lang in args.langs]


def merge(args: argparse.Namespace) -> Path:
    """The data sets merged, without the sentences of the dev set."""
    output: Path = args.work / "merged"
    if not output.exists():
        command = [*languages(args), *of_sides("held-out-{}", given(args, args.dev)), "--seed=1"]
        sets = zip(*(corpus(args, clean(args, name)) for name in args.datasets), strict=True)
        for option, files in zip(("--corpus-src", "--corpus-trg"), sets, strict=True):
            command += [option, *map(str, files)]
        merge_parallel.main([*command, "--datasets", *args.datasets, "--output", str(output)])
    return output


def origins(args: argparse.Namespace) -> Mapping[tuple[str, ...], tuple[int, int]]:
    """For each cleaned pair the data set and the line where it stands first."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for number, name in enumerate(args.datasets):
        for line, row in enumerate(zip_lines(*corpus(args, clean(args, name)))):
            found.setdefault(row, (number, line))
    return found


def in_order(args: argparse.Namespace, merged: Path) -> Path:
    """The merged pairs in the order of the data sets and of their lines."""
    output: Path = args.work / "in order"
    if not output.exists():
        rows = sorted(zip_lines(*corpus(args, merged)), key=origins(args).__getitem__)
        output.mkdir()
        for file, lines in zip(corpus(args, output), zip(*rows, strict=True), strict=True):
            write_lines(file, lines)
        for way, folder in (("shuffled", merged), ("in order", output)):
            size = sum(file.stat().st_size for file in corpus(args, folder))
            print(f"{way}: {len(rows):,} pairs, {size:,} bytes compressed")
    return output


def learn(args: argparse.Namespace, merged: Path) -> None:
    """Learn one vocabulary from the pairs."""
    output = args.work / "vocab"
    if not output.exists():
        text = of_sides("corpus-{}", corpus(args, merged))
        alphabets = of_sides("{}-letters", [letters(language(lang)) for lang in args.langs])
        sizes = [f"--vocab-size={VOCABULARY}", "--sample-size=200000", "--norm-rule=nmt_nfkc", "--seed=1"]
        command = [*languages(args), *text, *alphabets, *sizes, f"--curriculum={CURRICULUM}"]
        vocab.main([*command, "--output", str(output)])


def vocabularies(args: argparse.Namespace) -> list[str]:
    """The options that name them."""
    source, target = (args.work / "vocab" / f"vocab.{lang}.spm" for lang in args.langs)
    return [f"--source-vocab={source}", f"--target-vocab={target}"]


def pair(args: argparse.Namespace, way: str, text: Path) -> None:
    """Make training pairs of a text."""
    output = args.work / f"pairs {way}"
    if not output.exists():
        options = [
            *of_sides("corpus-{}", corpus(args, text)),
            *vocabularies(args),
            f"--max-length={MAX_LENGTH}",
        ]
        training_pairs.main([*options, "--output", str(output)])


def fed(args: argparse.Namespace, way: str) -> Iterator[list[str]]:
    """The lines of the first epoch, in the feed's batches but for the last, which is shorter."""
    curriculum = read_curriculum(CURRICULUM, {}, dict(zip(("src", "trg"), args.langs, strict=True)))
    config = curriculum.stage_config(0, {"original": args.work / f"pairs {way}"}, aligned=False, seed=1)
    config["train"] = ["original 1.0", "until original 1"]
    feed = Feed(config, curriculum.batch_size, workers=1, scratch=args.work)
    yield from (lines for lines, _ in feed.batches() if len(lines) == curriculum.batch_size)


def print_shares(args: argparse.Namespace) -> None:
    """Print how much the data sets' shares differ from batch to batch, and from update to update."""
    owners = {
        "\t".join(" ".join(side.split()) for side in row): place[0] for row, place in origins(args).items()
    }
    print("standard deviation of a data set's share, and that of lines drawn independently")
    for way in WAYS:
        batches = np.array([list(map(owners.__getitem__, lines)) for lines in fed(args, way)])
        updates = batches.ravel()[: batches.size // UPDATE * UPDATE].reshape(-1, UPDATE)
        for number, name in enumerate(args.datasets):
            share = float((batches == number).mean())
            found = [
                f"{rows.shape[1]:,} lines: {(rows == number).mean(axis=1).std():.4f} "
                f"(ideal {math.sqrt(share * (1 - share) / rows.shape[1]):.4f})"
                for rows in (batches, updates)
            ]
            print(f"{way:9} {name:12} share {share:.3f}; {'; '.join(found)}", flush=True)


def train(args: argparse.Namespace, seed: int, way: str) -> None:
    """Train by the project's script, on one thread."""
    output = folder_of(args, way, seed)
    if output.exists():
        return
    every = f"{args.updates // args.validations}u"
    marian = {
        **MODEL,
        "after": f"{args.updates}u",
        "valid-freq": every,
        "save-freq": every,
        "disp-freq": every,
    }
    command = [
        *languages(args),
        *of_sides("dev-{}", given(args, args.dev)),
        *vocabularies(args),
        f"--original={args.work / f'pairs {way}'}",
        f"--model-config={CONFIGS / 'model' / 'backward.yml'}",
        f"--training-config={CONFIGS / 'training' / 'backward.train.yml'}",
        f"--curriculum={CURRICULUM}",
        f"--marian-args={json.dumps(marian)}",
        f"--seed={seed}",
        "--best-model=chrf",
        f"--output={output}",
    ]
    environment = {**os.environ, "TRANSLATIONS_THREADS": "1"}
    with (args.work / f"{output.name}.log").open("w") as log:
        subprocess.run(
            [sys.executable, "-m", "pipeline.train.train", *command], env=environment, check=True, stderr=log
        )


def folder_of(args: argparse.Namespace, way: str, seed: int) -> Path:
    """Return the folder of a training's model."""
    folder: Path = args.work / f"trained {way} {seed}"
    return folder


def validations(args: argparse.Namespace, way: str, seed: int) -> dict[int, Point]:
    """The scores of a training, by its updates."""
    metrics = json.loads((folder_of(args, way, seed) / "metrics.json").read_text())
    return {point["update"]: point for point in metrics["curve"] if point["kind"] == "valid"}


def print_curves(args: argparse.Namespace, found: Mapping[tuple[str, int], Mapping[int, Point]]) -> None:
    """A line for each validation and metric: the trainings, and the means of both ways."""
    columns = [f"{way} {seed}" for way in WAYS for seed in args.seeds]
    for metric, score in METRICS.items():
        print(f"{metric} | " + " | ".join([*columns, *(f"{way}, mean" for way in WAYS)]))
        for update in sorted(set.intersection(*map(set, found.values()))):
            rows = [[score(found[way, seed][update]) for seed in args.seeds] for way in WAYS]
            cells = [*rows[0], *rows[1], *map(statistics.mean, rows)]
            print(f"{update:,} | " + " | ".join(f"{cell:.2f}" for cell in cells))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--folder", required=True, type=Path, help="folder of the data sets")
    add("--datasets", required=True, nargs="+", help="their names")
    add("--dev", required=True, help="name of the set to validate on")
    add("--langs", nargs=2, default=["en", "fr"], help="source and target language")
    add("--work", required=True, type=Path, help="folder for what is made")
    add("--updates", type=int, default=1_000, help="of each training")
    add("--validations", type=int, default=5, help="of each training")
    add("--seeds", nargs="+", type=int, default=[1, 2], help="of the trainings")
    add("--at-once", type=int, default=2, help="trainings at the same time, of a thread each")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
