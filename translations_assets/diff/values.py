"""Differences as JSON values, in a form that stays the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from translations_assets.diff.facts import Diff
from translations_assets.diff.scores import ScoreChange
from translations_assets.diff.sides import Side


def as_json(diff: Diff) -> dict[str, Any]:
    """All of it; an empty list where nothing differs, and null for what one side lacks."""
    return {
        "old": _side(diff.old),
        "new": _side(diff.new),
        "notes": diff.notes,
        "config": [{"key": one.key, "old": one.old, "new": one.new} for one in diff.config],
        "steps": asdict(diff.steps),
        "lines": asdict(diff.lines),
        "vocabularies": [asdict(one) for one in diff.vocabularies],
        "scores": [_score(one) for one in diff.scores],
        "sentences": asdict(diff.sentences),
        "models": [asdict(one) for one in diff.models],
        "costs": [
            {"stage": one.stage or None, "old": one.old.values, "new": one.new.values} for one in diff.costs
        ],
        "currency": diff.currency or None,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "partition": side.partition,
        "space": side.space,
        "run": side.run,
        "time": side.time,
        "overrides": side.overrides or None,
        "results": len(side.results),
        "gone": list(side.gone),
        "out_of_date": list(side.stale),
    }


def _score(change: ScoreChange) -> dict[str, Any]:
    scores = {
        name: None if found is None else {"score": found.score, "ci": found.ci}
        for name, found in (("old", change.old), ("new", change.new))
    }
    return {
        "model": change.model,
        "dataset": change.dataset,
        "metric": change.metric,
        **scores,
        "difference": change.difference,
        "verdict": change.verdict,
        "test": change.test,
        "p_value": change.p_value,
        "why": change.why or None,
    }
