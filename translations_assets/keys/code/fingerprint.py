"""The fingerprint of a script: a hash of the code that it can reach, and of nothing else.

From the script's main guard, through the functions, classes and constants used, across the modules of the
package, each is hashed in a normal form that comments, formatting, names of locals, type hints of plain
functions and the place where it stands do not change (`normalise.py`, `link.py`). That is done where every
module that the script may run is proved to be in plain form, so that importing it has no effect (`plain.py`),
and nothing looks at code (`outside.py`). Where importing may have an effect all these modules count, each in
normal form; where something may look at code, each as its file is (`reach.py`). What does not count is not in
the bundle that a step runs.

The hash of a node covers what it refers to, and what that refers to. Nodes that refer to each other in a
circle are hashed together: each with the others by name; should two of them share a name, again and again
with what the round before said of the others, until all that differs is told apart.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from translations_assets.keys.code.accepted import Accepted, Change
from translations_assets.keys.code.bundle import pack, slice_modules
from translations_assets.keys.code.libraries import is_standard_library
from translations_assets.keys.code.link import Linked, Linker, Node, Whole, hash_of
from translations_assets.keys.code.modules import Modules, Unit
from translations_assets.keys.code.reach import Reach, Reacher


def short_name(node: Node) -> str:
    """A node's name without its module, so that a move does not change it."""
    return node.label if isinstance(node, Whole) else node.label.partition(":")[2]


def own_hash(linked: Linked) -> str:
    """The hash of a node's own code, what it refers to by name only."""
    return _render(linked, short_name)


def _render(linked: Linked, name: Callable[[Node], str]) -> str:
    return hash_of(token if isinstance(token, str) else "&" + name(token) for token in linked.tokens)


class Hasher:
    """Hashes nodes and remembers the hashes; circles are found by Tarjan's algorithm (1972).

    `resolve` is given each node and its hash, those that a node refers to before it, and says which hash
    counts.
    """

    def __init__(self, link: Callable[[Node], Linked], resolve: Callable[[Node, str], str]) -> None:
        self._link = link
        self._resolve = resolve
        self._hashes: dict[Node, str] = {}
        self._numbers: dict[Node, int] = {}
        self._stack: list[Node] = []

    def digest(self, node: Node) -> str:
        """The hash of a node and all that it refers to."""
        if node not in self._hashes:
            self._visit(node)
        return self._hashes[node]

    def _visit(self, node: Node) -> int:
        """Hash what the node refers to, and the node's circle once it is complete.

        Returns the lowest number that the circle is known to reach.
        """
        number = first = self._numbers[node] = len(self._numbers)
        self._stack.append(node)
        for other in self._link(node).nodes:
            if other not in self._numbers:
                first = min(first, self._visit(other))
            elif other not in self._hashes:
                first = min(first, self._numbers[other])
        if first == number:
            start = self._stack.index(node)
            circle = self._stack[start:]
            del self._stack[start:]
            self._hash_circle(circle)
        return first

    def _hash_circle(self, circle: Sequence[Node]) -> None:
        names = {node: short_name(node) for node in circle}
        rounds = 1 if len(set(names.values())) == len(circle) else len(circle)
        for _ in range(rounds):
            names = {node: self._render_among(node, names) for node in circle}
        together = hash_of(sorted(names.values()))
        for node in circle:
            digest = names[node] if len(circle) == 1 else hash_of([together, names[node]])
            self._hashes[node] = self._resolve(node, digest)

    def _render_among(self, node: Node, names: dict[Node, str]) -> str:
        return _render(self._link(node), lambda other: names.get(other) or self._hashes[other])


FORMAT = 2  # changes with the meaning of a fingerprint: every step runs again

Hashed: TypeAlias = "Node | str"
Resolve: TypeAlias = "Callable[[Hashed, str], str]"


class Digests:
    """Makes digests and remembers them.

    resolve  says which hash counts: it is given what was hashed (a node, a script by name) and the hash,
             what is referred to before what refers to it
    """

    def __init__(self, modules: Modules, link: Callable[[Node], Linked], resolve: Resolve) -> None:
        self._modules = modules
        self._link = link
        self._resolve = resolve
        self._hasher = Hasher(link, resolve)

    def script(self, name: str, reach: Reach) -> str:
        """The digest of a script, given what it reaches."""
        guard = self._modules.require(name).guard
        entry = [self._hasher.digest(guard)] if guard and not reach.why_whole else []
        whole = sorted((node for node in reach.nodes if isinstance(node, Whole)), key=_place)
        modules = (part for node in whole for part in (node.label, self._hasher.digest(node)))
        return self._resolve(name, hash_of([f"format {FORMAT}", *entry, *modules, *self._twins(reach)]))

    def _twins(self, reach: Reach) -> Iterator[str]:
        """Where two parts are alike but not one, as two caches are: which of them is meant in each place."""
        counts = Counter(
            self._hasher.digest(node) for node in reach.nodes if isinstance(node, Unit) and not is_still(node)
        )
        if any(count > 1 for count in counts.values()):
            for node in sorted(reach.nodes, key=_place):
                yield f"{node.label} {_render(self._link(node), lambda other: other.label)}"


def is_still(unit: Unit) -> bool:
    """Whether a unit gives a name to a value that can neither be changed nor told from one like it."""
    value = getattr(unit.node, "value", None)
    return isinstance(value, ast.expr) and not any(
        isinstance(
            node,
            (ast.List, ast.Dict, ast.Set, ast.Call, ast.comprehension, ast.Lambda, ast.Name, ast.Attribute),
        )
        for node in ast.walk(value)
    )


@dataclass(frozen=True)
class Fingerprint:
    """What can be said of the code that a script reaches.

    digest    SHA-256 (hex), the same on every interpreter from Python 3.10 on
    parts     `pipeline.train.train:build_args` → SHA-256 (hex) of its own normal form, to tell what changed;
              as it is, whether or not a change was accepted
    imports   top-level names of the modules imported from outside the package and the standard library
    accepted  the changes that the digest leaves out because they were declared harmless
    symbols   names of what is reached at the top level of modules
    why_whole why the script's modules count as a whole, for people; empty when they are taken apart
    """

    digest: str
    parts: Mapping[str, str]
    imports: frozenset[str]
    accepted: tuple[Change, ...] = ()
    symbols: frozenset[str] = frozenset()
    why_whole: str = ""


class CodeBase:
    """The code below a folder that holds the package `pipeline/`, as it is when first read.

    `accepted` are changes that are left out of digests. Not safe for use by several threads.
    """

    def __init__(self, root: Path, accepted: Accepted | None = None) -> None:
        self.accepted = accepted or Accepted()
        self._modules = Modules(root)
        self._linker = Linker(self._modules)
        self._reacher = Reacher(self._modules, self._linker)
        self._digests = Digests(self._modules, self._linker.link, self._oldest)
        self._applied: dict[Hashed, list[Change]] = {}
        self._reached: dict[str, Reach] = {}
        self._own_hashes: dict[Node, str] = {}
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
            third_party = frozenset(name for name in reach.external if not is_standard_library(name))
            self._fingerprints[script] = Fingerprint(
                digest=self._digests.script(script, reach),
                parts=self._parts(script),
                imports=third_party,
                accepted=self._accepted(script, reach),
                symbols=frozenset(name for node in reach.nodes for name in _names(node)),
                why_whole=reach.why_whole,
            )
        return self._fingerprints[script]

    def bundle(self, script: str) -> Mapping[str, str]:
        """Relative path → source text of what a script reaches; it runs from that alone."""
        return slice_modules(self._modules, self._reach(script))

    def bundle_bytes(self, script: str) -> bytes:
        """The bundle as a tar that depends on its texts alone."""
        return pack(self.bundle(script))

    def nodes(self, script: str) -> dict[str, list[Node]]:
        """What is behind each of the fingerprint's parts: statements, or a module seen as a whole."""
        nodes: dict[str, list[Node]] = {}
        for node in sorted(self._reach(script).nodes, key=_place):
            nodes.setdefault(node.label, []).append(node)
        return nodes

    def own_hash(self, node: Node) -> str:
        """The hash of a node's own normal form, in which what it refers to stands by name."""
        if node not in self._own_hashes:
            self._own_hashes[node] = own_hash(self._linker.link(node))
        return self._own_hashes[node]

    def digest_with(self, script: str, resolve: Resolve) -> str:
        """The digest of a script when `resolve` says which hashes count (see `Digests`)."""
        return Digests(self._modules, self._linker.link, resolve).script(script, self._reach(script))

    def linked(self, node: Node) -> Linked:
        """A node with what it refers to."""
        return self._linker.link(node)

    def _reach(self, script: str) -> Reach:
        if script not in self._reached:
            self._reached[script] = self._reacher.reach(self._modules.require(script))
        return self._reached[script]

    def _oldest(self, hashed: Hashed, digest: str) -> str:
        if chain := self.accepted.chain(digest):
            self._applied[hashed] = chain
            return chain[-1].old
        return digest

    def _accepted(self, script: str, reach: Reach) -> tuple[Change, ...]:
        hashed = self._applied.keys() & {script, *reach.nodes}
        return tuple(sorted({change for one in hashed for change in self._applied[one]}))

    def _parts(self, script: str) -> dict[str, str]:
        hashes = {
            label: [self.own_hash(node) for node in nodes] for label, nodes in self.nodes(script).items()
        }
        return {label: own[0] if len(own) == 1 else hash_of(own) for label, own in hashes.items()}


def _names(node: Node) -> Iterable[str]:
    return node.module.definitions if isinstance(node, Whole) else node.names


def _place(node: Node) -> tuple[str, int, str]:
    if isinstance(node, Whole):
        return node.module.name, 0, node.depth
    return node.module.name, node.node.lineno, str(node.node.col_offset)
