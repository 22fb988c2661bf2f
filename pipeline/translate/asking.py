"""Lines that a service is asked about, several a request; what it answers is kept as it comes.

A record of a request has its `lines`, numbers from 0; of each its `candidates`, what was taken from the
answers, none where none was of use; `failed`, why a line may have none; `tokens`, those that were read and
written, or `characters`, which are paid for; and the `model` that the service says it has asked. Where a
request about several lines gives nothing of use for some, each of these is asked about alone, once.
"""

import argparse
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.common.errors import InputError
from pipeline.common.made_from import MadeFrom
from pipeline.common.resources import progress_file
from pipeline.translate.chat import Message, Reply, Service
from pipeline.translate.kept_answers import KeptAnswers, Record
from pipeline.translate.pacing import MOST, Pacing
from pipeline.translate.web_service import Busy, Rejected

Numbers: TypeAlias = "tuple[int, ...]"  # of lines, from 0
Candidates: TypeAlias = "list[list[Any]]"  # of each line

MOST_CHARACTERS = 5_000  # of a request, where characters count: as Google advises
TIMEOUT = 600.0  # seconds; a service says nothing until it has all of an answer
REJECTIONS = 16  # lines alone; where no line was ever answered, they are not the reason
_HALVES = re.compile(r"[\ud800-\udfff]")  # of a character, such as an emoji, that an answer has garbled

log = logging.getLogger(__name__)


def add_service_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a service and what goes into each request."""
    add = parser.add_argument
    add("--service", required=True, help="name that its variables begin with: OPENAI for OPENAI_BASE_URL")
    add("--model", required=True, help="model as the service knows it")
    add("--src", required=True, help="name of the source language, for the prompt: English")
    add("--trg", required=True, help="name of the target language")
    add("--prompt", required=True, type=Path, help="YAML with the prompt's messages `system` and `user`")
    add("--lines", type=int, default=10, help="lines a request, by default 10")
    add("--options", default="{}", help='JSON; more keys of each request, such as {"temperature": 0.3}')
    add("--timeout", type=float, default=TIMEOUT, help="seconds that an answer may take, by default 600")


def service_of(args: argparse.Namespace) -> Service:
    """The service that the options name. Raises InputError without its address."""
    return Service(args.service, args.model, args.timeout, MOST)


def with_languages(made_from: MadeFrom, args: argparse.Namespace) -> MadeFrom:
    """What answers are made from, with the languages, which are in the prompt, too."""
    return MadeFrom(made_from.files, {**made_from.options, "--src": args.src, "--trg": args.trg})


def read_options(text: str, choices: int) -> Mapping[str, Any]:
    """The keys that are laid into each request; the likeliest answer where one is asked for."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InputError(f"--options is no JSON ({error}): {text}") from error
    if not isinstance(given, dict):
        raise InputError(f"--options must be a JSON object, not {text}")
    return {**({"temperature": 0} if choices == 1 else {}), **given}


@dataclass(frozen=True)
class Asking:
    """Asks a service about lines.

    messages  that ask about lines
    take      from an answer about so many lines: their candidates, and why some may have none
    choices   answers to ask for
    options   more keys of each request
    """

    service: Service
    messages: Callable[[Numbers], Sequence[Message]]
    take: Callable[[Reply, int], tuple[Candidates, str]]
    choices: int
    options: Mapping[str, Any]

    def ask(self, numbers: Numbers) -> Record:
        """Ask about the lines with these numbers. Raises what the service raises, but Rejected."""
        try:
            reply = self.service.complete(self.messages(numbers), self.choices, self.options)
        except Rejected as error:
            return rejected(numbers, error)
        candidates, failed = self.take(reply, len(numbers))
        paid: Record = {"tokens": reply.tokens, "model": reply.model}
        return {"lines": numbers, "candidates": candidates, "failed": failed, **paid}


def rejected(numbers: Numbers, error: Rejected) -> Record:
    """The record of a request that the service does not take, and nobody pays for."""
    return _in_vain(numbers, error, "rejected")


def _unanswered(numbers: Numbers, error: Busy) -> Record:
    """The record of a request that fails each time, while others are answered."""
    return _in_vain(numbers, error, "unanswered")


def _in_vain(numbers: Numbers, error: Exception, failed: str) -> Record:
    log.warning("%d lines from line %d on: %s", len(numbers), numbers[0] + 1, error)
    return {"lines": numbers, "candidates": [[] for _ in numbers], "failed": failed}


def _tell(costs: Path | None, paid: Mapping[str, int]) -> None:
    """Tell the worker what was paid for, in all attempts; first what was in the attempts before."""
    if costs:
        with costs.open("a", encoding="utf-8") as file:
            file.write(json.dumps(paid) + "\n")


def tokens_of(records: Sequence[Record]) -> dict[str, int]:
    """The tokens that were read and written for some records."""
    read, written = (sum(record.get("tokens", (0, 0))[side] for record in records) for side in (0, 1))
    return {"tokens_read": read, "tokens_written": written}


def uncounted(number: int) -> int:
    """The characters of a line, where they do not count."""
    return 0


def characters_of(records: Sequence[Record]) -> dict[str, int]:
    """The characters of some records that are paid for."""
    return {"characters": sum(record.get("characters", 0) for record in records)}


def ask_all(
    ask: Callable[[Numbers], Record],
    wanted: Iterable[int],
    kept: KeptAnswers,
    size: int,
    paid: Callable[[Sequence[Record]], Mapping[str, int]] = tokens_of,
    characters: Callable[[int], int] = uncounted,
) -> None:
    """Ask about all wanted lines that are not answered, keep what comes, and tell what is `paid` for it.

    A request is about `size` lines at most; where they have `characters`, of `MOST_CHARACTERS` in all, or
    about a single one. Raises InputError where the service rejects whatever it is asked.
    """
    pacing, costs = Pacing(ask, _unanswered), progress_file()
    before, useful = len(kept.records), _is_of_use(kept.records)
    left = [*requests_of(wanted, believed(kept.records), size, characters)]
    pacing.add([*left, *_witnesses(kept.records, len(left))])
    _tell(costs, paid(kept.records))
    for replies in pacing.replies():
        records = [_without_halves(record) for _, record in replies]
        kept.add(records)
        _tell(costs, paid(kept.records))
        pacing.add(alone for record in records for alone in _again(record))
        useful = useful or _is_of_use(records)
        if not useful:
            _require_fewer(kept.records[before:], REJECTIONS)
    if not useful:
        _require_fewer(kept.records[before:], 1)


def _without_halves(record: Record) -> Record:
    """A record without the candidates that no file can hold, as UTF-8 has no half characters."""
    candidates = [
        [one for one in found if not (isinstance(one, str) and _HALVES.search(one))]
        for found in record["candidates"]
    ]
    return {**record, "candidates": candidates}


def _witnesses(records: Sequence[Record], left: int) -> Iterator[Numbers]:
    """A line that is answered, to be asked beside a single request that is left: one that fails each time is
    given up only where others are answered.
    """
    answered = (record for record in records if _is_of_use([record]))
    if left == 1 and (record := next(answered, None)):
        found = zip(record["lines"], record["candidates"], strict=True)
        yield (next(number for number, candidates in found if candidates),)


def requests_of(
    wanted: Iterable[int],
    records: Sequence[Record],
    size: int,
    characters: Callable[[int], int] = uncounted,
) -> Iterator[Numbers]:
    """The requests that are left: lines that wait to be asked alone, then those never asked about."""
    asked = {number for record in records for number in record["lines"]}
    settled = {
        number
        for record in records
        for number, found in zip(record["lines"], record["candidates"], strict=True)
        if found or len(record["lines"]) == 1
    }
    yield from ((number,) for number in sorted(asked - settled))
    group: list[int] = []
    total = 0
    for number in (number for number in wanted if number not in asked):
        if group and (len(group) == size or total + characters(number) > MOST_CHARACTERS):
            yield tuple(group)
            group, total = [], 0
        group.append(number)
        total += characters(number)
    if group:
        yield tuple(group)


def _again(record: Record) -> Iterator[Numbers]:
    """The lines of an answer that are to be asked about alone."""
    if len(record["lines"]) > 1:
        for number, found in zip(record["lines"], record["candidates"], strict=True):
            if not found:
                yield (number,)


def believed(records: Sequence[Record]) -> list[Record]:
    """The records that count in another attempt: without what was rejected before the first answer, or had
    none after the last one.

    Not the lines were the reason, perhaps, but a key or an address that is another now, or a service that was
    gone. Nothing is paid for these, so that to ask again costs nothing.
    """
    useful = [place for place, record in enumerate(records) if _is_of_use([record])]
    first, last = (useful[0], useful[-1]) if useful else (len(records), -1)
    doubtful = {"rejected": range(first), "unanswered": range(last + 1, len(records))}
    return [record for place, record in enumerate(records) if place not in doubtful.get(record["failed"], ())]


def _is_of_use(records: Sequence[Record]) -> bool:
    """True if the service has answered about any line."""
    return any(found for record in records for found in record["candidates"])


def _require_fewer(records: Sequence[Record], rejections: int) -> None:
    """Raise InputError where a service that has answered nothing has rejected that many lines alone."""
    alone = [record for record in records if len(record["lines"]) == 1 and record["failed"] == "rejected"]
    if len(alone) >= rejections:
        raise InputError(
            f"The service has rejected all {len(records)} requests; its reasons are above. Correct the "
            "options, the model, the prompt, the languages or the key, whichever they name."
        )


def answers_of(records: Sequence[Record]) -> dict[int, Record]:
    """What is known of each line that was asked about: its candidates, or why it has none."""
    found: dict[int, Record] = {}
    for record in records:
        for number, candidates in zip(record["lines"], record["candidates"], strict=True):
            if candidates:
                found[number] = {"candidates": candidates}
            elif "candidates" not in found.get(number, {}):  # the reason of the line alone comes last
                found[number] = {"failed": record["failed"]}
    return found


def summarize(number: int, records: Sequence[Record], found: Mapping[int, Record]) -> dict[str, Any]:
    """What stats.json holds of so many lines; tokens are those of all attempts together."""
    paid = tokens_of(records)
    return {
        "lines": lines_of(number, found),
        "requests": len(records),
        "tokens": {"read": paid["tokens_read"], "written": paid["tokens_written"]},
        "models": sorted({record["model"] for record in records if record.get("model")}),
    }


def lines_of(number: int, found: Mapping[int, Record]) -> dict[str, Any]:
    """How many lines there are, how many have an answer, and how many have none, by reason."""
    failed = Counter(answer["failed"] for answer in found.values() if "failed" in answer)
    return {"in": number, "kept": number - failed.total(), "dropped": dict(sorted(failed.items()))}
