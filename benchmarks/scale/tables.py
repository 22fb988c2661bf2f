"""The tables of docs/deployment.md: what production runs take, and took before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchmarks.scale.simulation import Misfit, Production
from translations_assets.common.settings import repository_root

PAGE = Path("docs/deployment.md")
BEGIN, END = "<!-- benchmarks.scale: {} -->", "<!-- end -->"
GB = 1e9


def sizes(found: Mapping[tuple[str, int], Production]) -> Iterator[str]:
    """Pair and GPUs → machines, hours, disk, money."""
    yield (
        "| pair | GPUs | days | hours of pods: cpu, large-cpu, gpu, large-gpu | GPU hours | GPUs idle "
        "| pods at once | disk of a pod, GB | bucket, GB | energy, kWh | USD |"
    )
    yield "|---|" + "---|" * 10
    for (name, gpus), one in found.items():
        hours = ", ".join(f"{paid.hours:,.0f}" for paid in one.by_class.values())
        disk = ", ".join(f"{paid.disk / GB:,.0f}" for paid in one.by_class.values())
        at_once = ", ".join(f"{paid.at_once}" for paid in one.by_class.values())
        yield (
            f"| {name} | {gpus} | {one.hours / 24:,.1f} | {hours} | {one.gpu_hours:,.0f} | {one.idle:.0%} "
            f"| {at_once} | {disk} | {one.stored / GB:,.0f} | {one.kwh:,.0f} | {one.money:,.0f} |"
        )


def comparison(found: Mapping[str, tuple[Production, Production]]) -> Iterator[str]:
    """Pair → its run by an earlier version's rates, and now."""
    yield "| |" + "".join(f" {name}: before | now | |" for name in found)
    yield "|---|" + "---|---|---|" * len(found)
    rows: dict[str, Callable[[Production], float]] = {
        "hours from beginning to end": lambda one: one.hours,
        "GPU hours that are paid": lambda one: one.gpu_hours,
        "of them idle": lambda one: one.gpu_hours - one.gpu_busy,
        "hours of pods, cpu": lambda one: one.by_class["cpu"].hours,
        "hours of pods, large-cpu": lambda one: one.by_class["large-cpu"].hours,
        "hours of pods, gpu": lambda one: one.by_class["gpu"].hours,
        "hours of pods, large-gpu": lambda one: one.by_class["large-gpu"].hours,
        "pods": lambda one: len(one.pods),
        "disk of a training's pod, GB": lambda one: one.by_class["large-gpu"].disk / GB,
        "USD": lambda one: one.money,
        "kWh": lambda one: one.kwh,
        "steps that do not fit their pods": lambda one: len({misfit.label for misfit in one.misfits}),
        "times that the run was begun": lambda one: one.runs,
    }
    for name, value in rows.items():
        both = [(value(before), value(now)) for before, now in found.values()]
        changes = (f" {old:,.0f} | {new:,.0f} | {new / old - 1:+.0%} |" for old, new in both)
        yield f"| {name} |" + "".join(changes)


def misfits(found: tuple[Misfit, ...]) -> Iterator[str]:
    """Yield rows for the misfits, the worst step of each stage and kind."""
    worst: dict[tuple[str, str], Misfit] = {}
    for one in found:
        kind = one.stage, one.what
        if kind not in worst or worst[kind].needed < one.needed:
            worst[kind] = one
    yield from (f"does not fit: {one}" for one in worst.values())


def write(name: str, lines: Iterator[str]) -> None:
    """Put a table into the page, in place of the one that stands there."""
    page = repository_root() / PAGE
    text = page.read_text(encoding="utf-8")
    begin = text.index(BEGIN.format(name)) + len(BEGIN.format(name))
    end = text.index(END, begin)
    body = "\n".join(lines)
    page.write_text(f"{text[:begin]}\n\n{body}\n\n{text[end:]}", encoding="utf-8")
