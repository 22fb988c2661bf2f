"""Draws as the command does, from steps that scripts have run in a folder."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.samples.draw import main

Row = Mapping[str, Any]


def draw(
    script: str, made: Path, options: Sequence[str] = (), *others: str, number: int = 3, seed: int = 1
) -> Any:
    """What is drawn of a step whose script was run with some options, and left a folder."""
    output = made.with_name(f"{made.name}.sample.{len([*made.parent.iterdir()])}")
    asked = [f"--script={script}", f"--made={made}", f"--number={number}", f"--seed={seed}", *others]
    main([*asked, f"--output={output}", "--", *options])
    return json.loads((output / "sample.json").read_text(encoding="utf-8"))


def ran(script: Callable[[Sequence[str]], None], options: Sequence[str], output: Path) -> list[str]:
    """Run a script; the options with which that was done."""
    whole = [*options, f"--output={output}"]
    script(whole)
    return whole


def texts(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The text of rows."""
    return [tuple(row["text"]) for row in rows]
