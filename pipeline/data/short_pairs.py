"""Pairs of one or two words, for test sets of what short strings become."""

from collections import Counter
from collections.abc import Iterable, Iterator

from icu4py.breakers import WordBreaker

from pipeline.common.sampling import sample
from pipeline.data.imports import SEED
from pipeline.data.parallel import Pair

SIZE = 400  # pairs of the test set; fewer when there are not as many
MOST_WORDS = 2


def short_pairs(pairs: Iterable[Pair], locales: tuple[str, str], dropped: Counter[str]) -> list[Pair]:
    """A uniform, seeded sample of the distinct pairs with one or two words a side, in the corpus's order.

    Words are told apart by ICU; a punctuation mark counts as one. `dropped` counts the other pairs.
    """
    short = list(_distinct(pairs, locales, dropped))
    chosen = sample(short, SIZE, SEED)
    dropped["not in the sample"] = len(short) - len(chosen)
    return chosen


def _distinct(pairs: Iterable[Pair], locales: tuple[str, str], dropped: Counter[str]) -> Iterator[Pair]:
    seen: set[Pair] = set()
    for pair in pairs:
        if not all(
            1 <= words(text, locale) <= MOST_WORDS for text, locale in zip(pair, locales, strict=True)
        ):
            dropped["not 1 or 2 words"] += 1
        elif pair in seen:
            dropped["duplicate"] += 1
        else:
            seen.add(pair)
            yield pair


def words(text: str, locale: str) -> int:
    """How many words and punctuation marks a text has by ICU's word boundaries."""
    return sum(not segment.isspace() for segment in WordBreaker(text, locale)) if text else 0
