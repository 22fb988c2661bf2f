"""Tests of pipeline.train.typos: typing errors in tokenised text, alone and as OpusTrainer feeds them."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.alignments.icu_tokens import detokenize
from pipeline.train.typos import add_space, skip_character, skip_space
from tests.pipeline.train.test_feed import fed, feed

TOKENS = ["I", "▁", "see", "▁", "cats", "."]
LINKS = "0-0 2-1 4-2 4-3 5-4"

lines = st.lists(st.text("abć", min_size=1, max_size=4) | st.sampled_from(["▁", "."]), min_size=1, max_size=8)


def linked(tokens: list[str], links: str) -> dict[int, str]:
    """For each target token, the text of the source tokens that it is linked with."""
    texts: dict[int, str] = {}
    for link in links.split():
        source, target = map(int, link.split("-"))
        texts[target] = texts.get(target, "") + tokens[source]
    return texts


@settings(max_examples=50, deadline=None)
@given(lines, st.integers(0, 1000))
def test_a_space_more_leaves_letters_and_links_as_they_were(tokens: list[str], seed: int) -> None:
    random.seed(seed)
    words = [i for i, token in enumerate(tokens) if token != "▁"]
    links = " ".join(f"{i}-{j}" for j, i in enumerate(words))
    text, moved = add_space(" ".join(tokens), links)
    before, after = detokenize(tokens), detokenize(text.split())
    assert after.replace(" ", "") == before.replace(" ", "")
    assert linked(text.split(), moved) == linked(tokens, links)
    room = any(a != " " and b != " " for a, b in zip(before, before[1:], strict=False))
    assert after.count(" ") == before.count(" ") + room
    assert "  " in before or "  " not in after


@settings(max_examples=50, deadline=None)
@given(lines, st.integers(0, 1000))
def test_a_space_less_leaves_letters_and_links_as_they_were(tokens: list[str], seed: int) -> None:
    random.seed(seed)
    words = [i for i, token in enumerate(tokens) if token != "▁"]
    links = " ".join(f"{i}-{j}" for j, i in enumerate(words))
    text, moved = skip_space(" ".join(tokens), links)
    before, after = detokenize(tokens), detokenize(text.split())
    assert after.replace(" ", "") == before.replace(" ", "")
    assert linked(text.split(), moved) == linked(tokens, links)
    assert after.count(" ") == max(0, before.count(" ") - 1)


def test_every_place_is_drawn() -> None:
    random.seed(1)
    text = " ".join(TOKENS)
    characters = {skip_character(text, LINKS)[0].replace(" ", "") for _ in range(300)}
    assert characters == {
        f"I▁{seen}." for seen in ("ee▁cats", "se▁cats", "see▁ats", "see▁cts", "see▁cas", "see▁cat")
    }
    added = {detokenize(add_space(text, LINKS)[0].split()) for _ in range(300)}
    assert added == {
        "I s ee cats.",
        "I se e cats.",
        "I see c ats.",
        "I see ca ts.",
        "I see cat s.",
        "I see cats .",
    }
    assert {detokenize(skip_space(text, LINKS)[0].split()) for _ in range(50)} == {"Isee cats.", "I seecats."}


@settings(max_examples=50, deadline=None)
@given(lines, st.integers(0, 1000))
def test_a_character_less_leaves_all_tokens(tokens: list[str], seed: int) -> None:
    random.seed(seed)
    text, moved = skip_character(" ".join(tokens), LINKS)
    shorter = [len(token) - len(after) for token, after in zip(tokens, text.split(), strict=True)]
    assert sorted(shorter)[-1] == any(len(token) > 1 for token in tokens) == sum(shorter)
    assert moved == LINKS


@pytest.mark.parametrize(("kind", "change"), [("random_space", 1), ("skipped_space", -1)])
@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_models_read_typing_errors_of_spaces(tmp_path: Path, name: str, kind: str, change: int) -> None:
    read = []
    for modifiers in ([], [{"Typos": 1.0, kind: 1.0}]):
        given = feed(tmp_path, name)
        tags = {**given.config["modifiers"][-1], "Tags": 0.0}  # adds no noise
        given = replace(given, config={**given.config, "modifiers": [*modifiers, tags]})
        read.append([line.split("\t")[0] for line in fed(given, 4)])
    spaces = {line.replace(" ", ""): line.count(" ") for line in read[0]}
    assert {line.count(" ") - spaces[line.replace(" ", "")] for line in read[1]} == {change}
