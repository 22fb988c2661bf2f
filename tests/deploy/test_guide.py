"""The guide: what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.deploy.files import ROOT, objects, read_yaml

GUIDE = ROOT / "docs" / "deployment.md"
TEXT = GUIDE.read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"(?<![\w/])(?:deploy|docs|requirements)/(?!dagster-)[\w./-]*\w", TEXT)))
TARGETS = set(re.findall(r"(?:^    |`|; )make ([a-z-]+)", TEXT, re.MULTILINE))
SECRETS = re.compile(r"create secret generic ([a-z-]+) \\?\n?\s*--from-literal ([a-z-]+)=")


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https:)([^)#]+)", TEXT))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (GUIDE.parent / link).exists()


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert {"images", "ui-deployed", "lock"} <= TARGETS
    assert [target for target in TARGETS if f"\n{target}:" not in makefile] == []


def test_the_secrets_it_makes_are_those_that_are_asked_for() -> None:
    made = {f"{name}/{key}" for name, key in SECRETS.findall(TEXT)}
    file = read_yaml(ROOT / "deploy" / "deployment.example.yml")
    assert set(file["kubernetes"]["secrets"].values()) <= made
    assert "dagster-postgresql-secret/postgresql-password" in made


def test_it_gives_every_account_its_rights() -> None:
    for namespace in ("dagster", "translations"):
        for account in objects("ServiceAccount", namespace):
            assert f"bind {namespace} {account}" in TEXT
            assert f"allow {account} roles/storage" in TEXT


def test_it_installs_the_chart_of_the_locked_dagster() -> None:
    lock = (ROOT / "requirements" / "main.lock").read_text(encoding="utf-8")
    locked = re.search(r"^dagster==(\S+)", lock, re.M)
    assert locked
    assert f"dagster/dagster --version {locked[1]}" in TEXT
    values = Path(ROOT / "deploy" / "helm" / "values.yaml").read_text(encoding="utf-8")
    assert f"dagster/dagster {locked[1]}" in values
