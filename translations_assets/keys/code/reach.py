"""What counts for a script, as one text: what its main guard reaches, or all modules that it may run.

What is reached is followed from the main guard, through everything that is used, to all that counts. Each
unit has a number, by which others refer to it, in the order in which units are met: so the text says which of
two equal things is meant, and what refers to each other in a circle, but not where anything stands.
This is sound where all modules that the script may run are in plain form (`plain.py`) and nothing looks at
code (`outside.py`). Where one is not, all of them count whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from translations_assets.keys.code.link import Linker
from translations_assets.keys.code.modules import Imported, Module, Modules, Unit
from translations_assets.keys.code.normalise import Normaliser
from translations_assets.keys.code.plain import not_plain


@dataclass
class Reach:
    """What counts for a script.

    text      what its digest is of
    units     in the order in which they are met
    modules   modules that run, packages included
    imports   imports that are needed
    why_whole why modules count as a whole, for people; empty when they are taken apart
    """

    text: list[str]
    units: list[Unit]
    modules: set[Module]
    imports: set[Imported] = field(default_factory=set)
    why_whole: str = ""


class Reacher:
    """Finds what counts for scripts, and remembers what it found out of modules."""

    def __init__(self, modules: Modules, linker: Linker) -> None:
        self._modules = modules
        self._linker = linker
        self._reasons: dict[tuple[str, Module], str] = {}

    def reach(self, script: Module) -> Reach:
        """Everything that counts when a module is run as a script."""
        modules = [module for module in self._modules.all_run_by(script) if module.path]
        run = [module for module in modules if module is script or module in self._modules.named_modules]
        looks = self._first(modules, self._looks_at_code) or self._first(run, self._guard_looks)
        why = looks or self._first(modules, self._is_not_plain) or self._patched(modules)
        if not why:
            return self._follow(script)
        return Reach(
            [part for one in modules for part in (one.name, one.source if looks else normal_form(one))],
            [unit for module in modules for unit in module.units],
            {*modules},
            {imported for module in modules for imported in module.everywhere_imported},
            why,
        )

    def _first(self, modules: Iterable[Module], why: Callable[[Module], str]) -> str:
        """The first of the reasons that `why` gives for modules; it is asked once for each."""
        for module in modules:
            asked = why.__name__, module
            if asked not in self._reasons:
                self._reasons[asked] = why(module)
            if reason := self._reasons[asked]:
                return f"{module.name}, {reason}"
        return ""

    def _is_not_plain(self, module: Module) -> str:
        changed = (name for unit in module.units for name in self._linker.link(unit).patches)
        patches = (f"it changes {name}" for name in changed if not name.startswith("@"))
        return not_plain(self._modules, module) or next(patches, "")

    def _patched(self, modules: Sequence[Module]) -> str:
        """What one module changes outside the package and another one takes by name: it may have either."""
        units = (unit for module in modules for unit in module.units)
        patched = {
            name[1:] for unit in units for name in self._linker.link(unit).patches if name.startswith("@")
        }
        for module in modules if patched else ():
            for imported in module.everywhere_imported:
                if imported.path in patched:
                    line = imported.node.lineno
                    return f"{module.name}, line {line}: it imports {imported.path}, which is changed"
        return ""

    def _looks_at_code(self, module: Module) -> str:
        if module.coding != "utf-8":
            return f"line 1: its text is {module.coding}"
        units = (unit for unit in module.units if not unit.is_guard)
        return next(filter(None, map(self._unit_looks, units)), "")

    def _guard_looks(self, module: Module) -> str:
        return self._unit_looks(module.guard) if module.guard else ""

    def _unit_looks(self, unit: Unit) -> str:
        why = self._linker.link(unit).looks
        return f"line {unit.node.lineno}: {why}" if why else ""

    def _follow(self, script: Module) -> Reach:
        """What is used, from the main guard on."""
        reach = Reach([], [script.guard] if script.guard else [], {script})
        numbers = dict.fromkeys(reach.units, "&0")
        for unit in reach.units:
            linked = self._linker.link(unit)
            reach.text.append("unit")
            for token in linked.tokens:
                if isinstance(token, str):
                    reach.text.append(token)
                    continue
                if token not in numbers:
                    numbers[token] = f"&{len(numbers)}"
                    reach.units.append(token)
                reach.text.append(numbers[token])
            reach.imports |= linked.imports
        reach.modules |= {unit.module for unit in reach.units}
        for imported in reach.imports:
            reach.modules.update(self._modules.loaded(imported))
        for module in [*reach.modules]:
            reach.modules.update(self._modules.parents(module))
        return reach


def normal_form(module: Module) -> str:
    """A module as a whole, names as they are written."""
    normal = Normaliser(module)
    normal.write("body", module.tree.body)
    return "\0".join(map(str, normal.tokens))
