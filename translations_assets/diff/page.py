"""Differences as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from translations_assets.diff import words
from translations_assets.diff.facts import Diff
from translations_assets.report.templates import render

TEMPLATE = Path(__file__).with_name("page.html.j2")


def as_html(diff: Diff) -> str:
    """All that differs, as a page."""
    shown = {
        "config": diff.config,
        "steps": any(vars(diff.steps)[name] for name in vars(diff.steps) if name != "compared"),
        "lines": diff.lines.datasets or diff.lines.steps,
        "vocabularies": diff.vocabularies,
        "scores": diff.scores,
        "sentences": diff.sentences.sentences,
        "models": diff.models,
        "costs": diff.costs,
    }
    return render(
        TEMPLATE,
        diff=diff,
        words=words,
        titles={name: title for name, title in words.TITLES.items() if shown[name]},
        summary=list(words.summary(diff)),
        tests=groupby(diff.scores, lambda change: (change.model, change.dataset)),
        marked=marked,
    )


def marked(text: str, other: str) -> Iterator[tuple[str, bool]]:
    """A translation in pieces, and whether each is other than in the other translation."""
    ours, theirs = text.split(), other.split()
    for kind, start, end, _, _ in SequenceMatcher(a=ours, b=theirs, autojunk=False).get_opcodes():
        if start != end:
            yield " ".join(ours[start:end]), kind != "equal"
