"""`--json`: every command that answers has it, prints JSON alone, in the form that is described."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Command, make
from tests.cli.shapes import JSON, check_shape
from tests.cli.test_command_line import ENTRIES
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli import exits

NO_ANSWERS = {
    "logs",
    "shell",
    "translate",
    "serve",
    "config schema",
}  # text, what others print; JSON as it is
VOCAB = "train-vocab-en-eo"


def test_every_command_that_answers_has_json() -> None:
    names = {" ".join(words): entry for words, entry in ENTRIES.items()}
    assert set(names) == JSON.keys() | NO_ANSWERS
    for name in JSON:
        assert any(param.name == "json" for param in names[name].load().params), name


@pytest.fixture
def asked(command: Command) -> Any:
    def ask(*words: str, code: int = 0) -> Any:
        said = command(*words, "--json")
        assert said.code == code, said.err
        value = json.loads(said.out)
        check_shape(" ".join(words[:2]) if words[0] in ("cache", "config", "registry") else words[0], value)
        return value

    return ask


def test_what_is_printed_is_as_described(asked: Any, command: Command, place: Place) -> None:
    make("evaluate_backwards", checks=True)
    run = asked("status")["runs"][0]["run"]
    for words in (
        ("graph", PARTITION),
        ("plan", PARTITION),
        ("plan",),
        ("explain", PARTITION, VOCAB),
        ("explain", PARTITION, "train-teacher-en-eo-1"),
        ("status", run),
        ("status", PARTITION),
        ("results", PARTITION),
        ("artifacts", PARTITION),
        ("report", PARTITION),
        ("sample", PARTITION, "merge_corpus"),
        ("diff", run, PARTITION),
        ("config", "check", PARTITION),
        ("config", "migrate", f"configs/{PARTITION}.yml"),
        ("cache", "gc"),
        ("cache", "du"),
        ("cache", "verify"),
        ("cache", "pin", run),
        ("cache", "pins"),
        ("cache", "unpin", run),
        ("registry", "build"),
    ):
        assert asked(*words)
    assert asked("checks", PARTITION, code=1)["checks"]
    assert asked("cache", "forget", PARTITION, "--yes")["refs"] > 0
    path = place.root / "configs" / "en-eo.broken.yml"
    path.write_text("experiment: {nme: x}\n")
    assert asked("config", "check", "en-eo.broken", code=1)[0]["problems"]
    errors = command("plan", "en-eo.broken", "--json")
    assert (errors.code, errors.out) == (1, "")
    assert errors.err.startswith("error: ")


@pytest.mark.parametrize("words", ["train a", "rerun a", "cache accept a b --reason=c", "cache forget a"])
def test_json_asks_nothing(command: Command, words: str) -> None:
    said = command(*words.split(), "--json")
    assert (said.code, said.out) == (exits.USAGE, "")
    assert "--json asks nothing: give --yes with it." in said.err
