"""HTML of sentences whose links are known."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.alignments.align import word_positions
from pipeline.alignments.icu_tokens import tokenize
from pipeline.markup.documents import EACH, Sentence, Spot, make_documents, read_sentence
from pipeline.markup.runs import Run, parse, plain_texts, write
from tests.pipeline.alignments.small_corpus import sentence_pairs

LINKS = ((0, 0), (1, 1), (2, 2), (3, 3), (5, 4))


def sentence(source: str, target: str, *words: tuple[int, int], locales: str = "en eo") -> Sentence | None:
    """A sentence from a pair and links between its words, marks included."""
    one, other = locales.split()
    tokens, others = tokenize(source, one), tokenize(target, other)
    places, others_places = word_positions(tokens), word_positions(others)
    return read_sentence(tokens, others, [(places[src], others_places[trg]) for src, trg in words])


def sentences(size: int) -> list[Sentence]:
    found = [sentence(*pair, *LINKS) for pair in sentence_pairs(size)]
    return [one for one in found if one]


def tagged(one: Sentence | None) -> dict[str, tuple[str, ...]]:
    """What may be tagged → the reference's words."""
    assert one
    return {one.text[spot.begin : spot.end]: spot.wanted for spot in (*one.words, *one.phrases)}


def test_what_may_be_tagged() -> None:
    assert tagged(sentence("the red cat sees", "la ruĝa kato vidas", (0, 0), (1, 1), (2, 2), (3, 3))) == {
        "the": ("la",),
        "red": ("ruĝa",),
        "cat": ("kato",),
        "sees": ("vidas",),
        "the red": ("la", "ruĝa"),
        "red cat": ("ruĝa", "kato"),
        "cat sees": ("kato", "vidas"),
        "the red cat": ("la", "ruĝa", "kato"),
        "red cat sees": ("ruĝa", "kato", "vidas"),
    }


@pytest.mark.parametrize(
    ("source", "target", "links", "wanted"),
    [
        ("red cat", "kato ruĝa", [(0, 1), (1, 0)], {
            "red": ("ruĝa",), "cat": ("kato",), "red cat": ("kato", "ruĝa")}),
        ("a cat", "kato", [(1, 0)], {"cat": ("kato",)}),  # no link of its own
        ("a cat x", "kato y", [(0, 0), (1, 0), (2, 1)], {
            "x": ("y",), "a cat": ("kato",), "a cat x": ("kato", "y")}),
        ("cat x", "la kato y", [(0, 0), (0, 1), (1, 2)], {"x": ("y",), "cat x": ("la", "kato", "y")}),
        ("a b c", "x y z", [(0, 0), (1, 2), (2, 1)], {  # b's and a's words are not in a row
            "a": ("x",), "b": ("z",), "c": ("y",), "b c": ("y", "z"), "a b c": ("x", "y", "z")}),
        ("the cat, The x", "a b, c d", [(0, 0), (1, 1), (3, 3), (4, 4)], {"cat": ("b",), "x": ("d",)}),
        ("cat dog", "kato Kato", [(0, 0), (1, 1)], None),  # twice in the reference
        ("cat !", "kato !", [(0, 0), (1, 1)], {"cat": ("kato",)}),  # marks are no words
        ("cat 5", "! 5", [(0, 0), (1, 1)], {"5": ("5",)}),
        ("cat", "kato", [], None),
    ],
)  # fmt: skip
def test_unambiguous_links(
    source: str, target: str, links: list[tuple[int, int]], wanted: dict[str, tuple[str, ...]] | None
) -> None:
    found = sentence(source, target, *links)
    assert (tagged(found) if found else None) == wanted


def test_text_without_spaces() -> None:
    found = sentence("我爱北京", "I love Beijing", (0, 0), (1, 1), (2, 2), locales="zh en")
    assert tagged(found)["北京"] == ("Beijing",)
    assert tagged(found)["爱北京"] == ("love", "Beijing")


def test_sentences_that_are_too_long() -> None:
    words = [f"w{number}" for number in range(41)]
    links = [(number, number) for number in range(41)]
    assert sentence(" ".join(words), " ".join(words), *links) is None
    assert sentence(" ".join(words[:40]), " ".join(words[:40]), *links[:40])


def test_documents_of_all_kinds() -> None:
    known: dict[str, set[str]] = {}
    for pair in sentence_pairs(200):
        words = [text.split() for text in pair]
        for one, other in LINKS:
            known.setdefault(words[0][one], set()).add(words[1][other])
    documents = make_documents(sentences(200), "1")
    counts = Counter(document.kind for document in documents)
    kinds = ("word", "link", "nested", "list", "line break", "image", "entities")
    assert counts == {**dict.fromkeys(kinds, EACH)}
    for document in documents:
        assert parse(write(document.markup)) == document.markup
        assert document.wanted
        for number, wanted in document.wanted.items():
            text = "".join(run.text for run in document.markup.runs if number in run.path)
            assert len(text.split()) == len(wanted)
            assert all(other in known[word] for word, other in zip(text.split(), wanted, strict=True))


SMALL = Sentence("A red dog.", (Spot(2, 5, ("ruĝa",)),), (Spot(2, 9, ("ruĝa", "hundo")),))


@pytest.mark.parametrize(
    ("kind", "html", "wanted"),
    [
        ("word", "A <b>red</b> dog.", {0: ("ruĝa",)}),
        ("link", 'A <a href="/wiki?page=1&amp;lang=2#top">red dog</a>.', {0: ("ruĝa", "hundo")}),
        ("nested", "A <i><b>red</b> dog</i>.", {0: ("ruĝa", "hundo"), 1: ("ruĝa",)}),
        (
            "list",
            "<ul><li>A <b>red</b> dog.</li><li>A <i>red</i> dog.</li><li>A <em>red</em> dog.</li></ul>",
            {2: ("ruĝa",), 4: ("ruĝa",), 6: ("ruĝa",)},
        ),
        ("line break", "A <b>red</b> dog.<br>A <i>red</i> dog.", {0: ("ruĝa",), 2: ("ruĝa",)}),
        ("image", 'A <b><img src="/icon.png" alt="">red</b> dog.', {0: ("ruĝa",)}),
        (
            "entities",
            'A&nbsp;<a href="/?a=1&amp;b=2" title="say &quot;&lt;5&quot; &amp; go" class="x y">red</a> dog.',
            {0: ("ruĝa",)},
        ),
    ],
)
def test_the_form_of_a_kind(kind: str, html: str, wanted: dict[int, tuple[str, ...]]) -> None:
    (document,) = [one for one in make_documents([SMALL] * 3, "1") if one.kind == kind][-1:]
    assert write(document.markup) == html
    assert document.wanted == wanted


def test_the_same_documents_for_the_same_seed() -> None:
    some = sentences(60)
    assert make_documents(some, "1") == make_documents(some, "1")
    assert make_documents(some, "1") != make_documents(some, "2")


def test_kinds_that_need_more_than_there_is() -> None:
    """Two sentences make no list, one without phrases no link."""
    alone = Sentence("A red dog.", SMALL.words, ())
    assert {one.kind for one in make_documents([SMALL] * 2, "1")} == {
        *("word", "link", "nested", "line break", "image", "entities")
    }
    assert {one.kind for one in make_documents([alone], "1")} == {"word", "image", "entities"}
    assert make_documents([], "1") == []


def test_a_no_break_space_does_not_move_the_words() -> None:
    (document,) = [one for one in make_documents([SMALL], "1") if one.kind == "entities"]
    assert document.markup.runs == (Run("A\N{NO-BREAK SPACE}"), Run("red", (0,)), Run(" dog."))
    assert plain_texts(document.markup) == ["A red dog."]
