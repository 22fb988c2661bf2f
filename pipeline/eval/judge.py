"""Scores translations by a large language model, which judges each line by its source and reference.

    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python -m pipeline.eval.judge \\
        --service OPENAI --model Qwen/Qwen3-32B --src English --trg Russian \\
        --prompt pipeline/translate/configs/prompts/judge.yml --translations translations.zst \\
        --corpus-src test.en.zst --corpus-trg test.ru.zst --dataset flores_devtest --output scores

writes

    segments.zst  what the judge gives to each line, 0 to 100; an empty line where it gives nothing of use
    scores.json   as metrics.json of pipeline.eval.evaluate: the mean of the others, with a confidence
                  interval by bootstrap resampling, and a signature with the model and the prompt's digest
    stats.json    how many lines have a score, why others have none, requests and tokens, the worst lines

pipeline.eval.llm_ref writes them in Mozilla's layout. Several lines go into a request. A line has no score
when it is judged alone and the service rejects it (`rejected`), fails each time while it answers others
(`unanswered`), the answer is cut off (`cut_off`), is not as the prompt asks (`malformed`), or the number is
not between 0 and 100 (`out_of_range`). Each answer is kept as it comes: another attempt pays for nothing but
the requests that were under way.
"""

import argparse
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines, zip_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.comet import resampled_mean
from pipeline.eval.metrics import RESAMPLES, SEED
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
from pipeline.translate.prompts import read_prompt, read_values

LEAST, MOST = 0, 100
DIGITS = 12  # of the prompt's digest
SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = parse_arguments(argv)
    options = read_options(args.options, 1)
    prompt = read_prompt(args.prompt, None, args.src, args.trg)
    rows = [*zip_lines(args.corpus_src, args.corpus_trg, args.translations)]
    if not rows:
        raise InputError(f"{args.translations} is empty. There is nothing to evaluate.")
    texts = [{"source": src, "reference": trg, "translation": made} for src, trg, made in rows]
    formerly = MadeFrom(
        {
            "the test set": [args.corpus_src, args.corpus_trg],
            "the translations": args.translations,
            "the prompt": args.prompt,
        },
        {"--model": args.model, **options},
    )
    made_from = with_languages(formerly, args)
    with staged(args.output) as (output, scratch), kept_answers(scratch, made_from, formerly) as kept:
        asking = Asking(
            service_of(args),
            lambda numbers: prompt.messages([texts[number] for number in numbers]),
            scores_in,
            1,
            options,
        )
        ask_all(asking.ask, range(len(texts)), kept, args.lines)
        found = answers_of(kept.records)
        stats = summarize(len(texts), kept.records, found)
        segments = _segments(len(texts), found)
        signature = _signature(args, options, stats["models"])
        score = {**_mean(segments, stats), "signature": signature}
        write_lines(output / "segments.zst", ("" if one is None else str(one) for one in segments))
        write_json(output / "scores.json", {"dataset": args.dataset, "lines": len(segments), "judge": score})
        write_json(output / "stats.json", {**stats, "samples": _worst(texts, segments)})
    log.info("%s, %s, %s tokens", score, stats["lines"], stats["tokens"])


def scores_in(reply: Reply, number: int) -> tuple[Candidates, str]:
    """The score of each of so many lines in a reply, as a list of one or none, and why some may have none."""
    scores: list[list[float]] = [[] for _ in range(number)]
    if not reply.texts:
        return scores, "cut_off"
    failed = "malformed"
    try:
        values = read_values(reply.texts[0], number)
    except (ValueError, RecursionError) as error:
        log.debug("malformed (%s): %s", error, reply.texts[0])
        return scores, failed
    for found, value in zip(scores, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if LEAST <= value <= MOST:
            found.append(float(value))
        else:  # NaN, too, which Python's JSON knows
            failed = "out_of_range"
    return scores, failed


def _segments(number: int, found: Mapping[int, Record]) -> list[float | None]:
    """The score of each line; None where it has none."""
    return [found[at]["candidates"][0] if "candidates" in found[at] else None for at in range(number)]


def _mean(segments: Sequence[float | None], stats: Mapping[str, Any]) -> dict[str, float]:
    """The mean of the lines that have a score. Raises InputError where none has."""
    scores = [score for score in segments if score is not None]
    if not scores:
        raise InputError(
            f"The judge gave no line a score from {LEAST} to {MOST}: {stats['lines']['dropped']}. Try "
            "another model, or a prompt that asks for nothing but a JSON object of numbers."
        )
    return resampled_mean(scores)


def _signature(args: argparse.Namespace, options: Mapping[str, Any], models: Sequence[str]) -> str:
    """All that a score depends on, as far as it is known."""
    prompt = hashlib.sha256(args.prompt.read_bytes()).hexdigest()[:DIGITS]
    laid = json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    served = "+".join(models)
    return (
        f"model:{args.model}|served:{served}|prompt:{prompt}|lines:{args.lines}|options:{laid}"
        f"|bs:{RESAMPLES}|seed:{SEED}"
    )


def _worst(texts: Sequence[Mapping[str, str]], segments: Sequence[float | None]) -> list[list[str]]:
    """Source and translation of the lines with the lowest scores, and these."""
    scored = sorted((score, at) for at, score in enumerate(segments) if score is not None)
    return [
        [texts[at][side][:SAMPLE_CHARACTERS] for side in ("source", "translation")] + [f"{score:g}"]
        for score, at in scored[:SAMPLES]
    ]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_service_arguments(parser)
    add = parser.add_argument
    add("--translations", required=True, type=Path, help="a model's translations of the test set")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for scores.json")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
