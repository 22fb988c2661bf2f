"""The way of text through steps, by the digests of what they read and left: which results it went into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from translations_assets.records.manifest import Manifest
from translations_assets.results.evaluations import PARAMETERS
from translations_assets.why.provenance import inputs_of

Made: TypeAlias = "tuple[str, int]"  # key and generation of a result

# Inputs of which no line goes into what a step leaves: it is compared with them, or judged by them
NO_TEXT = frozenset(
    (
        *("held_out", "held_out_src", "held_out_trg", "parallel", "kept_src", "kept_trg"),
        *("dev_src", "dev_trg"),
    )
)
# Files that may be the same in models and steps that have no text in common: vocabularies, options, numbers
COMMON = (".spm", ".yml", ".json")
TEXTS = (".zst", ".gz")  # how the names of texts end
DATASETS = "datasets"  # the argument of a merge that names what it merges
MERGED = ("corpus_trg", "text")  # the inputs that hold the texts of these, one side of each


def sources_of(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the path and the digest of every input whose lines, or what was learned from them, go on."""
    for path, digest in inputs_of(manifest).items():
        if path.partition("/")[0] not in NO_TEXT and not path.endswith(COMMON):
            yield path, digest


def texts_of(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the path and the digest of every input that is text whose lines go on."""
    return ((path, digest) for path, digest in sources_of(manifest) if path.endswith(TEXTS))


class Flow:
    """The results of a store, and how text goes from one to another."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self.manifests = {made_of(manifest): manifest for manifest in manifests}
        self._readers: dict[str, list[Made]] = defaultdict(list)
        self._models: dict[str, list[Made]] = defaultdict(list)
        for made, manifest in self.manifests.items():
            for _, digest in sources_of(manifest):
                self._readers[digest].append(made)
            for name, blob in manifest.outputs.items():
                if PARAMETERS.fullmatch(name):
                    self._models[blob.digest].append(made)

    def holding(self, sources: Collection[Made]) -> set[Made]:
        """The sources, and all results that their text went into, through models as well."""
        return self._reached(sources, frozenset())

    def alone(self, sources: Collection[Made]) -> set[Made]:
        """The sources, and what was made of their text before it was merged with other text."""
        merges = {made for made, one in self.manifests.items() if DATASETS in one.provenance.parts.args}
        return self._reached(sources, merges) - merges

    def _reached(self, sources: Collection[Made], ends: Collection[Made]) -> set[Made]:
        found, waiting = set[Made](), list(sources)
        while waiting:
            made = waiting.pop()
            if made in found:
                continue
            found.add(made)
            if made not in ends and made in self.manifests:
                for name, blob in self.manifests[made].outputs.items():
                    if not name.endswith(COMMON):
                        waiting += self._readers.get(blob.digest, ())
                    if PARAMETERS.fullmatch(name):
                        waiting += self._models[blob.digest]  # a copy that another run has fetched
        return found


def merged_numbers(manifest: Manifest, digests: Collection[str]) -> list[int]:
    """Which of the datasets that a merge reads are made of some contents, counted from 0."""
    inputs: Mapping[str, str] = dict(texts_of(manifest))
    numbers = set()
    for path, digest in inputs.items():
        name, _, rest = path.partition("/")
        number = rest.partition("/")[0]
        if name in MERGED and digest in digests and number.isdecimal():
            numbers.add(int(number))
    return sorted(numbers)


def made_of(manifest: Manifest) -> Made:
    """The key and the generation of a result."""
    return manifest.key, manifest.generation
