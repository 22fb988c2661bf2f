"""Checks of an object by a server before it keeps it."""

from __future__ import annotations

import re
from typing import Any

from kubernetes import client

from tests.kube.objects import ApiError, Object

_LIST = re.compile(r"list\[(.*)\]$")
_MAP = re.compile(r"dict\(str, (.*)\)$")
_PLAIN: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": (int, float),
    "datetime": str,
}
_QUANTITIES = ("V1ResourceRequirements", "V1NodeStatus")  # whose maps may hold numbers, too
_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")
_LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")


def check_fields(value: Any, type_: str, path: str = "") -> None:
    """Refuse fields that the official client's models do not have, and values of another type."""
    if value is None:
        return
    if match := _LIST.match(type_):
        _expect(isinstance(value, list), path, "a list")
        for number, item in enumerate(value):
            check_fields(item, match[1], f"{path}[{number}]")
    elif match := _MAP.match(type_):
        _expect(isinstance(value, dict), path, "an object")
        for key, item in value.items():
            check_fields(item, match[1], f"{path}.{key}")
    elif model := getattr(client, type_, None):
        _check_model(value, model, path)
    elif type_ in _PLAIN:
        is_plain = isinstance(value, _PLAIN[type_]) and isinstance(value, bool) == (type_ == "bool")
        _expect(is_plain, path, type_)


def _check_model(value: Any, model: Any, path: str) -> None:
    _expect(isinstance(value, dict), path, "an object")
    fields = {given: name for name, given in model.attribute_map.items()}
    for given, item in value.items():
        if given not in fields:
            field = f"{path}.{given}".lstrip(".")
            raise ApiError(400, "BadRequest", f'strict decoding error: unknown field "{field}"')
        type_ = model.openapi_types[fields[given]]
        if model.__name__ in _QUANTITIES and type_ == "dict(str, str)":
            item = {name: str(quantity) for name, quantity in item.items()}
        check_fields(item, type_, f"{path}.{given}")


def _expect(is_right: bool, path: str, what: str) -> None:
    if not is_right:
        raise ApiError(400, "BadRequest", f"{path.lstrip('.')}: expected {what}")


def check_metadata(value: Object, longest_name: int) -> None:
    """Refuse names and labels that are too long or of other characters."""
    metadata = value["metadata"]
    name = metadata["name"]
    if len(name) > longest_name or not _OBJECT_NAME.match(name):
        raise ApiError(422, "Invalid", f"metadata.name: Invalid value: {name!r}")
    for label, text in metadata.get("labels", {}).items():
        if len(text) > 63 or not _LABEL.match(text):
            raise ApiError(422, "Invalid", f"metadata.labels: Invalid value: {label}={text!r}")
