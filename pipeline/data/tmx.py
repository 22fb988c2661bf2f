"""Translation units of a TMX file (Translation Memory eXchange 1.4), streamed, for files from anybody.

The parser reads element after element; no more than a chunk's units are held. What would be held without
bound is refused: a tag or a unit without end, elements in elements in elements, ever new names. Entities
that a file declares itself are refused, for a few of them make gigabytes; external ones are never fetched.
Inline codes of formats (`bpt`, `ph`, …) are left out, marked text (`hi`) is kept. Entities of HTML are read
as there; others that nobody declares become spaces.
"""

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from pipeline.common.errors import InputError
from pipeline.common.limits import LONGEST_LINE
from pipeline.data.texts import DAMAGE, open_bounded

CHUNK = 1 << 16
LONGEST_SEGMENT = 1 << 20  # characters; a longer one is no sentence, and is cut
SEGMENT_COST = 200  # characters that a segment counts for beside its own, as memory goes
LONGEST_TAG = 1 << 20  # bytes of an element with its attributes, a comment and the like
MOST_NAMES = 1_000  # of elements and attributes; TMX has some 50
DEEPEST = 100  # elements in elements; TMX has some 10
CODES = {"bpt", "ept", "it", "ph", "ut"}
# Control characters, which XML has no place for and translation memories have all the same
CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r")
REFERENCE = re.compile(rb"&#(?:(\d{1,10})|x([0-9a-fA-F]{1,8}));")  # to a character by its number
LONGEST_REFERENCE = 14  # bytes

Unit = list[tuple[str, str]]  # (language, segment) of each variant


def read_units(path: Path) -> Iterator[Unit]:
    """The units of a file (.gz, .zst or plain). Raises InputError for one that is no TMX, or is damaged."""
    reader = _Reader(path.name)
    try:
        with open_bounded(path) as stream:
            while chunk := stream.read(CHUNK):
                yield from reader.feed(chunk)
            yield from reader.feed(b"", last=True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise InputError(f"{path.name} is no well-formed TMX: {what}, line {error.lineno:,}.") from error
    except (*DAMAGE, LookupError, ValueError) as error:  # the last two: encodings that cannot be read
        raise InputError(f"{path.name} is damaged or no TMX ({error}). Fetch it again.") from error


class _Reader:
    """Collects the units between two chunks."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._wide: bool | None = None
        self._depth = 0
        self._units: list[Unit] = []
        self._unit: Unit = []
        self._lang = ""
        self._text: list[str] | None = None  # of the segment that is open
        self._codes = 0  # open elements of inline codes
        self._size = 0
        self._unit_size = 0
        self._fed = 0
        self._rest = b""  # of a chunk: a reference that has begun
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.SkippedEntityHandler = self._entity
        self._parser.EntityDeclHandler = self._refuse_entity

    def feed(self, chunk: bytes, last: bool = False) -> list[Unit]:
        """The units that end in the chunk."""
        self._units = []
        if self._wide is None:
            self._wide = b"\0" in chunk[:4]  # UTF-16, in which such bytes are parts of characters
        content = chunk if self._wide else self._legal(chunk, last)
        self._fed += len(content)
        self._parser.Parse(content, last)
        if self._fed - self._parser.CurrentByteIndex > LONGEST_TAG:
            self._refuse("a tag without end")
        if len(self._parser.intern) > MOST_NAMES:
            self._refuse("more names of elements than a TMX")
        return self._units

    def _legal(self, chunk: bytes, last: bool) -> bytes:
        """What XML has a place for in a chunk, after the rest of the one before."""
        content = self._rest + chunk.translate(None, CONTROLS)
        begun = -1 if last else content.rfind(b"&", -LONGEST_REFERENCE)
        end = len(content) if begun < 0 else begun
        self._rest = content[end:]
        return REFERENCE.sub(_checked, content[:end])

    def _refuse(self, what: str) -> NoReturn:
        line = self._parser.CurrentLineNumber
        raise InputError(f"{self._name} has {what}, line {line:,}. It is not read.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != "tmx":
            raise InputError(f"{self._name} is XML, but no TMX: it begins with <{name[:40]}>.")
        if self._depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} elements in one another")
        if name == "tu":
            self._unit, self._unit_size = [], 0
        elif name == "tuv":
            self._lang = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif name == "seg":
            self._text, self._size = [], 0
        elif name in CODES:
            self._codes += 1

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name == "tu":
            self._units.append(self._unit)
        elif name == "seg" and self._text is not None:
            self._unit.append((self._lang, "".join(self._text)))
            self._text = None
            self._unit_size += self._size + SEGMENT_COST
            if self._unit_size > LONGEST_LINE:
                self._refuse("a unit without end")
        elif name in CODES:
            self._codes -= 1

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes and self._size < LONGEST_SEGMENT:
            self._text.append(text)
            self._size += len(text)

    def _entity(self, name: str, _: bool) -> None:
        self._characters(html5.get(f"{name};", " "))

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise InputError(
            f"{self._name} declares the entity {name[:40]!r}, which no TMX needs. It is not read."
        )


def _checked(reference: re.Match[bytes]) -> bytes:
    """A reference to a character, unless XML has no place for that."""
    decimal, hexadecimal = reference.groups()
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_control = code < 32 and code in CONTROLS
    return b"" if is_control or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF) else reference[0]


def segment(unit: Unit, code: str) -> str:
    """A unit's segment in a language: of exactly this code, else of the first that is only more precise.

    Codes are compared without regard to case, `-` and `_`: `zh_hant` is `zh-Hant`; `en` finds `en-US`.
    "" when there is none.
    """
    wanted = _normal(code)
    found = [(_normal(lang), text) for lang, text in unit]
    exact = [text for lang, text in found if lang == wanted]
    wider = [text for lang, text in found if lang.startswith(f"{wanted}-")]
    return next(iter(exact + wider), "")


def _normal(code: str) -> str:
    return code.replace("_", "-").lower()
