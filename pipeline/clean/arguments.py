"""The options that several of the merging scripts have, and their checks."""

import argparse
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from pipeline.common.errors import InputError


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def add_files(parser: argparse.ArgumentParser, name: str, text: str, *, required: bool = False) -> None:
    """Add an option that takes any number of files."""
    parser.add_argument(
        name, type=Path, nargs="+" if required else "*", required=required, default=[], help=text
    )


def weight(text: str) -> Fraction:
    """A positive number, for argparse; kept exactly as it is written."""
    number = Fraction(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def add_sampling(parser: argparse.ArgumentParser) -> None:
    """Add --near-duplicates, --max-sentences and --weights."""
    parser.add_argument(
        "--near-duplicates",
        action="store_true",
        help="lines that agree in letters and digits count as the same",
    )
    parser.add_argument("--max-sentences", type=positive, help="keep at most so many, uniformly chosen")
    parser.add_argument(
        "--weights",
        type=weight,
        nargs="+",
        help="for each data set a number: how much likelier its lines are chosen for --max-sentences",
    )


def weights_of(args: argparse.Namespace) -> Sequence[Fraction] | None:
    """The weights of the data sets; raises InputError when they are of no use."""
    if args.weights is None:
        return None
    if args.max_sentences is None:
        raise InputError(
            "--weights says which data sets to choose from more, but there is no --max-sentences."
        )
    if len(args.weights) != len(args.datasets):
        raise InputError(
            f"--datasets names {len(args.datasets)} data sets, --weights {len(args.weights)} numbers. "
            "Give one for each data set, in the same order."
        )
    return list(args.weights)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add --seed and --output."""
    parser.add_argument("--seed", required=True, type=int, help="seed of every random choice")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")


def check_counts(datasets: Sequence[str], **files: Sequence[Path]) -> None:
    """Raise InputError unless each option names one file for each data set; one that is not given is none."""
    for option, paths in files.items():
        if len(paths) != len(datasets):
            raise InputError(
                f"--datasets names {len(datasets)} data sets, --{option.replace('_', '-')} {len(paths)} "
                "files. Give one file for each data set, in the same order."
            )
