"""Translates some of a dev set with a model, or an ensemble, as it will be used, and tells how good it is.

    python -m pipeline.checks.models --models teacher-1 teacher-2 --src en --trg eo \\
        --text dev.en.zst --references dev.eo.zst --decoding-config decoding.yml \\
        --marian-args '{"beam-size": 4}' --seed 1 --output numbers

writes numbers.json, of at most 500 sentences:

    lines           how many there are
    bleu, chrf      scores against the references
    chance          chrF against the references of other sentences: what a model comes to that writes the
                    language well and does not care for the source
    expected_ratio  characters of the references, for each character of the sources
    sides           of source and translation: empty lines
    copied, length_ratio, distinct, loops   of source and translation, as pipeline.checks.text has them
    samples         source, reference and translation of some
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sacrebleu.metrics.chrf import CHRF

from pipeline.checks.lengths import LengthRatios
from pipeline.checks.letters import Letters
from pipeline.checks.pairs import Pairs
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.common.marian import decode
from pipeline.common.marian_options import parse_marian_args, read_options
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.metrics import corpus_scores

SENTENCES = 500
SAMPLES = 10
SAMPLE_CHARACTERS = 300

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    settings = read_options(args.decoding_config) | parse_marian_args(args.marian_args)
    pairs = (
        (pair[0], pair[1]) for pair in zip_lines(args.text, args.references) if all(map(str.strip, pair))
    )
    chosen = sample(pairs, SENTENCES, f"models {args.seed}")
    if not chosen:
        raise InputError(f"{args.text} and {args.references} have no pair to judge a model by.")
    sources, references = ([pair[side] for pair in chosen] for side in (0, 1))
    with staged(args.output) as (output, scratch):
        write_lines(scratch / "text", sources)
        decode(args.models, scratch / "text", scratch / "translations", settings)
        translations = list(read_lines(scratch / "translations"))
        numbers = model_numbers(args, sources, references, translations)
        write_json(output / "numbers.json", numbers)
    log.info("%s", {name: value for name, value in numbers.items() if name != "samples"})


def model_numbers(
    args: argparse.Namespace, sources: list[str], references: list[str], translations: list[str]
) -> dict[str, Any]:
    """What the module's docstring lists."""
    scores = corpus_scores(translations, references, args.trg)
    ratios, pairs = LengthRatios(), Pairs(args.seed)
    ratios.add(sources, references)
    pairs.add([sources, translations], [Letters(sources), Letters(translations)])
    return {
        "lines": len(sources),
        **scores,
        "chance": {"score": chance(translations, references)},
        "expected_ratio": ratios.to_json()["overall"],
        "sides": [
            {"lang": lang, "empty": sum(not line.strip() for line in lines)}
            for lang, lines in ((args.src, sources), (args.trg, translations))
        ],
        **pairs.to_json(),
        "samples": [
            [text[:SAMPLE_CHARACTERS] for text in texts]
            for texts in list(zip(sources, references, translations, strict=True))[:SAMPLES]
        ],
    }


def chance(translations: Sequence[str], references: Sequence[str]) -> float:
    """chrF against references that are half the text away, so of other documents; 0 for a single line."""
    half = len(references) // 2
    if not half:
        return 0.0
    others = [*references[half:], *references[:half]]
    return round(float(CHRF().corpus_score(translations, [others]).score), 4)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--models", required=True, nargs="+", type=Path, help="folders of models; several: ensemble")
    add("--src", required=True, help="source language")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--text", required=True, type=Path, help="the dev set's source")
    add("--references", required=True, type=Path, help="its reference translations")
    add("--decoding-config", required=True, type=Path, help="Marian's decoding options, YAML")
    add("--marian-args", default="{}", help="JSON of Marian's options that override that file")
    add("--seed", required=True, type=int, help="seed of the choice of sentences")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
