"""The model of scale (`python -m benchmarks.scale`): what it computes; production fits its machines."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from benchmarks.scale.__main__ import EXAMPLE
from benchmarks.scale.cluster import Conditions
from benchmarks.scale.flow import flows
from benchmarks.scale.needs import needs
from benchmarks.scale.pair import PAIRS, Pair
from benchmarks.scale.rates import BEFORE, NOW, Feed
from benchmarks.scale.simulation import Production, chunks, misfits, simulate, with_gpus
from translations_assets.config.deployment import Deployment, Kubernetes, load_deployment
from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.stages import STAGES

SMALL = Pair("small", 4_000_000, 4_000_000, datasets=2, mono_datasets=1)
QUIET = Conditions(gpus=4, preemptions=0.0)


@cache
def deployment() -> Deployment:
    return load_deployment(EXAMPLE)


@cache
def simulated() -> Production:
    return simulate(SMALL, with_gpus(deployment(), 4), NOW, QUIET)


def cluster(gpus: int = 4) -> Kubernetes:
    found = with_gpus(deployment(), gpus).kubernetes
    assert found
    return found


def graph_of(pair: Pair) -> Graph:
    return build_graph(parse_config(pair.config(chunks(pair, NOW)), "production.yml"), STAGES)


def test_the_numbers_of_lines_go_from_datasets_to_the_last_text() -> None:
    graph = graph_of(SMALL)
    found = flows(graph)
    merged, _ = found[graph.step("merge-corpus-en-ru")].outputs["corpus.en.zst"]
    synthetic, _ = found[graph.step("collect-mono-trg-en-ru")].outputs["mono.en.zst"]
    distilled, _ = found[graph.step("cefilter-en-ru")].outputs["corpus.ru.zst"]
    assert merged == pytest.approx(SMALL.parallel, rel=1e-3)
    assert synthetic == pytest.approx(SMALL.mono, rel=1e-3)
    assert distilled == pytest.approx((SMALL.parallel + SMALL.mono) * 0.98 * 0.95, rel=1e-3)
    assert found[graph.step("train-teacher-en-ru-1")].lines == pytest.approx(merged + synthetic)


@pytest.mark.parametrize("gpus", [4, 8])
@pytest.mark.parametrize("name", PAIRS)
def test_every_step_fits_the_pod_that_the_example_gives_it(name: str, gpus: int) -> None:
    kubernetes = cluster(gpus)
    assert not list(misfits(needs(graph_of(PAIRS[name]), kubernetes, NOW), kubernetes))


def test_what_does_not_fit_is_named() -> None:
    kubernetes, graph = cluster(), graph_of(PAIRS["160"])
    found = {(one.stage, one.what) for one in misfits(needs(graph, kubernetes, BEFORE), kubernetes)}
    assert ("train_teacher", "GB of disk") in found
    assert ("alignments_original", "GB of memory") in found
    slow = replace(NOW, feed=Feed(100, "a slow one"))
    assert ("train_student", "hours") in {
        (one.stage, one.what) for one in misfits(needs(graph, kubernetes, slow), kubernetes)
    }


def test_the_disk_of_a_training_has_its_pairs_its_result_and_its_saves() -> None:
    """Of a teacher of 0.84 GB: two saves and the one that is written, and nine best models; or all saves."""
    graph = graph_of(PAIRS["160"])
    step = graph.step("train-teacher-en-ru-1")
    flow = flows(graph)[step]
    before = replace(NOW, saves=None)
    now, all_saves = (needs(graph, cluster(), rates)[step] for rates in (NOW, before))
    assert flow.written == pytest.approx(4 * 0.84e9)
    assert now.disk == pytest.approx(flow.read + flow.written + (3 * 3 + 9) * 0.84e9)
    saves = now.working / NOW.trainings["teacher"].saved
    assert all_saves.disk - now.disk == pytest.approx((saves - 3) * 3 * 0.84e9)
    few = graph_of(replace(PAIRS["1"], parallel=1_000, mono=1_000))
    short = needs(few, cluster(), NOW)[few.step("train-teacher-en-ru-1")]
    assert short.disk < flow.written + (2 * 3 + 9) * 0.84e9


def test_every_step_runs_once_and_its_time_is_paid() -> None:
    one = simulated()
    needed = needs(graph_of(SMALL), cluster(), NOW)
    assert one.steps == len(needed)
    assert one.runs == 1
    paid = sum(pod.ended - pod.begun for pod in one.pods)
    starts = len(one.pods) * QUIET.start
    assert paid == pytest.approx(sum(need.seconds for need in needed.values()) + starts)
    assert one.gpu_busy <= one.gpu_hours
    assert one.hours * 3600 >= max(need.seconds for need in needed.values())


def test_money_and_energy_are_hours_by_prices() -> None:
    one, costs = simulated(), deployment().costs
    assert costs
    for name, paid in one.by_class.items():
        price = costs.worker_classes[name]
        pods = [pod for pod in one.pods if pod.worker_class == name]
        assert {pod.machine for pod in pods} == {"spot"}
        assert price.spot_price
        assert paid.money == pytest.approx(sum(pod.hours for pod in pods) * price.spot_price)
        assert paid.kwh == pytest.approx(sum(pod.hours for pod in pods) * price.watts / 1000)


def test_no_more_gpus_and_pods_at_once_than_there_are() -> None:
    one, kubernetes = simulated(), cluster()
    for pod in one.pods:
        beside = [other for other in one.pods if other.begun <= pod.begun < other.ended]
        assert sum(other.gpus for other in beside) <= 4
        for name, worker_class in kubernetes.worker_classes.items():
            assert sum(other.worker_class == name for other in beside) <= (worker_class.max_jobs or 1000)


def test_more_gpus_take_no_longer() -> None:
    eight = simulate(SMALL, with_gpus(deployment(), 8), NOW, replace(QUIET, gpus=8))
    assert eight.hours < simulated().hours


@pytest.mark.slow
def test_machines_that_are_taken_away_cost_time_and_what_resumes_loses_less() -> None:
    lossy, four = replace(QUIET, preemptions=0.5), with_gpus(deployment(), 4)
    going_on = replace(NOW, resumes=frozenset(["pipeline.translate.translate"]))
    lost = simulate(SMALL, four, going_on, lossy)
    assert lost.preemptions > 0
    assert lost.gpu_hours > simulated().gpu_hours
    beginning_again = replace(NOW, resumes=frozenset())
    assert simulate(SMALL, four, beginning_again, lossy).gpu_hours > lost.gpu_hours


def test_gpus_wait_for_a_slow_feed() -> None:
    slow = replace(NOW, feed=Feed(1_000, "a slow one", preparing=166))
    assert simulate(SMALL, with_gpus(deployment(), 4), slow, QUIET).idle > simulated().idle + 0.1
