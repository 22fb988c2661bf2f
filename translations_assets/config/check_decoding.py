"""Which of Marian's decoding options `marian-args` may set, and to what.

Marian has others that end well and leave something else than translations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from translations_assets.config.known import of_scripts

# Option → words that it may be, and the least and the most of numbers; of a list, each item.
ALLOWED: Mapping[str, tuple[Sequence[str], float, float]] = of_scripts("allowed")
# Why the likeliest of the others are refused.
REFUSED: Mapping[str, str] = of_scripts("refused")


def refusal(name: str) -> str:
    """Why an option that Marian knows is not among those that may be set."""
    return f"cannot be set: it {REFUSED.get(name, 'is none of ' + ', '.join(ALLOWED))}"


def range_of(name: str, value: Any) -> str:
    """What the value of an option should be, when it is something else."""
    words, least, most = ALLOWED[name]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    parts = value if isinstance(value, list) else text.strip("[] ").replace(",", " ").split() or [""]
    if all(_fits(str(part), words, least, most) for part in parts):
        return ""
    return " or ".join([*words, *([f"{least:g} to {most:g}"] if least <= most else [])])


def _fits(part: str, words: Sequence[str], least: float, most: float) -> bool:
    try:
        return part in words or least <= float(part) <= most
    except ValueError:
        return False
