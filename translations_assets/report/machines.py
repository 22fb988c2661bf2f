"""Use of machines by steps, as numbers under names that stay the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from translations_assets.records.cost import HOUR, Cost
from translations_assets.records.manifest import Usage


def machine_use(usages: Collection[Usage]) -> dict[str, float]:
    """Sum up the use of machines by some steps: seconds, memory in MB; of GPUs only where there were some.

    A GPU's utilisation, in percent, is the mean over the time of all of them. Durations are those of all
    attempts, the rest is the last one's.
    """
    return {
        "duration": round(sum((usage.all_seconds for usage in usages), 0.0), 2),
        "cpu_time": round(sum((usage.cpu_seconds for usage in usages), 0.0), 2),
        "peak_memory": round(max((usage.peak_memory for usage in usages), default=0) / 1e6, 1),
        **_gpu_use([usage for usage in usages if usage.gpus]),
    }


def _gpu_use(usages: Collection[Usage]) -> dict[str, float]:
    held = sum((usage.gpus * usage.all_seconds for usage in usages), 0.0)
    if not held:
        return {}
    busy = sum(usage.gpus * usage.all_seconds * usage.gpu_utilisation for usage in usages)
    return {
        "gpu_time": round(held, 2),
        "gpu_utilisation": round(100 * busy / held, 1),
        "peak_gpu_memory": round(max(usage.gpu_memory for usage in usages) / 1e6, 1),
    }


def hours(classes: Mapping[str, Cost]) -> dict[str, float]:
    """Hours by worker class: `hours`, `gpu_hours` and `cpu_hours` of all, `gpu_hours_large_gpu` of one."""
    whole = sum(classes.values(), Cost()).seconds
    return {
        **({"hours": round(whole / HOUR, 4)} if whole else {}),
        **_by_class(
            classes,
            lambda cost: {"gpu_hours": cost.gpu_seconds / HOUR, "cpu_hours": cost.cpu_seconds / HOUR},
        ),
    }


def money(classes: Mapping[str, Cost]) -> dict[str, float]:
    """Money and energy by worker class: `money` and `kwh` of all, `money_large_gpu` of one."""
    return _by_class(classes, lambda cost: {"money": cost.money, "kwh": cost.kwh})


def _by_class(classes: Mapping[str, Cost], numbers: Callable[[Cost], dict[str, float]]) -> dict[str, float]:
    """The numbers of all worker classes and, with its name, those of each; without what is 0."""
    found = numbers(sum(classes.values(), Cost()))
    for worker, cost in classes.items():
        suffix = worker.replace("-", "_")
        found |= {f"{name}_{suffix}": value for name, value in numbers(cost).items()}
    return {name: round(value, 4) for name, value in found.items() if value}
