"""The cost of a production run: simulated at full size, or run at 1/N with a stand-in for Marian.

    python -m benchmarks.scale                               # a pair of 60 + 100 million lines, 4 GPUs
    python -m benchmarks.scale --pair 300 --gpus 8 --before  # by the rates of the version before
    python -m benchmarks.scale --table                       # writes the tables of docs/deployment.md
    python -m benchmarks.scale --scale 100 --folder runs

A simulation runs the config's whole graph by the real engine on a cluster in virtual time, made of the
deployment file's worker classes; each step takes what benchmarks/scale/rates.py says of its lines. It takes
some ten seconds. A real run prints what each script took for a line. It takes two hours of a core and 3 GB at
1/100, seven minutes at 1/8000; what the folder has is not made again. With a smaller run beside it
(`--against 8000`), it prints what has grown as well.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.scale import measured, tables
from benchmarks.scale.cluster import Conditions
from benchmarks.scale.pair import PAIRS
from benchmarks.scale.rates import BEFORE, NOW
from benchmarks.scale.real import run
from benchmarks.scale.simulation import Production, simulate, with_gpus
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Deployment, load_deployment

EXAMPLE = repository_root() / "deploy" / "deployment.example.yml"
GPUS = (4, 8)
COMPARED = ("160", "300")  # with what was before, on four GPUs
SHOWN_STAGES = 12


def main() -> None:
    """Simulate or run, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pair", choices=PAIRS, default="160", help="million lines that it trains on")
    parser.add_argument("--gpus", type=int, default=4, help="of all machines together")
    parser.add_argument("--deployment", type=Path, default=EXAMPLE, help="the deployment file")
    parser.add_argument("--before", action="store_true", help="by the rates of the version before")
    parser.add_argument("--preemptions", type=float, default=0.05, help="of a spot machine in an hour")
    parser.add_argument("--start", type=float, default=180.0, help="seconds until a pod's first command")
    parser.add_argument("--table", action="store_true", help="write the tables of docs/deployment.md")
    parser.add_argument("--scale", type=int, help="run at 1/N")
    parser.add_argument("--against", type=int, help="and at a smaller one, for what grows with the text")
    parser.add_argument("--folder", type=Path, help="where a real run keeps what it makes")
    parser.add_argument("--target", default="all", help="the last stage of a real run")
    parser.add_argument(
        "--words-per-second",
        type=float,
        default=0,
        help="that the stand-in for Marian reads; 0 without a limit",
    )
    options = parser.parse_args()
    if options.scale:
        if not options.folder:
            parser.error("--scale needs --folder, which keeps what is made")
        show_real(options)
        return
    deployment = load_deployment(options.deployment)
    conditions = Conditions(options.gpus, options.start, options.preemptions)
    if options.table:
        write_tables(deployment, conditions)
        return
    rates = BEFORE if options.before else NOW
    show(simulate(PAIRS[options.pair], with_gpus(deployment, options.gpus), rates, conditions))


def show(one: Production) -> None:
    """Print what a simulated run took."""
    print(f"{one.steps} steps in {one.hours:,.0f} hours; the run was begun {one.runs} times")
    print(f"{len(one.pods)} pods, {one.preemptions} of which lost their machine")
    for name, paid in one.by_class.items():
        print(
            f"{name:10} {paid.pods:4} pods, {paid.hours:8,.1f} hours, {paid.money:8,.0f} USD, "
            f"{paid.kwh:6,.0f} kWh, a step at most {paid.disk / 1e9:,.0f} GB of disk, "
            f"{paid.memory / 1e9:,.1f} GB of memory"
        )
    print(f"GPU hours: {one.gpu_hours:,.0f}, idle in {one.idle:.0%} of them")
    print(f"money: {one.money:,.0f} USD; energy: {one.kwh:,.0f} kWh; results: {one.stored / 1e9:,.0f} GB")
    by_stage: dict[str, float] = {}
    for pod in one.pods:
        by_stage[pod.stage] = by_stage.get(pod.stage, 0.0) + pod.hours
    for stage, hours in sorted(by_stage.items(), key=lambda item: -item[1])[:SHOWN_STAGES]:
        since, until = one.begun(stage), one.ended(stage)
        print(f"    {stage:28} {hours:8,.1f} hours of pods, from {since:,.0f} h to {until:,.0f} h")
    print(*tables.misfits(one.misfits), sep="\n")


def write_tables(deployment: Deployment, conditions: Conditions) -> None:
    """Simulate all pairs with 4 and 8 GPUs, and large ones by the rates of before."""
    found = {
        (pair.name, gpus): simulate(pair, with_gpus(deployment, gpus), NOW, replace(conditions, gpus=gpus))
        for pair in PAIRS.values()
        for gpus in GPUS
    }
    pairs = [PAIRS[name] for name in COMPARED]
    four, conditions = with_gpus(deployment, GPUS[0]), replace(conditions, gpus=GPUS[0])
    compared = {
        pair.name: (simulate(pair, four, BEFORE, conditions), found[pair.name, GPUS[0]]) for pair in pairs
    }
    tables.write("sizes", tables.sizes(found))
    tables.write("comparison", tables.comparison(compared))
    print(*tables.sizes(found), "", *tables.comparison(compared), sep="\n")
    for name, (before, _) in compared.items():
        print(f"{name}, before:", *tables.misfits(before.misfits), sep="\n")
    for (name, gpus), one in found.items():
        for line in tables.misfits(one.misfits):
            print(f"{name}, {gpus} GPUs {line}")


def show_real(options: argparse.Namespace) -> None:
    """Run at 1/N, at the smaller scale first, and print what the scripts took."""
    small, large = (
        run(options.folder, options.pair, scale, options.target, options.words_per_second) if scale else {}
        for scale in (options.against, options.scale)
    )
    print(*measured.table(large, small), "", "Compressed bytes of a line:", sep="\n")
    print(*measured.bytes_a_line(large), sep="\n")


if __name__ == "__main__":
    main()
