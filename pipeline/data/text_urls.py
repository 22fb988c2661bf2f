"""Text files behind URLs: the placeholder [LANG], and compression recognised by the file's first bytes."""

import re
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.web import Source

PLACEHOLDER = "[LANG]"
# Neither pair of bytes can begin a text in UTF-8.
MAGIC = {b"\x28\xb5\x2f\xfd": ".zst", b"\x1f\x8b": ".gz"}


def language_url(template: str, code: str) -> str:
    """The URL of one side of a corpus; raises InputError when its path has no [LANG]."""
    if PLACEHOLDER not in re.split(r"[?#]", template)[0]:
        raise InputError(
            f"The URL's path holds no {PLACEHOLDER}, where the language goes: https://host/corpus.{PLACEHOLDER}.zst"
        )
    return template.replace(PLACEHOLDER, code)


def fetch_text(url: str, name: str, folder: Path) -> tuple[Path, Source]:
    """Fetch a text file (.zst, .gz or plain, whatever its URL ends with) into the folder.

    Returns the path, with the suffix that says how to read it, and the source.
    """
    fetched = folder / name
    source = fetch(url, fetched)
    with fetched.open("rb") as file:
        start = file.read(4)
    suffix = next((suffix for magic, suffix in MAGIC.items() if start.startswith(magic)), ".txt")
    return fetched.rename(folder / f"{name}{suffix}"), source
