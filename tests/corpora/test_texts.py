"""Tests of translated files against each other, compared with what was written into them."""

import io

from babel.messages import Catalog
from babel.messages.mofile import write_mo

from corpora import texts

SIMILAR_PAGE = b"""<page xmlns="http://projectmallard.org/1.0/"><title>%s</title>
<section><p>%s <gui>OK</gui>.</p></section></page>"""


def _catalogue(*messages: tuple[str | tuple[str, str], str | tuple[str, ...]]) -> bytes:
    catalogue = Catalog(locale="fr")
    for message, translation in messages:
        catalogue.add(message, translation)
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def test_messages_lose_marks_of_accelerators_that_both_sides_have() -> None:
    data = _catalogue(
        ("_File", "_Fichier"),
        ("&Open…", "Ouvrir (&O)…"),
        ("use_this_name", "use_this_name"),
        ("snake_case", "Fichier"),
        (("%d file", "%d files"), ("%d fichier", "%d fichiers")),
        ("untranslated", ""),
    )
    assert sorted(texts.messages(data)) == [
        ("%d file", "%d fichier"),
        ("%d files", "%d fichiers"),
        ("File", "Fichier"),
        ("Open…", "Ouvrir …"),
        ("snake_case", "Fichier"),
        ("use_this_name", "use_this_name"),
    ]


def test_what_is_no_catalogue_has_no_messages() -> None:
    whole = _catalogue(("a message", "un message"))
    for damaged in (b"", b"no catalogue", whole[:30], whole[:-5]):
        assert list(texts.messages(damaged)) in ([], [("a message", "un mess")]), damaged


def test_help_pages_of_the_same_structure_are_pairs() -> None:
    english, french = SIMILAR_PAGE % (b"Help", b"Press"), SIMILAR_PAGE % (b"Aide", b"Appuyez sur")
    assert list(texts.help_pairs(english, french)) == [("Help", "Aide"), ("Press OK.", "Appuyez sur OK.")]
    assert list(texts.help_pairs(english, french.replace(b"title", b"desc"))) == []
    assert list(texts.help_pairs(english, b"<page>&unknown;</page>")) == []


def test_blocks_of_html_are_found_by_their_ids() -> None:
    page = b'<h1 id="a">A &amp; <b>B</b></h1><p class="x" id="b">Text\nof <i>two</i> lines</p><p>no id</p>'
    assert texts.html_blocks(page) == {"a": "A & B", "b": "Text\nof two lines"}


def test_descriptions_are_cut_into_paragraphs_and_items() -> None:
    description = (
        "short summary\n This is a paragraph\n of two lines.\n .\n Features:\n"
        "  * one thing\n    that goes on\n  * another\n .\n  shown as it stands\n  in two lines"
    )
    assert texts.units(description) == [
        ["short summary"],
        ["This is a paragraph of two lines."],
        ["Features:", "one thing that goes on", "another"],
        ["shown as it stands", "in two lines"],
    ]


def test_of_descriptions_of_unlike_paragraphs_the_synopsis_is_taken() -> None:
    assert list(texts.described("a game\n One.\n .\n Two.", "un jeu\n Un. Deux.")) == [("a game", "un jeu")]
    assert list(texts.described("a game\n One\n  - x\n  - y", "un jeu\n Un\n  - x y")) == [
        ("a game", "un jeu"),
        ("One x y", "Un x y"),
    ]


def test_sentences_are_pairs_where_both_sides_have_as_many() -> None:
    pairs = [
        ("One here. Two there.\n\nThree", "Un ici. Deux là.\n\nTrois"),
        ("One here. Two there.", "Un ici, deux là."),
        ("One\n\nTwo", "Un deux"),
        ("Empty", "  "),
    ]
    assert list(texts.sentence_pairs(pairs, "fr")) == [
        ("One here.", "Un ici."),
        ("Two there.", "Deux là."),
        ("Three", "Trois"),
        ("One here. Two there.", "Un ici, deux là."),
        ("One Two", "Un deux"),
    ]


def test_manual_pages_are_read_without_requests() -> None:
    text = "ls \\- Afficher le \\fIcontenu\\fP\nde r\u00e9pertoires. Fin."
    page = f'.TH LS 1\n.SH NOM\n{text}\n.\\" comment\n\\(aqx\\(aq'
    assert list(texts.manual_sentences(page, "fr")) == [
        "ls - Afficher le contenu de r\u00e9pertoires.",
        "Fin.",
        "'x'",
    ]
