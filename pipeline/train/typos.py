"""Typing errors as OpusTrainer means them, in text whose spaces are tokens of their own.

Aligned text is tokenised, with `▁` for a space and single spaces between tokens. OpusTrainer 0.3 puts a
typing error's space between two tokens, or takes one from there: that splits or joins tokens, and nothing is
left of it once the text is put together again. What is meant is a `▁` more or less. And where its missing
character is a line's last token, links point behind the line, which it then leaves out.
"""

import random
import re

from opustrainer.modifiers import typos

from pipeline.train.piece_links import SPACE

_OF_SEVERAL = re.compile(r"\S(?=\S)|(?<=\S)\S")


def install() -> None:
    """Have OpusTrainer's modifier `Typos` use these functions in this process, for lines with alignments."""
    typos.add_random_space_with_alignment = add_space
    typos.skip_random_space_with_alignment = skip_space
    typos.missing_char_with_alignment = skip_character


def add_space(text: str, links: str) -> tuple[str, str]:
    """Put a space at a random place where there is none: tokens and links `i-j` before → after.

    Both halves of a token that it splits have the token's links.
    """
    tokens = text.split()
    places = [
        (position, at)
        for position, token in enumerate(tokens)
        for at in range(len(token))
        if token != SPACE and (at or (position and tokens[position - 1] != SPACE))
    ]
    if not places:
        return text, links
    position, at = random.choice(places)
    halves = [half for half in (tokens[position][:at], tokens[position][at:]) if half]
    moved = [(i + len(halves) * (i >= position), j) for i, j in _parsed(links)]
    first_half = [(i, j) for i, j in _parsed(links) if i == position and at]
    tokens[position : position + 1] = [*halves[:-1], SPACE, halves[-1]]
    return " ".join(tokens), _written(sorted(first_half + moved))


def skip_space(text: str, links: str) -> tuple[str, str]:
    """Leave out a random space: tokens and links `i-j` before → after."""
    tokens = text.split()
    spaces = [position for position, token in enumerate(tokens) if token == SPACE]
    if not spaces:
        return text, links
    skipped = random.choice(spaces)
    kept = [(i - (i > skipped), j) for i, j in _parsed(links) if i != skipped]
    return " ".join(tokens[:skipped] + tokens[skipped + 1 :]), _written(kept)


def skip_character(text: str, links: str) -> tuple[str, str]:
    """Leave out a random character of a token that has others; no token and no link goes with it."""
    places = [match.start() for match in _OF_SEVERAL.finditer(text)]
    if not places:
        return text, links
    skipped = random.choice(places)
    return text[:skipped] + text[skipped + 1 :], links


def _parsed(links: str) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in (link.split("-") for link in links.split())]


def _written(links: list[tuple[int, int]]) -> str:
    return " ".join(f"{i}-{j}" for i, j in links)
