"""Gates of texts, over the numbers of `pipeline.checks.text` and `pipeline.checks.models`.

In the numbers of a parallel text the source stands first; `made` is the side that a model wrote: 1, or 0 of
back-translations.
"""

from __future__ import annotations

from translations_assets.checks.verdict import Documents, NothingToJudge, Verdict, each, only, percent
from translations_assets.config import gates
from translations_assets.results.files import Numbers
from translations_assets.results.statistics import Statistics

NO_TEXT = "the training config has no such text"
CORPUS = "check_merge_corpus"
SHARED_SCRIPTS = ("Latin", "Cyrillic", "Arabic", "Devanagari")  # many languages are written in them


def held_out_exact(documents: Documents[Numbers], thresholds: gates.HeldOutExact) -> Verdict:
    """Whole pairs of training text, and lines of at least five words, that are in a dev or test set."""
    sides = [(side["lang"], side["held_out"]) for _, side in _sides(documents)]
    whole = [text["held_out_pairs"] for _, text in each(documents) if "held_out_pairs" in text]
    pairs = sum(found["exact"] for found in whole)
    lines = sum(held_out["exact"] for _, held_out in sides)
    told = [f"{pairs:,} whole pairs"] if whole else []
    told.append(f"{lines:,} lines of at least five words")
    return Verdict(
        max(pairs, lines) <= thresholds.max_lines,
        f"{' and '.join(told)} of training text stand in a dev or test set",
        ({"whole pairs": pairs} if whole else {})
        | {f"lines, {lang}": held_out["exact"] for lang, held_out in sides},
        [
            *(" ||| ".join(pair) for found in whole for pair in found["samples"]),
            *(sample["line"] for _, held_out in sides for sample in held_out["samples"].get("exact", ())),
        ],
    )


def held_out_near(documents: Documents[Numbers], thresholds: gates.HeldOutNear) -> Verdict:
    """Lines of dev and test sets that are the same as training lines, or nearly so."""
    sides = [(side["lang"], side["held_out"]) for _, side in _sides(documents)]
    shares = {
        lang: held_out["held_out_lines_found"] / max(1, held_out["held_out_lines"])
        for lang, held_out in sides
    }
    worst = max(shares.values())
    return Verdict(
        worst <= thresholds.max_share,
        f"{percent(worst)} of the dev and test lines have a near-duplicate in the training text",
        {f"share, {lang}": share for lang, share in shares.items()},
        [
            f"{sample['line']} ≈ {sample['held_out']}"
            for _, held_out in sides
            for kind in ("same_letters", "similar")
            for sample in held_out["samples"].get(kind, ())
        ],
    )


def language(documents: Documents[Numbers], thresholds: gates.LanguageGate) -> Verdict:
    """Lines that are taken for another language."""
    found = {side["lang"]: side["language"] for _, side in _sides(documents)}
    worst = max(found.values(), key=lambda side: float(side["share"]))
    description = f"{percent(worst['share'])} of the lines are taken for another language"
    if worst["guesses"]:
        description += f", most of them for {', '.join(list(worst['guesses'])[:3])}"
    unknown = [lang for lang, side in found.items() if side["identified_as"] is None]
    if unknown:
        description += f"; {', '.join(unknown)} is not known to the identifier"
    return Verdict(
        worst["share"] <= thresholds.max_share,
        description,
        {f"share, {lang}": side["share"] for lang, side in found.items()},
        [f"{guess}: {line}" for side in found.values() for guess, line in side["samples"]],
    )


def identification(documents: Documents[Statistics], thresholds: gates.IdentificationGate) -> Verdict:
    """Lines in the script of their language that cleaning dropped for it, by dataset and side.

    Where few languages have the script, such lines hardly can be in another. Where many have it, they may be;
    but where more than usual are, either the dataset is bad or the identifier, which the samples show.
    """
    judged = [
        (f"{step}, {side.lang}", side)
        for step, stats in each(documents)
        for side in stats.identified
        if side.lines >= max(1, thresholds.min_lines)
    ]
    if not judged:
        raise NothingToJudge(f"no side of a dataset has {thresholds.min_lines:,} lines that were identified")
    limits = {True: thresholds.max_share_shared, False: thresholds.max_share}
    shares = {name: side.other / side.lines for name, side in judged}
    bad = [(name, side) for name, side in judged if shares[name] > limits[side.script in SHARED_SCRIPTS]]
    name, side = max(bad or judged, key=lambda found: shares[found[0]])
    description = (
        f"{percent(shares[name])} of the lines of {name} that are written in {side.script} are dropped as "
        "another language"
    )
    if side.guesses:
        description += f", most of them as {', '.join(list(side.guesses)[:3])}"
    if len(bad) > 1:
        description += f"; of {len(bad)} sides too many are"
    return Verdict(not bad, description, shares, [line for _, side in bad for line in side.samples])


def duplicates(documents: Documents[Numbers], thresholds: gates.Duplicates) -> Verdict:
    """Lines or pairs that repeat an earlier one."""
    repeated = only(documents, NO_TEXT)["duplicates"]
    return Verdict(
        repeated["share"] <= thresholds.max_share,
        f"{percent(repeated['share'])} of the lines repeat an earlier one, but for case, punctuation, digits",
        {"share": repeated["share"], "lines counted": repeated["counted"]},
        repeated["samples"],
    )


def length_ratio(documents: Documents[Numbers], thresholds: gates.LengthRatio) -> Verdict:
    """Pairs whose lengths do not fit each other."""
    ratio = only(documents, NO_TEXT)["length_ratio"]
    return Verdict(
        ratio["share"] <= thresholds.max_share,
        f"{percent(ratio['share'])} of the pairs have lengths that do not fit each other",
        {"share": ratio["share"], "median ratio": ratio["median"]},
        [" ||| ".join(pair) for pair in ratio["samples"]],
    )


def empty_lines(documents: Documents[Numbers], thresholds: gates.EmptyLines) -> Verdict:
    """Lines without text."""
    empty = {side["lang"]: side["empty"] / max(1, text["lines"]) for text, side in _sides(documents)}
    return Verdict(
        max(empty.values()) <= thresholds.max_share,
        f"{percent(max(empty.values()))} of the lines are empty",
        {f"share, {lang}": share for lang, share in empty.items()},
    )


def _sides(documents: Documents[Numbers]) -> list[tuple[Numbers, Numbers]]:
    """(text, side) for each side of each text, of which there must be some."""
    sides = [(text, side) for _, text in each(documents) for side in text["sides"]]
    if not sides:
        raise NothingToJudge(NO_TEXT)
    return sides


def translations(documents: Documents[Numbers], thresholds: gates.Translations, made: int = 1) -> Verdict:
    """Translations that are empty or copies; `made` is the side that was translated to."""
    found = only(documents, NO_TEXT)
    empty, copied = found["sides"][made]["empty"] / max(1, found["lines"]), found["copied"]["share"]
    return Verdict(
        empty <= thresholds.max_empty and copied <= thresholds.max_copied,
        f"{percent(empty)} of the translations are empty, {percent(copied)} copies of their source",
        {"empty": empty, "copied": copied},
        [" ||| ".join(pair) for pair in found["copied"]["samples"]],
    )


def collapse(documents: Documents[Numbers], thresholds: gates.TranslationCollapse, made: int = 1) -> Verdict:
    """Translations that are the same for different sources, loop, or are far too long or short."""
    genuine, found = _genuine_and_made(documents)
    distinct = found["distinct"][made] / max(1, found["distinct"][1 - made])
    looping = found["loops"][made]
    told = [
        f"{found['distinct'][made]:,} different translations of {found['distinct'][1 - made]:,} lines",
        f"{percent(looping['share'])} repeat themselves",
    ]
    numbers = {"distinct": distinct, "looping": looping["share"]}
    fit = True
    if genuine:
        factor = (found["length_ratio"]["overall"] or 1e-9) / genuine
        longer = 1 / factor if made == 0 else factor
        fit = 1 / thresholds.max_length_factor <= longer <= thresholds.max_length_factor
        told.append(f"they are {longer:.2f} times as long as genuine text would be")
        numbers["length factor"] = longer
    return Verdict(
        distinct >= thresholds.min_distinct and looping["share"] <= thresholds.max_looping and fit,
        "; ".join(told),
        numbers,
        looping["samples"],
    )


def _genuine_and_made(documents: Documents[Numbers]) -> tuple[float | None, Numbers]:
    """Target characters for each source character of genuine text, where there is any; what is judged."""
    found = only({stage: steps for stage, steps in documents.items() if stage != CORPUS}, NO_TEXT)
    corpus = next(iter(documents[CORPUS].values()), None)
    if "expected_ratio" in found:
        return found["expected_ratio"], found
    return corpus["length_ratio"]["overall"] if corpus else None, found
