"""Live numbers: whole lines, each once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from translations_assets.runners.publisher import Progress, Redaction


def test_a_line_is_reported_once_it_is_whole(tmp_path: Path) -> None:
    seen: list[Mapping[str, Any]] = []
    progress = Progress(tmp_path / "live", Redaction(()), seen.append)
    progress.forward()
    with (tmp_path / "live").open("w") as live:
        for text, expected in (
            ('{"update": 1}\n{"upd', [{"update": 1}]),
            ('ate": 2}\n', [{"update": 1}, {"update": 2}]),
            ("[1]\nwords\n", [{"update": 1}, {"update": 2}]),
        ):
            live.write(text)
            live.flush()
            progress.forward()
            assert seen == expected
