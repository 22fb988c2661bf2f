"""Writes a judge's scores in Mozilla's layout (pipeline.eval.results), as the metric `llm-ref`.

    python -m pipeline.eval.llm_ref --scores scores.json --segments segments.zst \\
        --results en-ru__flores_devtest__bergamot__spring__latest --output results

reads what pipeline.eval.judge has written, and asks nobody. Mozilla's judge gives 1 to 5: 0 is 1 here, and
100 is 5. A line without a score is null.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.script import run
from pipeline.common.staging import staged
from pipeline.eval.results import write_metric

METRIC = "llm-ref"
LEAST, STEPS = 1, 4
DIGITS = 4


def main(argv: Sequence[str] | None = None) -> None:
    """Write the metric's two files."""
    args = parse_arguments(argv)
    try:
        judged = json.loads(args.scores.read_text(encoding="utf-8"))["judge"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{args.scores} does not have a judge's scores ({error!r}). Give scores.json of a judge."
        ) from error
    with staged(args.output) as (output, _):
        score = {
            "score": round(_on_scale(judged["score"]), DIGITS),
            "signature": f"{judged['signature']}|scale:{LEAST}-{LEAST + STEPS}",
        }
        sentences = [_on_scale(float(line)) if line else None for line in read_lines(args.segments)]
        write_metric(output, args.results, METRIC, score, sentences)


def _on_scale(score: float) -> float:
    """A score of 0 to 100 on the scale of Mozilla's judge."""
    return LEAST + STEPS * score / 100


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--scores", required=True, type=Path, help="scores.json of the judge")
    add("--segments", required=True, type=Path, help="segments.zst of the judge")
    add("--results", required=True, help="how the names of the files begin")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
