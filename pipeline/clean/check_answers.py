"""Take the translations from the answers of a service, without those that are none.

    python -m pipeline.clean.check_answers --answers answers.zst --text part.1.zst \\
        --src-script Latin --trg-script Cyrillic --trg-labels rus --output translated

Writes translations.zst, a line for each line of the text: the first answer without a fault, or an empty line;
with --nbest nbest.zst, all answers without a fault as Marian writes lists of n best, without scores. And
stats.json, with the lines that have no translation by the fault of their first answer:

    rejected, unanswered, cut_off, malformed         as `pipeline.translate.ask` says
    empty, several_lines, chatter, refusal, copied   as `pipeline.clean.faults` says
    language                        it is in another language than --trg-labels
    length                          it is much longer or shorter than this text's usual translations

Merging drops empty lines.
"""

import argparse
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.clean.evidence import Script
from pipeline.clean.faults import Lengths, fault, may_refuse
from pipeline.clean.identification import Identifier, make_identifier
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines, zip_lines
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

LEARNT_FROM = 4_000  # answers by which it is known what languages and lengths there are
SAMPLES = 5  # for each fault
SAMPLE_CHARACTERS = 200
ENGLISH = frozenset({"en", "eng", "eng_Latn"})  # labels

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the translations and stats.json."""
    args = parse_arguments(argv)
    source = Script(args.src_script)
    in_english = not ENGLISH.isdisjoint(args.trg_labels)
    rows = [_read(line, answer, source, in_english) for line, answer in zip_lines(args.text, args.answers)]
    identifier = make_identifier(args.trg_labels, args.trg_script, args.language_model, args.always)
    judge_together(rows, identifier)
    with staged(args.output) as (output, _):
        if args.nbest:
            write_lines(output / "nbest.zst", entries(rows))
        else:
            write_lines(output / "translations.zst", ((*row.kept, "")[0] for row in rows))
        stats = summarize(rows)
        log.info("%s", stats["lines"])
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--answers", required=True, type=Path, help="what pipeline.translate.ask has written")
    add("--text", required=True, type=Path, help="the text that it asked for")
    add("--src-script", required=True, help="script of the source language, as Unicode names it: Latin")
    add("--trg-script", required=True, help="script of the target language")
    add("--trg-labels", nargs="*", default=[], help="labels that are the target language: rus")
    add("--language-model", type=Path, help="model of fastText that has the labels; by default HeLI-OTS")
    add("--always", action="store_true", help="believe that model of short lines, too")
    add("--nbest", action="store_true", help="all answers of each line, as a list of n best")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


@dataclass
class Row:
    """A line of the text, its answers, the fault of each, and why there is none."""

    line: str
    answers: list[str]
    faults: list[str]
    failed: str

    @property
    def kept(self) -> list[str]:
        """The answers without a fault, as lines."""
        pairs = zip(self.answers, self.faults, strict=True)
        return [" ".join(answer.split()) for answer, found in pairs if not found]

    @property
    def dropped(self) -> str:
        """Why the line has no translation; empty where it has one, or is empty itself."""
        if self.kept or not self.line.strip():
            return ""
        return (*self.faults, self.failed)[0]


def _read(line: str, answer: str, source: Script, in_english: bool) -> Row:
    """Read the answers of a line, with the faults that show by themselves. Raises InputError."""
    try:
        told = dict(json.loads(answer))
        answers, failed = [str(text) for text in told.get("candidates", ())], str(told.get("failed", ""))
    except (ValueError, TypeError) as error:
        raise InputError(f"These are no answers of pipeline.translate.ask: {answer[:80]!r}") from error
    return Row(line, answers, [fault(line, text, source, in_english) for text in answers], failed)


def judge_together(rows: Sequence[Row], identifier: Identifier) -> None:
    """Add the faults that show beside the other answers: refusals, their language, then their length."""
    _find_refusals(rows)
    identifier.learn(sample((text for _, _, text in _faultless(rows)), LEARNT_FROM, seed=1))
    found = [*_faultless(rows)]
    others = identifier.others([text for _, _, text in found])
    for (row, place, _), other in zip(found, others, strict=True):
        row.faults[place] = "language" if other else ""
    lengths = Lengths(sample(((row.line, text) for row, _, text in _faultless(rows)), LEARNT_FROM, seed=1))
    for row, place, text in [*_faultless(rows)]:
        row.faults[place] = "length" if lengths.is_off(row.line, text) else ""


def _find_refusals(rows: Sequence[Row]) -> None:
    """Add the fault of what may be a refusal or a translation, and is the answer to several lines."""
    lines: dict[str, set[str]] = defaultdict(set)
    for row, _, text in _faultless(rows):
        if may_refuse(row.line, text):
            lines[text].add(row.line)
    for row, place, text in [*_faultless(rows)]:
        row.faults[place] = "refusal" if len(lines.get(text, ())) > 1 else ""


def _faultless(rows: Sequence[Row]) -> Iterator[tuple[Row, int, str]]:
    """The answers without a fault so far, of lines that are not empty, with their rows and places."""
    for row in rows:
        for place, text in enumerate(row.answers) if row.line.strip() else ():
            if not row.faults[place]:
                yield row, place, text


def entries(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of a list of n best; a line without a translation has an empty one."""
    for number, row in enumerate(rows):
        for text in row.kept or [""]:
            yield f"{number} ||| {text} ||| F0= 0 ||| 0"


def summarize(rows: Sequence[Row]) -> dict[str, Any]:
    """What stats.json holds; of each fault a few lines with their first answers."""
    dropped = Counter(row.dropped for row in rows if row.dropped)
    samples: dict[str, list[str]] = {name: [] for name in sorted(dropped)}
    for row in rows:
        if row.dropped and len(samples[row.dropped]) < SAMPLES:
            texts = [text[:SAMPLE_CHARACTERS] for text in (row.line, *row.answers[:1])]
            samples[row.dropped].append(f"{row.dropped}: {' | '.join(texts)}")
    kept = len(rows) - dropped.total()
    return {
        "lines": {"in": len(rows), "kept": kept, "dropped": dict(sorted(dropped.items()))},
        "candidates": sum(len(row.kept) for row in rows),
        "samples": [[text] for texts in samples.values() for text in texts],
    }


if __name__ == "__main__":
    run(main)
