"""Compares what `--json` printed with its description."""

from typing import Any

import yaml

from tests.cli.test_command_line import ENTRIES

JSON = {" ".join(words): entry.json for words, entry in ENTRIES.items() if entry.json}


def check_shape(command: str, value: Any) -> None:
    """Fail unless a value has one of the forms that the description of a command's JSON names."""
    troubles = [_trouble(yaml.safe_load(shape), value, "") for shape in JSON[command]]
    assert "" in troubles, f"{command}: {troubles}"


def _trouble(shape: Any, value: Any, path: str) -> str:
    """Describe how a value differs from its form; empty when it does not."""
    if shape is None or isinstance(shape, str) or value is None:
        return ""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{path} is no list"
        return next(filter(None, (_trouble(shape[0], inner, f"{path}[]") for inner in value)), "")
    if not isinstance(value, dict):
        return f"{path} is no object"
    (first, inner), *_ = shape.items()
    if first.startswith("<"):
        inside = ((inner, each, f"{path}.{first}") for each in value.values())
    else:
        if wrong := {name for name in shape if not name.startswith("(")} - value.keys():
            return f"{path} lacks {sorted(wrong)}"
        known = {name.strip("()"): inner for name, inner in shape.items()}
        if wrong := value.keys() - known.keys():
            return f"{path} has {sorted(wrong)}, which is not described"
        inside = ((known[name], each, f"{path}.{name}") for name, each in value.items())
    return next(filter(None, (_trouble(*one) for one in inside)), "")
