"""Changes to the real scripts that were accepted: nothing runs again, whichever script they were seen in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.keys.changes.harmful import all_sites, sample
from tests.keys.changes.mutations import KINDS, mutate
from tests.keys.changes.states import CODE, Repository
from translations_assets.keys.code.accepted import FILE, Accepted, add_changes
from translations_assets.keys.code.compare import find_changes
from translations_assets.keys.code.fingerprint import CodeBase


def reached(repository: Repository, kind: str) -> tuple[str, int, str]:
    """A place of a kind that a script reaches, and the script."""
    for file, number in sample(kind, 50, seed=3):
        scripts = repository.running(file, all_sites()[file][number].statement)
        if scripts:
            return file, number, min(scripts)
    raise AssertionError(f"no place of the kind {kind} is reached")


@pytest.mark.parametrize("kind", KINDS)
def test_an_accepted_change_runs_nothing(repository: Repository, kind: str, tmp_path: Path) -> None:
    """Compared with the bundle of one script, as the store keeps it; others that share the code profit."""
    file, number, script = reached(repository, kind)
    bundle = tmp_path / "bundle"
    for name, text in repository.bundles[script].items():
        path = bundle / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    changed = {file: mutate(CODE[file], number)}
    with repository.changed(changed):
        code = CodeBase(repository.root)
        found = find_changes(CodeBase(bundle), code, script, Accepted(), "harmless")
    assert found.changes
    assert found.digest == found.earlier == repository.code.fingerprint(script).digest
    assert found.digest != code.fingerprint(script).digest, "it would run again"
    add_changes(tmp_path / "accepted.yml", found.changes)
    accepted = (tmp_path / "accepted.yml").read_text(encoding="utf-8")
    assert set(repository.plan({**changed, FILE: accepted}).values()) == {"cached"}
