"""Tests of the input of Firefox's engine: no more at once than a model allows, nothing without text."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from fxtranslate import Translator
from sentencepiece import SentencePieceProcessor

from pipeline.common.engine import MOST_PIECES, Engine, load_engine
from pipeline.common.lines import read_lines
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.export import main as export
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.quantize.tiny_model import Tiny, train_vocabulary
from tests.session import once

__all__ = ["one_thread", "quantized", "tiny"]  # fixtures

WORDS = [word for source, _ in sentence_pairs(1500) for word in source.split()][:10_000]
SENTENCES = [f"{source.capitalize()}." for source, _ in sentence_pairs(1500)]
LONG = {
    "words": " ".join(WORDS),
    "sentences": " ".join(SENTENCES),
    "one word": "abcdefghij" * 10_000,
    "Chinese": "大狗看见小猫" * 2000,
    "Chinese sentences": "大狗看见小猫。" * 2000,
    "Arabic": "الكلب الكبير يرى القطة " * 2000,
    "emoji": "🐱" * 10_000,
    "families": "👩\u200d👩\u200d👧" * 2000,
    "marks": "a" + "\u0301" * 10_000,
    "paragraphs": "\n\n".join(SENTENCES),
    "spaces inside": f"one{' ' * 10_000}two",
}
NOTHING = [
    "",
    "   ",
    "\n\t",
    "\u3000",
    "\u200b",
    "\u200b \u200d",
    "\u2060\ufeff\u00ad",
    "\u200e\u200f",
    "\ufffd",
]


class Upper:
    """A translator that writes capitals, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def translate(self, text: str) -> str:
        self.given.append(text)
        return text.upper()


@pytest.fixture(scope="session")
def vocabulary() -> SentencePieceProcessor:
    """Of the tiny corpus: what it does not know is pieces of bytes."""

    def make(folder: Path) -> None:
        train_vocabulary([source for source, _ in sentence_pairs(1000)], folder / "vocab.spm")

    return load_vocabulary(once("engine-vocabulary", make) / "vocab.spm")


@pytest.fixture
def upper() -> Upper:
    return Upper()


@pytest.fixture
def engine(upper: Upper, vocabulary: SentencePieceProcessor) -> Engine:
    return Engine(cast("Translator", upper), vocabulary)


@pytest.mark.parametrize("whole", [True, False], ids=["line", "text"])
@pytest.mark.parametrize("name", LONG)
def test_a_long_text_is_translated_whole_and_in_parts(
    name: str, whole: bool, engine: Engine, upper: Upper, vocabulary: SentencePieceProcessor
) -> None:
    text = LONG[name]
    found = engine.translate(text) if whole else engine.translate_text(text)
    assert found == text.upper()
    pieces = [len(vocabulary.encode(part)) for part in upper.given]
    assert max(pieces) <= MOST_PIECES
    if "sentences" not in name and name != "paragraphs" and len(pieces) > 1:
        assert sum(pieces) / len(pieces) > MOST_PIECES / 4  # no more parts than it needs


def test_what_is_short_enough_is_given_as_it_is(engine: Engine, upper: Upper) -> None:
    lines = [
        "A dog sees it. A cat sees me,  too.",
        " a dog ",
        "大狗看见小猫。",
        "It is 3.5 p.m.",
        *SENTENCES[:100],
    ]
    assert [engine.translate(line) for line in lines] == [line.upper() for line in lines]
    assert upper.given == lines


def test_a_text_is_given_by_sentences(engine: Engine, upper: Upper) -> None:
    assert engine.translate_text("A dog.  A cat.\n\u200b\nyou  see") == "A DOG.  A CAT.\n\u200b\nYOU  SEE"
    assert upper.given == ["A dog.", "A cat.", "you  see"]


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_is_not_translated(text: str, engine: Engine, upper: Upper) -> None:
    assert engine.translate(text) == engine.translate_text(text) == text
    assert upper.given == []


@pytest.mark.marian
@pytest.mark.slow
def test_a_real_model_translates_every_sentence_of_a_long_line(
    tiny: Tiny, quantized: Path, tmp_path: Path
) -> None:
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(tmp_path / "exported")])
    real = load_engine(sorted((tmp_path / "exported").iterdir()))
    sentences = [f"{source.capitalize()}." for source in read_lines(tiny.test[0])]
    one_by_one = [real.translate(sentence) for sentence in sentences]
    assert real.translate(" ".join(sentences * 20)) == " ".join(one_by_one * 20)
    assert len(real.translate(LONG["words"]).split()) > len(WORDS) / 20  # the engine alone makes five of it
    assert [real.translate(text) for text in NOTHING] == NOTHING
