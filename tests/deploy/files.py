"""The files of a deployment, read for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*/*.yaml"))


def read_yaml(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return value


def manifests() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every object of the manifests, but for what is only read by kustomize."""
    for path in MANIFESTS:
        for value in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if value["kind"] != "Kustomization":
                yield path, value


def objects(kind: str, namespace: str | None = None) -> dict[str, dict[str, Any]]:
    """Name → object of a kind in the base, of one namespace."""
    return {
        value["metadata"]["name"]: value
        for path, value in manifests()
        if path.parent.name == "base" and value["kind"] == kind
        if namespace in (None, value["metadata"].get("namespace"))
    }


def values() -> dict[str, Any]:
    """The values for Dagster's chart."""
    return read_yaml(DEPLOY / "helm" / "values.yaml")
