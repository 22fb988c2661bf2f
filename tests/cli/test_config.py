"""`translations config …`, and the notes of `plan`."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.config.texts import SMALL, with_line
from tests.end_to_end.tiny import PARTITION, Place

OLD = with_line("  use-opuscleaner: 'true'\n  mono-max-sentences-src: 1000", "  trg: ru")


@pytest.fixture
def old(place: Place) -> Path:
    path = place.root / "en-ru.old.yml"
    path.write_text(OLD + "previous_group_ids: [abc]\nexisting_tasks: {a: b}\n", encoding="utf-8")
    return path


def test_a_config_without_problems(command: Command) -> None:
    said = command("config", "check", PARTITION)
    assert (said.code, said.out, said.err) == (0, f"{PARTITION}: no problems\n", "")


def test_the_name_that_a_file_gets_is_told_among_many_notes(command: Command, old: Path) -> None:
    path = old.rename(old.with_name("mine.yml"))
    said = command("plan", str(path))
    assert said.code == 0, said.err
    assert "planned and trained as en-ru.mine." in said.err.splitlines()[0]
    assert f"notes on {path}" in said.err.splitlines()[1]


def test_the_names_of_datasets(command: Command, old: Path) -> None:
    text = old.read_text().replace("opus_ParaCrawl/v9", "{dataset: opus_ParaCrawl/v9, alias: crawl}")
    old.write_text(text.replace("- flores_devtest", "- sacrebleu_wmt19/x\n    - 12"))
    said = command("config", "check", "--names", str(old))
    assert said.code == 1  # as they are needed to mend what is wrong
    assert said.out.splitlines()[-3:] == [
        "train     crawl  opus_ParaCrawl/v9",
        "devtest   flores_dev  flores_dev",
        "test      sacrebleu_wmt19_x  sacrebleu_wmt19/x",
    ]


def test_a_file_of_the_system_is_told_of_before_any_work(command: Command, old: Path) -> None:
    old.write_text(SMALL.replace("opus_ParaCrawl/v9", "url_file:///proc/self/[LANG]"))
    said = command("config", "check", str(old))
    assert said.code == 1
    assert "datasets.train[0]: /proc/self/LANG is a file of the system" in said.err
    old.write_text(SMALL.replace("opus_ParaCrawl/v9", "url_file:///etc/passwd?[LANG]"))
    assert "must be in the URL's path" in command("plan", str(old)).err


def test_an_old_config_is_accepted_with_a_note_for_each_key(command: Command, old: Path) -> None:
    said = command("config", "check", str(old))
    assert said.code == 0
    lines = said.out.splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == [
        f"{old}:{number}" for number in (1, 1, 1, 1, 5, 6, 14, 14, 15)
    ]
    assert lines[-1] == f"{old}: no problems"


def test_all_problems_of_all_files_are_told(command: Command, old: Path) -> None:
    wrong = old.with_name("en-ru.wrong.yml")
    wrong.write_text(SMALL.replace("src: en", "src: xx") + "nothing: 1\n", encoding="utf-8")
    said = command("config", "check", str(wrong), str(old), str(old.with_name("absent.yml")))
    assert said.code == 1
    errors = said.err.splitlines()
    assert errors[0].startswith(f"error: {wrong}:3: experiment.src: 'xx' is not a known language.")
    assert errors[1].startswith(f"error: {wrong}:12: nothing: unknown key.")
    assert errors[2] == f"{wrong}: 2 problems"
    assert errors[3].endswith("absent.yml: there is no such file")
    assert f"{old}: no problems" in said.out


def test_problems_as_json(command: Command, old: Path) -> None:
    old.write_text(SMALL.replace("src: en", "src: xx") + "checks: {}\n", encoding="utf-8")
    said = command("config", "check", str(old), "--json")
    assert said.code == 1
    (found,) = json.loads(said.out)
    assert (found["file"], found["datasets"]) == (str(old), [])
    (problem,) = found["problems"]
    assert (problem["line"], problem["key"]) == (3, "experiment.src")


def test_what_does_not_exist_is_a_problem(
    command: Command, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = old.parent / "mirror"
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(mirror))
    corpus = mirror / "object.pouta.csc.fi/OPUS-ParaCrawl/v9/moses/en-ru.txt.zip"
    flores = mirror / "dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
    for path, size in ((corpus, 1_234_567), (flores, 12)):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * size)
    text = SMALL + f"  mono-src:\n    - url_file://{old.parent}/absent.zst\nchecks: {{}}\n"
    old.write_text(text, encoding="utf-8")
    said = command("config", "check", str(old), "--online")
    assert said.code == 1
    assert said.out.splitlines() == [
        "    1.2 MB  opus_ParaCrawl/v9",
        "  12 bytes  flores_dev",
        "  12 bytes  flores_devtest",
    ]
    assert said.err.startswith(f"error: {old}:13: datasets.mono-src[0]: there is no file file://")
    old.write_text(SMALL, encoding="utf-8")
    assert command("config", "check", str(old), "--online").code == 0


def test_migrate_prints_and_touches_nothing(command: Command, old: Path) -> None:
    before = old.read_bytes()
    said = command("config", "migrate", str(old))
    assert said.code == 0
    assert said.out.startswith("experiment:\n  name: small\n")
    assert "use-opuscleaner" not in said.out
    assert len(said.err.splitlines()) == 8
    assert old.read_bytes() == before


def test_migrate_rewrites_a_file_once(command: Command, old: Path) -> None:
    old.chmod(0o640)
    assert command("config", "migrate", str(old), "--write").out == f"{old}: rewritten\n"
    after = old.read_bytes()
    assert b"previous-group-ids: [abc]" in after
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert command("config", "migrate", str(old), "--write").out == f"{old}: is in today's form already\n"
    assert old.read_bytes() == after
    assert [path.name for path in old.parent.glob(".*.new")] == []


def test_migrate_follows_a_link(command: Command, old: Path) -> None:
    link = old.with_name("en-ru.link.yml")
    link.symlink_to(old)
    assert command("config", "migrate", str(link), "--write").code == 0
    assert link.is_symlink()
    assert b"use-opuscleaner" not in old.read_bytes()


def test_migrate_of_what_is_no_config(command: Command, old: Path) -> None:
    old.write_text("experiment: [", encoding="utf-8")
    said = command("config", "migrate", str(old), "--write")
    assert said.code == 1
    assert said.err.startswith(f"error: {old}:1: not valid YAML")
    assert old.read_text(encoding="utf-8") == "experiment: ["


def test_the_schema_is_json(command: Command) -> None:
    schema = json.loads(command("config", "schema").out)
    assert schema["title"] == "Training config"
    assert "experiment" in schema["properties"]


def test_plan_tells_few_notes_in_full_and_many_in_one_line(command: Command, place: Place) -> None:
    path = next((place.root / "configs").glob(f"{PARTITION}.y*ml"))
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "previous_group_ids: []\n", encoding="utf-8")
    assert command("plan", PARTITION).err.startswith(f"note: {path}:")
    old = "previous_group_ids: []\nexisting_tasks: {}\nroot: ''\ncuda: ''\ngpus: ''\n"
    path.write_text(text + old, encoding="utf-8")
    said = command("plan", PARTITION)
    assert said.code == 0
    (note,) = [line for line in said.err.splitlines() if line.startswith("note: ")]
    assert f"translations config check {PARTITION}" in note
