"""YAML to values with lines."""

import pytest

from translations_assets.config.errors import ConfigError
from translations_assets.config.yaml_reader import read_yaml


def error_of(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "my.yml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("2024-01-31", "2024-01-31"),
        ("50u", "50u"),
        ("0123", "0123"),
        ("'7'", "7"),
        ("true", True),
        ("False", False),
        ("10_000_000", 10_000_000),
        ("-3", -3),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-9", 1e-9),
        ("", None),
        ("~", None),
        ("!!str 5", "5"),
        ("[a, 1]", ["a", 1]),
    ],
)
def test_scalars_are_those_of_yaml_1_2(written: str, value: object) -> None:
    read = read_yaml(f"key: {written}", "my.yml").value["key"]
    assert read == value
    assert type(read) is type(value)


def test_lines_of_keys_and_items() -> None:
    document = read_yaml("# comment\na:\n  b:\n    - x\n    # more\n    - y\n", "my.yml")
    assert document.lines == {(): 2, ("a",): 2, ("a", "b"): 3, ("a", "b", 0): 4, ("a", "b", 1): 6}
    assert document.line(("a", "b", 1)) == 6
    assert document.line(("a", "missing", "deeper")) == 2


def test_a_key_that_stands_twice_names_both_lines() -> None:
    document = read_yaml("a: 1\nb: 2\na: 3\n", "my.yml")
    assert [str(problem) for problem in document.problems] == [
        "my.yml:3: a: stands here a second time; first in line 1"
    ]


def test_a_key_that_stands_twice_counts_where_it_holds_something() -> None:
    """Keys that hold nothing are nothing; deeper than that it is not looked."""
    document = read_yaml("a:\n  b:\na:\n  b: 1\n", "my.yml")
    assert (document.problems, document.value) == ([], {"a": {"b": 1}})
    document = read_yaml("a:\n  b:\n    c:\na:\n  b: 1\n", "my.yml")
    assert [problem.line for problem in document.problems] == [4]


def test_an_alias_repeats_values() -> None:
    assert read_yaml("a: &list [x, y]\nb: *list\n", "my.yml").value == {"a": ["x", "y"], "b": ["x", "y"]}


def test_what_contains_itself_is_a_problem() -> None:
    document = read_yaml("a: &a [*a]\n", "my.yml")
    assert "contains itself" in str(document.problems[0])


def test_aliases_cannot_stand_for_billions_of_values() -> None:
    doubled = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 15))
    assert "more than 200000 values" in error_of("a0: &a0 [x]\n" + doubled)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "my.yml: is empty"),
        ("# only a comment\n", "my.yml: is empty"),
        ("- a\n- b\n", "my.yml:1: is not a mapping"),
        ("text", "my.yml:1: is not a mapping"),
        ("a:\n  b: 1\n\tc: 2\n", "my.yml:3: not valid YAML: there is a tab"),
        (
            "a: [1,\nb: 2\n",
            "my.yml:2: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence",
        ),
        ("a: 1\n---\nb: 2\n", "my.yml:2: not valid YAML"),
        ("a: *unknown\n", "my.yml:1: not valid YAML"),
        ("a: 1\nb: \x00\n", "my.yml:2: holds the character"),
    ],
)
def test_what_is_no_mapping_in_yaml(text: str, message: str) -> None:
    assert error_of(text).startswith(message)


def test_keys_that_are_lists_and_tags_that_are_unknown_are_problems() -> None:
    document = read_yaml("[a, b]: 1\nc: !secret x\n", "my.yml")
    assert [str(problem) for problem in document.problems] == [
        "my.yml:1: a key must be text",
        "my.yml:2: c: the tag !!secret cannot be used for 'x'",
    ]


def test_merge_keys_add_what_the_mapping_does_not_have() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b\n  <<: *a\n  y: 3\nc:\n  z: 5\n  <<: [*b, {x: 7, w: 8}]\n'<<': 9"
    document = read_yaml(text, "my.yml")
    assert document.problems == []
    assert document.value["b"] == {"y": 3, "x": 1}
    assert document.value["c"] == {"z": 5, "y": 3, "x": 1, "w": 8}
    assert document.value["<<"] == 9
    assert document.line(("c", "x")) == 1  # where it is written


@pytest.mark.parametrize("merged", ["5", "[{x: 1}, 5]", "text"])
def test_only_mappings_can_be_merged(merged: str) -> None:
    document = read_yaml(f"a:\n  y: 1\n  <<: {merged}", "my.yml")
    assert [str(problem) for problem in document.problems] == [
        "my.yml:3: a.<<: must be a mapping, or a list of mappings"
    ]


def test_a_mapping_that_merges_itself_ends() -> None:
    assert read_yaml("a: &a\n  x: 1\n  <<: *a", "my.yml").value == {"a": {"x": 1}}


def test_the_character_nul_is_refused() -> None:
    assert "2: holds the character NUL" in error_of('a: 1\nb: ["x", "opus_A/v\\0"]\n')
