"""The workflow of GitHub Actions: it runs what `.ci/run` runs, by targets that exist, and asks for little."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKE = re.compile(r"(?:^\s*|\$\()make ([^\n)>]*)", re.MULTILINE)
PROGRAMS = {"make", "git", "sudo", "{", ".ci/run"}


def workflow(path: Path = ROOT / ".github" / "workflows" / "ci.yml") -> dict[Any, Any]:
    value: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return value


def steps() -> Iterator[dict[str, Any]]:
    for job in workflow()["jobs"].values():
        yield from job["steps"]


def commands() -> list[str]:
    return [step["run"] for step in steps() if "run" in step]


def make_words(text: str) -> list[str]:
    """The targets that `make` lines name, without variables."""
    words = [word for line in MAKE.findall(text) for word in shlex.split(line)]
    return [word for word in words if re.fullmatch("[a-z][a-z-]*", word)]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def test_there_is_one_workflow() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml"]


def test_every_target_and_program_that_it_names_exists() -> None:
    named = [word for command in commands() for word in make_words(command)]
    assert named
    assert set(named) <= targets()
    first = {line.split()[0] for command in commands() for line in command.splitlines()}
    assert first <= PROGRAMS
    assert (ROOT / ".ci" / "run").is_file()


def test_it_runs_all_that_ci_run_runs() -> None:
    wanted = set(make_words((ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    assert wanted >= {"lint", "types", "test-all", "ci-environments"}
    assert {word for command in commands() for word in make_words(command)} >= wanted | {"graph"}


def test_the_jobs_that_share_the_tests_leave_none_out() -> None:
    tests = [command for command in commands() if "make test-all" in command]
    parts = [command.partition("TESTS=")[2].strip('"') for command in tests]
    assert sorted(parts) == ["--ignore tests/end_to_end", "tests/end_to_end"]
    assert (ROOT / "tests" / "end_to_end").is_dir()


def test_every_job_of_tests_has_the_environments_that_ci_run_has() -> None:
    """Named to the steps that follow; what cannot be made fails, as tests would be skipped for it."""
    made = {"env": {"REQUIRE_ALL": 1}, "run": 'make -s ci-environments >> "$GITHUB_ENV"'}
    for job in workflow()["jobs"].values():
        ran = [step.get("run", "") for step in job["steps"]]
        if any("make test-all" in command for command in ran):
            at = ran.index(made["run"])
            assert job["steps"][at].items() >= made.items()
            assert "make test-all" in ran[-1]
            assert job["steps"][at - 1]["with"]["path"] == "~/.cache/translations-assets"


def test_it_runs_for_pull_requests_and_main() -> None:
    events = workflow()[True]  # YAML 1.1 reads `on` as true
    assert set(events) == {"pull_request", "push"}
    assert events["push"]["branches"] == ["main"]


def test_what_is_superseded_is_cancelled() -> None:
    concurrency = workflow()["concurrency"]
    assert "pull_request.number" in concurrency["group"]
    assert concurrency["cancel-in-progress"] is True


def test_it_may_only_read_and_every_job_has_an_end() -> None:
    assert workflow()["permissions"] == {"contents": "read"}
    for job in workflow()["jobs"].values():
        assert "permissions" not in job
        assert 0 < job["timeout-minutes"] <= 90


def test_actions_are_pinned_and_keep_no_token() -> None:
    used = [step for step in steps() if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        if step["uses"].startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(
    ("cached", "path"),
    [
        (".tools", "requirements/main.lock"),
        (".tools", "requirements/dev.lock"),
        (".tools", "Makefile"),
        ("~/.cache/translations-assets", "requirements/bicleaner.lock"),
        ("~/.cache/translations-assets", "requirements/browser/package-lock.json"),
        ("~/.cache/translations-assets", "requirements/browser/.npmrc"),
        ("~/.cache/translations-assets", "tests/environments.py"),
        ("~/.cache/translations-assets", "tests/kube/build.sh"),
        ("~/.cache/translations-assets", "tests/store/s3-server.lock"),
    ],
)
def test_a_cache_is_keyed_on_what_it_is_made_from(cached: str, path: str) -> None:
    caches = [step["with"] for step in steps() if step.get("uses", "").startswith("actions/cache")]
    (key,) = {cache["key"] for cache in caches if cache["path"] == cached}
    patterns = re.findall(r"'([^']+)'", key)
    assert any((ROOT / path) in ROOT.glob(pattern) for pattern in patterns)
