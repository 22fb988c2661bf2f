"""Test sets of the Hugging Face hub whose lines have numbers, by which any two languages are joined."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.web import Source
from pipeline.data.hub import Commit, Name, find_files
from pipeline.data.imports import Origin
from pipeline.data.tables import Row, read_rows


@dataclass(frozen=True)
class HubSet:
    """A set: its page at the hub, the revision of it that is used, and whether it asks for a login."""

    page: str
    revision: str
    gated: bool


@dataclass(frozen=True)
class Side:
    """A line of a set in one language: its number, its document, and whether its source is a bad one."""

    number: str
    document: str
    text: str
    bad: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a set in two languages, and its document."""

    document: str
    src: str
    trg: str


def set_rows(
    of: HubSet, subset: str, split: str, columns: Sequence[str], origin: Origin, scratch: Path
) -> Iterator[Row]:
    """The rows of a subset's split; the origin is told of the commit and of each file.

    Raises InputError, which names the set's page, when the hub asks for a login.
    """
    repository = of.page.partition("/datasets/")[2]
    commit, files = find_files(Name(repository, subset, split, (), of.revision), scratch)
    origin.revision, origin.licence = commit.sha, commit.licence
    for file in sorted(files):
        path = scratch / Path(file).name
        origin.sources.append(_fetch(of, commit, file, path))
        yield from read_rows(path, columns)
        path.unlink()


def _fetch(of: HubSet, commit: Commit, file: str, path: Path) -> Source:
    try:
        return commit.fetch(file, path)
    except InputError as error:
        if not of.gated:
            raise
        raise InputError(
            f"{error} The set is given to accounts that have accepted its conditions: accept them at "
            f"{of.page}, and let HF_TOKEN hold a token of the account."
        ) from error


def text_of(row: Row, field: str) -> str:
    """A row's field as text; "" for a missing value. Raises InputError when the row has no such field."""
    if field not in row:
        raise InputError(f"A row of the set has no field {field!r}, only {', '.join(map(str, row))}.")
    return "" if row[field] is None else str(row[field]).strip()


def paired(src: Iterable[Side], trg: Iterable[Side], origin: Origin) -> Iterator[Line]:
    """The lines that both sides have, by their numbers, in the order of the source.

    The origin counts the others by reason. Documents are those of the source.
    """
    others = {side.number: side for side in trg}
    for side in src:
        other = others.pop(side.number, None)
        if other is None:
            origin.dropped["in one language only"] += 1
        elif side.bad or other.bad:
            origin.dropped["bad source"] += 1
        elif not side.text or not other.text:
            origin.dropped["empty side"] += 1
        else:
            yield Line(side.document, side.text, other.text)
    origin.dropped["in one language only"] += len(others)


def distinct(lines: Iterable[Line], origin: Origin) -> Iterator[Line]:
    """The lines of which neither side is one of an earlier line; so a set is the same in both directions."""
    seen: tuple[set[str], set[str]] = set(), set()
    for line in lines:
        if line.src in seen[0] or line.trg in seen[1]:
            origin.dropped["duplicate"] += 1
        else:
            seen[0].add(line.src)
            seen[1].add(line.trg)
            yield line
