"""Everything that a published model was made from, as the manifests of its steps have recorded it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from translations_assets.config.urls import shown
from translations_assets.records.manifest import Manifest
from translations_assets.report.facts import Report
from translations_assets.results.files import CLASSIFIER, STATISTICS, read_classifier, read_statistics
from translations_assets.results.lines import Source, sources
from translations_assets.results.statistics import Statistics
from translations_assets.running.protocols import Store
from translations_assets.stages.filter_files import PROGRAMS
from translations_assets.why.provenance import made_from

PUBLIC = ("https://", "http://", "gs://", "s3://")  # a path of one's own machine tells others nothing


class Library(NamedTuple):
    """A library, or a program of the system, that a step ran with.

    url  its package URL; empty for a program
    """

    name: str
    version: str
    url: str


class OriginStep(NamedTuple):
    """A step's result, and what the step counted; None where it counts nothing, or that is gone."""

    manifest: Manifest
    told: Statistics | None


@dataclass(frozen=True)
class Origins:
    """The steps that a model comes from, in an order in which they can be run; the export is the last.

    pair  of the model: `en-ru`
    """

    pair: str
    made: Sequence[OriginStep]

    @property
    def export(self) -> Manifest:
        """The export's own manifest."""
        return self.made[-1].manifest

    @property
    def datasets(self) -> Iterator[tuple[Manifest, Source]]:
        """The imports of datasets, each with its dataset as the provider stated it then."""
        for manifest, told in self.made:
            for source in sources({manifest.label: told}, self.pair):
                yield manifest, source

    @property
    def fetched(self) -> Iterator[OriginStep]:
        """The steps that read nothing and import no datasets: they fetch models and texts of others."""
        imports = {manifest.key for manifest, _ in self.datasets}
        for one in self.made:
            if not one.manifest.provenance.files and one.manifest.key not in imports:
                yield one

    @cached_property
    def libraries(self) -> list[Library]:
        """The libraries and programs of all steps by name and version."""
        found = {
            pin for manifest, _ in self.made for pin in manifest.provenance.parts.libraries.items() if pin[1]
        }
        return [library(name, version) for name, version in sorted(found)]

    @property
    def revisions(self) -> list[str]:
        """The commits of the repository that made the steps, with `+changes` where files differed."""
        revisions = (manifest.provenance.revision for manifest, _ in self.made)
        return sorted({revision for revision in revisions if revision})


def origins_of(report: Report, export: Manifest, pair: str) -> Origins:
    """The origins of an export; results that were collected since count as well."""
    store = report.session.store
    return Origins(pair, [OriginStep(step, _told(store, step)) for step in made_from(store, export)])


def names_of_tests(report: Report) -> dict[str, str]:
    """Name of a test set in scripts, which may be an address or a path → its name for people."""
    return {test.known_as: test.short_name for test in report.session.config.datasets.test}


def library(name: str, version: str) -> Library:
    """A library of the package index, or a program, by its name in keys."""
    is_program = name in PROGRAMS.values()
    return Library(name, version, "" if is_program else f"pkg:pypi/{name}@{version}")


def public_urls(told: Source | Statistics) -> list[str]:
    """The addresses that something was fetched from, as far as others can reach them, without secrets."""
    urls = told.urls if isinstance(told, Source) else [file.url for file in told.source or ()]
    return [shown(url) for url in urls if url.startswith(PUBLIC)]


def _told(store: Store, step: Manifest) -> Statistics | None:
    for name, read in ((STATISTICS, read_statistics), (CLASSIFIER, read_classifier)):
        if name in step.outputs and store.has_blob(step.outputs[name]):
            return read(store, step.outputs, step.label)
    return None
