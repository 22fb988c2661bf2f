"""The tables of docs/deployment.md: what production runs take, and took before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.scale.simulation import Misfit, Production
from translations_assets.settings import repository_root

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


def comparison(before: Production, after: Production) -> Iterator[str]:
    """The same run by an earlier version's rates, and now."""
    yield "| | before | now | |"
    yield "|---|---|---|---|"
    rows = (
        ("hours from beginning to end", before.hours, after.hours),
        ("GPU hours that are paid", before.gpu_hours, after.gpu_hours),
        ("of them idle", before.gpu_hours - before.gpu_busy, after.gpu_hours - after.gpu_busy),
        *(
            (f"hours of pods, {name}", before.by_class[name].hours, after.by_class[name].hours)
            for name in after.by_class
        ),
        ("pods", len(before.pods), len(after.pods)),
        ("disk of the largest step, GB", _most(before, "disk"), _most(after, "disk")),
        ("USD", before.money, after.money),
        ("kWh", before.kwh, after.kwh),
    )
    for name, old, new in rows:
        yield f"| {name} | {old:,.0f} | {new:,.0f} | {new / old - 1:+.0%} |"
    yield f"| steps that do not fit their pods | {len(before.misfits)} | {len(after.misfits)} | |"
    yield f"| times that the run was begun | {before.runs} | {after.runs} | |"


def _most(of: Production, what: str) -> float:
    return max(float(getattr(paid, what)) for paid in of.by_class.values()) / GB


def misfits(found: tuple[Misfit, ...]) -> Iterator[str]:
    """What does not fit, the worst step of each stage and kind."""
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
