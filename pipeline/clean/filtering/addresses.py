"""The filter that compares addresses: of the web, of e-mail, of machines.

OpusCleaner's url_mismatch takes whatever has a dot between letters for one: OpenOffice.org, help.txt, T.DIST,
the ordinal in `%d.satırda`. And it wants them in the same order, which is not that of every language.
"""

import re

import numpy as np

from pipeline.clean.filtering.block import Block, Column, Filter, Mask
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.strings import without_numbering

# Last labels by which a host is known without a scheme: names of files and functions end in others. Those of
# countries end files, too (.py, .sh, .pl), so they count only behind another: org.tr, co.uk.
_GENERIC = "com|org|net|edu|gov|mil|int|info|biz|io|dev|app"
_SECOND = f"{_GENERIC}|co|ac|go|or|ne"
_HOST = rf"(?:[a-z0-9-]+\.)+(?:{_GENERIC}|(?:{_SECOND})\.[a-z]{{2}})"
_REST = r"[A-Za-z0-9._~%!$&*+,;=:@/?#-]*"
_ADDRESS = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9_%+:@-]+\.[A-Za-z0-9]{_REST}"  # http://host is text
    r"|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    rf"|www\.[A-Za-z0-9-]+\.{_REST}"
    rf"|(?<![\w.%/@-]){_HOST}(?![\w-]|\.\w)(?:[:/?#]{_REST})?"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])",
    re.ASCII,
)
_END = ".,;:!?%&*"  # of the sentence, not of the address


def address_mismatch(step: FilterStep) -> Filter:
    """Drop pairs of which one side has an address that is not on the other as often, capitals aside.

    A host alone, such as kde.org, counts in small letters; with capitals it is a name (OpenOffice.org), which
    may be inflected or translated.
    """
    step.flag("DEBUG", False)

    def work(block: Block) -> None:
        source, target = map(_may_have_address, block.columns)
        block.drop_if(source | target, _differ)

    return work


def addresses(text: str) -> list[str]:
    """The addresses of a text, in small letters."""
    return [match[0].rstrip(_END).lower() for match in _ADDRESS.finditer(text)]


def _may_have_address(column: Column) -> Mask:
    """Lines with an @, with "://", or with a dot before a letter or digit."""
    slashes, dots = column.is_character("/"), np.flatnonzero(column.is_character(".")[:-1])
    marks = column.is_character("@")
    marks[1:] |= slashes[1:] & column.is_character(":")[:-1]
    marks[dots] = ~(column.spaces[dots + 1] | column.is_character(".")[dots + 1])
    return column.lines_with(marks)


def _differ(source: str, target: str) -> bool:
    texts = without_numbering(source), without_numbering(target)
    lowered = [text.lower() for text in texts]
    return any(
        lowered[1 - side].count(address) < found.count(address)
        for side, found in enumerate(map(addresses, texts))
        for address in found
    )
