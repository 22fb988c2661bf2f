"""Noise for the synthetic demo corpus: pairs and lines that cleaning and merging have to remove."""

import re
from collections.abc import Callable, Sequence
from random import Random

from pipeline.data.demo_grammar import Text

GERMAN_SUBJECTS = ("Der alte Lehrer", "Unsere Nachbarin", "Die kleine Schwester", "Mein bester Freund")
GERMAN_VERBS = ("erzählte uns gestern", "verschwieg mir natürlich", "wusste schon lange", "glaubte niemals")
GERMAN_CLAUSES = (
    "dass die Geschichte wahr ist",
    "warum das Wetter so schlecht war",
    "wohin die Straße führt",
    "wie schön der Frühling werden kann",
)


def _german(rng: Random) -> str:
    words = rng.choice(GERMAN_SUBJECTS), rng.choice(GERMAN_VERBS) + ",", rng.choice(GERMAN_CLAUSES)
    return " ".join(words) + f", und zwar schon seit {rng.randrange(2, 1000)} Tagen."


def _wrong_language(rng: Random, pair: Text, _: Sequence[Text]) -> Text:
    """German in the place of the translation, or the translation's language in the place of the original."""
    german = _german(rng)
    return Text(pair.en, german) if rng.random() < 0.5 else Text(german, pair.eo)


def _misaligned(rng: Random, _: Text, pairs: Sequence[Text]) -> Text:
    """A short sentence beside the translation of a long one, or the other way round."""
    drawn = sorted(rng.choices(pairs, k=50), key=lambda pair: len(pair.en))
    first, second = rng.sample((drawn[0], drawn[-1]), 2)
    return Text(first.en, second.eo)


def _empty(rng: Random, pair: Text, _: Sequence[Text]) -> Text:
    return rng.choice((Text(pair.en, ""), Text("", pair.eo), Text("", ""), Text(pair.en, "   ")))


def _duplicated(_: Random, pair: Text, __: Sequence[Text]) -> Text:
    return pair


def _tags(rng: Random) -> str:
    cells = "".join(f'<td id="{rng.randrange(100, 999)}">{rng.randrange(10)}</td>' for _ in range(3))
    return f"<tr>{cells}<br /><br />&nbsp;|&nbsp;</tr>"


def _markup(rng: Random, _: Text, __: Sequence[Text]) -> Text:
    """A row of a table, without a sentence in it."""
    tags = _tags(rng)
    return Text(tags, tags)


def _number_mismatch(rng: Random, pair: Text, pairs: Sequence[Text]) -> Text:
    """A number in the translation that the original does not have."""
    if not re.search(r"\d", pair.eo):
        pair = rng.choice([other for other in rng.choices(pairs, k=500) if re.search(r"\d", other.eo)])
    return Text(
        pair.en, re.sub(r"\d+", lambda found: str(int(found[0]) + 1 + rng.randrange(99)), pair.eo, count=1)
    )


def _url_mismatch(rng: Random, pair: Text, _: Sequence[Text]) -> Text:
    """An address in the original, another one in the translation."""
    urls = [f"https://example.org/page-{rng.randrange(100, 999)}-{side}" for side in ("en", "eo")]
    return Text(f"{pair.en[:-1]} ({urls[0]}){pair.en[-1]}", f"{pair.eo[:-1]} ({urls[1]}){pair.eo[-1]}")


PAIR_NOISE: dict[str, Callable[[Random, Text, Sequence[Text]], Text]] = {
    "wrong language": _wrong_language,
    "misaligned": _misaligned,
    "empty": _empty,
    "duplicated": _duplicated,
    "markup": _markup,
    "number mismatch": _number_mismatch,
    "URL mismatch": _url_mismatch,
}

LINE_NOISE: dict[str, Callable[[Random, str], str]] = {
    "wrong language": lambda rng, _: _german(rng),
    "empty": lambda rng, _: rng.choice(("", "  ")),
    "duplicated": lambda _, line: line,
    "markup": lambda rng, _: _tags(rng),
}


def noisy_pair(kind: str, rng: Random, pairs: Sequence[Text]) -> Text:
    """A pair with noise of a kind (a key of PAIR_NOISE), made from clean ones."""
    return PAIR_NOISE[kind](rng, rng.choice(pairs), pairs)


def noisy_line(kind: str, rng: Random, lines: Sequence[str]) -> str:
    """A line with noise of a kind (a key of LINE_NOISE), made from clean ones."""
    return LINE_NOISE[kind](rng, rng.choice(lines))
