"""Writes the golden files anew, without those of configs that are gone: `python -m tests.golden.renew`."""

from tests.golden import FOLDER, GOLDEN, present

for path in present():
    if path.name not in GOLDEN:
        path.unlink()
for name, make in GOLDEN.items():
    (FOLDER / name).write_text(make(), encoding="utf-8")
