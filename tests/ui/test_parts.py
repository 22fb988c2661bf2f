"""Cutting of texts before browsers' engine: in Node.js, with an engine that writes capitals."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("parts.mjs")
LONGEST, REQUEST = 400, 2000  # characters of a part, and of sentences that are asked for together
LONG = {
    "words": "the big dog sees a cat " * 2000,
    "sentences": "The big dog sees a cat. " * 2000,
    "lines": "The big dog sees a cat.\n" * 2000,
    "one word": "dog" * 10_000,
    "Chinese": "大狗看见小猫" * 2000,
    "Chinese sentences": "大狗看见小猫。" * 2000,
    "Arabic": "الكلب الكبير يرى القطة " * 1000,
    "emoji": "🐱" * 5000,
    "marks": "a" + "\u0301" * 5000,
}
NOTHING = ["", "   ", "\n", "\u200b", "\u200d\u2060\ufeff\u00ad"]


def cut(*texts: str) -> dict[str, Any]:
    if not (node := shutil.which("node")):
        pytest.skip("needs node: make ci-environments")
    done = subprocess.run(
        [node, str(SCRIPT)], input=json.dumps(texts), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_long_texts_are_translated_whole_and_in_parts() -> None:
    numbers = random.Random(1)
    characters = [*"ab ,.、。\n1A", "\u0301", "\u200d", "👩", "大", "\u200b"]
    others = ["".join(numbers.choices(characters, k=numbers.randrange(3000))) for _ in range(200)]
    for text, answer in zip([*LONG.values(), *others], cut(*LONG.values(), *others)["answers"], strict=True):
        nothing = not answer["given"]
        assert answer["translation"] == ("" if nothing else text.upper())
        assert "".join(answer["parts"]) == text
        assert all(len(part) <= REQUEST for part in answer["given"])
        assert all(len(part.strip()) <= LONGEST for part in answer["parts"])
        assert all("大" not in part or len(part.strip()) <= LONGEST / 1.5 for part in answer["parts"])


def test_ordinary_texts_are_given_as_they_are() -> None:
    texts = [
        "A dog sees it. A cat sees me,  too.\n\nIt is 3.5 p.m. at 2 p.m.",
        "你好。世界。",
        "one, two " * 40,
    ]
    answers = cut(*texts)["answers"]
    assert [answer["given"] for answer in answers] == [[text.strip()] for text in texts]
    assert [answer["translation"] for answer in answers] == [text.upper() for text in texts]


def test_long_sentences_are_cut_at_marks_and_white_space() -> None:
    clauses = "the big dog sees a cat, " * 40
    for text, mark in ((clauses, ","), (clauses.replace(",", ""), ""), ("大狗看见小猫，" * 40, "，")):
        (answer,) = cut(text)["answers"]
        assert len(answer["given"]) > 1
        assert all(part.endswith(mark) for part in answer["given"][:-1])
        assert [word for part in answer["given"] for word in part.split()] == text.split() or "大" in text


def test_nothing_is_not_translated() -> None:
    answers = cut(*NOTHING)["answers"]
    assert [(answer["translation"], answer["given"]) for answer in answers] == [("", [])] * len(NOTHING)


def test_a_later_text_takes_the_place_of_a_long_one() -> None:
    answer = cut()
    assert (answer["isSuperseded"], answer["later"]) == (True, "A CAT")
    assert answer["afterwards"] <= 3
