"""As many assets and checks as the project's, in its graph, that do nothing: what Dagster alone takes.

`benchmarks.cached` runs it. `BARE` is the graph, as JSON: asset → its upstream assets, how many checks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence

import dagster as dg


def _asset(name: str, upstream: Sequence[str]) -> dg.AssetsDefinition:
    @dg.asset(name=name, deps=[*upstream], partitions_def=PARTITIONS)
    def nothing() -> None: ...

    return nothing


def _checks(name: str, number: int) -> dg.AssetChecksDefinition:
    specs = [dg.AssetCheckSpec(f"check_{index}", asset=name) for index in range(number)]

    @dg.multi_asset_check(name=f"checks_of_{name}", specs=specs)
    def nothing() -> Iterator[dg.AssetCheckResult]:
        for spec in specs:
            yield dg.AssetCheckResult(passed=True, check_name=spec.name, asset_key=name)

    return nothing


GRAPH: dict[str, tuple[list[str], int]] = json.loads(os.environ["BARE"])
PARTITIONS = dg.StaticPartitionsDefinition([os.environ["BARE_PARTITION"]])
defs = dg.Definitions(
    assets=[_asset(name, upstream) for name, (upstream, _) in GRAPH.items()],
    asset_checks=[_checks(name, number) for name, (_, number) in GRAPH.items() if number],
    executor=dg.in_process_executor,
)
