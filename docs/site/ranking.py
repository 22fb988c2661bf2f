"""A hook of MkDocs: the search ranks pages for users before those on how it is made."""

from typing import Any

LATER = {"decisions/": 0.1, "architecture.md": 0.5, "benchmarks.md": 0.5}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Give the sections of a page their weight in the search; the text stays."""
    for start, boost in LATER.items():
        if page.file.src_uri.startswith(start):
            page.meta.setdefault("search", {"boost": boost})
    return markdown
