"""Marian's pieces and weights, and a real student's."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.vocabulary import load_vocabulary
from pipeline.markup.placing import Link
from pipeline.markup.with_marian import read_aligned, source_places, translate_aligned
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.markup.conftest import guided
from tests.pipeline.markup.guided_model import WORD_LINKS
from tests.pipeline.quantize.conftest import one_thread
from tests.pipeline.quantize.tiny_model import train_vocabulary

__all__ = ["guided", "one_thread"]  # fixtures


def test_pieces_and_their_weights() -> None:
    found = read_aligned("▁La ▁hun do . ||| 0.9,0.1,0 0.2,0.5,0.3 0.1,0.3,0.6 0,0,1 0,0,1", [1, 5, 9])
    assert found.text == "La hundo."
    assert found.links == (Link(0, 2, 1, 0.9), Link(2, 6, 5, 0.5), Link(6, 8, 9, 0.6), Link(8, 9, 9, 1))


def test_pieces_that_are_bytes() -> None:
    """Those of one character all stand at its place; half a character is none."""
    found = read_aligned("▁a <0xF0> <0x9F> <0x90> <0xB1> b <0xC4> ||| " + " ".join(["1,0"] * 8), [0, 1])
    assert found.text == "a🐱b\N{REPLACEMENT CHARACTER}"
    assert [found.text[link.begin : link.end] for link in found.links] == [*"a🐱🐱🐱🐱b", "\ufffd"]


def test_bars_in_the_text_and_nothing() -> None:
    assert read_aligned("▁a ▁||| ▁b ||| 1,0 1,0 0,1 0,1", [0, 2]).text == "a ||| b"
    assert read_aligned(" ||| 1", [0]).text == ""
    assert read_aligned(" ||| 1", [0]).links == ()


def test_a_source_that_was_cropped() -> None:
    """Its last weight is that of its end."""
    assert read_aligned("▁a ▁b ||| 0,1 1,0 0,1", [0, 2, 4, 6]).links == (Link(0, 1, 6, 1), Link(1, 3, 0, 1))


@pytest.mark.parametrize("line", ["▁La ▁hundo", "▁La ▁hundo ||| 1,0", "▁La ||| 1,0,0 1,0,0"])
def test_without_weights_for_each_piece(line: str) -> None:
    with pytest.raises(InputError, match="does not align each piece"):
        read_aligned(line, [0, 3])


def test_places_of_pieces(tmp_path: Path) -> None:
    train_vocabulary([pair[0] for pair in sentence_pairs(1000)], tmp_path / "source.spm")
    vocabulary = load_vocabulary(tmp_path / "source.spm")
    text = "the  big\N{NO-BREAK SPACE}dog 🐱 the"
    pieces, places = vocabulary.encode(text, out_type=str), source_places(vocabulary, text)
    assert len(places) == len(pieces) + 1
    assert places[-1] == len(text)
    assert places == sorted(places)
    assert all(place == len(text) or not text[place].isspace() for place in places)
    at_cat = [place for piece, place in zip(pieces, places, strict=False) if piece.startswith("<0x")]
    assert {*at_cat} == {text.index("🐱")}
    assert places[0] < len("the")


def span(text: str, number: int) -> range:
    """Where a word stands."""
    words = text.split()
    begin = sum(len(word) + 1 for word in words[:number])
    return range(begin, begin + len(words[number]))


@pytest.mark.marian
@pytest.mark.slow
def test_a_guided_student_aligns_its_words(guided: Path, tmp_path: Path) -> None:
    pairs = sentence_pairs(1100)[1000:1040]
    found = translate_aligned(guided, [source for source, _ in pairs], tmp_path)
    assert [one.text for one in found[:3]] == [target for _, target in pairs[:3]]
    right = 0
    for (source, target), one in zip(pairs, found, strict=True):
        for first, second in WORD_LINKS:
            wanted, word = span(source, first), span(target, second)
            links = [link for link in one.links if link.begin < word.stop and word.start < link.end]
            right += bool(links) and max(links, key=lambda link: link.weight).source in wanted
    assert right > 0.9 * len(pairs) * len(WORD_LINKS)


@pytest.mark.marian
@pytest.mark.slow
def test_a_model_in_floats(guided: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no quantised student"):
        translate_aligned(guided.parent / "model", ["a"], tmp_path)
