"""A training that has ended: its scores, the student beside its teacher, and its time beside the forecast.

    TRANSLATIONS_STATE=... python -m benchmarks.real_language CONFIG [--direct OTHER]

prints, of a training config whose results are in the store,

* the scores of every model on every test set, with intervals of 95 %;
* chrF of each later model as a share of the teacher's, and of sets in upper case, in title case and with
  typing errors as a share of the same set without; intervals of 95 % are by paired bootstrap resampling;
* minutes by stage beside the first forecast of each step; runs that ended before their steps did; and steps
  that two runs have finished under one key.

With --direct, a config with a model of the student's shape that was trained without a teacher: the exported
student beside it.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from pipeline.checks.differences import Sampled, p_value, resampled, resamples, statistics
from pipeline.common.lines import read_lines
from translations_assets.cli.common import reading_session
from translations_assets.config.model_names import BACKWARDS, STUDENT, teacher
from translations_assets.results.evaluations import Evaluations, evaluations_in, read_evaluations
from translations_assets.results.files import read_metrics
from translations_assets.results.known import KnownResult, known_results, read_each
from translations_assets.running.session import Session
from translations_assets.sweeps.compared import Translated, translated_sets

TEACHER = teacher(1)
_AUGMENTED = re.compile("_aug-[a-z]+_")  # in variants of test sets: `file_aug-upper_test`, of `file_test`

ByModel: TypeAlias = "Mapping[str, Mapping[str, Sampled]]"  # model → test set → chrF


class Trained(NamedTuple):
    """A session of a config; its results by label; model → test set → scores, and translations."""

    session: Session
    results: Mapping[str, KnownResult]
    scores: Evaluations
    translated: Mapping[str, Mapping[str, Translated]]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", help="a training config's name")
    parser.add_argument("--direct", help="a config whose teacher has the student's shape")
    args = parser.parse_args()
    trained = read(args.config)
    print_scores(trained)
    sampled = sampled_chrf(trained)
    print_shares(sampled)
    if args.direct:
        print_difference(sampled, sampled_chrf(read(args.direct)))
    print_minutes(trained)


def read(config: str) -> Trained:
    """What a config's runs have made."""
    session = reading_session(config)
    results = known_results(session, session.graph.steps)
    metrics = read_each(session, results, read_metrics)
    scores = read_evaluations(session, results, metrics)
    translated = {
        model: translated_sets(evaluations_in(metrics), results, model)
        for model in scores
        if model != BACKWARDS
    }
    return Trained(session, results, scores, translated)


def print_scores(trained: Trained) -> None:
    """Print a row for each model and test set."""
    print("| model | test set | BLEU | chrF | words/s on one thread |\n|---|---|---|---|---|")
    for model, tests in trained.scores.items():
        for dataset, scores in tests.items():
            speed = f"{scores.speed.words_per_second:,.0f}" if scores.speed else ""
            bleu, chrf = (scores.by_metric[name] for name in ("bleu", "chrf"))
            print(f"| {model} | {dataset} | {bleu} | {chrf} | {speed} |")


def sampled_chrf(trained: Trained) -> ByModel:
    """Model → test set → chrF, and those of resamples, which are the same lines for all models."""
    store, chrf = trained.session.store, CHRF()
    found: dict[str, dict[str, Sampled]] = {}
    with tempfile.TemporaryDirectory() as name:
        for model, tests in trained.translated.items():
            for dataset, texts in tests.items():
                files = [Path(name, f"{kind}.zst") for kind in ("translations", "references")]
                for blob, file in zip((texts.translations, texts.references), files, strict=True):
                    store.place_blob(blob, file)
                translations, references = ([*read_lines(file)] for file in files)
                counted = statistics(chrf, translations, references)
                sampled = resampled(chrf, counted, resamples(len(references)))
                found.setdefault(model, {})[dataset] = sampled
                for file in files:
                    file.unlink()
    return found


def print_shares(sampled: ByModel) -> None:
    """Print chrF as a share of the teacher's, and of harder sets as a share of the plain one's."""
    print("\n| model | test set | chrF as a share of | share, 95 % of resamples |\n|---|---|---|---|")
    for model, tests in sampled.items():
        for dataset, one in tests.items():
            if model != TEACHER and dataset in sampled.get(TEACHER, {}):
                print(f"| {model} | {dataset} | {TEACHER} | {share(one, sampled[TEACHER][dataset])} |")
    for model, tests in sampled.items():
        for dataset, one in tests.items():
            plain = _AUGMENTED.sub("_", dataset)
            if plain != dataset and plain in tests:
                print(f"| {model} | {dataset} | {plain} | {share(one, tests[plain])} |")


def share(one: Sampled, other: Sampled) -> str:
    """`0.981 (0.974 to 0.988)`: a score divided by another, of the same lines, with the interval."""
    low, high = np.quantile(one.resampled / other.resampled, (0.025, 0.975))
    return f"{one.score / other.score:.3f} ({low:.3f} to {high:.3f})"


def print_difference(sampled: ByModel, direct: ByModel) -> None:
    """Print the student that a teacher has taught beside the model of its shape that none has."""
    student = next(model for model in (STUDENT, *sampled) if model in sampled)
    print(f"\n| test set | {student} | trained directly | difference | p |\n|---|---|---|---|---|")
    for dataset, other in direct[TEACHER].items():
        own = sampled[student][dataset]
        difference = own.score - other.score
        chance = p_value(difference, own.resampled - other.resampled)
        print(f"| {dataset} | {own.score:.1f} | {other.score:.1f} | {difference:+.1f} | {chance:.3f} |")


def print_minutes(trained: Trained) -> None:
    """Print minutes by stage beside the first forecast of each step, and what was interrupted or repeated."""
    store, partition = trained.session.store, trained.session.partition
    records = [record for run in store.runs() if (record := store.read_run(run))]
    # of steps that another config's run has made, the forecast of that run
    records.sort(key=lambda record: (record.partition != partition, record.started or 0.0))
    expected: dict[str, float] = {}
    for record in records:
        for label, cost in record.expected.items():
            expected.setdefault(label, cost.seconds / 60)
    minutes: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for label, (step, manifest) in trained.results.items():
        minutes[step.stage].append((expected.get(label, 0.0), manifest.usage.all_seconds / 60))
    minutes["all"] = [one for each in minutes.values() for one in each]
    print("\n| stage | steps | minutes forecast | minutes taken | share |\n|---|---|---|---|---|")
    for stage, each in minutes.items():
        forecast, took = map(sum, zip(*each, strict=True))
        print(f"| {stage} | {len(each)} | {forecast:.1f} | {took:.1f} | {forecast / took:.2f} |")
    made = Counter(
        (label, record.uses[label]) for record in records for label in record.reasons if label in record.uses
    )
    ended = sum(bool(record.begun) for record in records)
    print(
        f"\n{len(records)} runs, of which {ended} ended before their steps did; steps finished twice under ",
        end="",
    )
    print(f"one key: {sum(number - 1 for number in made.values())}")


if __name__ == "__main__":
    main()
