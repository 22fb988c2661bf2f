"""A step's inputs: where they are placed, and what the command line names."""

import pytest

from translations_assets.graph.step import Folder, RepoFile, Step, placed, roots
from translations_assets.running.job import command


def make_step(label: str, outputs: tuple[str, ...] = ("text.zst", "stats.json"), **fields: object) -> Step:
    values: dict[str, object] = {"args": {}, "inputs": {}, **fields}
    return Step("pipeline.a.b", label, "stage", outputs=outputs, **values)  # type: ignore[arg-type]


def test_an_output_that_is_not_declared_is_an_error() -> None:
    with pytest.raises(KeyError, match="it has text.zst, stats.json"):
        make_step("one")["other.zst"]


def test_a_single_file_stands_under_its_name() -> None:
    output = make_step("one")["text.zst"]
    assert [path for path, _ in placed(output)] == ["text.zst"]
    assert roots(output) == ["text.zst"]


def test_files_with_one_name_do_not_clash() -> None:
    outputs = [make_step("one")["text.zst"], make_step("two")["text.zst"]]
    assert [path for path, _ in placed(outputs)] == ["0/text.zst", "1/text.zst"]
    assert roots(outputs) == ["0/text.zst", "1/text.zst"]


def test_a_list_of_one_file_is_placed_as_a_list() -> None:
    assert roots([make_step("one")["text.zst"]]) == ["0/text.zst"]


def test_folders_are_named_as_a_whole() -> None:
    model = make_step("train", ("model.npz", "source.spm")).folder()
    assert [path for path, _ in placed([model, model])] == [
        "0/model.npz",
        "0/source.spm",
        "1/model.npz",
        "1/source.spm",
    ]
    assert roots(model) == ["0"]
    assert roots([model, model]) == ["0", "1"]


def test_upstream_steps_come_once_and_in_order() -> None:
    one, two = make_step("one"), make_step("two")
    inputs = {
        "b": two["text.zst"],
        "a": [one["text.zst"], two["stats.json"]],
        "c": RepoFile("pipeline/x.yml"),
    }
    assert list(make_step("three", inputs=inputs).upstream()) == [two, one]


def test_the_command_line() -> None:
    one = make_step("one")
    step = make_step(
        "two",
        args={
            "lang": "en",
            "max_sentences": 5,
            "split": True,
            "nbest": False,
            "limit": None,
            "names": ["x", "y"],
        },
        inputs={
            "text": one["text.zst"],
            "models": [Folder({"m": one["stats.json"]})],
            "yml": RepoFile("p/a.yml"),
        },
    )
    assert command(step) == (
        "--lang=en",
        "--max-sentences=5",
        "--split",
        "--names",
        "x",
        "y",
        "--text",
        "in/text/text.zst",
        "--models",
        "in/models/0",
        "--yml",
        "in/yml/a.yml",
        "--output",
        "out",
    )


def test_a_value_that_begins_with_a_hyphen_is_no_option() -> None:
    assert "--dataset=-x" in command(make_step("one", args={"dataset": "-x"}))
