"""The fingerprint of a script: a hash of the code that it can reach, and of nothing else.

From the script's main guard, through the functions, classes and constants used, across the modules of the
package, each is hashed in a normal form that comments, formatting, names of locals, type hints of plain
functions and the place where it stands do not change (`normalise.py`, `link.py`). Statements that may have
effects count as soon as their module is reached (`values.py`). A function that looks into code (`getattr`,
`eval`, …) makes its whole module count (`link.py`). What is not reached is not in the bundle a step runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from translations_assets.steps.code.bundle import pack, slice_modules
from translations_assets.steps.code.libraries import is_standard_library
from translations_assets.steps.code.link import Linker, Node, Whole, hash_of
from translations_assets.steps.code.merkle import Hasher, own_hash
from translations_assets.steps.code.module import Module
from translations_assets.steps.code.modules import Modules
from translations_assets.steps.code.reach import Reach, reach_from

FORMAT = 1  # changes with the meaning of a fingerprint: every step runs again


@dataclass(frozen=True)
class Fingerprint:
    """What can be said of the code that a script reaches.

    digest   SHA-256 (hex), the same on every interpreter from Python 3.10 on
    parts    `pipeline.train.train:build_args` → SHA-256 (hex) of its own normal form, to tell what changed
    imports  top-level names of the modules imported from outside the package and the standard library
    """

    digest: str
    parts: Mapping[str, str]
    imports: frozenset[str]


class CodeBase:
    """The code below a folder that holds the package `pipeline/`, as it is when first read.

    Not safe for use by several threads.
    """

    def __init__(self, root: Path) -> None:
        self._modules = Modules(root)
        self._linker = Linker(self._modules)
        self._hasher = Hasher(self._linker.link)
        self._reached: dict[str, Reach] = {}
        self._own_hashes: dict[Node, str] = {}

    def fingerprint(self, script: str) -> Fingerprint:
        """The fingerprint of a script, by its module's name (`pipeline.translate.split`).

        Raises CodeError when a module is missing, is not Python, or imports what cannot be followed.
        """
        reach = self._reach(script)
        third_party = frozenset(name for name in reach.external if not is_standard_library(name))
        return Fingerprint(self._digest(script, reach), self._parts(reach), third_party)

    def bundle(self, script: str) -> Mapping[str, str]:
        """Relative path → source text of what a script reaches; it runs from that alone."""
        return slice_modules(self._modules, self._reach(script))

    def bundle_bytes(self, script: str) -> bytes:
        """The bundle as a tar that depends on its texts alone."""
        return pack(self.bundle(script))

    def _reach(self, script: str) -> Reach:
        if script not in self._reached:
            self._reached[script] = reach_from(self._modules.require(script), self._modules, self._linker)
        return self._reached[script]

    def _digest(self, script: str, reach: Reach) -> str:
        """Where a module stands is not part of it, so that what is reached may move to another."""
        guard = self._modules.require(script).guard
        entry = self._hasher.digest(guard) if guard else ""
        always = {self._always(module) for module in reach.modules} - {hash_of([])}
        return hash_of([f"format {FORMAT}", entry, *sorted(always)])

    def _always(self, module: Module) -> str:
        return hash_of(self._hasher.digest(unit) for unit in self._modules.always(module))

    def _parts(self, reach: Reach) -> dict[str, str]:
        hashes: dict[str, list[str]] = {}
        for node in sorted(reach.nodes, key=_place):
            hashes.setdefault(node.label, []).append(self._own_hash(node))
        return {label: own[0] if len(own) == 1 else hash_of(own) for label, own in hashes.items()}

    def _own_hash(self, node: Node) -> str:
        if node not in self._own_hashes:
            self._own_hashes[node] = own_hash(self._linker.link(node))
        return self._own_hashes[node]


def _place(node: Node) -> tuple[str, int, str]:
    if isinstance(node, Whole):
        return node.module.name, 0, node.depth
    return node.module.name, node.node.lineno, str(node.node.col_offset)
