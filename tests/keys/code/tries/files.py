"""Files of a try: the name of a module in `pipeline.demo` → its text."""

from __future__ import annotations

from collections.abc import Mapping

Files = Mapping[str, str]
