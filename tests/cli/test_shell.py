"""`translations shell`: a step's folder, in which nothing can damage the store."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.end_to_end.tiny import PARTITION, Place
from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, job
from translations_assets.cli.shell import _script
from translations_assets.project import Project

VOCAB = "train-vocab-en-eo"


def shell(command: Command, *words: str) -> subprocess.CompletedProcess[str]:
    said = command("shell", PARTITION, VOCAB, *words)
    return subprocess.CompletedProcess(words, said.code, said.out, said.err)


def test_the_script_names_a_secret_and_does_not_hold_it() -> None:
    work = job(MemoryStore(), COPY, secrets=("HF_TOKEN",))
    text = _script(work, {"LANG": "C.UTF-8", "HF_TOKEN": "hf_planted"})
    assert 'HF_TOKEN="$HF_TOKEN"' in text
    assert "hf_planted" not in text


def test_the_inputs_are_placed_and_the_command_is_shown(command: Command) -> None:
    make("merge_corpus")
    done = shell(command, "--command", "ls in/*; ls; echo $PYTHONPATH")
    assert done.returncode == 0, done.stderr
    assert "corpus.en.zst" in done.stdout
    assert {"code", "in", "run.sh", "tmp"} <= set(done.stdout.split())
    assert "-m pipeline.train.vocab" in done.stderr
    assert "--output out" in done.stderr
    folder = Path(done.stdout.splitlines()[-1]).parent
    assert not folder.exists()


def test_the_exit_code_is_the_commands(command: Command) -> None:
    make("merge_corpus")
    assert shell(command, "--command", "exit 7").returncode == 7


def test_the_shell_of_the_person(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    make("merge_corpus")
    monkeypatch.setenv("SHELL", "/bin/true")
    assert shell(command).returncode == 0
    monkeypatch.setenv("SHELL", "/no/shell")
    said = shell(command)
    assert said.returncode == 1
    assert "/no/shell cannot be started" in said.stderr


def test_what_a_person_does_there_damages_no_store(command: Command) -> None:
    make("merge_corpus")
    done = shell(command, "--keep", "--command", "for file in in/*/*; do echo damage >> $file; done; pwd")
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert list((folder / "in").rglob("*.zst"))
    store = Project().store
    for manifest in store.manifests():
        for blob in manifest.outputs.values():
            store.read_blob(blob)  # verifies the digest


def test_an_input_that_is_not_there_is_named_with_its_command(command: Command) -> None:
    said = shell(command)
    assert said.returncode == 1
    assert f"translations train {PARTITION} --target merge_corpus" in said.stderr


@pytest.mark.slow
def test_the_command_runs_the_step(place: Place) -> None:
    """With the same result as the worker's."""
    done = place.run("translations", "train", PARTITION, "--target", "merge_devset", "--yes")
    assert done.returncode == 0, done.stderr
    words = ("shell", PARTITION, "merge-devset-en-eo", "--command", "./run.sh >&2 && sha256sum out/*")
    ran = place.run("translations", *words)
    assert ran.returncode == 0, ran.stderr
    listed = place.run("translations", "artifacts", PARTITION, "merge-devset-en-eo", "--json")
    (files,) = json.loads(listed.stdout).values()
    assert set(ran.stdout.split()) >= {blob["digest"] for blob in files.values()}
