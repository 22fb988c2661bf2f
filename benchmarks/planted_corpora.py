"""Verdicts of the gates of cleaning on shifted, exchanged, half translated and good corpora.

    python -m benchmarks.planted_corpora configs/en-fr.debian configs/en-ja.debian [--rows 10000] [--sets kde]

Each folder is one of `python -m corpora.debian`: {set}.en.zst beside {set}.fr.zst. The first --rows pairs of
every set with 1,000 or more are cleaned as they are, those of --sets (one in each folder, else the largest)
once more for each way in which a corpus is spoiled here, with the default filters and the identifier of
`auto` (languages of GlotLID's are not identified), and judged as a run would judge them.

Prints for each what cleaning notes of it, which gates fail and what they say; then how many of the
sets fail each gate as they are, and how many of the spoiled ones fail any.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.debian_text import LOCALES
from pipeline.clean.clean_parallel import main as clean
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines, zip_lines
from translations_assets.checks.gates import GATES
from translations_assets.checks.verdict import Documents, NothingToJudge
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.gates import Checks
from translations_assets.config.identification import heli_labels
from translations_assets.config.languages import Language, language
from translations_assets.results.statistics import Statistics
from translations_assets.stages.filter_files import FILTERS, filter_files, pattern_files
from translations_assets.stages.languages import opuscleaner_code

Pair = tuple[str, str]
FEWEST = 1_000  # pairs of a set
NO_SETS = ("mono", "dev", "test", "libreoffice-test")
CODES = {locale: lang for lang, locale in LOCALES.items() if locale} | {"pt_BR": "pt_br", "pt": "pt"}


def _half(line: str, first: bool) -> str:
    """The first half of a line, or the rest: of its words, or its characters where spaces are few."""
    words = line.split(" ")
    parts, joint = (words, " ") if 8 * len(words) > len(line) else (list(line), "")
    middle = (len(parts) + 1) // 2
    return joint.join(parts[:middle] if first else parts[middle:])


def _shifted(pairs: Sequence[Pair], begin: int) -> list[Pair]:
    """The pairs with a target left out, so that from `begin` on each has the next one's."""
    targets = [target for place, (_, target) in enumerate(pairs) if place != begin]
    return [(source, target) for (source, _), target in zip(pairs, targets, strict=False)]


def _of_half(change: Callable[[Pair], str]) -> Callable[[Sequence[Pair]], list[Pair]]:
    """Apply a change to the target of half of the pairs, drawn."""

    def spoil(pairs: Sequence[Pair]) -> list[Pair]:
        draw = random.Random(1)
        return [(pair[0], change(pair) if draw.random() < 0.5 else pair[1]) for pair in pairs]

    return spoil


PLANTED: Mapping[str, Callable[[Sequence[Pair]], list[Pair]]] = {
    "shifted by a line": lambda pairs: _shifted(pairs, 0),
    "shifted from the middle on": lambda pairs: _shifted(pairs, len(pairs) // 2),
    "exchanged": lambda pairs: [(target, source) for source, target in pairs],
    "half of the lines copies": _of_half(lambda pair: pair[0]),
    "half of the lines half translated": _of_half(
        lambda pair: f"{_half(pair[1], True)} {_half(pair[0], False)}"
    ),
    "all lines half translated": lambda pairs: [
        (source, f"{_half(target, True)} {_half(source, False)}") for source, target in pairs
    ],
    "half of the lines cut in half": _of_half(lambda pair: _half(pair[1], True)),
    "all lines cut in half": lambda pairs: [(source, _half(target, True)) for source, target in pairs],
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", help="corpora of corpora.debian")
    parser.add_argument("--rows", type=int, default=10_000, help="pairs of each set")
    parser.add_argument("--sets", nargs="*", default=[], help="sets to spoil; else each folder's largest")
    args = parser.parse_args(argv)
    good: Counter[str] = Counter()
    found: dict[str, list[bool]] = defaultdict(list)
    sets = 0
    for folder in args.folders:
        corpora = dict(_corpora(folder, args.rows))
        chosen = [name for name in corpora if name.split()[1] in args.sets] or sorted(
            corpora, key=lambda name: len(corpora[name][1])
        )[-1:]
        for name, (spoken, pairs) in corpora.items():
            sets += 1
            good.update(_tried(f"{name}, as it is", spoken, pairs))
            for planted, spoil in PLANTED.items() if name in chosen else ():
                found[planted].append(bool(_tried(f"{name}, {planted}", spoken, spoil(pairs))))
    print(f"\nof {sets} sets as they are fail: {dict(good) or 'none'}")
    for planted, noticed in found.items():
        print(f"{planted}: {sum(noticed)} of {len(noticed)} are noticed")


def _corpora(folder: Path, rows: int) -> Iterator[tuple[str, tuple[Language, list[Pair]]]]:
    """The sets of a folder: language and name, and their pairs."""
    for english in sorted(folder.glob("*.en.*")):
        name, _, ending = english.name.partition(".en.")
        others = [
            path
            for path in folder.glob(f"{name}.*.{ending}")
            if path.name.split(".")[1] not in ("en", "sources")
        ]
        if name in NO_SETS or not others:
            continue
        locale = others[0].name.split(".")[1]
        pairs = [(one, other) for one, other in islice(zip_lines(english, others[0]), rows)]
        if len(pairs) >= FEWEST:
            yield f"{locale} {name}", (language(CODES.get(locale, locale)), pairs)


def _tried(name: str, spoken: Language, pairs: Sequence[Pair]) -> list[str]:
    """The gates that fail on a corpus, which are printed with what they say."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            stats = _cleaned(Path(folder), spoken, pairs)
        except InputError as error:
            print(f"{name}: the step fails: {str(error)[:160]}", flush=True)
            return ["the step fails"]
    lines = stats["lines"]
    agreed = stats["agreement"]
    told = f"fit {agreed['fit']}, apart {agreed['apart']} of {agreed['windows']}; of {agreed['sentences']} "
    told += f"sentences {agreed['copied']} copied, {agreed['partly']} partly; lengths {agreed['lengths']}"
    print(f"{name}: {1 - lines['kept'] / lines['in']:.1%} dropped; {told}", flush=True)
    failed = dict(_failed({"clean_corpus": {"the set": Statistics.from_dict(stats)}}))
    for gate, told in failed.items():
        print(f"    {gate}: {told}", flush=True)
    return list(failed)


def _failed(documents: Documents[Statistics]) -> Iterator[tuple[str, str]]:
    checks = Checks()
    for gate in GATES:
        if gate.stage == "clean_corpus":
            try:
                verdict = gate.judge(documents, gate.thresholds(SimpleNamespace(checks=checks)))  # type: ignore[arg-type]
            except NothingToJudge:
                continue
            if not verdict.passed:
                yield gate.name, verdict.description


def _cleaned(folder: Path, spoken: Language, pairs: Sequence[Pair]) -> Mapping[str, Any]:
    """The stats of the script that cleans pairs of English and another language, as its stage has it."""
    english = language("en")
    filters = filter_files("custom", "en", spoken.code, parse_dataset("file_corpus.[LANG].gz"))
    arguments = ["--filters", *(file.path for file in filters)]
    arguments += ["--patterns", *(file.path for file in pattern_files(filters))]
    for table in ("alphabets", "words", "currencies"):
        arguments += [f"--{table}", f"{FILTERS}/{table}.json"]
    for number, (side, lang) in enumerate((("src", english), ("trg", spoken))):
        text = folder / f"corpus.{number}.gz"
        write_lines(text, (pair[number] for pair in pairs))
        arguments += [f"--{side}", lang.code, f"--{side}-script", lang.script, f"--corpus-{side}", str(text)]
        arguments += [f"--{side}-code", opuscleaner_code(lang), f"--{side}-labels", *heli_labels(lang)]
    clean([*arguments, "--output", str(folder / "clean")])
    stats: Mapping[str, Any] = json.loads((folder / "clean" / "stats.json").read_text(encoding="utf-8"))
    return stats


if __name__ == "__main__":
    main()
