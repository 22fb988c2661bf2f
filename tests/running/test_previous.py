"""Results of an earlier run that stand for stages of a new one, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.running.conftest import Bench, demo_config, demo_graph, graph_of
from translations_assets.common.errors import TranslationsError
from translations_assets.config.load import parse_config
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, build_graph, stage, step
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.running.engine import Engine
from translations_assets.running.previous import Previous, previous_results
from translations_assets.why.explain import Explainer
from translations_assets.why.history import History

OTHER_PAIR = """\
experiment: {name: small, src: en, trg: fr}
datasets: {train: [opus_ParaCrawl/v9], devtest: [flores_dev], test: [flores_devtest]}
"""


def make(bench: Bench, graph: Graph, run: str) -> None:
    """Run a graph and write the run down."""
    session = bench.session(graph, run)
    bench.run(session)
    session.end()


def previous(
    bench: Bench,
    graph: Graph,
    run: str = "run-1",
    repeat: tuple[str, ...] = ("count",),
    *,
    force: bool = False,
    config: TrainingConfig | None = None,
) -> Previous:
    keys = KeyMaker(bench.root)
    config = config or demo_config()
    explainer = Explainer(config, keys, History(bench.store, "ann", "en-ru"), lambda config: graph)
    return previous_results(
        config,
        graph,
        bench.store,
        keys,
        run=run,
        repeat=repeat,
        selected=graph.stages,
        force=force,
        explain=lambda *given: explainer.compare(*given).differences,
    )


def labels(found: Previous) -> set[str]:
    return {step.label for step in found.fixed}


def test_the_results_of_the_stages_before_the_start_are_taken(bench: Bench) -> None:
    make(bench, demo_graph(a="one", b="two"), "run-1")
    graph = demo_graph(a="changed", b="two")
    found = previous(bench, graph)
    assert labels(found) == {"write-a", "write-b", "join"}
    assert found.overlooked == ("write-a: argument --word: one → changed",)


def test_the_engine_takes_them_and_runs_only_the_rest(bench: Bench) -> None:
    make(bench, demo_graph(a="one", b="two"), "run-1")
    graph = demo_graph(a="changed", b="two")
    session = bench.session(graph, "run-2", repeat=("count",), fixed=previous(bench, graph).fixed)
    before = len(bench.runner.ran)
    bench.run(session)
    assert bench.runner.ran[before:] == ["count"]
    old = bench.session(demo_graph(a="one", b="two"))
    old.results.need(old.graph.steps)
    used, made = session.results.result(graph.step("join")), old.results.result(old.graph.step("join"))
    assert used is not None
    assert made is not None
    assert used.outputs == made.outputs


def test_stages_that_are_not_part_of_the_run_are_taken_as_well(bench: Bench) -> None:
    make(bench, demo_graph(a="one", b="two"), "run-1")
    graph = demo_graph(a="changed", b="two")
    session = bench.session(graph, "run-2", repeat=("count",), fixed=previous(bench, graph).fixed)
    steps = graph.stages["count"]
    Engine(bench.store, bench.runner).run(session, steps, bench.cancel, bench.events.append)
    assert bench.runner.ran[-1] == "count"


def test_without_a_stage_to_start_at_there_is_nothing_to_take(bench: Bench) -> None:
    with pytest.raises(TranslationsError, match="add --start STAGE"):
        previous(bench, demo_graph(), repeat=())


def test_a_run_that_the_store_does_not_know_is_named(bench: Bench) -> None:
    with pytest.raises(TranslationsError, match="no run run-9"):
        previous(bench, demo_graph(), run="run-9")


def test_missing_results_and_files_are_refused_step_by_step(bench: Bench) -> None:
    make(bench, demo_graph(a="one", b="two"), "run-1")
    bench.lose("join")
    graph = demo_graph(a="one", b="two")
    with pytest.raises(TranslationsError, match=r"join: joined.txt is missing from the store") as caught:
        previous(bench, graph)
    assert "--force" in str(caught.value)
    assert labels(previous(bench, graph, force=True)) == {"write-a", "write-b"}


def test_a_result_that_the_run_does_not_have_is_refused(bench: Bench) -> None:
    make(bench, demo_graph(a="one"), "run-1")
    with pytest.raises(TranslationsError, match=r"write-c: the run has no result of it"):
        previous(bench, demo_graph(a="one", c="three"), repeat=("join", "count"))


def _widened(*outputs: str, read: str = "", also: bool = False) -> Graph:
    """Texts with some outputs, of which `join` reads one; `also` adds a check that reads the last."""

    @stage(group="demo")
    def texts(config: Any) -> list[Output]:
        """Texts."""
        made = step("pipeline.demo.write", label="texts", args={"word": "x"}, outputs=outputs)
        if also:
            step("pipeline.demo.count", label="check", inputs={"text": made[outputs[-1]]}, outputs=["n.txt"])
        return [made[name] for name in outputs]

    @stage(group="demo")
    def join(config: Any, texts: list[Output]) -> None:
        """One of them."""
        inputs = {"texts": next(text for text in texts if text.name == (read or "a.txt"))}
        step("pipeline.demo.join", label="join", inputs=inputs, outputs=["all.txt"])

    return graph_of({"texts": texts, "join": join})


@pytest.mark.parametrize(
    "graph", [_widened("a.txt", "b.txt", read="b.txt"), _widened("a.txt", "b.txt", also=True)]
)
def test_a_result_without_an_output_that_is_read_now_is_refused_or_made_again(
    bench: Bench, graph: Graph
) -> None:
    make(bench, _widened("a.txt"), "run-1")
    with pytest.raises(TranslationsError, match=r"texts: b.txt is missing from the store"):
        previous(bench, graph, repeat=("join",))
    found = previous(bench, graph, repeat=("join",), force=True)
    assert labels(found) == set()
    bench.run(bench.session(graph, "run-2", repeat=("join",), fixed=found.fixed))
    assert [*bench.runner.ran[:3], bench.runner.ran[-1]] == ["texts", "join", "texts", "join"]


def test_a_result_without_an_output_that_nothing_reads_is_taken(bench: Bench) -> None:
    make(bench, _widened("a.txt"), "run-1")
    graph = _widened("a.txt", "b.txt")
    found = previous(bench, graph, repeat=("join",))
    assert labels(found) == {"texts"}
    bench.run(bench.session(graph, "run-2", repeat=("join",), fixed=found.fixed))
    assert bench.runner.ran == ["texts", "join", "join"]


def test_another_language_pair_is_refused(bench: Bench) -> None:
    make(bench, demo_graph(a="one"), "run-1")
    stages = {name: Stage(name, "demo", made.function, made.upstream) for name, made in _stages().items()}
    config = parse_config(OTHER_PAIR, "other.yml")
    with pytest.raises(TranslationsError, match="it translates en to ru, and this training config en to fr"):
        previous(bench, build_graph(config, stages), repeat=("train_model",), config=config)


def _stages(size: int = 8, vocabulary: str = "first") -> dict[str, Stage]:
    """A vocabulary and a model that carries one; `vocabulary` changes the file that the model carries."""

    @stage(group="demo")
    def train_vocab(config: Any) -> Output:
        """A vocabulary."""
        args = {"size": size}
        return step("pipeline.demo.write", label="train-vocab", args=args, outputs=["vocab.spm"])["vocab.spm"]

    @stage(group="demo")
    def train_model(config: Any, train_vocab: Output) -> Output:
        """A model with its vocabulary."""
        made = step(
            "pipeline.demo.count",
            label="train-model",
            args={"which": vocabulary},
            inputs={"vocab": train_vocab},
            outputs=["source.spm"],
        )
        return made["source.spm"]

    @stage(group="demo")
    def use(config: Any, train_model: Output) -> None:
        """Results made from the model."""
        step("pipeline.demo.count", label="use", inputs={"model": train_model}, outputs=["used.txt"])

    return {made.name: made for made in (train_vocab, train_model, use)}


def test_another_vocabulary_is_refused(bench: Bench) -> None:
    bench.runner.contents["train-vocab"] = bench.runner.contents["train-model"] = b"the vocabulary"
    make(bench, graph_of(_stages()), "run-1")
    assert labels(previous(bench, graph_of(_stages()), repeat=("use",))) == {"train-vocab", "train-model"}
    with pytest.raises(TranslationsError, match=r"train-vocab: another vocabulary than .* \(size\)"):
        previous(bench, graph_of(_stages(size=16)), repeat=("use",))


def test_a_model_with_another_vocabulary_than_the_runs_own_is_refused(bench: Bench) -> None:
    bench.runner.contents["train-vocab"] = b"the vocabulary"
    bench.runner.contents["train-model"] = b"another vocabulary"
    make(bench, graph_of(_stages()), "run-1")
    with pytest.raises(TranslationsError, match=r"train-model has another vocabulary \(source.spm\)"):
        previous(bench, graph_of(_stages()), repeat=("use",))
    forced = previous(bench, graph_of(_stages()), repeat=("use",), force=True)
    assert forced.overlooked == ("train-model has another vocabulary (source.spm) than that of the run",)
