"""Gates of alignments, trainings, models and exports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from translations_assets.checks.verdict import (
    Documents,
    NotComputed,
    NothingToJudge,
    Verdict,
    only,
    percent,
    telling,
)
from translations_assets.config import gates
from translations_assets.config.model_names import (
    BACKWARDS,
    ENSEMBLE,
    EXPORTED,
    FINETUNED,
    QUANTIZED,
    RELEASED,
    STUDENT,
    teacher,
)
from translations_assets.results.files import Numbers
from translations_assets.results.scores import PARAGRAPHS, Comparison, Scores
from translations_assets.results.training import CurvePoint, Training

NO_ALIGNMENTS = "the training config has no such alignments"
VARIANT = " (variant)"  # in documents: after the name of a test set that was changed, as no name ends
BEST_TEACHER = "the best teacher"  # on each test set, where there are several and no ensemble
CHRF, ENTROPY = "chrf", "ce-mean-words"


def alignment_indices(documents: Documents[Numbers], thresholds: gates.AlignmentIndices) -> Verdict:
    """Links that point to no word."""
    found = only(documents, NO_ALIGNMENTS)
    wrong = found["out_of_range"] + found["malformed"]
    return Verdict(
        wrong <= thresholds.max_wrong,
        f"{found['out_of_range']:,} links point beyond the end of their line, "
        f"{found['malformed']:,} lines hold something else than links",
        {"links": found["links"], "out of range": found["out_of_range"], "malformed": found["malformed"]},
        [
            " ||| ".join(line)
            for kind in ("out_of_range", "malformed")
            for line in found["samples"].get(kind, ())
        ],
    )


def alignment_links(documents: Documents[Numbers], thresholds: gates.AlignmentLinks) -> Verdict:
    """Judge how many pairs have links, and how many links a word has."""
    found = only(documents, NO_ALIGNMENTS)
    unaligned, links = found["no_links_share"], found["links_per_word"]
    return Verdict(
        unaligned <= thresholds.max_unaligned and thresholds.min_links <= links <= thresholds.max_links,
        f"{percent(unaligned)} of the pairs have no link; {links:.2f} links a word",
        {"pairs without a link": unaligned, "links a word": links},
        [" ||| ".join(line) for kind in ("no_links", "linked") for line in found["samples"].get(kind, ())],
    )


def teacher_floor(documents: Documents[Numbers], thresholds: gates.TeacherFloor) -> Verdict:
    """chrF on the dev set: the teachers' together, by itself and against what chance would give."""
    found = only(documents, "the training config has no teacher")
    chrf, chance = found["chrf"]["score"], found["chance"]["score"]
    return Verdict(
        chrf >= thresholds.min_chrf and chrf - chance >= thresholds.min_above_chance,
        f"chrF {chrf:.1f}, BLEU {found['bleu']['score']:.1f} on {found['lines']} lines of the dev set, "
        f"chrF {chance:.1f} by the references of other lines; {thresholds.min_chrf:.1f} is asked for, and "
        f"{thresholds.min_above_chance:.1f} more than that",
        {"chrF": chrf, "chrF by chance": chance, "BLEU": found["bleu"]["score"]},
        [" ||| ".join(texts) for texts in found["samples"]],
    )


def teacher_margin(documents: Documents[Training], thresholds: gates.TeacherMargin) -> Verdict:
    """chrF on the validation set: every teacher's against the backwards model's."""
    if not documents["train_teacher"] or not documents["train_backwards"]:
        raise NothingToJudge("teachers and backwards model are not both trained here")
    trained = enumerate(documents["train_teacher"].items(), start=1)
    teachers = {teacher(number): _validated(*found) for number, found in trained}
    baseline = max(_validated(label, found) for label, found in documents["train_backwards"].items())
    worst = min(teachers, key=lambda name: teachers[name])
    margin = teachers[worst] - baseline
    return Verdict(
        margin >= thresholds.margin,
        f"chrF {teachers[worst]:.1f} of {worst} on the validation set, {baseline:.1f} of {BACKWARDS} in the "
        f"opposite direction: {margin:+.1f}, at least {thresholds.margin:+.1f} is asked for",
        {f"chrF, {name}": score for name, score in {**teachers, BACKWARDS: baseline}.items()},
    )


def _validated(label: str, training: Training) -> float:
    """The best chrF on the validation set."""
    if CHRF not in training.best:
        raise NotComputed(f"{label} was never validated by chrF")
    return training.best[CHRF].score


def student_gap(documents: Documents[Any], thresholds: gates.StudentGap) -> Verdict:
    """chrF on the test sets: the student's against the teachers'."""
    ensemble = _scores(documents["evaluate_teacher_ensemble"])
    teachers = ensemble or _scores(documents["evaluate_teacher"])
    (name,) = {"evaluate_student", "evaluate_finetuned_student"} & documents.keys()
    students = _scores(documents[name])
    if students and not teachers:
        raise NothingToJudge("the training config has no teacher")
    judged = STUDENT if name == "evaluate_student" else FINETUNED
    best = ENSEMBLE if ensemble else _best_teacher(documents["evaluate_teacher"])
    return _gap(documents, teachers, students, thresholds.max_gap, best, judged)


def _best_teacher(evaluations: Mapping[str, Scores]) -> str:
    """What has the best scores of teachers that are no ensemble, in words where there are several."""
    test_sets = {scores.dataset for scores in evaluations.values()}
    return BEST_TEACHER if len(evaluations) > len(test_sets) else teacher(1)


def quantized_gap(documents: Documents[Scores], thresholds: gates.QuantizedGap) -> Verdict:
    """chrF on the test sets: the quantised student's against that of the model it was made from."""
    whole = _scores(documents["evaluate_finetuned_student"])
    small = _scores(documents["evaluate_quantized"])
    return _gap(documents, whole, small, thresholds.max_gap, FINETUNED, QUANTIZED, thresholds.max_gain)


def exported_gap(documents: Documents[Any], thresholds: gates.ExportedGap | gates.ExportedLoss) -> Verdict:
    """chrF on the test sets: the exported student's in Firefox's engine against that of the finetuned one."""
    whole = _scores(documents["evaluate_finetuned_student"])
    found = _scores(documents["evaluate_exported"])
    return _gap(documents, whole, found, thresholds.max_gap, FINETUNED, EXPORTED)


def released_gap(documents: Documents[Any], thresholds: gates.ReleasedGap) -> Verdict:
    """chrF on the test sets: the exported student's against that of the model that Firefox ships."""
    found: dict[str, dict[str, Scores]] = {EXPORTED: {}, RELEASED: {}}
    for label, scores in documents["final_evaluation"].items():
        if scores.model:  # not of paragraphs
            found.setdefault(scores.model, {})[label] = scores
    if not found[RELEASED]:
        raise NothingToJudge("the training config compares with no released model")
    released, exported = _scores(found[RELEASED]), _scores(found[EXPORTED])
    with_released = {
        label: replace(comparison, others={RELEASED: comparison.others[RELEASED]})
        for label, comparison in documents["check_final_evaluation"].items()
    }
    compared = {"check_final_evaluation": with_released}
    return _gap(compared, released, exported, thresholds.max_gap, RELEASED, EXPORTED)


def _scores(evaluations: Mapping[str, Scores]) -> dict[str, float]:
    """Test set → chrF, the best of several models.

    Without variants such as upper case, which are harder, and paragraphs, which engines cut in their own way.
    """
    best: dict[str, float] = {}
    for scores in evaluations.values():
        dataset = scores.dataset
        if dataset.endswith((VARIANT, PARAGRAPHS)):
            continue
        best[dataset] = max(best.get(dataset, 0.0), scores.by_metric[CHRF].score)
    return best


def _by_chance(documents: Documents[Any]) -> dict[str, float]:
    """Test set → the probability that chance made the difference from the best of the other models."""
    found: dict[str, float] = {}
    for told in (told for steps in documents.values() for told in steps.values()):
        if isinstance(told, Comparison):
            differences = (by_metric[CHRF] for by_metric in told.others.values())
            found[told.dataset] = max(differences, key=lambda chrf: chrf.other).p_value
    return found


def _gap(
    documents: Documents[Any],
    wanted: Mapping[str, float],
    found: Mapping[str, float],
    limit: float,
    name: str,
    judged: str,
    gain: float | None = None,
) -> Verdict:
    """Judge whether scores are at most `limit` lower than wanted, and at most `gain` higher, if that counts.

    `documents` say how likely chance makes such differences.
    """
    gaps = {dataset: found[dataset] - wanted[dataset] for dataset in wanted if dataset in found}
    if not gaps:
        raise NothingToJudge("the training config has no test set")
    low, high = min(gaps, key=lambda dataset: gaps[dataset]), max(gaps, key=lambda dataset: gaps[dataset])
    too_good = gain is not None and gaps[high] > gain
    worst = high if too_good and gaps[low] >= -limit else low
    allowed = (
        f"at most {-limit:+.1f} is allowed" if gain is None else f"{-limit:+.1f} to {gain:+.1f} is allowed"
    )
    chances = _by_chance(documents)
    by_chance = f" (p = {chances[worst]:.3f})" if worst in chances else ""
    of_several = f"the most of {len(gaps)} test sets; " if len(gaps) > 1 else ""
    return Verdict(
        gaps[low] >= -limit and not too_good,
        f"chrF {found[worst]:.1f} on {worst}, where {name} has {wanted[worst]:.1f}: "
        f"{gaps[worst]:+.1f}{by_chance}, {of_several}{allowed}",
        {
            **{
                f"chrF, {model}, {dataset}": scores[dataset]
                for dataset in gaps
                for model, scores in ((name, wanted), (judged, found))
            },
            **{f"p, {dataset}": chances[dataset] for dataset in gaps if dataset in chances},
        },
    )


def export(documents: Documents[Numbers], thresholds: gates.ExportGate) -> Verdict:
    """Judge whether exported files load, and their translations."""
    found = telling(documents, "loads", "the training config exports nothing")
    if not found["loads"]:
        return Verdict(False, f"the exported files do not load: {found['error']}")
    empty, copied = (found[what] / found["sentences"] for what in ("empty", "copied"))
    return Verdict(
        empty <= thresholds.max_empty and copied <= thresholds.max_copied,
        f"the exported files load; of {found['sentences']} sentences {found['empty']} come out empty, "
        f"{found['copied']} as copies",
        {"empty": empty, "copied": copied, "different translations": found["distinct"]},
        [" → ".join(pair) for pair in found["samples"][:10]],
    )


def collapse(documents: Documents[Training], thresholds: gates.TrainingCollapse) -> Verdict:
    """Models that never learned to translate, unlearned it, or diverged."""
    trained = _trained(documents)
    wrong: list[str] = []
    numbers: dict[str, float] = {}
    for label, training in trained.items():
        broken = next((point for point in training.curve if not _finite(point)), None)
        if broken:
            wrong.append(f"{label} diverged: not a number at update {broken.update:,}")
            continue
        points = _validations(training, label)
        wrong += [f"{label} {what}" for what in _collapses(points, thresholds)]
        numbers[f"best chrF, {label}"] = _best(points, CHRF).numbers[CHRF]
    return Verdict(not wrong, "; ".join(wrong) or _kept(numbers), numbers)


def _kept(best: Mapping[str, float]) -> str:
    worst = f" of the worst of {len(best)} models" if len(best) > 1 else ""
    return f"chrF {min(best.values()):.1f} at the best validation{worst}, and the last one is close to it"


def _collapses(points: Sequence[CurvePoint], thresholds: gates.TrainingCollapse) -> Iterator[str]:
    best, last, lowest = _best(points, CHRF), points[-1], _best(points, ENTROPY)
    highest, chrf = best.numbers[CHRF], last.numbers[CHRF]
    if highest < thresholds.min_chrf:
        yield (
            f"never learned to translate: its best chrF is {highest:.1f}, at update {best.update:,}; "
            f"at least {thresholds.min_chrf:.1f} is asked for"
        )
    if chrf < (1 - thresholds.max_fall) * highest:
        yield (
            f"collapsed: its chrF fell from {highest:.1f} at update {best.update:,} "
            f"to {chrf:.1f} at the last, {last.update:,}"
        )
    entropy = last.numbers[ENTROPY]
    if entropy - lowest.numbers[ENTROPY] > thresholds.max_rise:
        yield (
            f"diverged: its cross-entropy rose from {lowest.numbers[ENTROPY]:.2f} at update "
            f"{lowest.update:,} to {entropy:.2f} at the last, {last.update:,}"
        )


def curve(documents: Documents[Training], thresholds: gates.TrainingCurve, epochs: bool = True) -> Verdict:
    """chrF and cross-entropy where the other one is best, and how much of its text a training has seen."""
    trained = _trained(documents)
    failed, passed = list[str](), list[str]()
    numbers: dict[str, float] = {}
    for label, training in trained.items():
        points = _validations(training, label)
        by_chrf, by_entropy = _best(points, CHRF), _best(points, ENTROPY)
        lost, risen = (by_chrf.numbers[name] - by_entropy.numbers[name] for name in (CHRF, ENTROPY))
        seen = _epochs(training) if epochs else None
        reasons = [
            *(["max-chrf-gap"] if lost > thresholds.max_chrf_gap else []),
            *(["max-entropy-gap"] if risen > thresholds.max_entropy_gap else []),
            *(["min-epochs"] if seen is not None and seen < thresholds.min_epochs else []),
        ]
        limits = thresholds.model_dump(by_alias=True)
        why = "".join(f"{name} {limits[name]:g} is not kept, " for name in reasons)
        (failed if reasons else passed).append(
            f"{label}: {why}chrF is {lost:.1f} below its best where cross-entropy is best "
            f"(update {by_entropy.update:,}), cross-entropy {risen:.2f} above its best where chrF is best "
            f"(update {by_chrf.update:,})" + ("" if seen is None else f"; {seen:.2g} epochs seen")
        )
        numbers |= {f"chrF gap, {label}": lost, f"cross-entropy gap, {label}": risen}
        numbers |= {} if seen is None else {f"epochs, {label}": seen}
    return Verdict(not failed, "; ".join([*failed, *passed]), numbers)


def _trained(documents: Documents[Training]) -> dict[str, Training]:
    """The trainings, of which there must be some."""
    trained = {label: found for steps in documents.values() for label, found in steps.items()}
    if not trained:
        raise NothingToJudge("the training config trains no such model")
    return trained


def _validations(training: Training, label: str) -> list[CurvePoint]:
    """The validations with finite scores, of which there must be some."""
    points = [point for point in training.curve if {CHRF, ENTROPY} <= point.numbers.keys() and _finite(point)]
    if not points:
        raise NotComputed(f"{label} was never validated by {CHRF} and {ENTROPY}")
    return points


def _best(points: Sequence[CurvePoint], metric: str) -> CurvePoint:
    sign = -1 if metric == ENTROPY else 1
    return max(points, key=lambda point: sign * point.numbers[metric])


def _finite(point: CurvePoint) -> bool:
    return all(map(math.isfinite, point.numbers.values()))


def _epochs(training: Training) -> float | None:
    """The number of passes over the text in a training; None when its curve does not tell.

    Marian counts sentences again whenever it starts: their number for an update is taken where they grow.
    """
    counts = [(point.update, point.numbers["sentences"]) for point in training.curve if point.kind == "train"]
    grown = [
        (later[0] - earlier[0], later[1] - earlier[1])
        for earlier, later in pairwise(counts if len(counts) > 1 else [(0, 0), *counts])
        if later[0] > earlier[0] and later[1] > earlier[1]
    ]
    pairs = sum(kept for name, kept in training.texts.items() if name != "dev")
    if not grown or not pairs:
        return None
    updates, sentences = map(sum, zip(*grown, strict=True))
    return training.updates * sentences / updates / pairs
