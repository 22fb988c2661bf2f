"""From what cleaning found of datasets, as they came in, to verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from translations_assets.checks import cleaned
from translations_assets.checks.verdict import NothingToJudge
from translations_assets.config import gates
from translations_assets.results.statistics import Statistics


def agreement(**changed: Any) -> dict[str, Any]:
    """Numbers of 25,000 good pairs."""
    return {
        "windows": 20,
        "fit": 0.9,
        "apart": {},
        "places": [],
        "sentences": 1000,
        "copied": 10,
        "partly": 100,
        "samples": ["press the button ||| drücken Sie the button"],
        "lengths": {"pairs": 800, "quartiles": [1.0, 1.1, 1.25]},
        **changed,
    }


def stats(kept: int = 24_000, **changed: Any) -> Statistics:
    """The stats of the cleaning of 25,000 pairs."""
    dropped = {"length_ratio": 25_000 - kept} if kept < 25_000 else {}
    return Statistics.from_dict({"lines": {"in": 25_000, "kept": kept, "dropped": dropped}, **changed})


def side(lang: str, **changed: Any) -> dict[str, Any]:
    """Findings of a side of which nothing is dropped as another language."""
    found = {"script": "Latin", "lines": 25_000, "other": 0, "guesses": {}, "samples": []}
    return {"lang": lang, **found, **changed}


def of(**datasets: Statistics) -> Any:
    """A gate's input from the stage that cleans."""
    return {"clean_corpus": {f"clean-corpus-{name}": found for name, found in datasets.items()}}


@pytest.mark.parametrize(
    ("windows", "apart", "passes"),
    [
        (20, {}, True),
        (20, {"-1": 2}, True),
        (20, {"-1": 3}, False),
        (20, {"-1": 2, "None": 1}, True),
        (20, {"None": 4}, False),
        (1, {"None": 1}, True),
        (1, {"1": 1}, False),
        (2, {"-1": 1}, False),
    ],
)
def test_places_where_sides_do_not_go_together(windows: int, apart: dict[str, int], passes: bool) -> None:
    """One place where nothing fits is chance."""
    found = stats(agreement=agreement(windows=windows, apart=apart))
    verdict = cleaned.agreement(of(kde=found), gates.Agreement())
    assert verdict.passed is passes
    assert verdict.numbers == {"clean-corpus-kde": sum(apart.values()) / windows}


def test_a_shift_is_told() -> None:
    shifted = stats(agreement=agreement(windows=4, apart={"-1": 2}, places=[2501, 3751]))
    verdict = cleaned.agreement(of(good=stats(agreement=agreement()), kde=shifted), gates.Agreement())
    assert verdict.description == (
        "in clean-corpus-kde source and target do not go together at 2 of 4 places, the first of them at "
        "line 2,501; at 2 each target fits the source 1 line below it"
    )
    above = stats(agreement=agreement(windows=4, apart={"2": 4}, places=[1]))
    told = cleaned.agreement(of(kde=above), gates.Agreement()).description
    assert told.endswith("at 4 each target fits the source 2 lines above it")


@pytest.mark.parametrize(
    ("changed", "number", "passes"),
    [
        ({}, None, True),
        ({"copied": 251}, "copied", False),
        ({"partly": 401}, "partly", False),
        ({"sentences": 49, "copied": 49, "partly": 49}, None, True),
        ({"lengths": {"pairs": 50, "quartiles": [0.7, 1.0, 1.13]}}, "spread of lengths", False),
        ({"lengths": {"pairs": 49, "quartiles": [0.7, 1.0, 1.13]}}, None, True),
        ({"lengths": {"pairs": 50, "quartiles": [0.6, 0.66, 0.7]}}, "lengths", False),
        ({"lengths": {"pairs": 50, "quartiles": [1.4, 1.51, 1.6]}}, "lengths", False),
        ({"lengths": {"pairs": 50, "quartiles": [0.65, 0.67, 0.7]}}, None, True),
    ],
)
def test_sentences_that_are_translated_in_part(changed: Any, number: str | None, passes: bool) -> None:
    verdict = cleaned.half_translated(of(kde=stats(agreement=agreement(**changed))), gates.HalfTranslated())
    assert verdict.passed is passes
    assert number is None or f"{number}, clean-corpus-kde" in verdict.numbers
    if number == "partly":
        assert verdict.samples == ["press the button ||| drücken Sie the button"]


def test_sides_in_other_languages() -> None:
    """Of a dataset whose files are exchanged both sides are told; half of a side may be untranslated."""
    exchanged = stats(
        identified=[
            side("en", shares={"lit": 0.9, "lav": 0.1}),
            side("lt", shares={"eng": 0.91}),
        ]
    )
    half = stats(identified=[side("en", shares={}), side("lt", shares={"eng": 0.9})])
    short = stats(identified=[side("en")])
    verdict = cleaned.sides(of(a=exchanged, b=half, c=short), gates.Sides())
    assert not verdict.passed
    assert verdict.description == (
        "100 % of the longer lines of clean-corpus-a are not in en, most of them in lit, lav; "
        "91 % of the longer lines of clean-corpus-a are not in lt, most of them in eng"
    )
    assert cleaned.sides(of(b=half, c=short), gates.Sides()).passed
    with pytest.raises(NothingToJudge, match="the languages of no dataset are known"):
        cleaned.sides(of(c=short), gates.Sides())


@pytest.mark.parametrize(("kept", "passes"), [(15_000, True), (14_999, False)])
def test_much_that_is_dropped(kept: int, passes: bool) -> None:
    verdict = cleaned.dropped(of(kde=stats(kept)), gates.Dropped())
    assert verdict.passed is passes
    assert verdict.numbers == {"clean-corpus-kde": pytest.approx(1 - kept / 25_000)}
    assert "are dropped, most of them by length_ratio" in verdict.description


def test_more_is_dropped_than_of_others_of_the_provider() -> None:
    """Of three others 4 to 8 % are; those of another provider, or with a name of their own, do not count."""
    usual = {f"opus_{number}": stats(kept) for number, kept in enumerate((24_000, 23_500, 23_000))}
    others = {f"hf_{number}": stats(16_000) for number in range(3)}
    verdict = cleaned.dropped(of(**usual, **others, opus_bad=stats(17_000)), gates.Dropped())
    assert not verdict.passed
    assert verdict.description == (
        "32 % of the lines of clean-corpus-opus_bad are dropped, most of them by length_ratio; of others of "
        "its provider usually 6 %"
    )
    assert cleaned.dropped(of(**usual, kde=stats(17_000)), gates.Dropped()).passed
    for alias in ("{}", "our_{}", "opus-{}"):  # says nothing of the provider
        named = {alias.format(name): stats(24_000) for name in ("web", "bulletins", "books")}
        assert cleaned.dropped(of(**named, **{alias.format("talks"): stats(17_000)}), gates.Dropped()).passed
    few = Statistics.from_dict({"lines": {"in": 999, "kept": 1, "dropped": {"a": 998}}})
    with pytest.raises(NothingToJudge, match="no dataset has 1,000 lines"):
        cleaned.dropped(of(kde=few), gates.Dropped())
