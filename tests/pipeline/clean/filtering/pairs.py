"""Pairs that try a cleaner: sentences with what corpora hold, and what no corpus should, sewn into them."""

import random
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

Pair = tuple[str, str]

SENTENCES = [
    ("The girl reads the book in the garden.", "Девочка читает книгу в саду."),
    ("On 27 April 2020 there were 4,782 cases.", "27 апреля 2020 года было 4782 случая."),
    ("It cost $1,000.50, or about 900 EUR.", "Это стоило 1 000,50 $, или около 900 EUR."),
    ("See https://example.org/a?b=c#d for more.", "Смотрите https://example.org/a?b=c#d дальше."),
    ("Write to info@example.com or call -5.", "Пишите на info@example.com или звоните: -5."),
    ("A café in Zürich, naïve and coöperative.", "Кафе в Цюрихе, наивное и дружное."),
    ("He said “no” – twice.", "Он сказал «нет» – дважды."),
    ("警方表示，駕駛人沒有責任。", "ตำรวจกล่าวว่าคนขับไม่ผิด"),
    ("Ἐν ἀρχῇ ἦν ὁ λόγος", "في البدء كان الكلمة ١٢٣"),
    ("The ﬁle's K is 12 K, ſaid he.", "İstanbul'da ıslak bir gün, 10:30."),
]
INSERTS = [
    *(" ", "  ", "\u00a0", "\u3000", "\u2009", "\u200b", "\ufeff", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"),
    *("&amp;", "&quot;", "&amp;quot;", "&#124;", "&#91;1&#93;", "&lt;b&gt;", "& apos ;", "&bar;", "&nbsp;"),
    *(
        "[1]",
        " [12] ",
        "[3",
        "[[Page|label]]",
        "[[Page]]",
        "[[a|b",
        "== Title ==",
        "===",
        "=",
        ".mw-parser-output",
    ),
    *("•", "• ", " -", "- ", " Ekumenická Bible", " (Ekumenická Bible)"),
    *(
        " 5",
        " 007",
        " +7",
        " -7",
        "tid-30",
        " 1st",
        " 300,000.0",
        " 3,,,5",
        " 10:30",
        "٣",
        " ²",
        "½",
        "1.2.3.4",
    ),
    *(
        " http://a.b/c",
        " https://www.example.com/x_(y)",
        " www.example.org",
        " me@example.org",
        "end.Beginning",
    ),
    *(
        " example.Kom",
        " ftp://h.io:8080/",
        " 10.0.0.1:80",
        "x[fe80::1]y",
        "a.bc",
        " e.g.",
        "http://",
        "://",
        ".museum",
    ),
    *(
        " $5",
        " 5 $",
        " US$ 10",
        " CA$7",
        " 5€",
        " EUR 5",
        " 5 USD",
        " USD5",
        "AUSD 5",
        " 5 USDs",
        " £ 3.50",
        " 7 zł",
    ),
    *(
        " SEK 100",
        " ¥1",
        " R$ 3",
        " 1,000.",
        " 3 €.",
        "€",
        "🙂",
        "é",
        "e\u0301",
        "ﬀ",
        "İ",
        "ı",
        "ſ",
        "K",
        "1️⃣",
    ),
]


def random_pairs(size: int, seed: int, sentences: Sequence[Pair] = SENTENCES) -> Iterator[Pair]:
    """Yield pairs without tabs and carriage returns, which part columns and lines."""
    rng = random.Random(seed)
    for _ in range(size):
        source, target = rng.choice(sentences)
        if rng.random() < 0.1:
            target = rng.choice(sentences)[rng.randrange(2)]
        for change in rng.choices(CHANGES, WEIGHTS, k=rng.randrange(4)):
            source, target = change(rng, source, target)
        yield source, target


def _insert(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(INSERTS) + text[place:]


def _one(rng: random.Random, source: str, target: str) -> Pair:
    return (_insert(rng, source), target) if rng.random() < 0.5 else (source, _insert(rng, target))


def _both(rng: random.Random, source: str, target: str) -> Pair:
    insert = rng.choice(INSERTS)
    return source + insert, target + insert


def _longer(rng: random.Random, source: str, target: str) -> Pair:
    if len(source) + len(target) > 400:
        return source, target
    times = rng.choice((2, 3, 15, 19, 20, 30))
    longer = " ".join([source] * times)
    return longer, target if rng.random() < 0.3 else " ".join([target] * times)


def _long_word(rng: random.Random, source: str, target: str) -> Pair:
    return source + " " + "w" * rng.choice((149, 150, 151, 300)), target


def _decomposed(_: random.Random, source: str, target: str) -> Pair:
    return unicodedata.normalize("NFD", source), unicodedata.normalize("NFKD", target)


def _empty(rng: random.Random, source: str, target: str) -> Pair:
    return rng.choice(((source, ""), ("", target), ("  ", target), (source, "\u00a0")))


def _shuffled(rng: random.Random, source: str, target: str) -> Pair:
    letters = list(source)
    rng.shuffle(letters)
    return "".join(letters), target


CHANGES: list[Callable[[random.Random, str, str], Pair]] = [
    _one,
    _both,
    _longer,
    _long_word,
    _decomposed,
    _empty,
    _shuffled,
]
WEIGHTS = (8, 5, 0.5, 0.3, 0.5, 0.3, 0.3)


def mirrored_pairs(mirror: Path) -> Iterator[Pair]:
    """Yield the pairs of the English-Russian corpora of OPUS that a mirror has."""
    for archive in sorted(mirror.glob("object.pouta.csc.fi/OPUS-*/*/moses/en-ru.txt.zip")):
        with zipfile.ZipFile(archive) as files:
            names = [name for name in files.namelist() if not name.startswith("__MACOSX")]
            source, target = (
                files.read(next(name for name in names if name.endswith(suffix))).decode("utf-8").split("\n")
                for suffix in (".en", ".ru")
            )
        yield from map(_without_separators, source, target)


def _without_separators(source: str, target: str) -> Pair:
    """Tabs and carriage returns are spaces to the filters, as they are to upstream."""
    table = str.maketrans("\t\r", "  ")
    return source.translate(table), target.translate(table)
