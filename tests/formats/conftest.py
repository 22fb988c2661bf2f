"""The command, in a place of its own."""

from tests.cli.conftest import command, parsed_once, place

__all__ = ["command", "parsed_once", "place"]
