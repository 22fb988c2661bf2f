"""Label and field selectors of list and watch requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.kube.objects import Object

_SET = re.compile(r"(\S+)\s+(in|notin)\s*\((.*)\)$")
_COMMA = re.compile(r",(?![^(]*\))")


def selector(query: Mapping[str, str]) -> Callable[[Object], bool]:
    """Predicate: True if a query's labelSelector and fieldSelector select an object."""
    labels = _terms(query.get("labelSelector", ""))
    fields = _terms(query.get("fieldSelector", ""))

    def selects(value: Object) -> bool:
        own = value["metadata"].get("labels") or {}
        return all(_holds(term, own.get) for term in labels) and all(
            _holds(term, lambda path: _field(value, path)) for term in fields
        )

    return selects


def _terms(text: str) -> list[str]:
    return [term.strip() for term in _COMMA.split(text) if term.strip()]


def _holds(term: str, get: Callable[[str], Any]) -> bool:
    if match := _SET.match(term):
        values = [value.strip() for value in match[3].split(",")]
        return bool((get(match[1]) in values) == (match[2] == "in"))
    if "!=" in term:
        name, _, text = term.partition("!=")
        return str(get(name)) != text
    if "=" in term:
        name, _, text = term.replace("==", "=").partition("=")
        return str(get(name)) == text
    if term.startswith("!"):
        return get(term[1:]) is None
    return get(term) is not None


def _field(value: Object, path: str) -> Any:
    found: Any = value
    for part in path.split("."):
        found = found.get(part, "") if isinstance(found, dict) else ""
    return found
