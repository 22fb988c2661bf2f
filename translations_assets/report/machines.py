"""Use of machines by steps, as numbers under names that stay the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from translations_assets.records.manifest import Usage
from translations_assets.running.prices import HOUR, Bill
from translations_assets.why.costs import Spent, total
from translations_assets.why.history import Cost


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


def hours(classes: Mapping[str, Spent]) -> dict[str, float]:
    """Hours by worker class: `hours`, `gpu_hours` and `cpu_hours` of all, `gpu_hours_large_gpu` of one."""
    whole = total(classes.values()).cost
    found = {"hours": whole.seconds, **_kinds("", whole)}
    for worker, spent in classes.items():
        found |= _kinds(f"_{worker.replace('-', '_')}", spent.cost)
    return {name: round(seconds / HOUR, 4) for name, seconds in found.items() if seconds}


def _kinds(suffix: str, cost: Cost) -> dict[str, float]:
    return {f"gpu_hours{suffix}": cost.gpu_seconds, f"cpu_hours{suffix}": cost.cpu_seconds}


def money(classes: Mapping[str, Spent]) -> dict[str, float]:
    """Money and energy by worker class: `money` and `kwh` of all, `money_large_gpu` of one."""
    found = _bill("", total(classes.values()).bill)
    for worker, spent in classes.items():
        found |= _bill(f"_{worker.replace('-', '_')}", spent.bill)
    return {name: round(value, 4) for name, value in found.items() if value}


def _bill(suffix: str, bill: Bill) -> dict[str, float]:
    return {f"money{suffix}": bill.money, f"kwh{suffix}": bill.kwh}
