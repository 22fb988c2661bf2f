"""Which languages a sample of lines is in, by py3langid."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline.clean.alphabet import letters
from pipeline.clean.language import MIN_LETTERS, confusable, identifier, known_code

SAMPLES = 5
SAMPLE_CHARACTERS = 300


def language_numbers(lines: Sequence[str], lang: str) -> dict[str, Any]:
    """How many lines the identifier takes for another language than `lang` or those like it.

    Lines with few letters are not asked. `identified_as` is None for a language that it does not know.
    """
    code = known_code(lang)
    if code is None:
        return {"identified_as": None, "asked": 0, "other": 0, "share": 0.0, "guesses": {}, "samples": []}
    expected, guesses, samples, asked = confusable(code), Counter[str](), list[list[str]](), 0
    for line in lines:
        if letters(line) < MIN_LETTERS:
            continue
        asked += 1
        guess = identifier().classify(line)[0]
        if guess not in expected:
            guesses[guess] += 1
            if len(samples) < SAMPLES:
                samples.append([guess, line[:SAMPLE_CHARACTERS]])
    other = guesses.total()
    return {
        "identified_as": code,
        "asked": asked,
        "other": other,
        "share": round(other / asked, 6) if asked else 0.0,
        "guesses": dict(sorted(guesses.items(), key=lambda guess: (-guess[1], guess[0]))[:10]),
        "samples": samples,
    }
