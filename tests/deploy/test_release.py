"""Parts of a release, which must agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from deploy import release
from deploy.release import bill_of_materials
from tests.deploy.files import ROOT

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def test_the_bill_names_every_library_of_the_lock_once(tmp_path: Path) -> None:
    file = tmp_path / "bill.json"
    subprocess.run([sys.executable, "-m", "deploy.release", str(file)], cwd=ROOT, check=True)
    bill = json.loads(file.read_text(encoding="utf-8"))
    assert bill == bill_of_materials()
    lines = (ROOT / "requirements" / "main.lock").read_text(encoding="utf-8").splitlines()
    pinned = [line.split()[0] for line in lines if re.match(r"[a-z]", line)]
    assert [f"{one['name']}=={one['version']}" for one in bill["components"]] == pinned
    references = [one["bom-ref"] for one in bill["components"]]
    assert len(references) == len(set(references)) > 100
    assert bill["metadata"]["component"]["version"] == VERSION
    conditions = {one["name"] for one in bill["components"] if "properties" in one}
    assert {"sentencepiece"} <= conditions


def test_the_licence_is_one_line_of_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        re.sub("^(# )?license = .*", 'license = "MPL-2.0"', text, flags=re.MULTILINE), encoding="utf-8"
    )
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert bill_of_materials()["metadata"]["component"]["licenses"] == [{"expression": "MPL-2.0"}]


def test_the_citation_has_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()


def test_pre_commit_runs_what_lint_runs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0][
        "hooks"
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lint = re.findall(r"\t@\$\(BIN\)/(.+)", makefile.partition("\nlint:")[2].partition("\n\n")[0])
    assert [hook["entry"].removeprefix(".venv/bin/") for hook in hooks] == lint
