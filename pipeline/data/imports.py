"""What every importer does: a scratch folder, downloads by name, one line a sentence, statistics.

An importer writes into a hidden scratch folder beside its output folder and moves the finished files at the
end, so a failure leaves no half of a corpus.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.script import write_json
from pipeline.common.urls import shown as shown_url
from pipeline.common.web import Source

SAMPLES = 10
SHOWN = 200  # characters of a sampled line
SEED = 1111
Stats = dict[str, object]
_HALVES = {chr(code): "\ufffd" for code in range(0xD800, 0xE000)}
_REPLACED = str.maketrans({"\t": " ", "\n": " ", **_HALVES})


def one_line(text: str) -> str:
    """The text without tabs and line feeds, which separate columns and sentences; otherwise as it is.

    Halves of characters, which JSON may hold and UTF-8 may not, become U+FFFD.
    """
    return text.translate(_REPLACED)


def shown(text: str) -> str:
    """A line as a sample shows it: at most SHOWN characters."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


@contextmanager
def scratch_folder(output: Path, dataset: str) -> Iterator[Path]:
    """A hidden folder in the output's parent, on the same disk; removed at the end, whatever happens.

    Errors for people that pass through name the dataset, and files without this folder, which is gone then.
    """
    with tempfile.TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent) as folder:
        try:
            yield Path(folder)
        except (InputError, TemporaryError) as error:
            message = str(error).replace(f"{Path(folder)}/", "")  # as paths are told: "out", not "./out"
            raise type(error)(f"Dataset {shown_url(dataset)}: {message}") from error


def publish(files: Sequence[Path], stats: Stats, output: Path) -> None:
    """Move finished files into the output folder, then write stats.json."""
    for file in files:
        file.replace(output / file.name)
    write_json(output / "stats.json", stats)


@dataclass
class Origin:
    """Where a dataset came from; all but the sources may be unknown, and then empty.

    An importer that fetches while lines are read adds sources, counts and details until the last line is out.
    """

    sources: list[Source] = field(default_factory=list)
    revision: str = ""  # of the dataset: a release, a version, a commit
    licence: str = ""  # as the provider states it
    dropped: Counter[str] = field(default_factory=Counter)  # lines that the importer left out, by reason
    details: dict[str, object] = field(default_factory=dict)  # what else stats.json should say


def refuse_empty(lines: int, origin: Origin) -> None:
    """Raise InputError when no line is left, with the reasons why others were left out."""
    if lines:
        return
    urls = ", ".join(source.url for source in origin.sources)
    where = f" ({urls})" if urls else ""
    dropped = ", ".join(f"{reason} {number:,}" for reason, number in origin.dropped.items() if number)
    left_out = f"; all lines were left out: {dropped}" if dropped else ""
    raise InputError(f"It is empty{where}{left_out}. Remove it from the config, or correct its name.")


def import_stats(kept: int, dropped: Mapping[str, int], samples: list[object], origin: Origin) -> Stats:
    """The content of an importer's stats.json."""
    reasons = {reason: number for reason, number in (origin.dropped + Counter(dropped)).items() if number}
    return {
        "lines": {"in": kept + sum(reasons.values()), "kept": kept, "dropped": reasons},
        "revision": origin.revision,
        "licence": origin.licence,
        "source": [asdict(source) for source in origin.sources],
        "samples": samples,
        **origin.details,
    }
