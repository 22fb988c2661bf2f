"""Text files behind URLs: the placeholder [LANG], and compression recognised by the file's first bytes."""

import re
from pathlib import Path

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.web import Source

PLACEHOLDER = "[LANG]"
# No text begins with these bytes: they are no UTF-8, or hold a control character. The second ones of .zst are
# of a frame to be passed over (RFC 8878), with which pzstd begins a file.
MAGIC = {".zst": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), ".gz": re.compile(rb"\x1f\x8b")}


def packing(file: Path) -> str:
    """The suffix of a packed file, .zst or .gz, by its first bytes; "" for another file."""
    with file.open("rb") as opened:
        start = opened.read(4)
    return next((suffix for suffix, magic in MAGIC.items() if magic.match(start)), "")


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
    return fetched.rename(folder / f"{name}{packing(fetched) or '.txt'}"), source
