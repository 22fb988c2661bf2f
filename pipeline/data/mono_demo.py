"""Write the synthetic monolingual text of the demo, English or Esperanto, with noise. Nothing is fetched.

    python -m pipeline.data.mono_demo --dataset mono \\
        --lang eo --code eo --max-sentences 10000 --output mono
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.demo_corpus import MONO_PARTS, SIDES, mono_part
from pipeline.data.imports import Origin
from pipeline.data.mono import Request, Text, import_mono


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json, which counts the noise by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, generate)


def generate(request: Request, _: Path) -> Text:
    """The lines of a part in one language."""
    if request.dataset not in MONO_PARTS:
        raise InputError(f"The demo's monolingual text has the part {', '.join(MONO_PARTS)} only.")
    if request.code not in SIDES:
        raise InputError(f"The demo's text is in English (en) and Esperanto (eo), not in {request.code}.")
    lines, noise = mono_part(request.dataset, request.code)
    return Text(lines, Origin(details={"synthetic": True, "noise": noise}))


if __name__ == "__main__":
    run(main)
