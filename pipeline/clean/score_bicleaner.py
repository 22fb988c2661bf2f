"""Score a parallel corpus with Bicleaner-AI: how likely each pair is a translation, from 0 to 1.

    python -m pipeline.clean.score_bicleaner --src en --trg hbs --corpus-src corpus.en.zst \\
        --corpus-trg corpus.sr.zst --model model --bicleaner-lock requirements/bicleaner.lock --output scores

    scores/scores.zst    a score a line
    scores/stats.json    lines, mean, and how many scores fall into each tenth

The languages are named by Bicleaner-AI's codes. Where the model's source is our target, its columns are
swapped. bicleaner-ai-classify runs without its hard rules in an environment of its own, which is made from
the lock; one process for each GPU, or one on the CPU, which takes far longer. Finished blocks of
a million pairs (50,000 on the CPU) are kept in checkpoint sets.
"""

import argparse
import logging
import os
from collections.abc import Sequence
from pathlib import Path

import yaml

from pipeline.clean.scoring import Program, score
from pipeline.common.environments import interpreter
from pipeline.common.made_from import MadeFrom
from pipeline.common.resources import gpus, threads
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

# Pairs that the program takes at a time. Its batches begin anew with each, and how a batch is made up can
# change the last digit of a score: so our blocks hold a whole number of them.
PAIRS = 50_000
BLOCKS_ON_GPU = 20
BATCH = 512  # pairs at a time on a GPU

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Score a parallel corpus with Bicleaner-AI.")
    parser.add_argument("--src", required=True, help="source language, by Bicleaner-AI's code, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. hbs")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target side")
    parser.add_argument("--model", required=True, type=Path, help="folder of the model")
    parser.add_argument("--bicleaner-lock", required=True, type=Path, help="lock of its environment")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Score a corpus; see the module's text."""
    args = parse_arguments(argv)
    swapped = is_swapped(args.model / "metadata.yaml", args.src, args.trg)
    program = _program(interpreter(args.bicleaner_lock), args.model, swapped)
    logger.info("%s%s", " ".join(program.command), f", {len(gpus())} at a time" if gpus() else ", on the CPU")
    with staged(args.output) as (folder, scratch):
        texts = args.corpus_src, args.corpus_trg
        made_from = MadeFrom(
            {"the model": args.model, "the source": texts[0], "the target": texts[1]}, {"swapped": swapped}
        )
        stats = score(program, texts, folder / "scores.zst", scratch, made_from)
        write_json(folder / "stats.json", stats)


def is_swapped(metadata: Path, src: str, trg: str) -> bool:
    """Whether a model takes our target for its source."""
    told = yaml.safe_load(metadata.read_bytes())
    return bool(told["source_lang"] == trg or told["target_lang"] == src)


def _program(python: Path, model: Path, swapped: bool) -> Program:
    columns = ("2", "1") if swapped else ("1", "2")
    fast = ["--require_gpu", "--fp16", "--batch_size", str(BATCH)] if gpus() else []
    command = [
        str(python.with_name("bicleaner-ai-classify")),
        *("--disable_hardrules", "--disable_lm_filter", "--score_only", "--offline", "--quiet"),
        *("--block_size", str(PAIRS), *fast),
        *("--scol", columns[0], "--tcol", columns[1]),
        *("-", "-", str(model / "metadata.yaml")),
    ]
    if gpus():
        devices = [{"CUDA_VISIBLE_DEVICES": name} for name in _devices()]
        return Program(command, devices, BLOCKS_ON_GPU * PAIRS)
    return Program(command, [{"CUDA_VISIBLE_DEVICES": "", "BICLEANER_AI_THREADS": str(threads())}], PAIRS)


def _devices() -> list[str]:
    """The machine's own names of the GPUs that the script may use.

    The script's numbers count the devices of CUDA_VISIBLE_DEVICES, or the machine's where it is not set.
    """
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return [visible[number] if number < len(visible) else str(number) for number in gpus()]


if __name__ == "__main__":
    run(main)
