"""What checkpoint sets are made from, kept in each, so that nothing goes on from a set of another input.

A worker gives a script the sets of its own step. A person who runs the script may have left those of another
text, model or option in the folder: they are refused, and stay as they are. To begin anew without a word
would waste what is in them when the option, and not the folder, is the mistake.

Files are compared by the SHA-256 of their bytes as they are stored, compressed: all of them, as a sample
would miss a line that was mended in the middle. That is 1.5 GB a second of a core, so two seconds for a text
of 60 million lines, which takes longer to unpack. Names of files are not compared, nor is what a machine may
have more or less of.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.common.errors import InputError

FILE = "made-from.json"
# Options of Marian that another attempt, on another machine, may have otherwise
_OF_MACHINES = frozenset(
    ("devices", "num-devices", "no-nccl", "workspace", "cpu-threads", "data-threads", "log-level", "quiet")
)
_TOLD = 60  # characters of an option's value


@dataclass(frozen=True)
class MadeFrom:
    """What decides a result: files, or folders with all that is in them, and options; each with its name."""

    files: Mapping[str, Path | Sequence[Path]]
    options: Mapping[str, object]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """As a set has them. The files are read through for it, once."""
        options = {name: value for name, value in self.options.items() if name not in _OF_MACHINES}
        facts: dict[str, Any] = {"files": {name: _digest(given) for name, given in self.files.items()}}
        facts["options"] = json.loads(json.dumps(options, sort_keys=True))
        return facts

    def write(self, folder: Path) -> Path:
        """Write the facts into a folder; returns the file."""
        path = folder / FILE
        path.write_text(json.dumps(self.facts, indent=1) + "\n", encoding="utf-8")
        return path

    def check(self, kept: Path) -> None:
        """Raise InputError when a set is made from something else, and ValueError when it does not tell."""
        try:
            facts = json.loads((kept / FILE).read_text(encoding="utf-8"))
            differing = [*_differing(facts["files"], facts["options"], self.facts)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{FILE} is missing or damaged") from error
        if differing:
            raise InputError(
                f"The checkpoints in {kept.parent} are of another input: {'; '.join(differing)}. Give what "
                "they were made from to go on from them; else remove them, or name another folder in "
                "TRANSLATIONS_CHECKPOINTS."
            )


def _differing(
    files: Mapping[str, str], options: Mapping[str, object], given: Mapping[str, Any]
) -> Iterator[str]:
    """What differs between the files and options of a set and the facts that are given, for people."""
    for name in sorted({*files, *given["files"]}):
        if _told(files, name) != _told(given["files"], name):
            yield f"{name} has other contents"
    for name in sorted({*options, *given["options"]}):
        here, there = _told(given["options"], name), _told(options, name)
        if here != there:
            yield f"{name} is {here[:_TOLD]}, and was {there[:_TOLD]}"


def _told(facts: Mapping[str, object], name: str) -> str:
    """A fact as people read it. Raises TypeError where the facts are none."""
    return json.dumps(facts[name], ensure_ascii=False) if name in facts else "not given"


def _digest(given: Path | Sequence[Path]) -> str:
    """One digest of files, and of the files in folders with their names there, in the given order."""
    digest = hashlib.sha256()
    for path in [given] if isinstance(given, Path) else given:
        inside = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in inside:
            with file.open("rb") as stream:
                contents = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{file.relative_to(path)} {contents}\n".encode())
    return digest.hexdigest()
