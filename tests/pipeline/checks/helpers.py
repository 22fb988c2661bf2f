"""Running the scripts of pipeline.checks in this process, on small files."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.common.lines import write_lines

Main = Callable[[Sequence[str]], None]


def text(path: Path, lines: Sequence[str]) -> Path:
    """Write lines to a file."""
    write_lines(path, lines)
    return path


def numbers(main: Main, output: Path, *arguments: object) -> dict[str, Any]:
    """Run a script; what its numbers.json says, the only file that it leaves."""
    main([*map(str, arguments), "--output", str(output)])
    assert [path.name for path in output.iterdir()] == ["numbers.json"]
    found: dict[str, Any] = json.loads((output / "numbers.json").read_text(encoding="utf-8"))
    return found
