"""Prompts for several sentences, and the mapping back of answers."""

import json
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.translate.prompts import Prompt, read_answer, read_prompt

OWN = Path("pipeline/translate/configs/prompts/endpoint.yml")


@pytest.mark.parametrize(
    "text",
    [
        '{"1": "a", "2": "b"}',
        ' {"2": "b", "1": "a"} ',
        'Sure!\n```json\n{"1": "a", "2": "b"}\n```\nAnything else? {}',
        '<think>Keys {"1"} and {"2"}\n</think>{"1": "a", "2": "b"}',
        'Keys {"1": "A", "2": "B"}, or so.\n</think>\n\n{"1": "a", "2": "b"}',
        'Keys {"1": "A", "2": "B"}\n</think>Here it is:\n```json\n{"1": "a", "2": "b"}\n```',
    ],
)
def test_an_answer_is_found_whatever_is_around_it(text: str) -> None:
    assert read_answer(text, 2) == ["a", "b"]


@pytest.mark.parametrize("text", ["a </think> {b}", "</think>{", '</think> {"1": "a"}', "<think></think>{}"])
def test_the_end_of_thoughts_may_stand_in_a_sentence(text: str) -> None:
    assert read_answer(f"```json\n{json.dumps({'1': text})}\n```", 1) == [text]
    assert read_answer(f"Keys\n</think>\n{json.dumps({'1': text})}", 1) == [text]


@pytest.mark.parametrize(
    ("text", "found"), [('{"1": "a"}', ["a", None]), ('{"1": 7, "2": "b"}', [None, "b"])]
)
def test_what_is_left_out_or_no_text_is_none(text: str, found: list[str | None]) -> None:
    assert read_answer(text, 2) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"0": "a", "1": "b"}', "keys that were not asked: 0"),  # numbered from 0: each has its neighbour's
        ('{"1": "a", "2": "b", "3": "c"}', "not asked: 3"),
        ('{"1": "a", "1": "b", "2": "c"}', "a key stands twice"),
        ("a, b", "no JSON object"),
        ('{"1": "a", "2": "b', "Unterminated string"),
        ('["a", "b"]', "no JSON object"),
    ],
)
def test_an_answer_that_tells_nobody_whose_it_is(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_answer(text, 2)


def test_sentences_come_back_as_they_went() -> None:
    lines = ['He said "{lines}" {source}.', "C:\\temp\t1", "雪 ❄", '{"1": "x"}']
    prompt = read_prompt(OWN, None, "English", "Russian")
    *_, last = prompt.messages(lines)
    assert [*json.loads(last["content"]).values()] == lines
    assert read_answer(last["content"], len(lines)) == lines


def test_a_prompt_may_have_no_system_message() -> None:
    assert [message["role"] for message in Prompt("", "{lines}").messages(["a"])] == ["user"]


@pytest.mark.parametrize(
    "text", ["", "- a", "system: x", "user: no place", "user: '{lines} {lines}'", "user: [", "7"]
)
def test_what_is_no_prompt_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "prompt.yml").write_text(text)
    with pytest.raises(InputError, match=r"prompt\.yml"):
        read_prompt(tmp_path / "prompt.yml", None, "English", "Russian")


@pytest.mark.parametrize("line", ["one", "one\t", "\tone", "one\ttwo\tthree"])
def test_a_bad_example_is_told_by_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "examples.tsv").write_text(f"Good evening.\tBonsoir.\n{line}\n")
    with pytest.raises(InputError, match=r"examples\.tsv, line 2: write a sentence"):
        read_prompt(OWN, tmp_path / "examples.tsv", "English", "French")
