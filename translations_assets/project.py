"""A project: training configs, their graphs, the store and the runner, put together from the settings.

The command line and Dagster's definitions both start here. Everything is made when it is first asked for: a
command that only prints a graph opens no store.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from translations_assets.common import settings
from translations_assets.common.errors import TranslationsError
from translations_assets.common.extras import require_cluster
from translations_assets.common.revision import revision
from translations_assets.config.errors import ConfigError
from translations_assets.configs.training_configs import ReadConfig, TrainingConfigs, graph_of
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.keys.local_files import FileDigests
from translations_assets.records.manifest import KeyParts, Manifest
from translations_assets.records.run import RunOptions
from translations_assets.running.budget import Budget, SpentByOthers
from translations_assets.running.prices import Prices, class_of
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Runner
from translations_assets.running.session import Session, repeated_stages
from translations_assets.store.levels import Levels
from translations_assets.store.open import open_store
from translations_assets.why.history import History

if TYPE_CHECKING:
    from translations_assets.config.deployment import Deployment, Kubernetes, Slurm
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.running.engine import Engine
    from translations_assets.running.plan import Plan
    from translations_assets.why.explain import Explainer
    from translations_assets.why.plan_forecast import PlanForecast


class Project:
    """Everything that the settings name. Safe for use by several threads. See `this_project`."""

    def __init__(self) -> None:
        self.root = settings.repository_root()
        self.files = FileDigests(settings.state_folder() / "files.json")
        self.keys = KeyMaker(self.root, self.files, settings.state_folder() / "keys")
        self.configs = TrainingConfigs(
            self.root, self.files, lambda: self.store, self._file_folders, lambda: self.cluster is None
        )
        self._sessions: dict[tuple[str, str], Session] = {}
        self._explainers: dict[tuple[str, str], Explainer] = {}
        self._lock = threading.RLock()

    @cached_property
    def deployment(self) -> Deployment | None:
        """The deployment file's contents; None without one. Raises ConfigError for mistakes in it."""
        path = settings.deployment_file()
        if path is None:
            return None
        from translations_assets.config.deployment import load_deployment

        return load_deployment(path)

    @cached_property
    def store(self) -> Store:
        """The store that the settings name, or the deployment file; over another one, if they name one.

        With levels of trust, that of one's own over those of all higher ones.
        """
        if self.levels:
            return self.levels.open()
        deployment = self.deployment
        own = settings.store_url(self._deployed_store)
        return open_store(own, settings.store_base_url(deployment.store_base if deployment else None))

    @cached_property
    def levels(self) -> Levels | None:
        """The levels of trust; None where the deployment file has none.

        Raises TranslationsError when the settings contradict them.
        """
        deployment = self.deployment
        own = settings.level(deployment.level if deployment else None)
        if deployment is None or not deployment.levels:
            if own:
                raise TranslationsError(
                    f"TRANSLATIONS_LEVEL={own} names a level of trust, and no deployment file has `levels`. "
                    "Name one that has in TRANSLATIONS_DEPLOYMENT."
                )
            return None
        if settings.is_store_named() or settings.store_base_url():
            raise TranslationsError(
                "The deployment file has levels of trust, which name all stores. Unset TRANSLATIONS_STORE "
                "and TRANSLATIONS_STORE_BASE: a level's place is not chosen by who uses it."
            )
        return Levels({level.name: settings.absolute(level.store) for level in deployment.levels}, own)

    @property
    def _deployed_store(self) -> str | None:
        if self.levels:
            return self.levels.places[self.levels.own]
        return self.deployment.store if self.deployment else None

    def missing_store(self) -> str:
        """Explain that the store that somebody has named does not exist; else "".

        The default store is not there before the first run, and nobody has mistyped it.
        """
        if not settings.is_store_named(self._deployed_store) or self.store.exists():
            return ""
        return f"There is no store {settings.store_url(self._deployed_store)}"

    @cached_property
    def runner(self) -> Runner:
        """The runner of steps: the cluster of the deployment file, else processes on this machine.

        Processes share the machine's CPU and GPU slots.
        """
        from translations_assets.config.deployment import Deployment

        minutes = (self.deployment or Deployment()).unsaved_minutes
        if self._kubernetes:
            self.check_cluster()
            from translations_assets.runners.kubernetes.runner import KubernetesRunner

            return KubernetesRunner(self._kubernetes, self.root, unsaved_minutes=minutes)
        if self.deployment and self.deployment.runner == "slurm" and self.deployment.slurm:
            from translations_assets.runners.slurm.runner import SlurmRunner

            return SlurmRunner(self.deployment.slurm, unsaved_minutes=minutes)
        from translations_assets.runners.local import LocalRunner

        return LocalRunner(settings.state_folder(), files=settings.file_folders(), unsaved_minutes=minutes)

    def check_cluster(self) -> None:
        """Raise TranslationsError where steps run on Kubernetes and its library is not installed."""
        if self._kubernetes:
            require_cluster("kubernetes", "A deployment file with `runner: kubernetes`")

    @property
    def cluster(self) -> Kubernetes | Slurm | None:
        """The cluster that steps run on, None when they run on this machine."""
        return self.deployment.cluster if self.deployment else None

    @property
    def _kubernetes(self) -> Kubernetes | None:
        deployment = self.deployment
        return deployment.kubernetes if deployment and deployment.runner == "kubernetes" else None

    def _file_folders(self) -> Sequence[str]:
        """The folders in which files of configs may be where steps run."""
        return self.cluster.files if self.cluster else settings.file_folders()

    def prices(self, asked: Callable[[str], str]) -> Prices | None:
        """Return the prices of machines; None when the deployment file has none.

        `asked` gives the kind of machine that a training config asks for, by stage, as `Session.machine`.
        """
        if self.deployment is None or self.deployment.costs is None:
            return None
        return Prices(self.deployment.costs, self.cluster, asked)

    def forecast(self, session: Session, plan: Plan) -> PlanForecast:
        """Forecast the cost of the steps of a session's plan that will or may run."""
        from translations_assets.runners.speed import speed
        from translations_assets.why.estimates import Estimates
        from translations_assets.why.forecast import forecast_plan

        history = self.history(session.partition)
        estimates = Estimates(self.keys, history, self._gpus_of, speed)
        return forecast_plan(plan, history, self.prices(session.machine), self.cluster, estimates)

    def _gpus_of(self, step: Step) -> int:
        """The GPUs of the machine that a step runs on."""
        from translations_assets.runners.machine import gpus_of

        if cluster := self.cluster:
            return cluster.worker_classes[class_of(step, cluster)].gpus
        return gpus_of(step.worker, self._own_gpus)

    @cached_property
    def _own_gpus(self) -> int:
        """The number of GPUs of this machine; nvidia-smi takes a second to count them."""
        from translations_assets.runners.machine import find_gpus

        return len(find_gpus(os.environ))

    @cached_property
    def engine(self) -> Engine:
        """The engine over the store and the runner."""
        from translations_assets.running.engine import Engine

        return Engine(self.store, self.runner, revision(self.root), self._reasons)

    @property
    def space(self) -> str:
        """The space of the refs. Raises TranslationsError for a name that cannot be one."""
        try:
            return settings.space(self.deployment.space if self.deployment else None)
        except ValueError as error:
            raise TranslationsError(str(error)) from error

    def history(self, partition: str) -> History:
        """Earlier artifacts of a partition and of its relatives."""
        return History(self.store, self.space, partition)

    def explainer(self, config: TrainingConfig, history: History, keys: KeyMaker | None = None) -> Explainer:
        """Says why steps of a training config run."""
        from translations_assets.why.explain import Explainer

        return Explainer(config, keys or self.keys, history, graph_of)

    def _reasons(self, session: Session, step: Step, parts: KeyParts) -> Sequence[str]:
        """Explain why a step runs whose key has no result, for its manifest."""
        from translations_assets.why.explain import candidates

        which = session.run, session.partition
        with self._lock:
            if which not in self._explainers:
                history = self.history(session.partition)
                self._explainers[which] = self.explainer(session.config, history)
        most = candidates(len(session.graph.steps))
        return self._explainers[which].explain(step, parts, most).reasons

    def session(
        self,
        run: str,
        partition: str | ReadConfig,
        options: RunOptions | None = None,
        stages: Collection[str] = (),
    ) -> Session:
        """The session that everything in a run shares, its plan included.

        `partition` is a key, a path to a YAML file, or a config that was read with the options' overrides.
        What follows counts when the session begins; that is when the config is read.
        """
        options = options or RunOptions()
        with self._lock:
            key = partition.partition if isinstance(partition, ReadConfig) else partition
            if (run, key) not in self._sessions:
                if not isinstance(partition, ReadConfig):
                    partition = self.configs.read(partition, options.overrides)
                key = partition.partition
                self._sessions[run, key] = self.new_session(run, partition, options, stages)
            return self._sessions[run, key]

    def new_session(
        self, run: str, read: ReadConfig, options: RunOptions, stages: Collection[str]
    ) -> Session:
        """A session that nothing shares."""
        graph, repeat = read.graph, repeated_stages(read.graph, options.start)
        fixed: Mapping[Step, Manifest] = {}
        warnings: list[str] = []
        if options.previous_run:
            from translations_assets.running.previous import previous_results

            explainer = self.explainer(read.config, self.history(read.partition))
            previous = previous_results(
                read.config,
                graph,
                self.store,
                self.keys,
                run=options.previous_run,
                repeat=repeat,
                selected=stages or graph.stages,
                force=options.force,
                explain=lambda *given: explainer.compare(*given).reasons,
            )
            fixed = previous.fixed
            warnings = [f"Overlooked in run {options.previous_run}: {line}" for line in previous.overlooked]
        session = Session(
            run=run,
            partition=read.partition,
            space=self.space,
            parse=lambda: read.config,
            graph=graph,
            store=self.store,
            keys=self.keys,
            options=options,
            repeat=repeat,
            fixed=fixed,
            stages=stages,
            changed=graph.changed_stages(self._as_written(read)) if options.overrides else (),
            notes=read.notes,
        )
        for warning in warnings:
            session.results.warn(warning)
        session.budget = self._budget(session)
        return session

    def _budget(self, session: Session) -> Budget | None:
        """Return the budget of a run. Raises TranslationsError without prices, or for no amount of money."""
        limit = session.options.budget
        if not limit and session.options.hard_budget:
            raise TranslationsError("--hard-budget needs an amount: give --budget.")
        if not limit:
            return None
        prices = self.prices(session.machine)
        if prices is None or not limit > 0:
            wrong = "must be more than 0" if prices else "needs prices: give `costs` in the deployment file"
            raise TranslationsError(f"--budget {wrong} (docs/deployment.md)")
        asked = session.stages or session.graph.stages
        if free := prices.without(step for stage in asked for step in session.graph.stages[stage]):
            raise TranslationsError(
                f"--budget needs a price for every worker class that the run uses: give costs.worker-classes."
                f"{free[0]} in the deployment file, 0 for machines that cost nothing."
            )
        others = SpentByOthers(self.store, session.run, session.options.sweep)
        return Budget(limit, prices, session.options.hard_budget, others)

    def _as_written(self, read: ReadConfig) -> Graph:
        """The graph of a training config without overrides; an empty one when it needs them to be valid."""
        try:
            return graph_of(self.configs.parse(read.text, read.source))
        except (ConfigError, TranslationsError):
            return Graph({}, {})

    def end_sessions(self, run: str) -> list[Session]:
        """Write down that a run has ended, and forget its sessions, which are returned."""
        with self._lock:
            ended = [key for key in self._sessions if key[0] == run]
            sessions = [self._sessions.pop(key) for key in ended]
            for session in sessions:
                self._explainers.pop((run, session.partition), None)
                session.end()
        return sessions


@cache
def this_project() -> Project:
    """The project of this process, which the command line and Dagster's definitions share.

    project = this_project()
    session = project.session("a-run", "en-ru")
    """
    return Project()
