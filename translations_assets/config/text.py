"""The text of config files, and tables of the program's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from translations_assets.config.errors import ConfigError

MOST_CHARACTERS = 10_000_000
MOST_BYTES = 4 * MOST_CHARACTERS


def read_text(path: Path, kind: str = "training config") -> str:
    """The text of a file of some kind, in UTF-8. Raises ConfigError when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except IsADirectoryError as error:
        raise ConfigError.of(f"is a folder; give the YAML file of a {kind}", str(path)) from error
    except FileNotFoundError as error:
        raise ConfigError.of("there is no such file", str(path)) from error
    except OSError as error:
        raise ConfigError.of(f"cannot be read: {error.strerror}", str(path)) from error
    if len(content) > MOST_BYTES:
        raise ConfigError.of(f"has more than {MOST_BYTES:,} bytes; is it a {kind}?", str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = f"is not UTF-8 (byte {content[error.start]:#04x}); save it as UTF-8"
        raise ConfigError.of(message, str(path), line) from error


def table(module: str, name: str) -> Any:
    """The contents of a YAML file of the program's own, beside a module (its `__file__`)."""
    import yaml  # which commands that read no config do without

    return yaml.load(Path(module).with_name(name).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
