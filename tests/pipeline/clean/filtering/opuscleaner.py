"""OpusCleaner itself, and the filters here, on the same pairs. OPUSCLEANER_PYTHON names its interpreter."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.registry import Resources, make_filters
from pipeline.clean.identification import Heli
from pipeline.common.lines import read_lines
from tests.pipeline.clean.filtering.pairs import Pair

ROWS = 5_000  # in a block
HELI = {"en": ["eng"], "ru": ["rus"]}  # its labels
FILTERS = Path(__file__).resolve().parents[4] / "pipeline" / "clean" / "filters"


def resources(
    codes: Sequence[str] = ("en", "ru"),
    *,
    opuscleaner: bool = False,
) -> Resources:
    """Resources of the filters, from the project's own files; English and Russian are identified."""
    patterns = FILTERS / "remove_frequent_patterns.txt"
    return Resources(
        alphabets=json.loads((FILTERS / "alphabets.json").read_text(encoding="utf-8")),
        words_of_english=json.loads((FILTERS / "words.json").read_text(encoding="utf-8")),
        currencies=json.loads((FILTERS / "currencies.json").read_text(encoding="utf-8")),
        patterns={patterns.name: list(read_lines(patterns))},
        identifiers=lambda: [Heli(HELI.get(code, []), "Latin") for code in codes],
        codes=codes,
        opuscleaner=(lambda: Path(os.environ["OPUSCLEANER_PYTHON"])) if opuscleaner else None,
    )


def filter_file(folder: Path, *filters: Mapping[str, Any]) -> Path:
    """A filter file with these filters."""
    path = folder / "made.filters.json"
    path.write_text(json.dumps({"version": 1, "files": [], "filters": filters}), encoding="utf-8")
    return path


def ours(
    path: Path,
    pairs: Sequence[Pair],
    codes: Sequence[str] = ("en", "ru"),
    *,
    opuscleaner: bool = False,
) -> list[tuple[str, ...]]:
    """Filter the pairs by the filters of a file here; with OpusCleaner's help, if that is asked for."""
    known = resources(codes, opuscleaner=opuscleaner)
    cleaner = FilterCleaner(make_filters(read_filter_file(path, codes), known))
    sides = [list(side) for side in zip(*pairs, strict=True)]
    kept = [
        cleaner([side[first : first + ROWS] for side in sides]).sides for first in range(0, len(pairs), ROWS)
    ]
    return [row for block in kept for row in zip(*block, strict=True)]


def theirs(path: Path, pairs: Sequence[Pair], codes: Sequence[str] = ("en", "ru")) -> list[tuple[str, ...]]:
    """Filter the pairs by OpusCleaner."""
    text = path.read_text(encoding="utf-8").replace("<src>", codes[0]).replace("<trg>", codes[1])
    path = path.with_suffix(".filled.json")
    path.write_text(text, encoding="utf-8")
    command = [os.environ["OPUSCLEANER_PYTHON"], "-m", "opuscleaner.clean", "--input", "-", str(path), *codes]
    rows = "".join(f"{source}\t{target}\n" for source, target in pairs)
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    done = subprocess.run(command, input=rows.encode(), capture_output=True, env=environment, check=False)
    if done.returncode:
        raise AssertionError(done.stderr.decode(errors="replace")[-3000:])
    return [tuple(row.split("\t")) for row in done.stdout.decode().split("\n")[:-1]]


def is_kept(folder: Path, entry: dict[str, Any], trg: str, pair: Pair, src: str = "en") -> bool:
    left = ours(filter_file(folder, entry), [pair], (src, trg))
    assert left in ([], [pair])
    return bool(left)
