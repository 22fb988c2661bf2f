"""Programs of the system: what counts in keys is the version that they say themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.keys.test_key import STEP, TEXT, key
from translations_assets.keys import programs
from translations_assets.keys.key import KeyMaker
from translations_assets.keys.programs import ABSENT, other_programs, program_version
from translations_assets.records.manifest import Blob, Provenance
from translations_assets.running.job import make_job


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for programs, in which alone they are looked for."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setitem(programs._PLACES, "PATH", f"{folder}:/usr/bin:/bin")
    program_version.cache_clear()
    yield folder
    program_version.cache_clear()


def install(folder: Path, name: str, says: str) -> None:
    """Put a program there that says something of its version."""
    (folder / name).write_text(f"#!/bin/sh\nprintf '{says}'\n")
    (folder / name).chmod(0o755)
    program_version.cache_clear()


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ("sed (GNU sed) 4.9\\nCopyright 2022\\n", "4.9"),
        ("\\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64\\n", "5.36.0"),
        ("some words\\n", "unknown"),
    ],
)
def test_the_version_is_what_a_program_says(places: Path, says: str, version: str) -> None:
    install(places, "program", says)
    assert program_version("program") == version


def test_a_program_may_be_missing(places: Path) -> None:
    assert program_version("program") == ABSENT


def test_the_version_is_part_of_the_key_of_a_step_that_runs_the_program(
    places: Path, repository: Path
) -> None:
    install(places, "program", "1.0")
    plain, first = key(repository), key(repository, programs=("program",))
    install(places, "program", "1.1")
    assert len({plain, first, key(repository, programs=("program",))}) == 3
    assert key(repository) == plain


def test_a_job_says_what_its_key_stands_for(places: Path, repository: Path) -> None:
    install(places, "program", "1.0")
    step = replace(STEP, inputs={}, programs=("program",))
    parts = KeyMaker(repository).parts(step, {TEXT: Blob("aa", 1)})
    job = make_job(
        step,
        parts,
        {},
        bundle=Blob("bb", 1),
        generation=1,
        attempt=1,
        machine="",
        provenance=Provenance(),
    )
    assert job.programs == {"program": "1.0"}
    assert not other_programs(job.programs)
    install(places, "program", "1.1")
    assert "stands for program 1.0, and here it is 1.1" in other_programs(job.programs)
