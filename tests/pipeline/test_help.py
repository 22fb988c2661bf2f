"""Every script's `--help` tells a person all that is needed; tests/keys/code/test_scripts.py runs it."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pipeline"
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
)


def test_scripts_are_found() -> None:
    assert len(SCRIPTS) > 25
    assert {"pipeline.train.train", "pipeline.quantize.export", "pipeline.data.parallel_opus"} <= set(SCRIPTS)


class Asked(Exception):
    """The script's parser, as it is when arguments are read."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_option_is_explained(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """--help describes the script and every option."""

    def stop(self: argparse.ArgumentParser, *_: object) -> NoReturn:
        raise Asked(self)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(Asked) as asked:
        importlib.import_module(script).main([])
    parser = asked.value.parser
    assert (parser.description or "").strip()
    options = [action for action in parser._actions if action.dest != "help"]
    assert options
    assert [action.option_strings for action in options if not (action.help or "").strip()] == []
