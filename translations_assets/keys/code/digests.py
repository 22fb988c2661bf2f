"""Digests of scripts: of the main guard with all that it refers to, and of what counts in any case.

Where a module stands is not part of them, so that what is reached may move to another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from translations_assets.keys.code.link import Linked, Node, hash_of
from translations_assets.keys.code.merkle import Hasher
from translations_assets.keys.code.module import Module
from translations_assets.keys.code.modules import Modules
from translations_assets.keys.code.reach import Reach

FORMAT = 1  # changes with the meaning of a fingerprint: every step runs again

Hashed: TypeAlias = "Node | Module | str"
Resolve: TypeAlias = "Callable[[Hashed, str], str]"
_NOTHING = hash_of([])


class Digests:
    """Makes digests and remembers them.

    resolve  says which hash counts: it is given what was hashed (a node, a module's top-level statements, a
             script by name) and the hash, what is referred to before what refers to it
    """

    def __init__(self, modules: Modules, link: Callable[[Node], Linked], resolve: Resolve) -> None:
        self._modules = modules
        self._resolve = resolve
        self._hasher = Hasher(link, resolve)
        self._always: dict[Module, str] = {}

    def script(self, name: str, reach: Reach) -> str:
        """The digest of a script, given what it reaches."""
        guard = self._modules.require(name).guard
        entry = self._hasher.digest(guard) if guard else ""
        modules = sorted(reach.modules, key=lambda module: module.name)
        always = {self._statements(module) for module in modules} - {_NOTHING}
        effects = (f"import {module}" for module in sorted(reach.effects))
        return self._resolve(name, hash_of([f"format {FORMAT}", entry, *sorted(always), *effects]))

    def _statements(self, module: Module) -> str:
        if module not in self._always:
            units = self._modules.always(module)
            digest = hash_of(self._hasher.digest(unit) for unit in units)
            self._always[module] = self._resolve(module, digest)
        return self._always[module]
