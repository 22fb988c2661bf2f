"""Tests of pipeline.train.piece_links: the same links as OpusTrainer's Tags, line by line."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from opustrainer.modifiers.placeholders import PlaceholderTagModifier
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from pipeline.alignments.icu_tokens import tokenize
from pipeline.train.piece_links import Side, piece_links, without_ends
from pipeline.train.vocab import learn
from tests.session import once

LINES = 750
LETTERS = {
    "en": "etaoinshrdlucmfwygpbvk",
    "ru": "оеаинтсрвлкмдпуяыьгзбчй",
    "el": "αβγδεζηθικλμνξοπρστυφχψω",
    "ar": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "hi": "अआइईउऊएऐओऔकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसह",
    "zh": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年",
    "th": "กขคงจฉชซญดตถทนบปผพฟมยรลวสหอะา",
}
# What SentencePiece normalises, spells in bytes or has no piece for, and what ICU cuts in odd ways.
ODD = [
    "don't",
    "…",
    "½",
    "Ａbc",
    "é",
    "ﷺ",
    "😀",
    "🤣🤣",
    "№5",
    "1.234,5",
    "x\u200by",
    "x\u200fy",
    "\u202bxy\u202c",
    "می\u200cخواهم",
    "▁",
    "<0xF0>",
    "«a»",
    "()!?",
    "ﬁn",
]

Row = tuple[str, str, list[tuple[int, int]]]


def sentence(rng: random.Random, lang: str, odd: float) -> str:
    words = [
        rng.choice(ODD) if rng.random() < odd else "".join(rng.choices(LETTERS[lang], k=rng.randrange(1, 8)))
        for _ in range(rng.randrange(1, 14))
    ]
    return ("" if lang in ("zh", "th") else " ").join(words) + rng.choice([".", "", "!"])


def rows(src: str, trg: str, odd: float) -> Iterator[Row]:
    """Tokenised pairs of words of random letters, each token linked with up to three others."""
    rng = random.Random(f"{src}-{trg} {odd}")
    for _ in range(LINES):
        sides = [tokenize(sentence(rng, lang, odd), lang) for lang in (src, trg)]
        sides = [" ".join(side).split() for side in sides]
        ends = [len(side) for side in sides]
        links = [(i, rng.randrange(ends[1])) for i in range(ends[0]) for _ in range(rng.randrange(4))]
        if all(sides):
            yield " ".join(sides[0]), " ".join(sides[1]), links or [(0, 0)]


@cache
def vocab(lang: str) -> Path:
    """One that knows words of random letters in its language: of few pieces for a character."""

    def make(folder: Path) -> None:
        rng = random.Random(lang)
        words = ["".join(rng.choices(LETTERS[lang], k=rng.randrange(1, 5))) for _ in range(300)]
        text = [" ".join(rng.choices([*words, *LETTERS[lang], "!"], k=12)) + "." for _ in range(2_000)]
        (folder / "vocab.spm").write_bytes(learn(text, 500, "nfc"))

    return once(f"piece-links-{lang}", make) / "vocab.spm"


def links_by_tags(given: Sequence[Row], vocabs: tuple[Path, Path]) -> list[str]:
    tags = PlaceholderTagModifier(0.0, "icu:a", "icu:b", str(vocabs[0]), str(vocabs[1]), augment=1, tag=0)
    lines = [f"{src}\t{trg}\t{' '.join(f'{i}-{j}' for i, j in links)}" for src, trg, links in given]
    return [tags.apply(line).rpartition("\t")[2] for line in lines]


@pytest.mark.parametrize("odd", [0.0, 0.1])
@pytest.mark.parametrize(("src", "trg"), [("en", "ru"), ("el", "ar"), ("hi", "en"), ("zh", "th")])
def test_links_are_those_of_opustrainers_tags(
    src: str, trg: str, odd: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, vocabs = list(rows(src, trg, odd)), (vocab(src), vocab(trg))
    expected = links_by_tags(given, vocabs)
    mapper, ways = piece_links(*vocabs), Counter[str]()
    theirs = Side._by_opustrainer

    def counted(side: Side, tokens: Sequence[str]) -> Sequence[Sequence[int]]:
        ways["by OpusTrainer"] += 1
        return theirs(side, tokens)

    monkeypatch.setattr(Side, "_by_opustrainer", counted)
    processors = [SentencePieceProcessor(model_file=str(path)) for path in vocabs]
    for (source, target, links), wanted in zip(given, expected, strict=True):
        texts = [side.replace(" ", "").replace("▁", " ") for side in (source, target)]
        ids = [processor.encode(text) for processor, text in zip(processors, texts, strict=True)]
        assert mapper.of(source.split(), target.split(), links, ids) == wanted, (source, target)
    if odd:
        assert 0 < ways["by OpusTrainer"] < 2 * len(given)
    else:
        assert ways["by OpusTrainer"] < len(given) / 10


@cache
def vocab_of_pairs(lang: str) -> Path:
    """One made by byte-pair encoding, whose pieces of a beginning may be others than those of the whole."""

    def make(folder: Path) -> None:
        rng = random.Random(lang)
        with (folder / "vocab.spm").open("wb") as file:
            SentencePieceTrainer.train(
                sentence_iterator=iter([sentence(rng, lang, 0.0) for _ in range(2_000)]),
                model_writer=file,
                model_type="bpe",
                vocab_size=300,
                byte_fallback=True,
            )

    return once(f"piece-links-bpe-{lang}", make) / "vocab.spm"


@pytest.mark.parametrize("kind", [vocab, vocab_of_pairs])
@pytest.mark.parametrize(("src", "trg"), [("en", "ru"), ("el", "ar"), ("zh", "th")])
def test_links_are_prepared_as_those_of_opustrainers_tags_with_and_without_the_last_characters(
    src: str, trg: str, kind: Callable[[str], Path]
) -> None:
    vocabs = kind(src), kind(trg)
    mapper, given = piece_links(*vocabs), list(rows(src, trg, 0.05))
    shorter, found, wholes = list[Row](), list[str](), list[str]()
    for source, target, links in given:
        tokens = source.split(), target.split()
        texts = ["".join(side).replace("▁", " ") for side in tokens]
        ids = [side.encode(text) for side, text in zip(mapper.vocabs, texts, strict=True)]
        linked, last = mapper.prepared(*tokens, links, ids)
        wholes.append(linked)
        if last:
            ends = len(tokens[0]) - 1, len(tokens[1]) - 1
            rest = [(i, j) for i, j in links if i != ends[0] and j != ends[1]]
            if rest:
                shorter.append((" ".join(tokens[0][:-1]), " ".join(tokens[1][:-1]), rest))
                found.append(without_ends(linked, last))
    assert len(shorter) > LINES / 20
    assert wholes == links_by_tags(given, vocabs)
    assert found == links_by_tags(shorter, vocabs)


def test_characters_spelled_in_bytes_are_mapped_as_by_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are common where a vocabulary does not know a script, or its upper case."""
    vocabs = vocab("en"), vocab("ru")
    given = [row for row in rows("ru", "zh", 0.0) if row[0].isprintable()]
    expected = links_by_tags(given, vocabs)

    def never(side: Side, tokens: Sequence[str]) -> Sequence[Sequence[int]]:
        raise AssertionError(f"left to OpusTrainer: {tokens}")

    monkeypatch.setattr(Side, "_by_opustrainer", never)
    mapper = piece_links(*vocabs)
    for (source, target, links), wanted in zip(given, expected, strict=True):
        texts = [side.replace(" ", "").replace("▁", " ") for side in (source, target)]
        ids = [side.encode(text) for side, text in zip(mapper.vocabs, texts, strict=True)]
        assert mapper.of(source.split(), target.split(), links, ids) == wanted, (source, target)
