"""Random lines of the text that steps read and left, drawn by a script over the files of their results."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from translations_assets.answers.flow import DATASETS, MERGED, TEXTS, texts_of
from translations_assets.answers.imported import Imported, Importing
from translations_assets.common.errors import TranslationsError
from translations_assets.common.scripts import run_script
from translations_assets.common.settings import state_folder
from translations_assets.config.errors import among
from translations_assets.records.checked import Record
from translations_assets.records.inside import inside
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.results.files import STATISTICS, read_statistics
from translations_assets.results.statistics import LineCounts
from translations_assets.running.job import INPUT_FOLDER
from translations_assets.running.protocols import Reading

DRAW = "pipeline.samples.draw"
MADE, SAMPLE = "made", "sample"  # folders
# Scripts whose rules the drawing script knows; of others it shows what went in beside what came out.
JUDGED = frozenset(
    (
        *("pipeline.cefilter.filter", "pipeline.clean.apply_mono_filters", "pipeline.clean.clean_mono"),
        *("pipeline.clean.clean_parallel", "pipeline.clean.filter_mono", "pipeline.clean.filter_parallel"),
        *("pipeline.clean.merge_mono", "pipeline.clean.merge_parallel", "pipeline.clean.merge_translated"),
    )
)


@dataclass(frozen=True)
class DrawnLine(Record):
    """A line, or the sides of a pair, and what became of it.

    dataset   of which it is, in the script's words; empty where it is not known
    line      its number in its file, from 1
    result    what it became; None where it was dropped, or where that is not known
    reason    why it was dropped; empty where it was kept
    is_known  whether it is known what became of it
    beside    scores and alignments
    instead   the line that was kept in the place of a duplicate
    """

    dataset: str
    line: int
    text: tuple[str, ...]
    reason: str = ""
    is_known: bool = True
    result: tuple[str, ...] | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    instead: DrawnLine | None = None


@dataclass(frozen=True)
class Drawn(Record):
    """Lines that the script has drawn: `pipeline.samples.draw` has the fields."""

    rows: int
    judged: int
    read: tuple[DrawnLine, ...] = ()
    kept: tuple[DrawnLine, ...] = ()
    dropped: Mapping[str, tuple[DrawnLine, ...]] = field(default_factory=dict)
    unknown: tuple[DrawnLine, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """Lines of a step; what it counted of its lines, or of those of the dataset asked for.

    is_explained  whether the drawing script knows the step's rules: for what each line was dropped
    """

    label: str
    stage: str
    datasets: Sequence[str]
    lines: LineCounts | None
    drawn: Drawn
    is_explained: bool


@dataclass(frozen=True)
class Asked:
    """What to draw: so many lines of each kind, perhaps of a dataset, or dropped by a filter."""

    number: int
    seed: int
    dataset: str = ""
    filter: str = ""


class Sampler:
    """Draws lines of the results of a run, or of those that count for a partition, by their labels."""

    def __init__(self, store: Reading, results: Mapping[str, Manifest]) -> None:
        self._store, self._results = store, results
        self._importing = Importing(store)
        self._makers = {
            blob.digest: label for label, made in results.items() for blob in made.outputs.values()
        }

    def samples(self, stage: str, labels: Collection[str], asked: Asked) -> Iterator[Sample]:
        """Yield a sample of each step among some of a stage that has text, and that what is asked for fits.

        Raises TranslationsError for a dataset or a filter of none of them, naming those that there are.
        """
        steps = self._with_text(labels)
        if not steps:
            raise TranslationsError(f"No step of {stage} reads or leaves lines of text. {self._others()}")
        named = self._of_dataset(stage, steps, asked)
        for label, (name, lines) in self._with_filter(stage, named, asked).items():
            yield self._sample(label, name, lines, asked)

    def _with_text(self, labels: Collection[str]) -> list[str]:
        """The steps that leave text; of those whose rules are not known the last ones of the stage."""
        made = {label: self._results[label] for label in labels if label in self._results}
        read = {digest for one in made.values() for _, digest in texts_of(one)}
        return [
            label
            for label, one in made.items()
            if any(name.endswith(TEXTS) for name in one.outputs)
            and (
                one.provenance.parts.script in JUDGED
                or not any(blob.digest in read for blob in one.outputs.values())
            )
        ]

    def _others(self) -> str:
        stages = dict.fromkeys(
            one.stage for one in self._results.values() if any(name.endswith(TEXTS) for name in one.outputs)
        )
        return f"Stages with text: {', '.join(stages)}." if stages else ""

    def _datasets(self, label: str) -> list[Imported]:
        """The datasets of a step's text."""
        found, seen, waiting = list[Imported](), set[str](), [label]
        while waiting:
            label = waiting.pop()
            if label in seen:
                continue
            seen.add(label)
            if one := self._importing.imported(self._results[label], label):
                found.append(one)
                continue
            makers = (self._makers.get(digest) for _, digest in texts_of(self._results[label]))
            waiting += [maker for maker in makers if maker]
        return found

    def _merged(self, label: str) -> dict[str, Imported]:
        """The datasets that a merge names among its arguments, by these names; none of other steps."""
        manifest, found = self._results[label], dict[str, Imported]()
        names = manifest.provenance.parts.args.get(DATASETS, ())
        for path, digest in texts_of(manifest):
            option, number, *_ = (*path.split("/"), "")
            if option in MERGED and number.isdecimal() and digest in self._makers:
                of_text = self._datasets(self._makers[digest])
                if len(of_text) == 1 and int(number) < len(names):
                    found[names[int(number)]] = of_text[0]
        return found

    def _of_dataset(self, stage: str, labels: Sequence[str], asked: Asked) -> dict[str, str]:
        """The steps with text of the dataset asked for, and what a merge calls it; all steps without one."""
        found, others = dict[str, str](), dict[str, None]()
        for label in labels:
            merged = self._merged(label)
            alone = self._datasets(label)
            datasets = merged or ({"": alone[0]} if len(alone) == 1 else {})
            others |= dict.fromkeys(one.shown_key for one in datasets.values())
            if not asked.dataset:
                found[label] = ""
            for name, one in datasets.items():
                if asked.dataset and one.is_called(asked.dataset):
                    found[label] = name
        if not found:
            told = among(asked.dataset, others) if others else " Its text is of several, merged before."
            raise TranslationsError(f"{stage} has no dataset {asked.dataset!r}.{told}")
        return found

    def _with_filter(
        self, stage: str, steps: Mapping[str, str], asked: Asked
    ) -> dict[str, tuple[str, LineCounts | None]]:
        """The steps that dropped lines by the filter asked for, with what they counted; all without one."""
        counted = {label: (name, self._counts(label, name)) for label, name in steps.items()}
        if not asked.filter:
            return counted
        found: dict[str, tuple[str, LineCounts | None]] = {
            label: (name, lines)
            for label, (name, lines) in counted.items()
            if lines and lines.dropped.get(asked.filter)
        }
        if not found:
            reasons = [reason for _, lines in counted.values() if lines for reason in _reasons(lines)]
            told = among(asked.filter, dict.fromkeys(reasons)) if reasons else " Nothing was dropped."
            raise TranslationsError(f"No line of {stage} was dropped by {asked.filter!r}.{told}")
        return found

    def _counts(self, label: str, name: str) -> LineCounts | None:
        counted = read_statistics(self._store, self._results[label].outputs, label)
        if counted and name:
            own = (one.lines for one in counted.datasets if one.dataset == name)
            return next(own, counted.lines)
        return counted.lines if counted else None

    def _sample(self, label: str, name: str, lines: LineCounts | None, asked: Asked) -> Sample:
        manifest, merged = self._results[label], self._merged(label)
        drawn = self._draw(label, name, lines, asked)
        keys = {alias: one.shown_key for alias, one in merged.items()}
        datasets = [merged[name]] if name else [*merged.values()] or self._datasets(label)
        return Sample(
            label=label,
            stage=manifest.stage,
            datasets=list(dict.fromkeys(one.shown_key for one in datasets)),
            lines=lines,
            drawn=_with_keys(drawn, keys),
            is_explained=bool(_command(manifest)),
        )

    def _draw(self, label: str, name: str, lines: LineCounts | None, asked: Asked) -> Drawn:
        """Put the files of a step into a folder, and draw lines of them."""
        manifest = self._results[label]
        command, parts = _command(manifest), manifest.provenance.parts
        if asked.filter and not command:
            return Drawn(rows=lines.read if lines else 0, judged=0)
        files = manifest.provenance.files
        if not command:
            files = {path: blob for path, blob in files.items() if path.endswith(TEXTS)}
        left = {path: blob for path, blob in manifest.outputs.items() if path.endswith((*TEXTS, STATISTICS))}
        options = [f"--script={parts.script}", "--made", MADE, "--output", SAMPLE]
        options += [f"--number={asked.number}", f"--seed={asked.seed}", f"--dataset={name}"]
        if asked.filter and lines:
            options += [f"--reason={asked.filter}", f"--dropped={lines.dropped[asked.filter]}"]
        if not command:
            options[0] = "--script="
            options += ["--read", *(f"{path}={INPUT_FOLDER}/{path}" for path in files)]
            options += ["--langs", *(str(parts.args[side]) for side in ("src", "trg") if side in parts.args)]
        with _folder() as root:
            self._place(label, files, root / INPUT_FOLDER)
            self._place(label, left, root / MADE)
            run_script(DRAW, [*options, "--", *command[1:]], root)
            return Drawn.from_dict(json.loads((root / SAMPLE / "sample.json").read_text(encoding="utf-8")))

    def _place(self, label: str, files: Mapping[str, Blob], folder: Path) -> None:
        lacking = [path for path, blob in files.items() if not self._store.has_blob(blob)]
        if lacking:
            raise TranslationsError(
                f"The store no longer has {', '.join(lacking[:3])} of {label}: it is lost, or was collected. "
                "Name a stage after it, or make it again: translations train PARTITION --start STAGE"
            )
        folder.mkdir()
        for path, blob in files.items():
            target = inside(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            self._store.place_blob(blob, target)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of its own in the state folder: by default on the file system of the store."""
    root = state_folder() / "samples"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise TranslationsError(f"No sample can be drawn in {root}: {error}.") from error


def _command(manifest: Manifest) -> Sequence[str]:
    """Script and options of a step whose rules are known; nothing for others, or where they were not kept."""
    worker = manifest.provenance.worker
    return worker.command if worker and manifest.provenance.parts.script in JUDGED else ()


def _reasons(lines: LineCounts) -> list[str]:
    return [reason for reason, number in lines.dropped.items() if number]


def _with_keys(drawn: Drawn, keys: Mapping[str, str]) -> Drawn:
    """What was drawn, with the keys of datasets in place of what a merge calls them."""

    def renamed(line: DrawnLine) -> DrawnLine:
        other = renamed(line.instead) if line.instead else None
        return replace(line, dataset=keys.get(line.dataset, line.dataset), instead=other)

    def all_of(lines: Iterable[DrawnLine]) -> tuple[DrawnLine, ...]:
        return tuple(map(renamed, lines))

    return replace(
        drawn,
        read=all_of(drawn.read),
        kept=all_of(drawn.kept),
        unknown=all_of(drawn.unknown),
        dropped={reason: all_of(lines) for reason, lines in drawn.dropped.items()},
    )
