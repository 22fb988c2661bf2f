"""Gates of vocabularies, over the numbers of `pipeline.checks.vocabulary`."""

from __future__ import annotations

from collections.abc import Iterator

from translations_assets.checks.verdict import Documents, NothingToJudge, Verdict, percent
from translations_assets.config import gates
from translations_assets.results.files import Numbers

TEXTS = {"corpus": "the corpus", "held_out": "the dev and test sets"}
AS_IT_IS = "as_it_is"


def vocabulary(documents: Documents[Numbers], thresholds: gates.Vocabulary) -> Verdict:
    """Judge how much of each text the vocabularies cover."""
    texts = {(side["lang"], name): text for side in _sides(documents) for name, text in side["texts"].items()}
    (lang, name), worst = min(texts.items(), key=lambda text: float(text[1]["coverage"]))
    unknown = max(text["unknown_rate"] for text in texts.values())
    letters = {side: _missing_letters(text, thresholds) for side, text in texts.items()}
    missing = [f"{' '.join(of_text)} ({lang})" for (lang, _), of_text in letters.items() if of_text]
    return Verdict(
        worst["coverage"] >= thresholds.min_coverage and unknown <= thresholds.max_unknown and not missing,
        f"pieces hold {percent(worst['coverage'])} of the characters of {TEXTS[name]} in {lang}, "
        f"or more elsewhere; at most {percent(unknown)} of the pieces are unknown; letters spelt in bytes: "
        f"{', '.join(dict.fromkeys(missing)) or 'none'}",
        {
            f"{what}, {lang}, {TEXTS[name]}": text[key]
            for (lang, name), text in texts.items()
            for what, key in (("coverage", "coverage"), ("unknown", "unknown_rate"))
        },
        [
            f"{lang}, {TEXTS[name]}: {character} × {times:,}"
            for (lang, name), text in texts.items()
            for character, times in list(text["samples"].items())[:5]
        ],
    )


def _missing_letters(text: Numbers, thresholds: gates.Vocabulary) -> list[str]:
    counts: dict[str, int] = text.get("letters_in_bytes", {})  # numbers of before it was counted have none
    return [letter for letter, times in counts.items() if times > thresholds.max_letter_in_bytes]


def vocabulary_case(documents: Documents[Numbers], thresholds: gates.VocabularyCase) -> Verdict:
    """Judge how many times as many pieces words have in upper and title case as in usual text."""
    most = {"upper": thresholds.max_upper, "title": thresholds.max_title}
    measured = [
        (side["lang"], case, side["pieces_per_word"][AS_IT_IS], pieces)
        for side in _sides(documents)
        for case, pieces in side.get("pieces_per_word", {}).items()
        if case in most
    ]
    if not measured:
        raise NothingToJudge("no line is put in upper or title case for training, or there is no dev set")
    times = {(lang, case): pieces / usual for lang, case, usual, pieces in measured}
    return Verdict(
        all(
            times[lang, case] <= most[case] and pieces <= thresholds.max_pieces
            for lang, case, _, pieces in measured
        ),
        "pieces a word: "
        + ", ".join(
            f"{lang} {usual:.2f}, in {case} case {pieces:.2f} ({times[lang, case]:.2f} times as many)"
            for lang, case, usual, pieces in measured
        ),
        {f"times as many in {case} case, {lang}": factor for (lang, case), factor in times.items()},
    )


def _sides(documents: Documents[Numbers]) -> Iterator[Numbers]:
    return (side for numbers in documents["check_train_vocab"].values() for side in numbers["sides"])
