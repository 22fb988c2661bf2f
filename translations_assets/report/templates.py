"""Pages of templates, in which what is filled in is text, not HTML."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from translations_assets.records.cost import amount, duration
from translations_assets.results.scores import METRICS

STYLE = Path(__file__).with_name("page.css")  # of all pages that stand alone


def render(template: Path, **values: object) -> str:
    """Fill in a template; `style` is the style of pages that stand alone."""
    return _environment(template.parent).get_template(template.name).render(values)


@cache
def _environment(folder: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=lambda name: bool(name) and str(name).endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters: dict[str, Any] = {
        "date": lambda seconds: time.strftime("%Y-%m-%d", time.gmtime(seconds)),
        "duration": duration,
        "one_digit": lambda number: f"{number:.1f}",
        "amount": amount,
        "megabytes": lambda size: f"{size / 1e6:,.1f} MB",
        "metric_name": lambda metric: METRICS.get(metric, metric),
        "cell": _cell,
        "python": lambda text: json.dumps(text, ensure_ascii=False),
    }
    environment.filters |= filters
    environment.globals["style"] = Markup(STYLE.read_text(encoding="utf-8"))
    return environment


def _cell(text: str) -> str:
    """Text that stays in its cell of a Markdown table."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
