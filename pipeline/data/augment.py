"""Make a variant of a test or dev set with OpusTrainer's own modifiers, as models meet them in training.

upper   both sides in upper case             title   both sides With Each Word Capitalised
typos   four kinds of typing errors in each source line, drawn anew for each line; the target as it is
punct   the final punctuation dropped from both sides where it is of the same kind

A modifier changes the target where OpusTrainer does, so that the reference is what a model learns to produce.

    python -m pipeline.data.augment --modifier upper --src en --trg eo \\
        --corpus-src test/corpus.en.zst --corpus-trg test/corpus.eo.zst --output test-upper
"""

import argparse
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from opustrainer.modifiers.punctuation import RemoveEndPunctuationModifier
from opustrainer.modifiers.surface import TitleCaseModifier, UpperCaseModifier
from opustrainer.modifiers.typos import TypoModifier
from opustrainer.types import Modifier

from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter
from pipeline.common.sampling import Reservoir
from pipeline.common.script import new_folder, run
from pipeline.data.imports import SAMPLES, SEED, one_line, publish, scratch_folder, shown
from pipeline.data.parallel import Pair, file_pairs

log = logging.getLogger(__name__)

ALWAYS = 1.0
TYPOS_PER_LINE = 4


def _typos() -> Modifier:
    kinds = random.sample(list(TypoModifier.modifiers), TYPOS_PER_LINE)
    return TypoModifier(ALWAYS, **dict.fromkeys(kinds, ALWAYS))


MODIFIERS: dict[str, Callable[[], Modifier]] = {
    "upper": lambda: UpperCaseModifier(ALWAYS),
    "title": lambda: TitleCaseModifier(ALWAYS),
    "typos": _typos,
    "punct": lambda: RemoveEndPunctuationModifier(ALWAYS),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json with the number of changed pairs."""
    args = _arguments(argv)
    output = new_folder(args.output)
    log.info("Applying %s to %s and %s", args.modifier, args.corpus_src, args.corpus_trg)
    with scratch_folder(output, args.corpus_src.name) as scratch:
        files = [scratch / f"corpus.{args.src}.zst", scratch / f"corpus.{args.trg}.zst"]
        pairs = file_pairs(args.corpus_src, args.corpus_trg)
        publish(files, _write(pairs, args.modifier, files), output)


def modify(pair: Pair, modifier: str, number: int) -> Pair:
    """A pair's variant; a pair with an empty side stays as it is.

    OpusTrainer draws from Python's global generator, which is seeded here by the line's number: a line's
    variant does not depend on the lines before it.
    """
    src, trg = map(one_line, pair)
    if not src.strip() or not trg.strip():
        return src, trg
    random.seed(f"{SEED} {modifier} {number}")
    new_src, new_trg = next(iter(MODIFIERS[modifier]()([f"{src}\t{trg}"]))).split("\t")
    return new_src, new_trg


def _write(pairs: Iterator[Pair], modifier: str, files: Sequence[Path]) -> dict[str, object]:
    changed = 0
    samples: Reservoir[Pair] = Reservoir(SAMPLES, SEED)
    with LineWriter(files[0]) as src_writer, LineWriter(files[1]) as trg_writer:
        for number, pair in enumerate(pairs):
            variant = modify(pair, modifier, number)
            src_writer.write(variant[0])
            trg_writer.write(variant[1])
            changed += variant != pair
            samples.add(variant)
    if not samples.seen:
        raise InputError("The corpus is empty. Choose another test set.")
    log.info("Changed %s of %s pairs", f"{changed:,}", f"{samples.seen:,}")
    return {
        "lines": {"in": samples.seen, "kept": samples.seen, "dropped": {}},
        "changed": changed,
        "samples": [[shown(src), shown(trg)] for src, trg in samples.items()],
    }


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--modifier", required=True, choices=sorted(MODIFIERS), help="what to do to the lines")
    add("--src", required=True, help="source language, as it stands in file names")
    add("--trg", required=True, help="target language, as it stands in file names")
    add("--corpus-src", required=True, type=Path, help="source side (.zst, .gz or plain)")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--output", required=True, type=Path, help="new folder for the variant")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
