"""Common parts of our pages in Dagster's web server: headers, a frame, and errors."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
HOME = {"all runs": "/runs", "assets": "/assets"}

_KEY = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{head}<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font-family: system-ui, sans-serif; margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: light-dark(#fff, #14181e); color: light-dark(#1c2430, #e3e8ee) }}
header {{ padding: .6em 1em; border-bottom: 1px solid light-dark(#ccc, #444); overflow-wrap: anywhere }}
h1 {{ font-size: 1.1em; margin: 0 0 .3em }}
a {{ color: light-dark(#1c56b8, #8ab4f8) }}
p {{ margin: 0 0 .3em }}
main {{ flex: 1; overflow: auto; display: flex; flex-direction: column-reverse }} /* opens at its end */
pre {{ margin: 0 0 auto; padding: 1em; white-space: pre-wrap; overflow-wrap: anywhere }}
</style>
</head>
<body>
<header><h1>{title}</h1>{told}<nav>{links}</nav></header>
<main tabindex="0">{text}</main>
</body>
</html>
"""


def page(
    title: str, links: Mapping[str, str], *, told: str = "", text: str | None = None, head: str = ""
) -> str:
    """A page with a title, what is told below it, links by name, and a text as it is; `head` is HTML."""
    return _PAGE.format(
        head=head,
        title=html.escape(title),
        told=f"<p>{html.escape(told)}</p>" if told else "",
        links=" · ".join(
            f'<a href="{html.escape(path)}">{html.escape(name)}</a>' for name, path in links.items()
        ),
        text="" if text is None else f"<pre>{html.escape(text)}</pre>",
    )


def is_named(key: str, *numbers: str) -> bool:
    """True if these can be a step's key and numbers that count from 1, to be looked up in the store."""
    return bool(_KEY.fullmatch(key)) and all(map(_NUMBER.fullmatch, numbers))


def complain(status: int, title: str, what_to_do: str) -> Response:
    """A page that says what is wrong, and what to do."""
    return HTMLResponse(page(title, HOME, told=what_to_do), status, HEADERS)


def nothing_here(request: Request) -> Response:
    """Answer for a path below our pages' that is none of them; Dagster's own page would say nothing of it."""
    return complain(
        404,
        "There is no such page.",
        "The address may have been cut. Pages of logs are linked from the events of a run, those of reports "
        "from the materializations of the asset report.",
    )
