"""Filters that are programs or libraries of others: Perl, sed, Moses' detokenizer."""

import subprocess

import numpy as np
from sacremoses import MosesDetokenizer

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.texts import all_rows, edit_sides
from pipeline.common.errors import InputError

_UTF8 = {"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}


def regexp(step: FilterStep) -> Filter:
    """Run PATTERN, a statement in Perl, on each line: `s/colour/color/g`."""
    pattern = step.text("PATTERN", "")
    return _program(step, ["perl", "-C", "-pe", pattern])


def sed(step: FilterStep) -> Filter:
    """Replace PATTERN, an extended regular expression, by REPLACEMENT wherever it stands."""
    pattern, replacement = step.text("PATTERN", ""), step.text("REPLACEMENT", "")
    return _program(step, ["sed", "-E", f"s/{pattern}/{replacement}/g"])


def _program(step: FilterStep, command: list[str]) -> Filter:
    def work(block: Block) -> None:
        for side in step.sides:
            alive = np.flatnonzero(block.alive).tolist()
            lines = _run(step, command, [block.columns[side].lines[row] for row in alive])
            for row, line in zip(alive, lines, strict=True):
                block.replace(row, side, line)

    _run(step, command, [""])  # so that a mistake in a pattern is told before any work
    return work


def _run(step: FilterStep, command: list[str], lines: list[str]) -> list[str]:
    """A program's answer to lines, a line for each of them."""
    text = "".join(f"{line}\n" for line in lines).encode()
    done = subprocess.run(command, input=text, capture_output=True, env=_UTF8, check=False)
    if done.returncode:
        raise InputError(
            f"{step}: {' '.join(command)} failed: {done.stderr.decode(errors='replace').strip()}"
        )
    answers = done.stdout.decode("utf-8").split("\n")[:-1]
    if len(answers) != len(lines):
        raise InputError(
            f"{step}: {' '.join(command)} made {len(answers):,} lines of {len(lines):,}. "
            "It may change lines, but neither part, join nor remove them."
        )
    return [answer.rstrip("\r") for answer in answers]


def detokenizer(step: FilterStep) -> Filter:
    """Join the tokens of a line as Moses' detokenizer for the language LANG1 does."""
    moses = MosesDetokenizer(lang=step.text("LANG1", "en"))

    def detokenize(text: str) -> str:
        joined: str = moses.detokenize(text.split(), return_str=True, unescape=True)
        return joined

    def work(block: Block) -> None:
        edit_sides(block, step.sides, detokenize, all_rows)

    return work
