"""Writes the golden files anew: `python -m tests.golden.renew`."""

from tests.golden import FOLDER, GOLDEN, as_text

for name, make in GOLDEN.items():
    (FOLDER / name).write_text(as_text(make()), encoding="utf-8")
