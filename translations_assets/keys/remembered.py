"""What was found out of scripts before, in a file, for as long as nothing changes that it depends on.

To take the scripts' code apart is most of what a short command does. What is remembered stands under a hash
of all that it depends on: the scripts' code and the accepted changes, the lock, the code that makes keys,
Python and the platform. A file that is damaged, another user's, or cannot be written, costs time alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from translations_assets.common.own_files import read_own, write_own
from translations_assets.common.whole_file import keep_newest
from translations_assets.keys.accepted_files import accepted_files
from translations_assets.records.canonical import json_digest

MOST_FILES = 8  # one for each state of the code that keys were asked for
LOCK = "requirements/main.lock"


class ScriptIdentity(NamedTuple):
    """What of a script is part of keys: the fingerprint of its code, and distribution → version."""

    code: str
    libraries: Mapping[str, str]


class Remembered:
    """What is known of the scripts below a folder, as they are when this is first asked.

    folder  this user's own; holds a file for each state of the code
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder

    def get(self, script: str) -> ScriptIdentity | None:
        """What is known of a script; None before it is found out."""
        return self._known.get(script)

    def add(self, script: str, known: ScriptIdentity) -> None:
        """Remember what was found out, unless a file has changed meanwhile."""
        self._known[script] = known
        self._keep()

    def file(self, content: str) -> str | None:
        """The digest in keys of a YAML or JSON file, by its form and its bytes'; None before it is known."""
        return self._contents.get(content)

    def add_file(self, content: str, digest: str) -> None:
        """Remember the digest of a file."""
        self._contents[content] = digest
        self._keep()

    def _keep(self) -> None:
        if self._traces() != self._before:
            return
        scripts = {name: [one.code, dict(one.libraries)] for name, one in self._known.items()}
        value = {"scripts": scripts, "files": self._contents}
        with suppress(OSError):
            write_own(self._path, json.dumps({"digest": json_digest(value), "value": value}))
            keep_newest(self._folder, MOST_FILES)

    @cached_property
    def _before(self) -> list[tuple[Any, ...]]:
        return self._traces()

    @cached_property
    def _path(self) -> Path:
        """Where this state's file is."""
        uname = os.uname()
        state = hashlib.sha256(f"{sys.version} {uname.release} {uname.version} {uname.machine}".encode())
        for name, path in self._files():
            data = b"" if os.path.isdir(path) else _bytes(path)
            state.update(f"\0{name}\0{len(data)}\0".encode() + data)
        return self._folder / f"{state.hexdigest()}.json"

    @cached_property
    def _known(self) -> dict[str, ScriptIdentity]:
        return {
            name: ScriptIdentity(code, libraries) for name, (code, libraries) in self._read["scripts"].items()
        }

    @cached_property
    def _contents(self) -> dict[str, str]:
        return dict(self._read["files"])

    @cached_property
    def _read(self) -> Mapping[str, Any]:
        assert self._before  # noted before the files are read
        try:
            read = json.loads(read_own(self._path))
            if json_digest(read["value"]) == read["digest"]:
                return dict(read["value"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass
        return {"scripts": {}, "files": {}}

    def _files(self) -> Iterator[tuple[str, str]]:
        """All that counts, each under a name; folders, too, as they can be imported."""
        for name, top in (("pipeline", str(self._root / "pipeline")), ("keys", os.path.dirname(__file__))):
            for folder, folders, files in os.walk(top):
                folders[:] = sorted(set(folders) - {"__pycache__"})
                relative = name + folder.removeprefix(top)
                yield relative, folder
                for file in sorted(file for file in files if file.endswith(".py")):
                    yield f"{relative}/{file}", f"{folder}/{file}"
        for number, path in enumerate(accepted_files(self._root)):
            yield f"accepted changes {number}", str(path)
        yield LOCK, str(self._root / LOCK)

    def _traces(self) -> list[tuple[Any, ...]]:
        """By which a change of a file is noticed: what it is, how large, and when it was changed."""
        found: list[tuple[Any, ...]] = []
        for name, path in self._files():
            with suppress(OSError):
                status = os.stat(path)
                is_folder = stat.S_ISDIR(status.st_mode)  # Python itself changes those: __pycache__
                changed = () if is_folder else (status.st_size, status.st_mtime_ns)
                found.append((name, status.st_ino, *changed))
        return found


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # whoever needs it will say so
        return b""
