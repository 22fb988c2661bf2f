"""Changes to the real scripts that were accepted: nothing runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.keys.changes.harmful import all_sites, sample
from tests.keys.changes.mutations import mutate
from tests.keys.changes.states import CODE, SCRIPTS, Repository
from translations_assets.keys.code.accepted import FILE, Change, add_changes
from translations_assets.keys.code.fingerprint import CodeBase, Fingerprint

KINDS = ("number", "call", "statement")  # what is accepted are digests, whatever changed them


def reached(repository: Repository, kind: str) -> tuple[dict[str, str], dict[str, Fingerprint]]:
    """A change of a kind to what a script reaches, and the fingerprints after it.

    Modules are taken apart still, and import the same libraries: others are no change of code.
    """
    for file, number in sample(kind, 50, seed=3):
        if repository.running(file, all_sites()[file][number].statement):
            changed = {file: mutate(CODE[file], number)}
            with repository.changed(changed):
                code = CodeBase(repository.root)
                now = {script: code.fingerprint(script) for script in SCRIPTS}
            before = {script: repository.code.fingerprint(script).imports for script in SCRIPTS}
            imports = {script: found.imports for script, found in now.items()}
            if imports == before and not any(found.why_whole for found in now.values()):
                return changed, now
    raise AssertionError(f"no place of the kind {kind} is reached")


@pytest.mark.parametrize("kind", KINDS)
def test_an_accepted_change_runs_nothing(repository: Repository, kind: str, tmp_path: Path) -> None:
    """Compared with the scripts' bundles, as the store keeps them."""
    changed, now = reached(repository, kind)

    def earlier(script: str) -> str:
        for name, text in repository.bundles[script].items():
            path = tmp_path / script / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return CodeBase(tmp_path / script).fingerprint(script).own

    changes = [
        Change(script, earlier(script), now[script].own, "harmless")
        for script in SCRIPTS
        if now[script] != repository.code.fingerprint(script)
    ]
    assert changes, "it would run again"
    add_changes(tmp_path / "accepted.yml", changes)
    accepted = (tmp_path / "accepted.yml").read_text(encoding="utf-8")
    assert set(repository.plan({**changed, FILE: accepted}).values()) == {"cached"}
