"""The fingerprint of a script: a hash of the code that it can reach, and of nothing else.

From the script's main guard, through the functions, classes and constants used, across the modules of the
package, each is written in a normal form that comments, formatting, names of locals, type hints of functions
and the place where it stands do not change (`normalise.py`, `link.py`). That is done where every
module that the script may run is proved to be in plain form, so that importing it has no effect (`plain.py`),
and nothing looks at code (`outside.py`). Where importing may have an effect all these modules count, each in
normal form; where something may look at code, each as its file is (`reach.py`). What does not count is not in
the bundle that a step runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from translations_assets.keys.code.accepted import Accepted, Change
from translations_assets.keys.code.bundle import pack, slice_modules
from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.link import Linker, hash_of
from translations_assets.keys.code.modules import Modules, Unit
from translations_assets.keys.code.reach import Reach, Reacher

FORMAT = 3  # changes with the meaning of a fingerprint: every step runs again


@dataclass(frozen=True)
class Fingerprint:
    """What can be said of the code that a script reaches.

    digest    SHA-256 (hex) that counts, the same on every interpreter from Python 3.10 on
    own       the digest before accepted changes are left out
    parts     what is reached at the top level of modules: `pipeline.train.train:build_args`
    imports   top-level names of the modules imported from outside the package and the standard library
    accepted  the changes that the digest leaves out because they were declared harmless
    why_whole why the script's modules count as a whole, for people; empty when they are taken apart
    """

    digest: str
    own: str
    parts: frozenset[str]
    imports: frozenset[str]
    accepted: tuple[Change, ...] = ()
    why_whole: str = ""


class CodeBase:
    """The code below a folder that holds the package `pipeline/`, as it is when first read.

    `accepted` are changes that are left out of digests. Not safe for use by several threads.
    """

    def __init__(self, root: Path, accepted: Accepted | None = None) -> None:
        self._accepted = accepted or Accepted()
        self._modules = Modules(root)
        self._linker = Linker(self._modules)
        self._reacher = Reacher(self._modules, self._linker)
        self._reached: dict[str, Reach] = {}
        self._fingerprints: dict[str, Fingerprint] = {}

    def fingerprint(self, script: str) -> Fingerprint:
        """The fingerprint of a script, by its module's name (`pipeline.translate.split`).

        Raises CodeError when a module is missing, is not Python, or imports what cannot be followed.

        >>> found = code.fingerprint("pipeline.demo.write")
        >>> sorted(found.parts)
        ['pipeline.demo.words:WORD', 'pipeline.demo.write:<main>', 'pipeline.demo.write:main']
        >>> found.imports
        frozenset({'numpy'})
        """
        if script not in self._fingerprints:
            reach = self._reach(script)
            digest = hash_of([f"format {FORMAT}", *reach.text])
            loaded = (one.module.split(".")[0] for one in reach.imports if not one.is_internal)
            self._fingerprints[script] = Fingerprint(
                digest=self._accepted.oldest(digest),
                own=digest,
                parts=frozenset(unit.label for unit in reach.units),
                imports=frozenset(name for name in loaded if not is_standard_library(name)),
                accepted=tuple(self._accepted.chain(digest)),
                why_whole=reach.why_whole,
            )
        return self._fingerprints[script]

    def bundle(self, script: str) -> Mapping[str, str]:
        """Relative path → source text of what a script reaches; it runs from that alone."""
        return slice_modules(self._modules, self._reach(script))

    def bundle_bytes(self, script: str) -> bytes:
        """The bundle as a tar that depends on its texts alone."""
        return pack(self.bundle(script))

    def units(self, script: str) -> dict[str, list[Unit]]:
        """Label → the statements of that name which count for a script."""
        units: dict[str, list[Unit]] = {}
        for unit in sorted(self._reach(script).units, key=lambda unit: unit.node.lineno):
            units.setdefault(unit.label, []).append(unit)
        return units

    def own_hash(self, unit: Unit) -> str:
        """The hash of a statement's own normal form, in which what it refers to stands by name."""
        return self._linker.link(unit).own_hash

    def _reach(self, script: str) -> Reach:
        if script not in self._reached:
            self._reached[script] = self._reacher.reach(self._modules.require(script))
        return self._reached[script]
