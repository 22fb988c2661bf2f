"""What translated files hold: pairs of texts of catalogues and of help pages in two languages."""

import html
import io
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from xml.etree import ElementTree

from babel.messages.mofile import read_mo
from icu4py.breakers import SentenceBreaker

Pair = tuple[str, str]

# Blocks of text in Mallard and DocBook that hold no other ones.
_BLOCKS = {"title", "subtitle", "p", "desc", "para", "simpara", "term"}
_HTML_BLOCK = re.compile(r'<(p|h[1-6])\b[^>]*\bid="([^"]+)"[^>]*>(.*?)</\1>', re.S)
_BULLET = re.compile(r"^(?:[*+•o–—-]|\d+[.)])\s+")
_ESCAPES = {r"\-": "-", r"\(aq": "'", r"\(dq": '"', r"\(bu": "•", r"\~": " ", r"\e": "\\"}  # of roff
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")
# `_File`, `&File`, and where the letter is not one of the text, `(_F)`.
_ACCELERATOR = re.compile(r"\([_&](\w)\)|[_&](?=\w)")


def messages(data: bytes) -> Iterator[Pair]:
    """Messages of a compiled catalogue of gettext and their translations; of plurals both forms.

    Marks of accelerators go where a message has one on both sides. A catalogue that cannot be read has none.
    """
    try:
        catalogue = read_mo(io.BytesIO(data))
    except (OSError, ValueError, LookupError, struct.error):
        return
    for message in catalogue:
        if not message.id:
            continue
        if isinstance(message.id, str):
            yield _without_accelerator(message.id, str(message.string))
        else:
            forms = tuple(message.string or ("", ""))
            yield from zip(message.id, (forms[0], forms[-1]), strict=True)


def _without_accelerator(english: str, other: str) -> Pair:
    sides = english, other
    if all(len(_ACCELERATOR.findall(side)) == 1 for side in sides):
        english, other = (_ACCELERATOR.sub("", side) for side in sides)
    return english, other


def help_pairs(english: bytes, other: bytes) -> Iterator[Pair]:
    """The blocks of a page in Mallard or DocBook and of its translation, where both have the same ones."""
    blocks = [list(_help_blocks(page)) for page in (english, other)]
    if [tag for tag, _ in blocks[0]] == [tag for tag, _ in blocks[1]]:
        for (_, left), (_, right) in zip(*blocks, strict=True):
            yield left, right


def _help_blocks(page: bytes) -> Iterator[tuple[str, str]]:
    try:
        root = ElementTree.fromstring(page)
    except ElementTree.ParseError:
        return
    for element in root.iter():
        inner = {_tag(child) for child in element.iter() if child is not element}
        if _tag(element) in _BLOCKS and not inner & _BLOCKS:
            yield _tag(element), "".join(element.itertext())


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def html_blocks(page: bytes) -> Mapping[str, str]:
    """The paragraphs and headings with an id, by that: LibreOffice's help has the same in all languages."""
    found = _HTML_BLOCK.finditer(page.decode("utf-8", "replace"))
    return {block[2]: html.unescape(re.sub(r"<[^>]+>", "", block[3])) for block in found}


def units(description: str) -> list[list[str]]:
    """The paragraphs of a package's description, the synopsis first, each with its items of lists apart.

    As Debian's policy has it (5.6.13): a line of a paragraph begins with one space, one that is shown as it
    stands with more, and ` .` parts paragraphs. A line that is indented further goes on with an item.
    """
    synopsis, *lines = description.split("\n")
    paragraphs: list[list[str]] = [[synopsis.strip()], []]
    current = 0
    for line in lines:
        text = line.strip()
        if text == ".":
            paragraphs.append([])
            continue
        indent = len(line) - len(line.lstrip())
        goes_on = paragraphs[-1] and (indent == current == 1 or indent > current > 1)
        if goes_on and not _BULLET.match(text):
            paragraphs[-1][-1] += f" {text}"
        else:
            paragraphs[-1].append(_BULLET.sub("", text))
            current = indent
    return [paragraph for paragraph in paragraphs if paragraph]


def described(english: str, other: str) -> Iterator[Pair]:
    """What two descriptions say to each other: items, else paragraphs, else the synopsis alone."""
    sides = units(english), units(other)
    if len(sides[0]) != len(sides[1]):
        sides = sides[0][:1], sides[1][:1]
    for left, right in zip(*sides, strict=True):
        if len(left) != len(right):
            left, right = [" ".join(left)], [" ".join(right)]
        yield from zip(left, right, strict=True)


def sentence_pairs(pairs: Iterable[Pair], lang: str) -> Iterator[Pair]:
    """Pairs of lines: the paragraphs of texts, and of these the sentences, where both sides have as many."""
    for pair in pairs:
        paragraphs = [_PARAGRAPHS.split(side) for side in pair]
        if len(paragraphs[0]) != len(paragraphs[1]):
            paragraphs = [[side] for side in pair]
        for lines in zip(*paragraphs, strict=True):
            sentences = [_sentences(line, code) for line, code in zip(lines, ("en", lang), strict=True)]
            if len(sentences[0]) != len(sentences[1]):
                sentences = [[" ".join(side)] for side in sentences]
            yield from ((left, right) for left, right in zip(*sentences, strict=True) if left and right)


def sentences_of(texts: Iterable[str], lang: str) -> Iterator[str]:
    """The sentences of texts."""
    for text in texts:
        yield from filter(None, _sentences(text, lang))


def _sentences(text: str, lang: str) -> list[str]:
    line = " ".join(text.split())
    return [part.strip() for part in SentenceBreaker(line, lang)] or [""]


def manual_sentences(page: str, lang: str) -> Iterator[str]:
    """The sentences of a manual page in roff: text between requests, with the commonest escapes resolved."""
    for is_request, lines in groupby(page.splitlines(), lambda line: line.startswith((".", "'"))):
        if not is_request:
            yield from sentences_of([_without_escapes(" ".join(lines))], lang)


def _without_escapes(text: str) -> str:
    text = re.sub(r"\\f(?:\[[^]]*\]|\(..|.)|\\[&%|^,/]|\\c$", "", text)
    for escape, sign in _ESCAPES.items():
        text = text.replace(escape, sign)
    return text
