"""The report of each run in the registry: of what that run used, whatever counts by now."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import UndefinedError

from translations_assets.common.errors import TranslationsError
from translations_assets.common.whole_file import write_whole
from translations_assets.config.load import parse_config
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.canonical import json_digest
from translations_assets.registry.read import RunRow, StoreReader
from translations_assets.report.facts import gather
from translations_assets.report.page import as_html
from translations_assets.running.protocols import Store
from translations_assets.running.session import RunResults, Session, UpstreamMissing
from translations_assets.stages import STAGES
from translations_assets.why.history import History

FOLDER = "reports"
_PACKAGE = Path(__file__).parents[1]
_MAKERS = ("report", "checks", "registry", "results")  # the packages that say what stands in a report


class PastResults(RunResults):
    """Results of a run that has been: those that its record names, and no others are looked for."""

    def need(self, steps: Collection[Step]) -> None:
        """Raise UpstreamMissing for a step of which the run used no result."""
        for step in steps:
            if self.result(step) is None:
                raise UpstreamMissing(f"The run {self._session.run} has no result of {step.label}.")


@dataclass
class Reports:
    """Writes the reports of runs into a site; those that it had already, and that are not old, are kept.

    before  the folder of the site as it was; it need not exist
    known   run → what its report there was made of
    """

    store: Store
    keys: KeyMaker
    before: Path
    known: Mapping[str, str]
    _histories: dict[tuple[str, str], History] = field(default_factory=dict)

    def write(self, site: Path, row: RunRow, reader: StoreReader) -> str:
        """Write `reports/<run>.html`; a digest of what it is made of.

        Raises TranslationsError for a run whose training config or results have another form by now.
        """
        record = row.record
        made_of = json_digest([record.uses, record.options.to_dict(), row.space, row.config, _makers()])
        page, earlier = (folder / FOLDER / f"{row.run}.html" for folder in (site, self.before))
        page.parent.mkdir(exist_ok=True)
        if self.known.get(row.run) == made_of and earlier.is_file():
            shutil.copyfile(earlier, page)
        else:
            try:
                write_whole(page, self._made(row, reader))
            except (LookupError, TypeError, ValueError, UndefinedError) as error:
                raise TranslationsError(f"it is not of today's form: {error}") from error
        return made_of

    def _made(self, row: RunRow, reader: StoreReader) -> str:
        place = row.space, row.partition
        history = self._histories.setdefault(place, History(self.store, *place))
        return as_html(gather(self._session(row, reader), history), row.config_text)

    def _session(self, row: RunRow, reader: StoreReader) -> Session:
        """The run as it was, over the graph that its training config has by now."""
        config = parse_config(row.config, f"the training config of run {row.run}", lambda values: ())
        graph, options = build_graph(config, STAGES), row.record.options
        session = Session(
            row.run, row.partition, row.space, lambda: config, graph, self.store, self.keys, options=options
        )
        session.results = PastResults(session)
        manifests = reader.manifests(row.record)
        for step in graph.steps:
            if step.label in manifests:
                session.results.set_result(step, manifests[step.label])
        return session


@cache
def _makers() -> str:
    """A digest of the code and the templates that reports are made by."""
    files = sorted(path for name in _MAKERS for path in (_PACKAGE / name).iterdir() if path.is_file())
    return json_digest({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files})
