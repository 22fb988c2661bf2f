"""Tests of changes that change a step's key, and of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.running.conftest import SETTINGS, demo_graph
from translations_assets.common.errors import GraphError
from translations_assets.common.settings import repository_root
from translations_assets.graph.step import RepoFile, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, KeyParts

TEXT = Step("pipeline.demo.write", "text", "texts", {}, {}, ("text.txt",))["text.txt"]
STEP = Step(
    script="pipeline.demo.write",
    label="write-a",
    stage="texts",
    args={"word": "one", "times": 2},
    inputs={"text": TEXT, "settings": SETTINGS},
    outputs=("text.txt", "stats.json"),
)


def key(root: Path, text: str = "aa", **changes: Any) -> str:
    """The key of the step with some fields changed, in the repository as it is now."""
    return KeyMaker(root).parts(replace(STEP, **changes), {TEXT: Blob(text, 1)}).digest


def edit(root: Path, name: str, old: str, new: str) -> None:
    path = root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    "changes",
    [
        {"label": "another"},
        {"stage": "another"},
        {"worker": "large-gpu"},
        {"attempts": 9},
        {"resumable": True},
        {"repeatable": False},
        {"args": {"times": 2, "word": "one"}},
        {"inputs": {"settings": SETTINGS, "text": TEXT}},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_cannot_change_the_result_is_not_in_the_key(repository: Path, changes: Any) -> None:
    assert key(repository, **changes) == key(repository)


@pytest.mark.parametrize(
    "changes",
    [
        {"args": {"word": "two", "times": 2}},
        {"args": {"word": "one", "times": 2.5}},
        {"args": {"word": "one", "times": 2, "loud": True}},
        {"args": {"word": "one", "times": "2 --loud"}},
        {"text": "bb"},
        {"inputs": {"texts": TEXT, "settings": SETTINGS}},
        {"inputs": {"text": [TEXT], "settings": SETTINGS}},
        {"inputs": {"text": TEXT}},
        {"outputs": ("text.txt", "other.json")},
        {"outputs": ("text.txt",)},
        {"script": "pipeline.demo.join"},
    ],
    ids=str,
)
def test_what_can_change_the_result_is_in_the_key(repository: Path, changes: Any) -> None:
    assert key(repository, **changes) != key(repository)


def test_the_order_of_a_list_counts(repository: Path) -> None:
    assert key(repository, args={"names": ["x", "y"]}) != key(repository, args={"names": ["y", "x"]})


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pipeline/demo/settings.yml", "# how to join", "# another comment"),
        ("pipeline/demo/settings.yml", "limits: {lines: 10}", "limits:\n    lines: 10"),
        ("pipeline/demo/words.py", "UNUSED = 1", "UNUSED = 2"),
        ("pipeline/demo/words.py", "UNUSED = 1", "# nothing"),
        ("requirements/main.lock", "requests==2.32.5", "requests==2.32.6"),
        ("requirements/main.lock", "e29554e2", "00000000"),
    ],
)
def test_edits_that_cannot_change_the_result(repository: Path, name: str, old: str, new: str) -> None:
    before = key(repository)
    edit(repository, name, old, new)
    assert key(repository) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pipeline/demo/settings.yml", "lines: 10", "lines: 11"),
        ("pipeline/demo/settings.yml", "lines: 10", "lines: '10'"),
        ("pipeline/demo/words.py", '"tree"', '"house"'),
        ("pipeline/demo/write.py", "zeros(1)", "zeros(2)"),
        ("requirements/main.lock", "numpy==2.2.6", "numpy==2.2.7"),
    ],
)
def test_edits_that_can_change_the_result(repository: Path, name: str, old: str, new: str) -> None:
    before = key(repository)
    edit(repository, name, old, new)
    assert key(repository) != before


def test_only_libraries_that_the_script_reaches_count(repository: Path) -> None:
    keys = KeyMaker(repository)
    assert keys.libraries("pipeline.demo.write") == {"numpy": "2.2.6"}
    assert keys.libraries("pipeline.demo.join") == {}


def test_a_text_file_counts_byte_by_byte(repository: Path) -> None:
    (repository / "list.txt").write_text("# comment\none\n")
    before = KeyMaker(repository).repo_file(RepoFile("list.txt"))
    edit(repository, "list.txt", "# comment", "# another")
    assert KeyMaker(repository).repo_file(RepoFile("list.txt")) != before


def test_yaml_that_json_cannot_say_counts_byte_by_byte(repository: Path) -> None:
    (repository / "list.yml").write_text("1: 2024-01-01\nname: x\n")
    before = KeyMaker(repository).repo_file(RepoFile("list.yml"))
    edit(repository, "list.yml", "2024", "2025")
    assert KeyMaker(repository).repo_file(RepoFile("list.yml")) != before


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("list.yml", "1: x\n", "'1': x\n"),
        ("list.yml", "a: [{true: x}]\n", "a: [{'true': x}]\n"),
        ("list.yml", "a: 1\n", "a: 1.0\n"),
        ("list.yml", "a: true\n", "a: 'true'\n"),
        ("list.json", '{"a": 1e3}', '{"a": "1e3"}'),
    ],
)
def test_values_of_other_types_are_other_values(repository: Path, name: str, before: str, after: str) -> None:
    digests = set()
    for text in (before, after):
        (repository / name).write_text(text)
        digests.add(KeyMaker(repository).repo_file(RepoFile(name)))
    assert len(digests) == 2


def test_json_may_be_indented_with_tabs(repository: Path) -> None:
    digests = set()
    for text in ('{"a":1}', '{\n\t"a": 1\n}\n'):
        (repository / "list.json").write_text(text)
        digests.add(KeyMaker(repository).repo_file(RepoFile("list.json")))
    assert len(digests) == 1


def test_a_program_counts_wherever_its_function_stands(repository: Path) -> None:
    """Else moving the function would lose the version of the program that it runs."""
    digests = set()
    for module in ("words", "programs"):
        (repository / f"pipeline/demo/{module}.py").write_text("def marian_command(): return ['marian']\n")
        script = f"from pipeline.demo.{module} import marian_command\ndef main(): marian_command()\n"
        (repository / "pipeline/demo/join.py").write_text(script + "if __name__ == '__main__': main()\n")
        with (repository / "requirements/main.lock").open("a") as lock:
            lock.write("pymarian==1.12.42\n" if module == "words" else "")
        assert KeyMaker(repository).libraries("pipeline.demo.join") == {"pymarian": "1.12.42"}
        digests.add(KeyMaker(repository).fingerprint("pipeline.demo.join").digest)
    assert len(digests) == 1


@pytest.mark.parametrize("text", ["a: [1", "a: 1\n---\na: 2\n"])
def test_broken_yaml_is_an_error_that_names_the_file(repository: Path, text: str) -> None:
    (repository / SETTINGS.path).write_text(text)
    with pytest.raises(GraphError, match=r"settings\.yml"):
        key(repository)


def test_a_missing_file_is_an_error_that_names_it(repository: Path) -> None:
    (repository / SETTINGS.path).unlink()
    with pytest.raises(GraphError, match=r"settings\.yml, which cannot be read: No such file"):
        key(repository)


def test_contents_stay_those_that_the_digest_is_of(repository: Path) -> None:
    keys = KeyMaker(repository)
    digest = keys.repo_file(SETTINGS)
    edit(repository, SETTINGS.path, "lines: 10", "lines: 11")
    assert b"lines: 10" in keys.repo_bytes(SETTINGS)
    assert keys.repo_file(SETTINGS) == digest
    assert KeyMaker(repository).repo_file(SETTINGS) != digest


def test_an_input_without_contents_is_an_error(repository: Path) -> None:
    with pytest.raises(KeyError):
        KeyMaker(repository).parts(STEP, {})


def test_the_digest_is_of_the_parts_by_name(repository: Path) -> None:
    parts = KeyMaker(repository).parts(STEP, {TEXT: Blob("aa", 1)})
    assert parts.inputs["text/text.txt"] == "aa"
    assert set(parts.inputs) == {"text/text.txt", "settings/settings.yml"}
    assert KeyParts(**parts.to_dict()).digest == parts.digest


def recipe(root: Path, label: str = "join", **words: str) -> str:
    return KeyMaker(root).recipe(demo_graph(**words).step(label))


def test_a_recipe_ignores_the_contents_of_the_inputs(repository: Path) -> None:
    before = recipe(repository, a="one", b="two")
    assert recipe(repository, a="other", b="words") == before


def test_a_recipe_changes_with_the_code(repository: Path) -> None:
    before = recipe(repository)
    edit(repository, "pipeline/demo/join.py", "done", "finished")
    assert recipe(repository) != before


def test_a_recipe_changes_with_arguments_files_and_inputs_by_name(repository: Path) -> None:
    before = recipe(repository)
    assert recipe(repository, label="write-a", a="one") != recipe(repository, label="write-a", a="two")
    assert recipe(repository, a="one", c="two") != before
    edit(repository, SETTINGS.path, "lines: 10", "lines: 11")
    assert recipe(repository) != before


def test_a_recipe_changes_with_libraries(repository: Path) -> None:
    before = recipe(repository, label="write-a")
    edit(repository, "requirements/main.lock", "numpy==2.2.6", "numpy==2.2.7")
    assert recipe(repository, label="write-a") != before


def test_programs_count_among_the_libraries() -> None:
    """Marian is run and never imported; its version decides what a model becomes all the same."""
    keys = KeyMaker(repository_root())
    for script in ("pipeline.train.train", "pipeline.translate.translate", "pipeline.quantize.quantize"):
        assert keys.libraries(script)["pymarian"]
    assert "opustrainer" in keys.libraries("pipeline.train.train")
    assert "eflomal" in keys.libraries("pipeline.alignments.align")
    for script in ("train.train", "train.vocab", "alignments.shortlist", "data.augment", "checks.vocabulary"):
        assert "icu4py" in keys.libraries(f"pipeline.{script}")  # ICU writes capitals
    assert "pymarian" not in keys.libraries("pipeline.translate.split")
    assert "pymarian" not in keys.libraries("pipeline.alignments.align")
