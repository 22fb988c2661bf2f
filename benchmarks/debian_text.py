"""Text of many languages by people who translate Debian's packages, fetched by apt-get; nothing is installed.

Three kinds: `help`, paragraphs of GNOME's help pages; `descriptions` of packages; `interface`, messages of
programs. Lines with markup, placeholders or addresses are left out, as are those that stand in English as
well. apt's lists and packages (130 MB) are kept in the work folder and are used again.
"""

from __future__ import annotations

import random
import re
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from corpora.apt import files

# Packages whose one file holds the translations of all languages.
PACKAGES = (
    *("aisleriot", "epiphany-browser-data", "evince-common", "evolution-common", "gedit-common", "gimp-data"),
    *("gnome-chess", "gnome-control-center-data", "gnome-maps", "gnome-user-docs", "gnucash-common"),
    *("libglib2.0-data", "nautilus-data", "totem-common", "vlc-l10n"),
)
# The locales of pipeline languages; all others have the name of the language.
LOCALES = {
    "pt": "pt_BR",
    "pt_br": "",
    "pt_pt": "pt",
    "zh": "zh_CN",
    "zh_hans": "",
    "zh_hant": "zh_TW",
    "no": "",
    "sr_cyrl": "",
    "sr_latn": "sr@latin",
    "tl": "fil",
}
_PLACEHOLDER = re.compile(r"[%<>{}$\\|@=]|://")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-ÝŠŽČĆĐŁА-ЯЁЇІЄ])")
_TRANSLATED = re.compile(r"^Description-(?!md5)\w+: (.*(?:\n .*)*)", re.M)

Texts = Mapping[str, Mapping[str, Sequence[str]]]  # language → kind → lines


def read_texts(
    work: Path, langs: Sequence[str], most: int, *, code: bool = False, packages: Sequence[str] = PACKAGES
) -> Texts:
    """Up to `most` lines of each language and kind, in an order that is the same for every call.

    With `code` also those with markup, placeholders and addresses, and the marks of accelerators stay. The
    work folder is of these packages alone: all that lie in it are read.

    Raises CalledProcessError when apt-get cannot fetch what is not in the work folder yet.
    """
    locales = {LOCALES.get(lang, lang): lang for lang in langs if LOCALES.get(lang, lang)}
    apt = _Apt(work, locales, code, packages)
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    english: set[str] = set()
    for locale, kind, line in (*apt.descriptions(), *apt.messages_and_help()):
        if locale == "en":
            english.add(line)
        found[locales[locale]][kind].add(line)
    texts: dict[str, dict[str, list[str]]] = {}
    for lang, kinds in found.items():
        texts[lang] = {}
        for kind, lines in kinds.items():
            good = sorted(lines if lang == "en" else lines - english)
            random.Random(f"{lang} {kind}").shuffle(good)
            texts[lang][kind] = good[:most]
    return texts


def read_pairs(work: Path, langs: Sequence[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """The messages of programs with their translations, without placeholders; each pair once, sorted."""
    locales = {LOCALES.get(lang, lang): lang for lang in langs if LOCALES.get(lang, lang)}
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    apt = _Apt(work, locales)
    for locale, *sides in apt.pairs():
        lines = [[*apt.lines(side)] for side in sides]
        if len(lines[0]) == len(lines[1]) and sides[0] != sides[1]:
            found[locales[locale]].update(zip(*lines, strict=True))
    return {lang: sorted(pairs) for lang, pairs in found.items()}


class _Apt:
    """apt-get with lists and packages of its own; texts are (locale, kind, line)."""

    def __init__(
        self, work: Path, locales: Mapping[str, str], code: bool = False, packages: Sequence[str] = PACKAGES
    ) -> None:
        self._code = code
        self._lists, self._debs, self._locales = work / "lists", work / "debs", locales
        partial = self._debs / "partial"
        for folder in (self._lists / "partial", partial, work / "cache" / "archives" / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        self._options = [
            *("-o", f"Dir::State::lists={self._lists.resolve()}", "-o", f"Dir::Cache={work.resolve()}/cache"),
            *("-o", f"Acquire::Languages={','.join(locales)}", "-o", "APT::Sandbox::User=root"),
        ]
        if not any(self._lists.glob("*_Packages*")):
            subprocess.run(["apt-get", *self._options, "-qq", "update"], check=True)
        missing = [name for name in packages if not any(self._debs.glob(f"{name}_*.deb"))]
        if missing:
            subprocess.run(["apt-get", *self._options, "-qq", "download", *missing], cwd=partial, check=True)
            for deb in partial.glob("*.deb"):  # whole ones, by now
                deb.rename(self._debs / deb.name)

    def descriptions(self) -> Iterator[tuple[str, str, str]]:
        """The descriptions of packages."""
        for path in sorted(self._lists.glob("*_Translation-*")):
            locale = path.name.partition("_Translation-")[2].partition(".")[0].replace("%5f", "_")
            if locale not in self._locales:
                continue
            read = subprocess.run(
                ["/usr/lib/apt/apt-helper", "cat-file", path], check=True, capture_output=True
            )
            for described in _TRANSLATED.finditer(read.stdout.decode("utf-8", "replace")):
                synopsis, _, rest = described[1].partition("\n")
                for paragraph in (synopsis, *re.split(r"\n \.\n|\n? +[*+-] ", rest)):
                    yield from ((locale, "descriptions", line) for line in self.lines(paragraph))

    def pairs(self) -> Iterator[tuple[str, str, str]]:
        """(locale, message, translation) of the packages."""
        wanted = re.compile(r"/locale/([^/]+)/LC_MESSAGES/.*\.mo$")
        for deb in sorted(self._debs.glob("*.deb")):
            for name, data in files(deb, wanted):
                if (locale := wanted.search(name)[1]) in self._locales:  # type: ignore[index] # it was found by it
                    yield from ((locale, *pair) for pair in _messages(data))

    def messages_and_help(self) -> Iterator[tuple[str, str, str]]:
        """The messages and the help pages of the packages."""
        messages = r"(?:locale|resource)/([^/]+)/LC_MESSAGES/.*\.mo"
        wanted = re.compile(rf"/(?:{messages}|help/([^/]+)/.*\.(?:page|docbook))$")
        for deb in sorted(self._debs.glob("*.deb")):
            for name, data in files(deb, wanted):
                message, page = wanted.search(name).groups()  # type: ignore[union-attr] # it was found by it
                if message in self._locales:
                    for english, line in _messages(data):
                        yield from (("en", "interface", text) for text in self.lines(english))
                        if line != english:
                            yield from ((message, "interface", text) for text in self.lines(line))
                elif (locale := "en" if page == "C" else page) in self._locales:
                    yield from (
                        (locale, "help", line) for text in _paragraphs(data) for line in self.lines(text)
                    )

    def lines(self, text: str) -> Iterator[str]:
        """The sentences of a text; without code, only those that hold none, without marks of accelerators."""
        for sentence in _SENTENCE.split(" ".join(text.split())):
            line = sentence if self._code else re.sub(r"\(_\w\)|_(?=\w)|&", "", sentence).strip()
            if line and "\ufffd" not in line and (self._code or not _PLACEHOLDER.search(line)):
                yield line


def _messages(data: bytes) -> Iterator[tuple[str, str]]:
    """Messages of a compiled catalogue of gettext and their translations, the first forms of plurals."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None:
        return
    count, *tables = struct.unpack_from(order + "III", data, 8)
    for index in range(count):
        texts = []
        for table in tables:
            length, offset = struct.unpack_from(order + "II", data, table + 8 * index)
            texts.append(data[offset : offset + length].decode("utf-8", "replace"))
        if texts[0]:  # else the header
            yield texts[0].rpartition("\x04")[2].partition("\0")[0], texts[1].partition("\0")[0]


def _paragraphs(data: bytes) -> Iterator[str]:
    """The paragraphs of a help page in Mallard or DocBook, and none of one that cannot be read."""
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        return
    for element in root.iter():
        if str(element.tag).rpartition("}")[2] in ("p", "para", "title"):
            yield "".join(element.itertext())
