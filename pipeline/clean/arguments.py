"""The options that several of the merging scripts have, and their checks."""

import argparse
from collections.abc import Sequence
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
