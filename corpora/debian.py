"""A parallel corpus of English and another language from the translations in Debian's packages.

    python -m corpora.debian --lang fr --output corpora/en-fr.debian

writes for each set of pairs {set}.en.zst, {set}.fr.zst and {set}.sources.zst, the pairs' source packages:

    descriptions      what packages are said to be
    gnome, kde, apps  messages and help pages of packages of these sections, and of all others
    dev, test         1,000 pairs each, half of them descriptions, of source packages that no other set has
    libreoffice-test  1,000 pairs of LibreOffice's help and messages, of which nothing else is in any set
    paragraphs-test   some 500 pairs, whole paragraphs of descriptions of the test set's source packages

and paragraphs-test.documents.zst (the paragraph of each of its lines), mono.en.zst (descriptions that nobody
has translated), mono.fr.zst (manual pages), corpus.json (numbers, and the packages with their SHA-256). Text
is as it is, with placeholders and markup, but for marks of accelerators and bullets. Whether a source package
is for training, dev or test follows from its name.

It needs Debian or Ubuntu, fetches what is not in --work yet (some 700 MB) by apt-get, and installs nothing.
The same packages give the same bytes.
"""

import argparse
import gzip
import hashlib
import json
import logging
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import zstandard

from corpora import texts
from corpora.apt import Apt, Package, files

DESCRIPTIONS, LIBREOFFICE = "descriptions", "libreoffice"
OFFICE_HELP, MANUALS = "libreoffice-help", "manpages"  # packages that each language has
SECTIONS = ("gnome", "kde")  # of Debian that are sets of their own
LARGEST = 2_000_000  # bytes of a package that is taken for its messages: larger ones are games' and manuals
PARAGRAPHS = "paragraphs-test"
HELD_OUT = 1000  # pairs of a dev or test set; half as many of one of paragraphs
MOST_OF_A_SOURCE = 60  # of them
WORDS = range(3, 61)  # of a pair that is held out
SHARES = {"dev": 0.04, "test": 0.04}  # of the source packages

log = logging.getLogger(__name__)


class Line(NamedTuple):
    """A pair, the set that it is of, and its source package."""

    of: str
    source: str
    english: str
    other: str


def main(argv: Sequence[str] | None = None) -> None:
    """Build the corpus."""
    args = _arguments(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    apt = Apt(args.work or args.output / ".packages", args.lang)
    apt.update()
    debs = apt.download(wanted(apt, args.lang))
    log.info("%d packages", len(debs))
    described = [*described_paragraphs(apt, args.lang)]
    lines = [*chain.from_iterable(described), *package_lines(apt.packages, debs, args.lang)]
    if not lines:
        sys.exit(f"No package has text in {args.lang!r}. Name the language as Debian does: fr, pt_BR, zh_CN")
    sets = divided(lines)
    paragraphs = held_out_paragraphs(described, sets)
    sets[PARAGRAPHS] = [*chain.from_iterable(paragraphs)]
    mono = {"en": untranslated(apt, args.lang), args.lang: manual_lines(debs, args.lang)}
    write(args.output, args.lang, sets, mono, debs)
    documents = (f"{number} {line.source}" for number, lines in enumerate(paragraphs, 1) for line in lines)
    _write_lines(args.output / f"{PARAGRAPHS}.documents.zst", documents)


def locales(lang: str) -> str:
    """The names of a language's folders, as a regular expression: French is `fr` and, rarely, `fr_FR`."""
    return f"{lang}(?:_{lang.upper()})?"


def wanted(apt: Apt, lang: str) -> set[str]:
    """The packages to read: not too large ones with messages or help pages, LibreOffice's, manual pages."""
    held = rf"/(?:{locales(lang)}/LC_MESSAGES/[^/]*\.mo|help/{locales(lang)}/.*\.(?:page|docbook))$"
    small = {name for name in apt.holders(re.compile(held)) if apt.packages[name].size <= LARGEST}
    whole = [_in_language(name, lang) for name in (f"{LIBREOFFICE}-l10n", OFFICE_HELP, MANUALS)]
    return small | apt.packages.keys() & {*whole, _in_language(OFFICE_HELP, "en_US")}


def _in_language(package: str, lang: str) -> str:
    """The package of a language, such as libreoffice-help-pt-br."""
    return f"{package}-{lang.lower().replace('_', '-')}"


def described_paragraphs(apt: Apt, lang: str) -> Iterator[list[Line]]:
    """The sentences of descriptions of packages, by paragraph or item of a list; each description once."""
    translated = {digest: text for digest, _, text in apt.descriptions(lang)}
    for digest, package, english in apt.descriptions("en"):
        if other := translated.pop(digest, ""):
            source = _source(apt.packages, package)
            for paragraph in texts.described(english, other):
                pairs = texts.sentence_pairs([paragraph], lang)
                yield [Line(DESCRIPTIONS, source, *pair) for pair in pairs]


def untranslated(apt: Apt, lang: str) -> Iterator[str]:
    """The sentences of descriptions without a translation, of source packages that are for training."""
    translated = {digest for digest, _, _ in apt.descriptions(lang)}
    for digest, package, english in apt.descriptions("en"):
        if digest not in translated and part_of(_source(apt.packages, package)) == "train":
            for paragraph in texts.units(english):
                yield from texts.sentences_of(paragraph, "en")


def _source(packages: Mapping[str, Package], name: str) -> str:
    return packages[name].source if name in packages else name


def package_lines(packages: Mapping[str, Package], debs: Mapping[str, Path], lang: str) -> Iterator[Line]:
    """The messages and the help pages of packages."""
    for name, deb in debs.items():
        package = packages[name]
        of = package.section if package.section in SECTIONS else "apps"
        if package.source.startswith(LIBREOFFICE):
            of = LIBREOFFICE
        for pair in texts.sentence_pairs(_messages_and_help(deb, lang), lang):
            yield Line(of, package.source, *pair)
    help_files = [debs.get(_in_language(OFFICE_HELP, code)) for code in ("en_US", lang)]
    if all(help_files):
        english, other = (_html_pages(deb) for deb in help_files if deb)
        common = (
            (blocks[number], other[page][number])
            for page, blocks in english.items()
            for number in blocks.keys() & other.get(page, {}).keys()
        )
        for pair in texts.sentence_pairs(sorted(common), lang):
            yield Line(LIBREOFFICE, LIBREOFFICE, *pair)


def _messages_and_help(deb: Path, lang: str) -> Iterator[texts.Pair]:
    names = locales(lang)
    path = re.compile(rf"/{names}/LC_MESSAGES/[^/]*\.mo$|/help/(C|{names})/(.*\.(?:page|docbook))$")
    pages: dict[str, dict[bool, bytes]] = defaultdict(dict)
    for name, data in files(deb, path):
        if name.endswith(".mo"):
            yield from texts.messages(data)
        elif found := path.search(name):
            pages[found[2]][found[1] == "C"] = data
    for _, versions in sorted(pages.items()):
        if len(versions) == 2:
            yield from texts.help_pairs(versions[True], versions[False])


def _html_pages(deb: Path) -> dict[str, Mapping[str, str]]:
    path = re.compile(r"/help/[^/]+/(text/.*\.html)$")
    return {path.findall(name)[0]: texts.html_blocks(data) for name, data in files(deb, path)}


def manual_lines(debs: Mapping[str, Path], lang: str) -> Iterator[str]:
    """The sentences of the manual pages in the language."""
    deb = debs.get(_in_language(MANUALS, lang))
    for _, data in files(deb, re.compile(rf"/man/{locales(lang)}/man\d/[^/]*\.gz$")) if deb else ():
        yield from texts.manual_sentences(gzip.decompress(data).decode("utf-8", "replace"), lang)


def part_of(source: str) -> str:
    """train, dev or test: the same for all text of a source package, whatever else there is."""
    place = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big") / 2**64
    for part, share in SHARES.items():
        if place < share:
            return part
        place -= share
    return "train"


def divided(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """The sets, by name. LibreOffice's text is for its test set alone."""
    pools: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.of == LIBREOFFICE:
            pools["libreoffice-test"].append(line)
        elif not line.source.startswith(LIBREOFFICE):
            pools[part_of(line.source)].append(line)
    sets: dict[str, list[Line]] = defaultdict(list)
    for line in pools["train"]:
        sets[line.of].append(line)
    seen = {side for line in pools["train"] for side in (line.english, line.other)}
    for name in (*SHARES, "libreoffice-test"):
        sets[name] = held_out(pools[name], seen)
        seen.update(side for line in sets[name] for side in (line.english, line.other))
    return dict(sets)


def held_out(pool: Iterable[Line], seen: set[str]) -> list[Line]:
    """HELD_OUT pairs that are translated, no side of which was seen; half are descriptions, if there are any.

    Chosen and ordered by a hash of their text; of one source package MOST_OF_A_SOURCE at most, but of
    LibreOffice, which is one.
    """
    order = sorted(set(pool), key=lambda line: _place([line]))
    has_both = len({line.of == DESCRIPTIONS for line in order}) == 2
    chosen: list[Line] = []
    used, of_source, of_kind = set(seen), Counter[str](), Counter[bool]()
    for line in order:
        sides, kind = {line.english, line.other}, line.of == DESCRIPTIONS
        if len(line.english.split()) not in WORDS or len(sides) == 1 or sides & used:
            continue
        if of_source[line.source] >= MOST_OF_A_SOURCE and line.of != LIBREOFFICE:
            continue
        if of_kind[kind] >= (HELD_OUT // 2 if has_both else HELD_OUT):
            continue
        chosen.append(line)
        used |= sides
        of_source[line.source] += 1
        of_kind[kind] += 1
    return chosen


def held_out_paragraphs(
    paragraphs: Iterable[Sequence[Line]], sets: Mapping[str, Sequence[Line]]
) -> list[Sequence[Line]]:
    """Paragraphs of several sentences, no side of which is in the sets for training or in the dev set.

    Of source packages that are for tests; chosen, ordered and of a package at most as `held_out` has it.
    """
    others = (lines for name, lines in sets.items() if not name.endswith("test"))
    used = {side for line in chain.from_iterable(others) for side in (line.english, line.other)}
    chosen: list[Sequence[Line]] = []
    lines, of_source = 0, Counter[str]()
    for paragraph in sorted(paragraphs, key=_place):
        sides = {side for line in paragraph for side in (line.english, line.other)}
        if len(paragraph) < 2 or len(sides) < 2 * len(paragraph) or sides & used:
            continue
        source = paragraph[0].source
        if part_of(source) != "test" or of_source[source] + len(paragraph) > MOST_OF_A_SOURCE:
            continue
        if lines + len(paragraph) > HELD_OUT // 2:
            break
        chosen.append(paragraph)
        used |= sides
        lines += len(paragraph)
        of_source[source] += len(paragraph)
    return chosen


def _place(lines: Sequence[Line]) -> bytes:
    """The place of lines in an order that nothing but their text decides."""
    return hashlib.sha256("\n".join("\t".join(line[2:]) for line in lines).encode()).digest()


def write(
    output: Path,
    lang: str,
    sets: Mapping[str, Sequence[Line]],
    mono: Mapping[str, Iterable[str]],
    debs: Mapping[str, Path],
) -> None:
    """Write the files of all sets, and corpus.json."""
    output.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, object] = {}
    for name, lines in sorted(sets.items()):
        columns = {"en": "english", lang: "other", "sources": "source"}
        for column, field in columns.items():
            _write_lines(output / f"{name}.{column}.zst", (getattr(line, field) for line in lines))
        numbers[name] = {
            "pairs": len(lines),
            "distinct": len({line[2:] for line in lines}),
            "source packages": len({line.source for line in lines}),
            "English words": sum(len(line.english.split()) for line in lines),
        }
        log.info("%s: %s", name, numbers[name])
    for code, found in mono.items():
        distinct = dict.fromkeys(found)
        _write_lines(output / f"mono.{code}.zst", distinct)
        numbers[f"mono.{code}"] = {"lines": len(distinct)}
    numbers["packages"] = {deb.name: hashlib.sha256(deb.read_bytes()).hexdigest() for deb in debs.values()}
    (output / "corpus.json").write_text(json.dumps(numbers, indent=1) + "\n")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with zstandard.open(path, "wt", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lang", required=True, help="the other language, as Debian calls it: fr, pt_BR")
    parser.add_argument("--output", required=True, type=Path, help="folder for the corpus")
    parser.add_argument("--work", type=Path, help="folder of lists and packages; by default in --output")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
