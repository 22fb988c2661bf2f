"""`translations config schema`: the JSON Schema of training configs, for editors."""

from __future__ import annotations

from translations_assets.cli.common import print_json
from translations_assets.config.json_schema import json_schema


def command() -> None:
    """Print the JSON Schema of training configs, by which an editor completes and checks them.

    Save it beside the configs, and begin a config with `# yaml-language-server: $schema=schema.json`.
    """
    print_json(json_schema())
