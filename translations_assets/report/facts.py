"""Contents of a partition's report, gathered from the results that count in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from translations_assets.checks.gates import GATES, Finding, examine
from translations_assets.config.translators import Translator
from translations_assets.graph.step import Step
from translations_assets.records.cost import Cost
from translations_assets.report.sentences import Sentence, shown_sentences
from translations_assets.results.evaluations import (
    Evaluations,
    evaluations_in,
    makers,
    model_of,
    model_sizes,
    read_evaluations,
    read_markup_scores,
    shown_model,
)
from translations_assets.results.files import METRICS, read_metrics, read_statistics
from translations_assets.results.known import KnownResult, ReadOnce, known_results, read_each
from translations_assets.results.lines import (
    DatasetLines,
    DroppedLines,
    Source,
    dropped_lines,
    lines_by_dataset,
    sources,
)
from translations_assets.results.markup import MarkupScores
from translations_assets.results.scores import Scores, ScoreTable, score_tables
from translations_assets.results.training import Training
from translations_assets.running.prices import Prices, class_of, spent_on
from translations_assets.running.resolve import parallel_map
from translations_assets.running.session import Session
from translations_assets.stages.continuation import back_translates
from translations_assets.why.history import History

if TYPE_CHECKING:
    from translations_assets.config.deployment import ClusterSection
    from translations_assets.running.protocols import Store


@dataclass(frozen=True)
class Before:
    """Scores in the artifact that counted before, and when it was made (seconds since 1970)."""

    scores: Scores
    ended: float


class GivenTranslator(NamedTuple):
    """A translator that the config names, its use, and its share of the text."""

    name: str
    use: str
    share: float
    translator: Translator


@dataclass(frozen=True)
class Report:
    """Everything that a report tells.

    lacking      labels of steps that have no result
    trainings    label → training
    evaluations  model → test set → scores
    before       model, test set → the evaluation before
    markup       what becomes of HTML in translation by the model that users get
    sizes        model → bytes of its parameters, all of an ensemble's
    sentences    of all test sets, bad and good ones, through every model
    models       the partition's own ones, in the order of their evaluations → the steps that made each
    costs        label → what a result took
    prices       by which money and energy are told; None where none are known
    cluster   the cluster that steps run on; None for one's own machine
    levels       label → the level of trust of what counts for the step; empty where there are none
    """

    session: Session
    results: Mapping[str, KnownResult]
    lacking: Sequence[str]
    datasets: Sequence[DatasetLines]
    dropped: Sequence[DroppedLines]
    sources: Sequence[Source]
    trainings: Mapping[str, Training]
    evaluations: Evaluations
    before: Mapping[tuple[str, str], Before]
    markup: MarkupScores | None
    sizes: Mapping[str, int]
    sentences: Sequence[Sentence]
    gates: Sequence[Finding]
    models: Mapping[str, Collection[Step]]
    costs: Mapping[str, Cost]
    prices: Prices | None
    cluster: ClusterSection | None
    levels: Mapping[str, str]

    @property
    def languages(self) -> tuple[str, str]:
        """The English names of source and target language."""
        config = self.session.config
        return config.source.name, config.target.name

    @property
    def given(self) -> list[GivenTranslator]:
        """The translators of the config that made text for training, in place of models trained here, with
        their shares of that text; of a pivot both.
        """
        config = self.session.config
        backwards = config.experiment.backwards if back_translates(config) else None
        uses = {"teacher": config.experiment.teacher or {}, "back-translation": backwards or {}}
        shares: dict[tuple[str, str], float] = {}
        for use, mix in uses.items():
            for name, share in mix.items():
                for one in dict.fromkeys(config.translators[name].legs or (name,)):
                    shares[one, use] = shares.get((one, use), 0.0) + share / sum(mix.values())
        return [
            GivenTranslator(one, use, share, config.translators[one]) for (one, use), share in shares.items()
        ]

    @property
    def ended(self) -> float:
        """The time when the newest result was made, seconds since 1970."""
        return max(known.manifest.ended for known in self.results.values())

    @property
    def revisions(self) -> list[str]:
        """The commits of the repository that made the results."""
        made_by = (known.manifest.provenance.revision for known in self.results.values())
        return sorted(dict.fromkeys(filter(None, made_by)))

    def cost(self, steps: Iterable[Step]) -> Cost:
        """The cost of the attempts that made the results of some steps, as far as they have any."""
        return sum((self.costs[step.label] for step in steps if step.label in self.costs), Cost())

    def unknown(self, steps: Iterable[Step]) -> int:
        """The number of steps that have no result, among some: their cost is not known."""
        return sum(step.label not in self.costs for step in steps)

    def origins(self, model: str) -> Collection[Step]:
        """The steps that made a model, its texts and vocabularies, and the models before it."""
        return self.session.graph.step_closure(self.models.get(model, ()))

    def worker_class(self, step: Step) -> str:
        """The worker class on which a step runs."""
        return class_of(step, self.cluster)

    @property
    def spent(self) -> Cost:
        """The cost of all results."""
        return sum(self.classes.values(), Cost())

    @property
    def stages(self) -> dict[str, list[Step]]:
        """Stage → its steps that have a result."""
        stages = self.session.graph.stages.items()
        found = {stage: [step for step in steps if step.label in self.results] for stage, steps in stages}
        return {stage: steps for stage, steps in found.items() if steps}

    def levels_of(self, steps: Iterable[Step]) -> str:
        """The number of results of each level of trust, among those of some steps: `3 release, 1 branch`."""
        found = Counter(self.levels[step.label] for step in steps if step.label in self.levels)
        return ", ".join(f"{number} {level}" for level, number in found.items())

    @property
    def classes(self) -> dict[str, Cost]:
        """Worker class on which steps run → what their results took."""
        found: dict[str, Cost] = {}
        for label, cost in self.costs.items():
            worker = self.worker_class(self.results[label].step)
            found[worker] = found.get(worker, Cost()) + cost
        return found

    @property
    def score_tables(self) -> list[ScoreTable]:
        """The scores of all models, by test set."""
        return score_tables(self.evaluations)

    @property
    def shown_model(self) -> str:
        """The model that users get, or the last one that was evaluated so far; "" without any."""
        return shown_model(self.evaluations)

    @property
    def shown_scores(self) -> Scores | None:
        """Its scores on the first test set."""
        return next(iter(self.evaluations.get(self.shown_model, {}).values()), None)


def gather(
    session: Session, history: History, prices: Prices | None = None, cluster: ClusterSection | None = None
) -> Report:
    """Gather the results of a session's partition. Runs nothing, and reads each file of the store once."""
    session, graph = copy(session), session.graph
    session.store = cast("Store", ReadOnce(session.store))
    results = known_results(session, graph.steps)
    statistics = read_each(session, results, read_statistics)
    metrics = read_each(session, results, read_metrics)
    stages = list(session.graph.stages)
    gates = sorted(GATES, key=lambda gate: stages.index(gate.stage))
    return Report(
        session=session,
        results=results,
        lacking=[step.label for step in session.graph.steps if step.label not in results],
        datasets=lines_by_dataset(statistics),
        dropped=dropped_lines(statistics),
        sources=sources({step.label: counted for step, counted in statistics.items()}, session.config.pair),
        trainings={step.label: found for step, found in metrics.items() if isinstance(found, Training)},
        evaluations=read_evaluations(session, results, metrics),
        before=dict(_before(session, results, metrics, history)),
        markup=read_markup_scores(session, results),
        sizes=model_sizes(results),
        sentences=shown_sentences(session, results),
        gates=[examine(session, gate, {}) for gate in gates],
        models={
            model: steps
            for model, steps in makers(graph).items()
            if all(step.label in results for step in steps)
        },
        costs={label: spent_on(*known, prices) for label, known in results.items()},
        prices=prices,
        cluster=cluster,
        levels=_levels(session.store, results),
    )


def _levels(store: Store, results: Mapping[str, KnownResult]) -> dict[str, str]:
    """Label → the level of trust of its result; empty where there are none."""
    made = [(label, known.manifest) for label, known in results.items()]
    with parallel_map(store) as each:
        levels = each(lambda one: store.level_of(one[1].key, one[1].generation), made)
        return {label: level for (label, _), level in zip(made, levels, strict=True) if level}


def _before(
    session: Session, results: Mapping[str, KnownResult], metrics: Mapping[Step, object], history: History
) -> Iterator[tuple[tuple[str, str], Before]]:
    """Yield the scores of each evaluation in the artifact that counted before, of this partition only."""
    for step, now in evaluations_in(metrics):
        own = results[step.label].manifest
        for earlier in history.earlier(step, own.key, 1):
            blob = earlier.outputs.get(METRICS)
            made_by = earlier.provenance
            same = made_by.partition == session.partition and not made_by.options.overrides
            if same and blob and earlier.ended <= own.ended and session.store.has_blob(blob):
                before = read_metrics(session.store, earlier.outputs, earlier.label)
                if isinstance(before, Scores):
                    yield (model_of(step), now.dataset), Before(before, earlier.ended)
