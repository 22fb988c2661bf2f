"""Changes of code that people declared harmless, as `translations cache accept` wrote them down.

A change says that the digest of a script, with all that it reaches, counts as an earlier one, so that keys
stay what they were. After the next change the script has another digest, of which nothing is said here. See
docs/decisions/0007-accepted-changes.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from translations_assets.common.errors import CodeError
from translations_assets.common.whole_file import write_whole

FILE = "pipeline/accepted-changes.yml"  # next to the code that it speaks of: it is installed with it
_HEADER = """\
# Changes of code that do not change what it makes, by `translations cache accept`. One line a change;
# a line that is deleted makes the steps concerned run again.
"""
_MEND = "Correct the file, or restore it from git."
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, order=True)
class Change:
    """A change that does not count.

    script  whose code changed, for people: `pipeline.train.train`
    old     digest that counts (SHA-256, hex)
    new     digest for which it counts
    reason  why the change is harmless
    """

    script: str
    old: str
    new: str
    reason: str


class Accepted:
    """The accepted changes of a repository. Raises CodeError when they contradict each other."""

    def __init__(self, changes: Iterable[Change] = (), file: str = FILE) -> None:
        self._changes: dict[str, Change] = {}
        for change in changes:
            other = self._changes.setdefault(change.new, change)
            if other is not change:
                raise CodeError(
                    f"{file} accepts one change twice: {change.script}, new: {change.new}, because of "
                    f"{other.reason!r} and of {change.reason!r}. Delete one of the two lines."
                )
        for change in self._changes.values():
            if change in self.chain(change.old):
                raise CodeError(
                    f"{file}: the changes of {change.script} lead in a circle back to {change.new}. "
                    "Delete the line that was added last."
                )

    @classmethod
    def read(cls, path: Path) -> Accepted:
        """The changes in a file; none when there is no file. Raises CodeError for what is no such file."""
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError) as error:
            raise CodeError(f"{path} cannot be read: {error}. {_MEND}") from error
        return cls(_parse(text, path), str(path))

    def chain(self, digest: str) -> list[Change]:
        """The changes that lead from a hash back to the oldest that it counts as, the latest first."""
        chain: list[Change] = []
        while (change := self._changes.get(digest)) and change not in chain:
            chain.append(change)
            digest = change.old
        return chain

    def oldest(self, digest: str) -> str:
        """The hash that counts in place of a hash."""
        chain = self.chain(digest)
        return chain[-1].old if chain else digest

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes, in the order in which they were accepted."""
        return tuple(self._changes.values())


def add_changes(path: Path, changes: Iterable[Change]) -> None:
    """Add changes to the end of a file, one line each; what stands in it already stays as it is."""
    text = path.read_bytes().decode() if path.exists() else _HEADER  # line ends as they are
    text += "" if text.endswith("\n") else "\n"
    lines = "".join(f"- {json.dumps(asdict(change), ensure_ascii=False)}\n" for change in changes)
    write_whole(path, text + lines)


def _parse(text: str, path: Path) -> Iterator[Change]:
    import yaml

    try:
        entries = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # 2026-99-99 is a ValueError
        raise CodeError(f"{path} is no YAML: {error}. {_MEND}") from error
    if not isinstance(entries or [], list):
        raise CodeError(f"{path} must be a list of changes, not {type(entries).__name__}. {_MEND}")
    for number, entry in enumerate(entries or [], start=1):
        yield _change(entry, f"{path}, change {number}")


def _change(entry: Any, where: str) -> Change:
    names = [field.name for field in fields(Change)]
    texts = [*entry.values()] if isinstance(entry, dict) and {*entry} == {*names} else [""]
    if isinstance(entry, dict) and "symbol" in entry:
        raise CodeError(
            f"{where}: an earlier version accepted this change of {entry['symbol']!r:.100}, by hashes that "
            "count no more. Delete the line; to accept the change anew: translations cache accept PARTITION"
        )
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise CodeError(
            f"{where}: a change has the texts {', '.join(names)}, none empty; this is {entry!r:.300}. {_MEND}"
        )
    change = Change(**{name: entry[name].strip() for name in names})
    wrong = next((digest for digest in (change.old, change.new) if not _HASH.fullmatch(digest)), None)
    if wrong is not None:
        raise CodeError(f"{where}: {wrong!r} is no hash, 64 hexadecimal digits in lower case.")
    return change
