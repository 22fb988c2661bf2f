"""Write a part of the synthetic English-Esperanto corpus: train (with noise), dev or test.

Nothing is fetched. The sentences come from a small grammar (pipeline/data/demo_grammar.py) and mean nothing
to anybody. They serve to try the whole pipeline in minutes; dev and test share no sentence with another part.

    python -m pipeline.data.parallel_demo --dataset train \\
        --src en --trg eo --src-code en --trg-code eo --output demo
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.demo_corpus import PAIR_PARTS, SIDES, parallel_part
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json, which counts the noise by kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, generate)


def generate(request: Request, _: Path) -> Corpus:
    """The part's pairs, in the wanted direction."""
    if request.dataset not in PAIR_PARTS:
        raise InputError(f"The demo corpus has the parts {', '.join(PAIR_PARTS)} only.")
    if {request.src_code, request.trg_code} != set(SIDES):
        codes = f"{request.src_code} and {request.trg_code}"
        raise InputError(f"The demo corpus is in English (en) and Esperanto (eo), not in {codes}.")
    pairs, noise = parallel_part(request.dataset)
    src, trg = SIDES[request.src_code], SIDES[request.trg_code]
    origin = Origin(details={"synthetic": True, "noise": noise})
    return Corpus(((pair[src], pair[trg]) for pair in pairs), origin)


if __name__ == "__main__":
    run(main)
