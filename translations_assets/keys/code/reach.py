"""What counts for a script: what its main guard reaches, or all modules that it may run.

What is reached is followed from the main guard, through everything that is used, to all that counts. This is
sound where all modules that the script may run are in plain form (`plain.py`) and nothing looks at code
(`outside.py`). Where one is not, all of them count whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from translations_assets.keys.code.link import Depth, Linker, Node, Whole
from translations_assets.keys.code.modules import Module, Modules, Unit, is_internal
from translations_assets.keys.code.plain import not_plain
from translations_assets.keys.code.syntax import is_for_type_checkers


@dataclass
class Reach:
    """What counts for a script.

    nodes     units, or all modules that it may run as a whole
    modules   modules that run, packages included
    imports   top-level imports that are needed, as (module, name bound there)
    external  top-level names of modules from outside the package
    why_whole why modules count as a whole, for people; empty when they are taken apart
    """

    nodes: set[Node] = field(default_factory=set)
    modules: set[Module] = field(default_factory=set)
    imports: set[tuple[Module, str]] = field(default_factory=set)
    external: set[str] = field(default_factory=set)
    why_whole: str = ""


class Reacher:
    """Finds what counts for scripts, and remembers what it found out of modules."""

    def __init__(self, modules: Modules, linker: Linker) -> None:
        self._modules = modules
        self._linker = linker
        self._not_plain: dict[Module, str] = {}
        self._looks: dict[Module, str] = {}

    def reach(self, script: Module) -> Reach:
        """Everything that counts when a module is run as a script."""
        modules = self._modules.all_run_by(script)
        run = [module for module in modules if module is script or module in self._modules.named_modules]
        looks = self._first(modules, self._looks_at_code) or self._first(run, self._guard_looks)
        why = looks or self._first(modules, self._is_not_plain) or self._patched(modules)
        return self._whole(modules, "text" if looks else "code", why) if why else self._symbols(script)

    def _first(self, modules: Iterable[Module], why: Callable[[Module], str]) -> str:
        found = ((module, why(module)) for module in modules if module.path)
        return next((f"{module.name}, {reason}" for module, reason in found if reason), "")

    def _whole(self, modules: Iterable[Module], depth: Depth, why: str) -> Reach:
        nodes: set[Node] = {Whole(module, depth) for module in modules if module.path}
        loads = (imported.loads[0] for module in modules for imported in module.everywhere_imported)
        external = {name.split(".")[0] for name in loads if not is_internal(name)}
        return Reach(nodes, {*modules}, set(), external, why)

    def _is_not_plain(self, module: Module) -> str:
        if module not in self._not_plain:
            changed = (name for unit in module.units for name in self._linker.link(unit).patches)
            patches = (f"it changes {name}" for name in changed if not name.startswith("@"))
            self._not_plain[module] = not_plain(self._modules, module) or next(patches, "")
        return self._not_plain[module]

    def _patched(self, modules: Sequence[Module]) -> str:
        """What one module changes outside the package and another one takes by name: it may have either."""
        units = (unit for module in modules for unit in module.units)
        patched = {
            name[1:] for unit in units for name in self._linker.link(unit).patches if name.startswith("@")
        }
        for module in modules if patched else ():
            for imported in module.everywhere_imported:
                if (name := ".".join(filter(None, imported.target))) in patched:
                    return f"{module.name}, line {imported.node.lineno}: it imports {name}, which is changed"
        return ""

    def _looks_at_code(self, module: Module) -> str:
        if module not in self._looks:
            self._looks[module] = self._find_look(module)
        return self._looks[module]

    def _find_look(self, module: Module) -> str:
        if module.coding != "utf-8":
            return f"line 1: its text is {module.coding}"
        units = (unit for unit in module.units if not unit.is_guard and not is_for_type_checkers(unit.node))
        return next(filter(None, map(self._unit_looks, units)), "")

    def _guard_looks(self, module: Module) -> str:
        return self._unit_looks(module.guard) if module.guard else ""

    def _unit_looks(self, unit: Unit) -> str:
        why = self._linker.link(unit).looks
        return f"line {unit.node.lineno}: {why}" if why else ""

    def _symbols(self, script: Module) -> Reach:
        """What is used, from the main guard on."""
        reach = Reach()
        self._add_module(reach, script)
        waiting: list[Node] = [script.guard] if script.guard else []
        while waiting:
            node = waiting.pop()
            if node not in reach.nodes:
                reach.nodes.add(node)
                self._add_module(reach, node.module)
                linked = self._linker.link(node)
                waiting += (*linked.nodes, *linked.needs)
                reach.imports |= linked.found.imports
                reach.external |= linked.found.external
                for module in (*linked.found.modules, *(module for module, _ in linked.found.imports)):
                    self._add_module(reach, module)
        return reach

    def _add_module(self, reach: Reach, module: Module) -> None:
        reach.modules |= {module, *self._modules.parents(module)}
