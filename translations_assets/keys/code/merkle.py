"""Hashes of linked nodes that cover what they refer to, and what that refers to, whatever its module.

Nodes that refer to each other in a circle are hashed together: each with the others by name; should two of
them share a name, again and again with what the round before said of the others, until all that differs is
told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from translations_assets.keys.code.link import Linked, Node, Whole, hash_of


def short_name(node: Node) -> str:
    """A node's name without its module, so that a move does not change it."""
    return f"whole module, {node.depth}" if isinstance(node, Whole) else node.label.partition(":")[2]


def own_hash(linked: Linked) -> str:
    """The hash of a node's own code, what it refers to by name only."""
    return _render(linked, short_name)


def _render(linked: Linked, name: Callable[[Node], str]) -> str:
    tokens = (
        token if isinstance(token, str) else "&" + "&".join(map(name, token)) for token in linked.tokens
    )
    return hash_of(tokens)


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
