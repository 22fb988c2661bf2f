"""Numbers as the scripts of pipeline.checks, trainings and evaluations leave them; all of them good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Numbers = dict[str, Any]


def held_out(**changed: Any) -> Numbers:
    """Numbers of 200 dev and test lines."""
    found = {"exact": 0, "same_letters": 0, "similar": 0, "samples": {}}
    return {"held_out_lines": 200, "held_out_lines_found": 0, **found, **changed}


def language(**changed: Any) -> Numbers:
    """Languages of 500 lines."""
    sample = {"identified_as": "en", "asked": 500, "other": 0, "share": 0.0}
    return {**sample, "guesses": {}, "samples": [], **changed}


def side(lang: str, **changed: Any) -> Numbers:
    """One side of a text."""
    return {"lang": lang, "empty": 0, "language": language(), "held_out": held_out(), **changed}


def text(*sides: Numbers, **changed: Any) -> Numbers:
    """A text of 1,000 lines."""
    return {
        "lines": 1000,
        "sides": list(sides) or [side("en"), side("eo")],
        "duplicates": {"counted": 1000, "repeated": 0, "share": 0.0, "samples": []},
        "copied": {"lines": 0, "share": 0.0, "samples": []},
        "length_ratio": {"overall": 1.0, "median": 1.0, "outliers": 0, "share": 0.0, "samples": []},
        "distinct": [1000, 990],
        "loops": [loops(), loops()],
        **changed,
    }


def loops(share: float = 0.0) -> Numbers:
    """Lines of a sample that repeat themselves."""
    return {
        "asked": 1000,
        "lines": round(1000 * share),
        "share": share,
        "samples": ["and and"] if share else [],
    }


def teacher(chrf: float = 60.0, chance: float = 20.0, **changed: Any) -> Numbers:
    """A teacher's translations of 500 lines of the dev set."""
    scores = {"bleu": {"score": chrf / 2}, "chrf": {"score": chrf}, "chance": {"score": chance}}
    samples = [["A dog.", "Hundo.", "Hundo!"]]
    return {**text(lines=500), **scores, "expected_ratio": 1.0, "samples": samples, **changed}


def vocabulary(**held_out: Any) -> Numbers:
    """Vocabularies that cover all, but what `held_out` says of the dev and test sets in Esperanto."""
    all_ = {"coverage": 1.0, "unknown_rate": 0.0, "samples": {}, "letters_in_bytes": {}}
    return {
        "sides": [
            {"lang": "en", "texts": {"corpus": all_, "held_out": all_}},
            {"lang": "eo", "texts": {"corpus": all_, "held_out": {**all_, **held_out}}},
        ]
    }


def alignments(**changed: Any) -> Numbers:
    """Alignments of 1,000 pairs."""
    counts = {"lines": 1000, "no_links": 10, "no_links_share": 0.01, "links": 9000, "links_per_word": 0.9}
    return {**counts, "out_of_range": 0, "malformed": 0, "samples": {}, **changed}


def exported(**changed: Any) -> Numbers:
    """Exported files that translate two sentences."""
    samples = [["A dog.", "Hundo."], ["A cat.", "Kato."]]
    counts = {"loads": True, "sentences": 2, "empty": 0, "copied": 0, "distinct": 2}
    return {**counts, "samples": samples, **changed}


def markup(kept: int = 276, right: int = 410, **changed: Any) -> Numbers:
    """HTML of two kinds, 280 documents with 440 tags that count."""

    def score(documents: int, kept: int, countable: int, right: int) -> Numbers:
        shares = {"kept_share": kept / documents, "right_share": right / countable if countable else 0.0}
        counts = {"documents": documents, "well_formed": documents, "kept": kept, "tags": countable}
        return {**counts, "countable": countable, "right": right, **shares}

    kinds = {"word": score(140, kept - 140, 220, right - 220), "list": score(140, 140, 220, 220)}
    samples = [["word", "A <b>dog</b>.", "<b></b>Hundo.", "<b> is round nothing, not Hundo"]]
    every = score(280, kept, 440, right)
    return {"engine": "Marian, 8 bits", "kinds": kinds, "all": every, "samples": samples, **changed}


def training(*chrf: float, entropy: Sequence[float] = (), **changed: Any) -> Numbers:
    """metrics.json of a training that was validated every 100 updates, and has seen its 1,000 pairs twice."""
    scores = zip(chrf, entropy or [2.0] * len(chrf), strict=True)
    validations = [
        {"kind": "valid", "update": 100 * number, "chrf": score, "bleu": score / 2, "ce-mean-words": loss}
        for number, (score, loss) in enumerate(scores, start=1)
    ]
    seen = {"kind": "train", "update": 100, "epoch": 1, "sentences": 2000 // max(1, len(chrf)), "cost": 3.0}
    best = {"chrf": {"score": max(chrf), "update": 100 * (chrf.index(max(chrf)) + 1)}} if chrf else {}
    pairs = {"original": {"kept": 1000}, "dev": {"kept": 100}}
    curve = [seen, *validations]
    return {"updates": 100 * len(chrf), "best": best, "pairs": pairs, "curve": curve, **changed}


def evaluation(dataset: str, chrf: float) -> Numbers:
    """metrics.json of an evaluation."""
    return {"dataset": dataset, "chrf": {"score": chrf}, "bleu": {"score": chrf / 2}}


def differences(dataset: str, **others: tuple[float, float]) -> dict[str, Any]:
    """A student of chrF 50 compared with others: their chrF, and how likely chance makes the difference."""
    return {
        "dataset": dataset,
        "lines": 2,
        "model": "student",
        "signatures": {"chrf": "made up"},
        "others": {
            name: {"chrf": {"score": 50.0, "other": chrf, "p_value": p_value}}
            for name, (chrf, p_value) in others.items()
        },
    }


def offensive(added: int = 1, in_source: int = 3) -> Numbers:
    """Offensive words in the translations of 2,000 lines."""
    samples = [["swine", "He is late.", "The swine is late."]] if added else []
    return {
        "asked": 2000,
        "offensive": added,
        "in_source": in_source,
        "share": added / 2000,
        "samples": samples,
    }


NUMBERS = {
    "pipeline.checks.text": text(),
    "pipeline.checks.models": teacher(),
    "pipeline.checks.vocabulary": vocabulary(),
    "pipeline.checks.alignments": alignments(),
    "pipeline.checks.exported": exported(),
    "pipeline.checks.markup": markup(),
    "pipeline.checks.offensive": offensive(),
    "pipeline.checks.differences": differences("tiny", teacher=(51.5, 0.04)),
}
