"""Checks what `make demo` has trained: exits with 1 when a model translates the test sets worse than it can.

python -m tests.demo_scores
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TEST = "demo_test"
LEAST_BLEU = 90.0  # the worst model of a demo that goes well reaches 95
EXPORTED = "exported"
LEAST_SHARE = 0.75  # of the chrF on clean text, on the other test sets; one that goes well reaches 0.8
MODELS = {"backwards", "teacher-1", "student", "finetuned-student", "quantized", EXPORTED}


def main() -> None:
    """Print each model's BLEU and what it should be."""
    command = [str(Path(sys.executable).parent / "translations"), "results", "en-eo.demo", "--json"]
    scores = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    bleu = {model: tests[TEST]["bleu"] for model, tests in scores.items()}
    print(f"BLEU of the demo, at least {LEAST_BLEU}: {bleu}")
    if missing := MODELS - bleu.keys():
        sys.exit(f"error: the demo has no scores of {', '.join(sorted(missing))}")
    if low := {model: score for model, score in bleu.items() if score < LEAST_BLEU}:
        sys.exit(f"error: these models of the demo have not learned what they can: {low}")
    chrf = {test: scored["chrf"] for test, scored in scores[EXPORTED].items()}
    print(f"chrF of the exported student, at least {LEAST_SHARE} of {TEST}'s: {chrf}")
    if low := {test: score for test, score in chrf.items() if score < LEAST_SHARE * chrf[TEST]}:
        sys.exit(f"error: the exported student does not keep its quality on these: {low}")


if __name__ == "__main__":
    main()
