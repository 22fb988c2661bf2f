"""Score text of one language with Monocleaner: how fluent each line is, from 0 to 1.

    python -m pipeline.clean.score_monocleaner --text mono.ru.zst --model model.tgz \\
        --monocleaner-lock requirements/monocleaner.lock --output scores

    scores/scores.zst    a score a line
    scores/stats.json    lines, mean, and how many scores fall into each tenth

monocleaner runs without its hard rules and its language identification in an environment of its own, which is
made from the lock; as many processes at a time as threads and memory allow. Finished blocks of 200,000
lines are kept in checkpoint sets.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.monocleaner_pack import unpack
from pipeline.clean.scoring import Program, score
from pipeline.common.environments import interpreter
from pipeline.common.made_from import MadeFrom
from pipeline.common.resources import at_once
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

BLOCK = 200_000
PROCESS_MB = 1_000  # what monocleaner takes with a language pack

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Score text of one language with Monocleaner.")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--model", required=True, type=Path, help="language pack of Monocleaner")
    parser.add_argument("--monocleaner-lock", required=True, type=Path, help="lock of its environment")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Score a text; see the module's text."""
    args = parse_arguments(argv)
    with staged(args.output) as (folder, scratch):
        unpack(args.model, scratch / "model")
        command = [
            str(interpreter(args.monocleaner_lock).with_name("monocleaner")),
            *("--disable_hardrules", "--disable_lang_ident", "--score_only", "--quiet"),
            str(scratch / "model"),
        ]
        number = at_once(PROCESS_MB)
        logger.info("%s, %d at a time", " ".join(command), number)
        program = Program(command, [{}] * number, BLOCK)
        made_from = MadeFrom({"the model": args.model, "the text": args.text}, {})
        stats = score(program, [args.text], folder / "scores.zst", scratch, made_from)
        write_json(folder / "stats.json", stats)


if __name__ == "__main__":
    run(main)
