"""Ask a service with OpenAI's interface for the translations of a text, several sentences a request.

    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python -m pipeline.translate.ask \\
        --service OPENAI --model Qwen/Qwen3-32B --src English --trg Russian \\
        --prompt pipeline/translate/configs/prompts/endpoint.yml \\
        --text part.1.zst --output answers

Writes answers.zst, a JSON object for each line of the text, and stats.json:

    {"candidates": ["Привет!", "Здравствуйте!"]}   translations, as many as the service gave; none twice
    {"failed": "rejected"}                         or why there is none

Answers are taken as they come: `pipeline.clean.check_answers` judges them, so that another judgement
never pays again. A line fails when it is asked alone and the service rejects it (`rejected`), fails each
time while it answers others (`unanswered`), the answer is cut off (`cut_off`), or is not as the prompt asks
(`malformed`). Where that happens to several lines together, each of them is asked alone.

Each answer is kept as it comes: another attempt pays for nothing but the requests that were under way.
"""

import argparse
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.common.lines import read_lines, write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.asking import (
    Asking,
    Candidates,
    add_service_arguments,
    answers_of,
    ask_all,
    read_options,
    service_of,
    summarize,
    with_languages,
)
from pipeline.translate.chat import Reply
from pipeline.translate.kept_answers import Record, kept_answers
from pipeline.translate.prompts import read_answer, read_prompt

SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the answers and stats.json."""
    args = parse_arguments(argv)
    options = read_options(args.options, args.candidates)
    prompt = read_prompt(args.prompt, args.examples, args.src, args.trg)
    lines = [*read_lines(args.text)]
    formerly = MadeFrom(
        {"the text": args.text, "the prompt": [args.prompt, *([args.examples] if args.examples else [])]},
        {"--model": args.model, "--candidates": args.candidates, **options},
    )
    made_from = with_languages(formerly, args)
    with staged(args.output) as (output, scratch), kept_answers(scratch, made_from, formerly) as kept:
        asking = Asking(
            service_of(args),
            lambda numbers: prompt.messages([lines[number] for number in numbers]),
            _taken_apart,
            args.candidates,
            options,
        )
        ask_all(asking.ask, (number for number, line in enumerate(lines) if line.strip()), kept, args.lines)
        found = answers_of(kept.records)
        write_lines(output / "answers.zst", (written(line, found.get(at)) for at, line in enumerate(lines)))
        stats = {**summarize(len(lines), kept.records, found), "samples": samples(lines, found)}
        log.info("%s, %s tokens", stats["lines"], stats["tokens"])
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_service_arguments(parser)
    add = parser.add_argument
    add("--examples", type=Path, help="examples for the prompt: a sentence, a tab, its translation")
    add("--text", required=True, type=Path, help="text to translate")
    add("--candidates", type=int, default=1, help="translations of each sentence to ask for, by default 1")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def _taken_apart(reply: Reply, number: int) -> tuple[Candidates, str]:
    """The candidates of so many lines in a reply, and why some may have none."""
    candidates: list[list[str]] = [[] for _ in range(number)]
    failed = "malformed" if reply.texts else "cut_off"
    for text in reply.texts:
        try:
            answers = read_answer(text, number)
        except (ValueError, RecursionError) as error:
            log.debug("malformed (%s): %s", error, text)
            continue
        for found, answer in zip(candidates, answers, strict=True):
            if answer is not None and answer not in found:
                found.append(answer)
    return candidates, failed


def written(line: str, answer: Record | None) -> str:
    """What answers.zst has of a line: an empty one has an empty translation."""
    return json.dumps(answer or {"candidates": [line.strip()]}, ensure_ascii=False)


def samples(lines: Sequence[str], found: Mapping[int, Record]) -> list[list[Any]]:
    """The first lines that were translated, and the first translation of each."""
    answered = [number for number, answer in sorted(found.items()) if "candidates" in answer]
    samples = [[lines[number], found[number]["candidates"][0]] for number in answered[:SAMPLES]]
    return [[text[:SAMPLE_CHARACTERS] for text in pair] for pair in samples]


if __name__ == "__main__":
    run(main)
