"""Scores translations by spBLEU (Goyal et al. 2022): BLEU of the pieces of FLORES-200's SentencePiece model.

    python -m pipeline.eval.spbleu --model flores200.spm --translations translations.zst \\
        --corpus-trg test.eo.zst --dataset flores_devtest --output scores

writes scores.json, as metrics.json of pipeline.eval.evaluate; with --results also in Mozilla's layout
(pipeline.eval.results).
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers import tokenizer_spm

from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.eval.evaluate import read_test_set
from pipeline.eval.metrics import resampled_score
from pipeline.eval.results import sentence_scores, write_metric

TOKENIZER = "flores200"

logger = logging.getLogger(__name__)


def spbleu(model: Path) -> BLEU:
    """sacreBLEU's metric, with the model as if sacreBLEU had downloaded it."""
    with TemporaryDirectory() as folder:
        name = PurePosixPath(tokenizer_spm.SPM_MODELS[TOKENIZER]["url"]).name
        downloaded = Path(folder) / "models" / name
        downloaded.parent.mkdir()
        downloaded.symlink_to(model.resolve())
        tokenizer_spm.SACREBLEU_DIR = folder  # type: ignore[attr-defined]  # has no parameter
        return BLEU(tokenize=TOKENIZER)


def main(argv: Sequence[str] | None = None) -> None:
    """Write scores.json."""
    args = _parser().parse_args(argv)
    pairs = read_test_set(args.translations, args.corpus_trg)
    with staged(args.output) as (output, _):
        score = resampled_score(spbleu(args.model), *zip(*pairs, strict=True))
        write_json(output / "scores.json", {"dataset": args.dataset, "lines": len(pairs), "spbleu": score})
        if args.results:
            sentences = sentence_scores(spbleu(args.model), pairs)
            write_metric(output, args.results, "spbleu", score, sentences)
    logger.info("%s", score)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="FLORES-200's SentencePiece model")
    add("--translations", required=True, type=Path, help="a model's translations of the test set")
    add("--corpus-trg", required=True, type=Path, help="its reference translations")
    add("--dataset", required=True, help="name of the test set, for scores.json")
    add("--results", help="how the names of Mozilla's files begin, where they are wanted")
    add("--output", required=True, type=Path, help="new folder for scores.json")
    return parser


if __name__ == "__main__":
    run(main)
