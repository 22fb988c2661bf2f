"""Evaluates a model of any form on a test set, and writes the results in Mozilla's layout, too.

    python -m pipeline.eval.final --model exported --name spring --trg eo \\
        --corpus-src test.en.zst --corpus-trg test.eo.zst --dataset flores_devtest \\
        --results en-eo__flores_devtest__bergamot__spring__latest --output evaluation

The model is a folder, or a tar of its files, in Firefox's form, Marian's or CTranslate2's;
pipeline.eval.systems says what runs it. With --translations in place of --model what pipeline.eval.exported,
or a translator, has translated is scored. Writes

    translations.zst, metrics.json                    as pipeline.eval.evaluate does, with name and engine
    NAME__translations.json                           the same in Mozilla's layout (pipeline.eval.results), by
    NAME__chrf.metrics.json NAME__chrf.scores.json    the name that --results gives; so for each metric
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.packed import unpack
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.eval.evaluate import read_test_set, write_metrics
from pipeline.eval.results import TRANSLATORS, write_results
from pipeline.eval.systems import Translated, translate


def translated(args: argparse.Namespace, scratch: Path) -> Translated:
    """The translations of the test set, made now or given."""
    if args.translations:
        return Translated([*read_lines(args.translations)], "firefox", args.engine)
    model = args.model if args.model.is_dir() else unpack(args.model, scratch / "model")
    return translate(model, args.corpus_src, scratch, args.src_unspaced)


def main(argv: Sequence[str] | None = None) -> None:
    """Translate, score, and write the files named above."""
    args = _parser().parse_args(argv)
    pairs = read_test_set(args.corpus_src, args.corpus_trg)
    with staged(args.output) as (output, scratch):
        made = translated(args, scratch)
        if len(made.lines) != len(pairs):
            raise InputError(
                f"{args.name} has {len(made.lines):,} translations of the {len(pairs):,} lines of "
                f"{args.dataset}. Translate it again."
            )
        write_lines(output / "translations.zst", made.lines)
        others: dict[str, object] = {"model": args.name, "engine": made.engine}
        if made.speed:
            others["speed"] = made.speed
        scores = write_metrics(output, args.dataset, pairs, made.lines, args.trg, others)
        both = zip(pairs, made.lines, strict=True)
        texts = [(source, line, reference) for (source, reference), line in both]
        name = args.results.replace("{translator}", TRANSLATORS[made.form])
        write_results(output, name, made.engine, args.trg, texts, scores)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--model", type=Path, help="folder of the model, or a tar of its files")
    what.add_argument("--translations", type=Path, help="what was made of the test set, a line each")
    add("--engine", default="fxtranslate", help="what made --translations, for metrics.json")
    add("--name", required=True, help="the model's name, for metrics.json")
    add("--trg", required=True, help="target language; BLEU's words depend on it")
    add("--src-unspaced", action="store_true", help="the source has no spaces between words, for the speed")
    add("--corpus-src", required=True, type=Path, help="the test set's source")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for metrics.json")
    add("--results", required=True, help="how the names of Mozilla's files begin; {translator} is filled in")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser


if __name__ == "__main__":
    run(main)
