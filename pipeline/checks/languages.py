"""Which languages a sample of lines is in."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline.clean.identification import Identifier

SAMPLES = 5
SAMPLE_CHARACTERS = 300


def language_numbers(lines: Sequence[str], identifier: Identifier) -> dict[str, Any]:
    """How many lines are in another language than the identifier's, and which.

    Lines with few letters are not asked. `identified_as` is None for a language that the identifier lacks.
    """
    asked = (
        [line for line in lines if identifier.script.evidence(line).is_enough] if identifier.labels else []
    )
    others = [(label, line) for label, line in zip(identifier.others(asked), asked, strict=True) if label]
    guesses = Counter(label for label, _ in others)
    return {
        "identified_as": " ".join(sorted(identifier.labels)) or None,
        "asked": len(asked),
        "other": len(others),
        "share": round(len(others) / len(asked), 6) if asked else 0.0,
        "guesses": dict(sorted(guesses.items(), key=lambda guess: (-guess[1], guess[0]))[:10]),
        "samples": [[label, line[:SAMPLE_CHARACTERS]] for label, line in others[:SAMPLES]],
    }
