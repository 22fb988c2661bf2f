"""Contents of a partition's report, gathered from the results that count in the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from translations_assets.checks.gates import GATES, Finding, examine
from translations_assets.config.languages import language
from translations_assets.graph.step import Step
from translations_assets.report.costs import ModelCost, StageCost, class_costs, model_costs, stage_costs
from translations_assets.report.sentences import Sentence, shown_sentences
from translations_assets.results.evaluations import (
    Evaluations,
    evaluations_in,
    model_of,
    model_sizes,
    read_evaluations,
    shown_model,
)
from translations_assets.results.files import METRICS, read_metrics, read_statistics
from translations_assets.results.known import Known, known_results, read_each
from translations_assets.results.lines import (
    DatasetLines,
    Dropped,
    Source,
    dropped_lines,
    lines_by_dataset,
    sources,
)
from translations_assets.results.scores import Scores
from translations_assets.results.training import Training
from translations_assets.running.prices import Prices
from translations_assets.running.session import Session
from translations_assets.why.costs import Spent, total
from translations_assets.why.history import History

if TYPE_CHECKING:
    from translations_assets.config.deployment import Kubernetes


@dataclass(frozen=True)
class Before:
    """Scores in the artifact that counted before, and when it was made (seconds since 1970)."""

    scores: Scores
    ended: float


@dataclass(frozen=True)
class Report:
    """Everything that a report tells.

    lacking      labels of steps that have no result
    trainings    label → training
    evaluations  model → test set → scores
    before       model, test set → the evaluation before
    sizes        model → bytes of its parameters, all of an ensemble's
    sentences    of all test sets, bad and good ones, through every model
    costs        by stage
    classes      worker class on which steps run → what their results took
    models       what the partition's own models took, in the order of their evaluations
    prices       by which money and energy are told; None where none are known
    kubernetes   the cluster that steps run on; None for one's own machine
    """

    session: Session
    results: Mapping[str, Known]
    lacking: Sequence[str]
    datasets: Sequence[DatasetLines]
    dropped: Sequence[Dropped]
    sources: Sequence[Source]
    trainings: Mapping[str, Training]
    evaluations: Evaluations
    before: Mapping[tuple[str, str], Before]
    sizes: Mapping[str, int]
    sentences: Sequence[Sentence]
    gates: Sequence[Finding]
    costs: Sequence[StageCost]
    classes: Mapping[str, Spent]
    models: Sequence[ModelCost]
    prices: Prices | None
    kubernetes: Kubernetes | None

    @property
    def languages(self) -> tuple[str, str]:
        """The English names of source and target language."""
        experiment = self.session.config.experiment
        return language(experiment.src).name, language(experiment.trg).name

    @property
    def ended(self) -> float:
        """The time when the newest result was made, seconds since 1970."""
        return max(known.manifest.ended for known in self.results.values())

    @property
    def revisions(self) -> list[str]:
        """The commits of the repository that made the results."""
        made_by = (known.manifest.provenance.revision for known in self.results.values())
        return sorted(dict.fromkeys(filter(None, made_by)))

    @property
    def spent(self) -> Spent:
        """The cost of the attempts that made the results."""
        return total(self.classes.values())

    @property
    def shown_cost(self) -> ModelCost | None:
        """The cost of the model for users, with all that it was made from."""
        return next((found for found in self.models if found.model == self.shown_model), None)

    @property
    def test_sets(self) -> list[str]:
        """The names of the test sets."""
        return list(dict.fromkeys(name for tests in self.evaluations.values() for name in tests))

    @property
    def shown_model(self) -> str:
        """The model that users get, or the last one that was evaluated so far; "" without any."""
        return shown_model(self.evaluations)

    @property
    def shown_scores(self) -> Scores | None:
        """Its scores on the first test set."""
        return next(iter(self.evaluations.get(self.shown_model, {}).values()), None)


def gather(
    session: Session, history: History, prices: Prices | None = None, kubernetes: Kubernetes | None = None
) -> Report:
    """Gather the results of a session's partition. Runs nothing, and reads the store only."""
    graph = session.graph
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
        sources=sources(statistics, session.config.pair),
        trainings={step.label: found for step, found in metrics.items() if isinstance(found, Training)},
        evaluations=read_evaluations(session, results, metrics),
        before=dict(_before(session, results, metrics, history)),
        sizes=model_sizes(results),
        sentences=shown_sentences(session, results),
        gates=[examine(session, gate, {}) for gate in gates],
        costs=list(stage_costs(graph, results, prices)),
        classes=class_costs(results, prices, kubernetes),
        models=list(model_costs(graph, results, prices)),
        prices=prices,
        kubernetes=kubernetes,
    )


def _before(
    session: Session, results: Mapping[str, Known], metrics: Mapping[Step, object], history: History
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
