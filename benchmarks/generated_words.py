"""Made-up words of two languages, for generated text."""

from __future__ import annotations

from random import Random

WORDS = 30_000
ALPHABETS = {"en": "etaoinshrdlucmfwygpbvkxjqz", "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфё"}


def words_of(language: str) -> list[str]:
    """A vocabulary, the frequent words first and shorter."""
    random = Random(language)
    letters = ALPHABETS[language]
    weights = [1 / rank for rank in range(1, len(letters) + 1)]
    return [
        "".join(random.choices(letters, weights, k=1 + min(11, random.randrange(2 + rank.bit_length()))))
        for rank in range(WORDS)
    ]
