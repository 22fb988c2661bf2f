"""Tags put into translations by their alignments."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.markup.placing import Aligned, Link, place, translate_markup
from pipeline.markup.runs import Markup, parse, write

END = 99  # a place behind every source


def aligned(text: str, *pieces: tuple[str, int, float]) -> Aligned:
    """A translation whose pieces are aligned with places in the source."""
    links, begin = [], 0
    for piece, source, weight in pieces:
        begin = text.index(piece, begin)
        links.append(Link(begin, begin + len(piece), source, weight))
        begin += len(piece)
    return Aligned(text, tuple(links))


def placed(html: str, translation: Aligned) -> str:
    markup = parse(html)
    return write(Markup(markup.tags, tuple(place(markup.tags, markup.runs, translation))))


def words(html: str, *translations: tuple[str, str]) -> str:
    """A translation given as words, each with the word of the source that it is aligned with."""
    text = "".join(run.text for run in parse(html).runs).strip()
    pieces = [(word, text.index(source) if source else END, 0.9) for word, source in translations]
    return placed(html, aligned(" ".join(word for word, _ in translations), *pieces))


@pytest.mark.parametrize(
    ("html", "translations", "wanted"),
    [
        ("a <b>red</b> dog", [("hundo", "dog"), ("ruĝa", "red")], "hundo <b>ruĝa</b>"),
        ("<b>red dog</b> x", [("ruĝa", "red"), ("hundo", "dog"), ("y", "x")], "<b>ruĝa hundo</b> y"),
        ("<b>red dog</b> x", [("ruĝa", "red"), ("y", "x"), ("hundo", "dog")], "<b>ruĝa</b> y <b>hundo</b>"),
        (
            "<i>old <b>red</b></i> dog",
            [("ruĝa", "red"), ("malnova", "old"), ("hundo", "dog")],
            "<i><b>ruĝa</b> malnova</i> hundo",
        ),
        (
            "a <b>red</b> dog",
            [("la", "a"), ("hundo", "dog")],
            "la <b></b>hundo",
        ),  # nothing is aligned with it
        ("a <b>red</b>", [("la", "a")], "la<b></b>"),
        ("a <i>old <b>red</b></i> dog", [("la", "a"), ("hundo", "dog")], "la <i><b></b></i>hundo"),
        ("a <b>dog</b>", [("hundo", "")], "hundo<b></b>"),  # aligned with the end of the sentence
        ("a <img> dog", [("hundo", "dog"), ("x", "a")], "<img>hundo x"),
        ("dog <b><img>cat</b>", [("kato", "cat"), ("hundo", "dog")], "<b><img>kato</b> hundo"),
        ("dog<img>", [("hundo", "dog")], "hundo<img>"),
        ("  <b>dog</b> \n", [("hundo", "dog")], "  <b>hundo</b> \n"),
    ],
)
def test_words_take_their_tags_along(html: str, translations: list[tuple[str, str]], wanted: str) -> None:
    assert words(html, *translations) == wanted


def test_the_surest_piece_of_a_word_decides() -> None:
    html = "a <b>dog</b> x"
    for weights, wanted in (((0.9, 0.8), "<b>hundo</b>"), ((0.7, 0.8), "hundo<b></b>")):
        translation = aligned("hundo", ("hun", 2, weights[0]), ("do", 6, weights[1]))
        assert placed(html, translation) == wanted.replace("hundo<b></b>", "<b></b>hundo")


def test_marks_by_themselves_and_at_words() -> None:
    """As in the engine of browsers: a full stop is a word of its own, `!` is none."""
    stop = aligned("hundo.", ("hundo", 0, 0.5), (".", 3, 0.9))
    assert placed("<b>dog</b>.", stop) == "<b>hundo</b>."
    call = aligned("hundo!", ("hundo", 0, 0.5), ("!", 3, 0.9))
    assert placed("<b>dog</b>!", call) == "<b></b>hundo!"
    assert placed("<b>dog</b>!", aligned("hundo!", ("hundo", 0, 0.9), ("!", 3, 0.5))) == "<b>hundo!</b>"
    assert placed("(<b>dog</b>)", aligned("(hundo)", ("(", 0, 1), ("hundo", 1, 1), (")", 4, 1))) == (
        "(<b>hundo</b>)"
    )


def test_scripts_without_spaces_and_from_right_to_left() -> None:
    chinese = aligned("我爱，北京", ("我", 0, 0.6), ("爱", 2, 0.9), ("，", 3, 0.5), ("北京", 7, 0.8))
    assert placed("I <b>love</b> Beijing", chinese) == "<b>我爱，北京</b>"  # one word, as browsers have it
    arabic = aligned("كلب كبير", ("كلب", 4, 0.9), ("كبير", 0, 0.9))
    assert placed("<b>big</b> dog", arabic) == "كلب <b>كبير</b>"


def test_a_translation_without_words_or_links() -> None:
    assert placed("a <b>dog</b>", Aligned("", ())) == "<b></b>"
    assert placed("<i>a <b>dog</b></i>", Aligned("hundo", ())) == "<i>hundo<b></b></i>"


def test_each_block_is_translated_by_itself_in_one_call() -> None:
    asked: list[list[str]] = []

    def translate(texts: Sequence[str]) -> list[Aligned]:
        asked.append([*texts])
        return [
            aligned(text.upper(), *((word.upper(), text.index(word), 1) for word in text.split()))
            for text in texts
        ]

    documents = [parse("<ul><li>a <b>dog</b></li> <li> cat</li></ul>"), parse("x<br>y &amp; z")]
    found = translate_markup(documents, translate)
    assert asked == [["a dog", "cat", "x", "y & z"]]
    assert [write(markup) for markup in found] == [
        "<ul><li>A <b>DOG</b></li> <li> CAT</li></ul>",
        "X<br>Y &amp; Z",
    ]
