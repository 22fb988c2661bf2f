"""Where a mirror has its copy of a URL's file: `<host>/<path>`, then `?<query>` when there is a query.

A part of the path of more than 255 bytes, which no file system takes for a name, is `sha256-` and the part's
SHA-256 in hexadecimal.
"""

import hashlib
from urllib.parse import unquote, urlsplit

LONGEST_NAME = 255  # bytes, of most file systems


def mirror_name(url: str) -> str:
    """A file's name in a mirror, with slashes."""
    parts = urlsplit(url)
    name = f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    return "/".join(map(_fitting, name.split("/")))


def is_inside(name: str) -> bool:
    """Whether a name stays inside the mirror."""
    return ".." not in unquote(name).split("/")


def _fitting(part: str) -> str:
    name = part.encode("utf-8", "surrogateescape")
    return part if len(name) <= LONGEST_NAME else f"sha256-{hashlib.sha256(name).hexdigest()}"
