"""The joint cost of the plans of several training configs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields

from translations_assets.running.plan import Plan
from translations_assets.why.plan_forecast import Outlook, PlanForecast


def together(forecasts: Collection[PlanForecast]) -> PlanForecast:
    """The forecast of all steps of some plans; a step that several of them have is counted for each."""
    found: dict[str, Outlook] = {}
    for one in forecasts:
        for worker, more in one.by_class.items():
            sums = found.setdefault(worker, Outlook())
            disk = max(sums.disk, more.disk)
            for each in fields(Outlook):
                setattr(sums, each.name, getattr(sums, each.name) + getattr(more, each.name))
            sums.disk = disk  # of the step that needs most
    return PlanForecast(
        Plan(tuple(step for one in forecasts for step in one.plan.steps)),
        {label: cost for one in forecasts for label, cost in one.expected.items()},
        found,
        next((one.currency for one in forecasts if one.currency), ""),
    )
