"""What every importer does: a scratch folder, downloads by name, one line a sentence, statistics.

An importer writes into a hidden scratch folder beside its output folder and moves the finished files at the
end, so a failure leaves no half of a corpus.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pipeline.common.downloads import Source
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.script import write_json

SAMPLES = 10
SHOWN = 200  # characters of a sampled line
SEED = 1111
_SPACES = str.maketrans("\t\n", "  ")


def one_line(text: str) -> str:
    """The text without tabs and line feeds, which separate columns and sentences; otherwise as it is."""
    return text.translate(_SPACES)


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
            raise type(error)(f"Dataset {dataset}: {message}") from error


def publish(files: Sequence[Path], stats: dict[str, object], output: Path) -> None:
    """Move finished files into the output folder, then write stats.json."""
    for file in files:
        file.replace(output / file.name)
    write_json(output / "stats.json", stats)


def import_stats(
    lines: int, kept: int, dropped: dict[str, int], samples: list[object], sources: Sequence[Source]
) -> dict[str, object]:
    """The content of an importer's stats.json."""
    return {
        "lines": {"in": lines, "kept": kept, "dropped": dropped},
        "source": [asdict(source) for source in sources],
        "samples": samples,
    }
