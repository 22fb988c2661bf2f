"""Writes the bill of materials of a release: `make release` builds it with the wheel and the documentation.

The form is CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/): each library that a lock pins, by name,
version and package URL. The same lock gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "main.lock"
_PIN = re.compile(r"([a-z0-9._-]+)==([^\s;\\]+)(?: ; ([^\\]+?))? \\")


def bill_of_materials(lock: Path = LOCK) -> dict[str, Any]:
    """The libraries of a lock that uv has written, as CycloneDX."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licence = {"licenses": [{"expression": project["license"]}]} if "license" in project else {}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component("application", project["name"], project["version"]) | licence},
        "components": list(_libraries(lock.read_text(encoding="utf-8"))),
    }


def _libraries(lock: str) -> Iterator[dict[str, Any]]:
    for line in lock.splitlines():
        if found := _PIN.fullmatch(line):
            name, version, marker = found.groups()
            case = {"properties": [{"name": "python:marker", "value": marker}]} if marker else {}
            yield _component("library", name, version) | case


def _component(kind: str, name: str, version: str) -> dict[str, Any]:
    reference = f"pkg:pypi/{name}@{version}"
    return {"type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference}


def main() -> None:
    """Write the file that is named."""
    parser = argparse.ArgumentParser(prog="python -m deploy.release", description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="the JSON file to write")
    file = parser.parse_args().file
    file.write_text(json.dumps(bill_of_materials(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
