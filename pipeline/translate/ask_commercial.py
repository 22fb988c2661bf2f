"""Ask Google's or Microsoft's translation service for the translations of a text.

    GOOGLE_API_KEY=… python -m pipeline.translate.ask_commercial --service google --src en --trg ru \\
        --text part.1.zst --output answers

Writes answers.zst and stats.json, as `pipeline.translate.ask` does, with `characters`, which are paid for, in
place of tokens: `pipeline.clean.check_answers` judges the answers. A line fails when it is asked alone and
the service rejects it (`rejected`), fails each time while it answers others (`unanswered`), or gives another
number of translations (`malformed`).

Each answer is kept as it comes: another attempt pays for nothing but the requests that were under way.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.lines import read_lines, write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.ask import samples, written
from pipeline.translate.asking import Numbers, answers_of, ask_all, characters_of, lines_of, rejected
from pipeline.translate.commercial import SERVICES, Translate
from pipeline.translate.kept_answers import Record, kept_answers
from pipeline.translate.web_service import Rejected

TIMEOUT = 60.0  # seconds; Microsoft promises an answer within 15

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the answers and stats.json."""
    args = parse_arguments(argv)
    translate = SERVICES[args.service](args.src, args.trg, args.timeout)
    lines = [*read_lines(args.text)]
    made_from = MadeFrom(
        {"the text": args.text}, {"--service": args.service, "--src": args.src, "--trg": args.trg}
    )
    with staged(args.output) as (output, scratch), kept_answers(scratch, made_from) as kept:
        wanted = (number for number, line in enumerate(lines) if line.strip())
        ask_all(
            lambda numbers: ask(translate, lines, numbers),
            wanted,
            kept,
            args.lines,
            characters_of,
            lambda number: len(lines[number]),
        )
        found = answers_of(kept.records)
        write_lines(output / "answers.zst", (written(line, found.get(at)) for at, line in enumerate(lines)))
        stats = {
            "lines": lines_of(len(lines), found),
            "requests": len(kept.records),
            **characters_of(kept.records),
            "samples": samples(lines, found),
        }
        log.info("%s, %s characters", stats["lines"], stats["characters"])
        write_json(output / "stats.json", stats)


def ask(translate: Translate, lines: Sequence[str], numbers: Numbers) -> Record:
    """Ask about the lines with these numbers. Raises what the service raises, but Rejected."""
    asked = [lines[number] for number in numbers]
    try:
        texts = translate(asked)
    except Rejected as error:
        return rejected(numbers, error)
    candidates = [[text] for text in texts] if len(texts) == len(asked) else [[] for _ in asked]
    characters = sum(map(len, asked))
    return {"lines": numbers, "candidates": candidates, "failed": "malformed", "characters": characters}


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--service", required=True, choices=sorted(SERVICES), help="whose service")
    add("--src", required=True, help="source language as the service knows it: en, zh-CN")
    add("--trg", required=True, help="target language")
    add("--lines", type=int, default=20, help="lines a request, by default 20")
    add("--timeout", type=float, default=TIMEOUT, help="seconds that an answer may take, by default 60")
    add("--text", required=True, type=Path, help="text to translate")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
