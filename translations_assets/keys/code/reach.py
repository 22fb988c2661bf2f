"""What a script reaches: from its main guard, through everything that is used, to all that counts."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.link import Linker, Node, Whole
from translations_assets.keys.code.module import Imported, Module, is_internal
from translations_assets.keys.code.modules import Found, Modules


@dataclass
class Reach:
    """What counts for a script.

    nodes     units, and modules that are looked into as a whole
    modules   modules that run, packages included
    imports   top-level imports that are needed, as (module, name bound there)
    external  top-level names of modules from outside the package
    effects   those modules, in full, that are imported for nothing but what importing them does
    """

    nodes: set[Node] = field(default_factory=set)
    modules: set[Module] = field(default_factory=set)
    imports: set[tuple[Module, str]] = field(default_factory=set)
    external: set[str] = field(default_factory=set)
    effects: set[str] = field(default_factory=set)

    def is_whole(self, module: Module) -> bool:
        """Whether all of a module counts."""
        return any(isinstance(node, Whole) and node.module is module for node in self.nodes)


class _Reacher:
    """Follows one script."""

    def __init__(self, modules: Modules, linker: Linker) -> None:
        self._modules = modules
        self._linker = linker
        self._reach = Reach()
        self._waiting: list[Node] = []

    def reach(self, script: Module) -> Reach:
        """Everything that counts when a module is run as a script."""
        self._add_module(script)
        self._waiting += [script.guard] if script.guard else []
        while self._waiting:
            node = self._waiting.pop()
            if node not in self._reach.nodes:
                self._add_node(node)
        self._add_unused_imports()
        return self._reach

    def _add_node(self, node: Node) -> None:
        self._reach.nodes.add(node)
        self._add_module(node.module)
        linked = self._linker.link(node)
        self._waiting += (*linked.nodes, *linked.needs)
        self._add_found(linked.found)

    def _add_found(self, found: Found) -> None:
        self._reach.imports |= found.imports
        self._reach.external |= found.external
        for module in (*found.modules, *(module for module, _ in found.imports)):
            self._add_module(module)

    def _add_module(self, module: Module) -> None:
        if module in self._reach.modules:
            return
        self._reach.modules.add(module)
        self._waiting += self._modules.always(module)
        for parent in self._modules.parents(module):
            self._add_module(parent)
        for imported in module.all_imports():
            for loaded in self._modules.loaded(imported):
                if self._modules.has_effects(loaded):
                    self._add_module(loaded)

    def _add_unused_imports(self) -> None:
        """Modules from outside that are imported and used nowhere: for what importing them does.

        Only `import module`: a name taken from a module, or given to one, was once used, perhaps in a hint.
        Where a function has moved away, its imports stay behind: a library that is used anyway has no effect.
        """
        used = set(self._reach.external)
        for module in self._reach.modules:
            for name, imports in module.imports.items():
                if (module, name) in self._reach.imports or name in module.mentioned:
                    continue
                modules = {imported.loads[0] for imported in imports if _is_plain(imported)}
                top = imports[-1].target.module.split(".")[0]
                if modules and not is_internal(top) and not is_standard_library(top):
                    self._reach.imports.add((module, name))
                    self._reach.external.add(top)
                    self._reach.effects |= modules - used


def _is_plain(imported: Imported) -> bool:
    return isinstance(imported.node, ast.Import) and imported.alias.asname is None


def reach_from(script: Module, modules: Modules, linker: Linker) -> Reach:
    """Everything that counts when a module is run as a script."""
    return _Reacher(modules, linker).reach(script)
