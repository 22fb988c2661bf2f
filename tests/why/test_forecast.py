"""Tests of the expected time and cost of steps, by earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import Bench, demo_config, demo_graph
from tests.running.test_session import publish_all
from translations_assets.config.deployment import StagePod, WorkerClass, parse_deployment
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph, stage, step
from translations_assets.graph.step import Arg, LocalFile, Output
from translations_assets.keys.key import KeyMaker
from translations_assets.records.cost import HOUR, Cost
from translations_assets.records.manifest import Blob, Usage, Worker
from translations_assets.running.plan import Plan, make_plan
from translations_assets.running.prices import Prices
from translations_assets.running.resolve import StepState
from translations_assets.why.estimates import Forecast
from translations_assets.why.forecast import Forecasts, forecast_plan
from translations_assets.why.history import History

GIB = 10**9

DEPLOYMENT = """
runner: kubernetes
store: gs://bucket/store
kubernetes:
  image: registry/worker
  worker-classes:
    cpu: {}
    gpu: {gpus: 1, spot: {}, machine: spot}
  stages:
    evaluate_student: {worker-class: gpu}
costs:
  currency: EUR
  worker-classes:
    cpu: {price: 0.5, watts: 100}
    gpu: {price: 3, spot-price: 1, watts: 500}
"""


def history(bench: Bench, space: str = "ann", partition: str = "en-ru") -> History:
    return History(bench.store, space, partition)


def used(bench: Bench, label: str, *, gpus: int = 0, text: int = 0, **usage: float) -> None:
    """Make a new result's record say what it used, and how large the text was that it read."""
    for manifest in list(bench.store.manifests()):
        if manifest.label == label and not manifest.usage.seconds:
            provenance = replace(manifest.provenance, worker=Worker(gpus=gpus))
            if text:
                provenance = replace(provenance, files={"text/corpus.zst": Blob("0" * 64, text)})
            changed = replace(manifest, provenance=provenance, usage=Usage(**usage))  # type: ignore[arg-type]
            assert isinstance(bench.store, MemoryStore)
            bench.store.files.unlink(bench.store.manifest_file(manifest.key, 1))
            bench.store.commit(changed)


def plan_of(bench: Bench, graph: Graph) -> Plan:
    return make_plan(graph.steps, KeyMaker(bench.root), bench.store)


def costs(bench: Bench, graph: Graph, found: History | None = None) -> Mapping[str, Cost | None]:
    forecasts = Forecasts(found or history(bench)).of(plan_of(bench, graph))
    return {step.label: forecast.cost if forecast else None for step, forecast in forecasts.items()}


def test_what_a_step_took_is_that_of_its_newest_artifact_else_the_mean_of_its_stage(bench: Bench) -> None:
    publish_all(bench, a="one", b="two").end()
    used(bench, "write-a", seconds=10.0, cpu_seconds=30.0)
    used(bench, "write-b", seconds=20.0, gpus=2)
    changed = demo_graph(a="1", b="2", new="3")
    expected = {"write-a": Cost(10.0, 30.0, 0.0), "write-b": Cost(20.0, 0.0, 40.0)}
    mean = Cost(15.0, 15.0, 20.0)
    found = costs(bench, changed)
    assert {label: found[label] for label in ("write-a", "write-b", "write-new")} == {
        **expected,
        "write-new": mean,
    }
    assert costs(bench, changed, history(bench, "bob", "en-de"))["write-new"] == mean


@pytest.mark.parametrize("resumable", [True, False])
def test_earlier_attempts_count_where_a_step_went_on_from_them(bench: Bench, resumable: bool) -> None:
    publish_all(bench, a="one").end()
    used(bench, "count", seconds=10.0, cpu_seconds=30.0, earlier_seconds=40.0)
    made = next(made for made in bench.store.manifests() if made.label == "count")
    assert made.cost == Cost(50.0, 150.0)
    graph = demo_graph(a="two")
    step = replace(graph.step("count"), resumable=resumable)
    plan = Plan((StepState(step, "run"),))
    forecast = Forecasts(history(bench)).of(plan)[step]
    assert forecast
    assert forecast.cost == (Cost(50.0, 150.0) if resumable else Cost(10.0, 30.0))


def training(after: str, seed: int) -> Graph:
    @stage(group="demo")
    def train(config: TrainingConfig) -> Output:
        """A model."""
        args: dict[str, Arg] = {"marian_args": after, "seed": seed}
        script = "pipeline.demo.write"
        made = step(script, label="train", args=args, outputs=["text.txt"], repeatable=False)
        return made["text.txt"]

    return build_graph(demo_config(), {"train": train})


def test_a_training_with_other_options_took_another_time(bench: Bench) -> None:
    session = bench.session(training("50u", 1))
    bench.run(session)
    session.results.publish("train")
    used(bench, "train", seconds=10.0)
    assert costs(bench, training("50u", 2)) == {"train": Cost(10.0)}
    assert costs(bench, training("100000u", 1)) == {"train": None}


def trainings(seed: int, **after: str) -> Graph:
    """Trainings with these labels."""

    @stage(group="demo")
    def train(config: TrainingConfig) -> list[Output]:
        """Models."""
        made = []
        for label, updates in after.items():
            args: dict[str, Arg] = {"marian_args": updates, "seed": seed}
            script = "pipeline.demo.write"
            made.append(step(script, label=label, args=args, outputs=["text.txt"], repeatable=False))
        return [each["text.txt"] for each in made]

    return build_graph(demo_config(), {"train": train})


def test_a_new_training_takes_what_one_with_its_options_took(bench: Bench) -> None:
    """Of several new ones each; where there is none like it, nothing is known."""
    session = bench.session(trainings(1, short="50u", long="100000u"))
    bench.run(session)
    session.results.publish("train")
    used(bench, "short", seconds=10.0)
    used(bench, "long", seconds=5000.0)
    found = costs(bench, trainings(2, x="50u", y="9000u", z="100000u"))
    assert found == {"x": Cost(10.0), "y": None, "z": Cost(5000.0)}


def chain(word: str) -> Graph:
    """A text → cleaned → translated, and the translation of another text, which is new."""

    def read(label: str, script: str, text: Output) -> Output:
        return step(script, label=label, inputs={"text": text}, outputs=[f"{label}.zst"])[f"{label}.zst"]

    @stage(group="demo")
    def text(config: TrainingConfig) -> Output:
        """A text."""
        made = step("pipeline.demo.write", label="text", args={"word": word}, outputs=["text.zst"])
        return made["text.zst"]

    @stage(group="demo")
    def clean(config: TrainingConfig, text: Output) -> Output:
        """The text, cleaned."""
        return read("clean", "pipeline.demo.join", text)

    @stage(group="demo")
    def translate(config: TrainingConfig, clean: Output) -> list[Output]:
        """Its translation, by one or two models."""
        models = ["first"] if word == "small" else ["first", "second"]
        return [read(model, "pipeline.demo.count", clean) for model in models]

    return build_graph(demo_config(), {"text": text, "clean": clean, "translate": translate})


def test_time_and_disk_grow_with_the_text_that_is_read(bench: Bench) -> None:
    small, large = chain("small"), chain("large")
    bench.runner.contents |= {"text": b"x" * 100, "clean": b"x" * 40, "first": b"x" * 60}
    session = bench.session(small)
    bench.run(session)
    for name in small.stages:
        session.results.publish(name)
    used(bench, "clean", seconds=10.0, disk=1000)
    used(bench, "first", seconds=20.0, cpu_seconds=30.0, disk=500)
    bench.runner.contents |= {"text": b"y" * 1000}
    bench.run(bench.session(large, run="run-2"), "text")
    plan = plan_of(bench, large)
    assert [planned.status for planned in plan.steps] == ["cached", "run", "maybe", "maybe"]
    found = Forecasts(history(bench)).of(plan)
    clean, first, second = found.values()
    assert clean == Forecast(Cost(100.0), 10000.0 + 1000, {"clean.zst": 400.0})  # with what it reads
    assert first == Forecast(Cost(200.0, 300.0), 5000.0 + 400, {"first.zst": 600.0})
    assert second == replace(first, outputs={"second.zst": 600.0})  # by what others of its stage took


def test_what_a_script_takes_without_text_is_known_from_texts_of_two_sizes(bench: Bench) -> None:
    for number, (word, text, took) in enumerate((("small", 100, 12.0), ("large", 1000, 30.0))):
        bench.runner.contents |= {"text": word[:1].encode() * text, "clean": word[1:2].encode() * 40}
        session = bench.session(chain(word), run=f"run-{number}")
        bench.run(session)
        for name in session.graph.stages:
            session.results.publish(name)
        used(bench, "clean", seconds=took, cpu_seconds=3 * took, gpus=2)
        used(bench, "first", seconds=took)
    bench.runner.contents |= {"text": b"x" * 6000}
    bench.run(bench.session(chain("third"), run="run-3"), "text")
    found = costs(bench, chain("third"))
    assert found["clean"] == Cost(10.0 + 6 * 20.0, 0.0, 2 * (10.0 + 6 * 20.0))
    assert found["first"] == Cost(6 * 30.0)  # its two texts were equally large


def test_what_a_script_takes_without_text_is_never_negative_nor_more_than_for_the_least() -> None:
    slow, fast = Cost(10.0, 2.0), Cost(90.0, 1.0)
    assert slow.at_no_text(fast, 5.0) == Cost(0.0, 2.0)


def test_a_text_of_unknown_size_takes_what_the_last_one_took(bench: Bench) -> None:
    small = chain("small")
    session = bench.session(small)
    bench.run(session)
    session.results.publish("clean")
    used(bench, "clean", seconds=10.0, text=100)
    store = bench.store
    assert isinstance(store, MemoryStore)
    for manifest in list(store.manifests()):
        if manifest.label == "text":
            store.files.unlink(store.manifest_file(manifest.key, 1))
    assert costs(bench, small) == {"text": None, "clean": Cost(10.0), "first": None}


def imported(path: Path) -> Graph:
    @stage(group="demo")
    def texts(config: TrainingConfig) -> Output:
        """A text of somebody's own."""
        inputs = {"text": LocalFile(str(path))}
        made = step("pipeline.demo.write", label="import", inputs=inputs, outputs=["text.zst"])
        return made["text.zst"]

    return build_graph(demo_config(), {"texts": texts})


def test_files_of_ones_own_count_by_their_size(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "corpus.gz"
    path.write_bytes(b"x" * 10)
    session = bench.session(imported(path))
    bench.run(session)
    session.results.publish("texts")
    used(bench, "import", seconds=10.0)
    path.write_bytes(b"x" * 35)
    assert costs(bench, imported(path)) == {"import": Cost(35.0)}


def prices(asked: str = "") -> Prices:
    deployment = parse_deployment(DEPLOYMENT, "deployment.yml")
    assert deployment.costs
    return Prices(deployment.costs, deployment.kubernetes, lambda stage: asked)


def test_the_price_is_that_of_the_machine_where_a_step_runs() -> None:
    graph = demo_graph()
    write, count = graph.step("write-a"), graph.step("count")
    assert prices().priced(write, Cost(HOUR)) == Cost(HOUR, money=0.5, kwh=0.1)
    on_gpu = replace(count, worker="gpu")
    spot = Cost(2 * HOUR, money=2.0, kwh=1.0)  # the class's own choice
    assert prices().priced(on_gpu, Cost(2 * HOUR)) == spot
    assert prices("standard").priced(on_gpu, Cost(HOUR)) == Cost(HOUR, money=3.0, kwh=0.5)
    no_spot = prices("spot").priced(write, Cost(HOUR))
    assert no_spot == Cost(HOUR, money=0.5, kwh=0.1)
    on_another_class = replace(count, stage="evaluate_student")
    assert prices().priced(on_another_class, Cost(HOUR)) == Cost(HOUR, money=1.0, kwh=0.5)
    without_price = replace(count, worker="large-gpu")
    assert prices().priced(without_price, Cost(HOUR, 1.0, 2.0)) == Cost(HOUR, 1.0, 2.0)


def test_what_was_made_is_priced_by_where_it_was_made(bench: Bench) -> None:
    bench.make()
    manifest = next(iter(bench.store.manifests()))
    provenance = replace(manifest.provenance, worker=Worker(others={"machine": "standard"}))
    step = replace(demo_graph().step("count"), worker="gpu")
    standard = replace(manifest, provenance=provenance)
    assert prices("spot").priced(step, Cost(HOUR), standard) == Cost(HOUR, money=3.0, kwh=0.5)
    assert prices("spot").priced(step, Cost(HOUR), manifest) == Cost(HOUR, money=1.0, kwh=0.5)


def planned_of(graph: Graph) -> Plan:
    states = {"write-a": "run", "write-b": "run", "join": "maybe", "count": "maybe"}
    return Plan(tuple(StepState(step, states[step.label]) for step in graph.steps))  # type: ignore[arg-type]


def test_the_summary_says_what_is_to_come(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    hours = {"write-a": Cost(3600, 7200, 0), "write-b": Cost(3600, 0, 25200), "join": Cost(60, 3600, 0)}
    graph = demo_graph()

    def of(self: Forecasts, plan: Plan) -> dict[object, Forecast | None]:
        return {
            planned.step: Forecast(cost, 2 * GIB, {}) if (cost := hours.get(planned.step.label)) else None
            for planned in plan.steps
            if planned.status in ("run", "maybe")
        }

    monkeypatch.setattr(Forecasts, "of", of)
    plan = planned_of(graph)
    free = forecast_plan(plan, history(bench))
    assert free.summary() == (
        "4 steps: 2 run, 2 maybe; about 2.0 h (7.0 h of GPU, 2.0 h of CPU), at most 2.0 h (7.0 h of "
        "GPU, 3.0 h of CPU), from past durations; 1 step without a past duration"
    )
    assert [*free.lines()] == ["cpu  4 steps, 2.0 h, 2.0 GB of disk"]
    dear = forecast_plan(plan, history(bench), prices())
    assert dear.summary() == (
        "4 steps: 2 run, 2 maybe; about 2.0 h (7.0 h of GPU, 2.0 h of CPU), 1.0 EUR, 0.20 kWh, at most 2.0 h "
        "(7.0 h of GPU, 3.0 h of CPU), 1.0 EUR, 0.20 kWh, from past durations; 1 step without a past duration"
    )
    assert [*dear.lines()] == ["cpu  4 steps, 2.0 h, 1.0 EUR, 0.20 kWh, 2.0 GB of disk"]
    assert dear.as_json()["cpu"]["at_least"] == {
        "hours": 2.0,
        "cpu_hours": 2.0,
        "gpu_hours": 7.0,
        "money": 1.0,
        "kwh": 0.2,
    }
    assert {label: round(each.seconds) for label, each in dear.expected.items()} == {
        "write-a": 3600,
        "write-b": 3600,
        "join": 60,
    }
    assert dear.expected["write-b"] == Cost(3600, 0, 25200, money=0.5, kwh=0.1)


def test_steps_stand_under_the_class_where_they_run_with_its_gpus(bench: Bench) -> None:
    bench.make()
    used(bench, "write-a", seconds=HOUR, gpus=1)
    used(bench, "write-b", seconds=HOUR, cpu_seconds=HOUR)
    used(bench, "join", seconds=HOUR, gpus=2)
    graph, kubernetes = demo_graph(), parse_deployment(DEPLOYMENT, "deployment.yml").kubernetes
    assert kubernetes
    four = {**kubernetes.worker_classes, "large-gpu": WorkerClass(gpus=4)}
    moved = {graph.step("write-a").stage: StagePod.model_validate({"worker-class": "large-gpu"})}
    now = kubernetes.model_copy(update={"worker_classes": four, "stages": moved})
    found = forecast_plan(planned_of(graph), history(bench), cluster=now)
    classes = found.by_class()
    assert list(classes) == ["large-gpu", "cpu"]
    assert classes["large-gpu"].at_least == Cost(1.25 * HOUR, 0.0, 5 * HOUR)
    assert found.expected["write-a"] == Cost(HOUR / 4, 0.0, HOUR)  # the work of one GPU, in four
    assert found.expected["write-b"] == Cost(HOUR, 0.0, 4 * HOUR)  # it had none
    assert classes["cpu"].at_most == Cost(HOUR, HOUR)  # join, without its two
    own = forecast_plan(planned_of(graph), history(bench))
    assert list(own.by_class()) == ["cpu"]
    assert own.expected["join"] == Cost(HOUR, 0.0, 2 * HOUR)


def test_what_takes_longer_than_an_attempt_may_is_told(bench: Bench) -> None:
    bench.make()
    for label, seconds in {"write-a": 26 * HOUR, "write-b": 11 * HOUR, "join": 13 * HOUR}.items():
        used(bench, label, seconds=seconds)
    kubernetes = parse_deployment(DEPLOYMENT, "deployment.yml").kubernetes
    assert kubernetes
    classes = {
        name: each.model_copy(update={"max_hours": 12}) for name, each in kubernetes.worker_classes.items()
    }
    short = kubernetes.model_copy(update={"worker_classes": classes})
    graph = demo_graph()
    found = forecast_plan(planned_of(graph), history(bench), cluster=short)
    write, join = graph.step("write-a").stage, graph.step("join").stage
    remedy = "raise max-hours in the deployment file or, where the steps read parts, split-chunks"
    assert [*found.warnings()] == [
        f"{write}: 1 step needs up to 26 h, an attempt has 12 h, and the next one starts again; {remedy}",
        f"{join}: 1 step needs up to 13 h, an attempt has 12 h, and the next one starts again; {remedy}",
    ]
    stages = {write: StagePod.model_validate({"max-hours": 30})}
    longer = forecast_plan(
        planned_of(graph), history(bench), cluster=short.model_copy(update={"stages": stages})
    )
    (line,) = longer.warnings()
    assert line.startswith(f"{join}: 1 step needs up to 13 h, an attempt has 12 h,")
    assert not [*forecast_plan(planned_of(graph), history(bench), cluster=kubernetes).warnings()]
    assert not [*forecast_plan(planned_of(graph), history(bench)).warnings()]


def test_the_summary_without_past_durations(bench: Bench) -> None:
    unknown = forecast_plan(planned_of(demo_graph()), history(bench))
    assert unknown.summary() == "4 steps: 2 run, 2 maybe; 4 steps without a past duration"
    assert [*unknown.lines()] == ["cpu  4 steps"]
    bench.make()
    cached = forecast_plan(plan_of(bench, demo_graph()), history(bench))
    assert (cached.summary(), [*cached.lines()]) == ("4 steps: 4 cached", [])
