"""HTML as runs of text under tags: read, written, and cut into blocks.

The form is flat: each start tag has a number, in the order of the text, and each run of text the numbers of
those that are open there. So the runs of a translation may stand in another order: an element whose runs no
longer stand together is written more than once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from itertools import groupby

VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
# What stands inside sentences; any other element begins and ends a text of its own
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "cite", "code", "del", "dfn", "em", "i", "img", "ins", "kbd", "mark", "q", "s"}
    | {"small", "span", "strong", "sub", "sup", "time", "u", "var", "wbr"}
)

_NAME, _VALUE = r"[A-Za-z][\w:-]*", r"""(?:"[^"]*"|'[^']*')"""
_TAG = re.compile(
    rf"""<(?P<end>/?)(?P<name>{_NAME})(?P<attributes>(?:\s+[^\s=<>"'/]+(?:={_VALUE})?)*)\s*/?>"""
)
_ATTRIBUTE = re.compile(rf"""([^\s=<>"'/]+)(?:=({_VALUE}))?""")
_NO_BREAK = "\N{NO-BREAK SPACE}"


class MarkupError(ValueError):
    """The text is no well-formed HTML; the message says why."""


@dataclass(frozen=True)
class Tag:
    """A start tag: its name, and attributes in their order, without entities."""

    name: str
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def is_void(self) -> bool:
        """True if it has no end tag, and no text."""
        return self.name in VOID

    @property
    def is_inline(self) -> bool:
        """True if it stands inside sentences."""
        return self.name in INLINE


@dataclass(frozen=True)
class Run:
    """A piece of text, and the numbers of the tags that are open there, the outermost first.

    Void and empty elements have a run without text.
    """

    text: str
    path: tuple[int, ...] = ()


@dataclass(frozen=True)
class Markup:
    """HTML: all start tags, and the runs in order. Numbers in paths are positions among the tags."""

    tags: tuple[Tag, ...]
    runs: tuple[Run, ...]


def parse(html: str) -> Markup:
    """Read HTML.

    Raises MarkupError for `<` that begins no tag, and elements that are not closed, or not in their order.

    >>> parse('A <b>big</b> dog.').runs
    (Run(text='A ', path=()), Run(text='big', path=(0,)), Run(text=' dog.', path=()))
    """
    tags: list[Tag] = []
    runs: list[Run] = []
    path: tuple[int, ...] = ()
    position, empty = 0, False  # whether nothing has come since the last start tag
    for found in _TAG.finditer(html):
        if text := _text(html[position : found.start()]):
            runs.append(Run(text, path))
            empty = False
        position, name = found.end(), found["name"].lower()
        if not found["end"]:
            tags.append(Tag(name, tuple(_attributes(found["attributes"]))))
            path, empty = (*path, len(tags) - 1), True
            if name not in VOID:
                continue
        elif not path or tags[path[-1]].name != name:
            raise MarkupError(f"</{name}> closes nothing that is open last")
        if empty:
            runs.append(Run("", path))
        path, empty = path[:-1], False
    text = _text(html[position:])
    if path:
        raise MarkupError(f"<{tags[path[-1]].name}> is not closed")
    runs += [Run(text)] if text else []
    return Markup(tuple(tags), tuple(runs))


def write(markup: Markup) -> str:
    """Write HTML as browsers do, with the entities that are needed and no-break spaces as `&nbsp;`.

    >>> write(Markup((Tag("b"),), (Run("A "), Run("dog", (0,)), Run(" & "), Run("cat", (0,)))))
    'A <b>dog</b> &amp; <b>cat</b>'
    """
    parts: list[str] = []
    path: tuple[int, ...] = ()
    for run in (*markup.runs, Run("")):
        same = shared(path, run.path)
        parts += (f"</{markup.tags[number].name}>" for number in reversed(path[len(same) :]))
        parts += (_start(markup.tags[number]) for number in run.path[len(same) :])
        parts.append(_escaped(run.text, quote=False))
        # A void element closes itself, and may come twice in a row
        path = run.path[:-1] if run.path and markup.tags[run.path[-1]].is_void else run.path
    return "".join(parts)


def shared(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """The tags that two paths have in common, from the outermost on."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return tuple(one[:same])


def blocks(markup: Markup) -> list[tuple[Run, ...]]:
    """The runs that are translated together: those between the ends of elements that are not inline.

    >>> [text_of(block) for block in blocks(parse("<p>A <b>dog</b>.</p><p>A cat.<br>A cow.</p>"))]
    ['A dog.', 'A cat.', '', 'A cow.']
    """
    return [tuple(runs) for _, runs in groupby(markup.runs, lambda run: _block(markup.tags, run))]


def _block(tags: Sequence[Tag], run: Run) -> tuple[int, ...]:
    ends = [place for place, number in enumerate(run.path, start=1) if not tags[number].is_inline]
    return run.path[: max(ends, default=0)]


def text_of(runs: Iterable[Run]) -> str:
    """The text without the tags."""
    return "".join(run.text for run in runs)


def plain_texts(markup: Markup) -> list[str]:
    """The text of each block that has some, without tags, white space made single spaces."""
    texts = (" ".join(text_of(block).split()) for block in blocks(markup))
    return [text for text in texts if text]


def without_tags(html: str) -> str:
    """The text of HTML that may be broken."""
    return unescape(_TAG.sub(" ", html))


def _text(written: str) -> str:
    if "<" in written:
        raise MarkupError(f"`{written[written.index('<') :][:20]}` is no tag")
    return unescape(written)


def _attributes(written: str) -> Iterable[tuple[str, str]]:
    for name, value in _ATTRIBUTE.findall(written):
        yield name.lower(), unescape(value[1:-1])


def _start(tag: Tag) -> str:
    attributes = "".join(f' {name}="{_escaped(value, quote=True)}"' for name, value in tag.attributes)
    return f"<{tag.name}{attributes}>"


def _escaped(text: str, quote: bool) -> str:
    escaped = escape(text, quote=False).replace(_NO_BREAK, "&nbsp;")
    return escaped.replace('"', "&quot;") if quote else escaped
