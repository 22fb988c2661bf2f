"""Tests of the filters, each on readable pairs; test_opuscleaner.py compares them with OpusCleaner."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean.filtering.lengths import letter_table
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import FILTERS, filter_file, ours
from tests.pipeline.clean.filtering.pairs import Pair

GOOD = ("The girl reads the book.", "Девочка читает книгу.")


def entry(name: str, language: str | None = None, **parameters: Any) -> dict[str, Any]:
    return {"filter": name, "parameters": parameters, "language": language}


def filtered(folder: Path, pair: Pair, *filters: dict[str, Any]) -> Pair | None:
    """A pair after filters; None when they drop it."""
    left = ours(filter_file(folder, *filters), [GOOD, pair, GOOD])
    assert len(left) in (2, 3)
    return (left[1][0], left[1][1]) if len(left) == 3 else None


@pytest.mark.parametrize(
    ("filters", "pair", "expected"),
    [
        ([entry("normalize_whitespace", "<src>")], (" a\u00a0 b\u3000", " в "), ("a b", " в ")),
        ([entry("normalize_whitespace", "ru", COLLAPSE=False)], (" a", "\x0bв  г\u2028"), (" a", "в  г")),
        ([entry("deescape-special-chars", "en")], ("&quot;a&amp;lt;", "&lt;"), ('"a&lt;', "&lt;")),
        ([entry("remove_frequent_patterns")], ("• One", "Один"), ("One", "Один")),
        ([entry("remove_frequent_patterns")], ("• One", "• Один"), ("• One", "• Один")),
        ([entry("fix_wiki")], ("A dog.[1]", "Собака.[2]"), ("A dog.", "Собака.")),
        ([entry("fix_wiki")], ("A dog.[1]", "Собака.[1]"), ("A dog.[1]", "Собака.[1]")),
        ([entry("fix_wiki", ALWAYS=True)], ("A dog.[1]", "Собака.[1]"), ("A dog.", "Собака.")),
        ([entry("fix_wiki")], ("[[Dog|A dog]] sat.", "Собака."), ("A dog sat.", "Собака.")),
        ([entry("fix_wiki")], ("==Dogs==", "Собаки"), None),
        ([entry("fix_wiki")], (".mw-parser-output .x", "Собаки"), None),
        ([entry("sed", "ru", PATTERN="N\\.o ([0-9]+)", REPLACEMENT="№\\1")], ("a", "N.o 5"), ("a", "№5")),
        ([entry("regexp", "en,ru", PATTERN="s/(\\w)!/$1./g")], ("a!b!", "я!"), ("a.b.", "я.")),
        (
            [entry("detokenizer", "en", LANG1="en")],
            ("It 's a dog , yes .", "а , б"),
            ("It's a dog, yes.", "а , б"),
        ),
        (
            [entry("opus.RegExpSub", "ru", patterns=[["Д(а)", "н\\1", 0, "I"]])],
            ("Да", "даДа"),
            ("Да", "нана"),
        ),
        ([entry("currency_mismatch", FIX=True)], ("It is €5.", "Стоит $5."), ("It is €5.", "Стоит €5.")),
        (
            [entry("currency_mismatch", FIX=True)],
            ("Pay 100 USD (USD).", "Payer 100ALL (ALL) à l'ALLÉE ALLEGRO."),
            ("Pay 100 USD (USD).", "Payer 100USD (USD) à l'ALLÉE ALLEGRO."),
        ),
        ([entry("currency_mismatch", FIX=True)], ("€5 %s", "5 $ %2$s"), ("€5 %s", "5 € %2$s")),
    ],
)
def test_texts_are_repaired(
    filters: list[dict[str, Any]], pair: Pair, expected: Pair | None, tmp_path: Path
) -> None:
    assert filtered(tmp_path, pair, *filters) == expected


FIXED = [
    ("detokenize", ("en", "ru"), ("It &apos;s a dog .", "Он , да ."), ("It's a dog.", "Он, да.")),
    ("english", ("en", "fr"), ("Libya ' s men ' s", "d ' s"), ("Libya's men's", "d ' s")),
    ("french", ("en", "fr"), ("l ' a", "l ' accord d ' 1"), ("l ' a", "l'accord d ' 1")),
    ("romanian", ("en", "ro"), ("a - b", "într - o - zi - 5"), ("a - b", "într-o-zi-5")),
    ("catalan", ("es", "ca"), ("a 1 / 2", "l ' 1 / 2 de col · legi ."), ("a 1 / 2", "l'1/2 de col·legi.")),
    ("spanish", ("es", "ca"), ("el 12 / 05/ 2003 a b .", "a ."), ("el 12/05/2003 a b.", "a .")),
    ("markup", ("en", "de"), ("<p>A <code>x</code>dog.</p>", "Ein <b>Hund</b>"), ("Adog.", "Ein Hund")),
]


@pytest.mark.parametrize(("name", "codes", "pair", "expected"), FIXED)
def test_what_is_wrong_with_single_datasets_is_mended(
    name: str, codes: tuple[str, str], pair: Pair, expected: Pair
) -> None:
    assert ours(FILTERS / "legacy" / f"{name}.filters.json", [pair], codes) == [expected]


@pytest.mark.parametrize(
    ("filter_", "kept", "dropped"),
    [
        (entry("remove_empty_lines"), ("a", "б"), ("a", "\u00a0")),
        (entry("max_length"), (" ".join("a" * 150), "б"), ("a", " ".join("б" * 151))),
        (entry("max_length", MAXLENGTH="10"), (" ".join("a" * 10), "б"), (" ".join("a" * 11), "б")),
        (entry("max_word_length"), ("a" * 150, "б б"), ("a", "а " + "б" * 151)),
        (entry("max_word_length"), ("a", "ไทย" * 90 + "a" * 150), ("a", "ไทย" * 90 + "a" * 151)),
        (entry("max_word_length"), ("a", "གྲྭ་" * 90 + " ខ្មែរ" * 90), ("a", "ไทย" * 90 + " " + "漢字" * 76)),
        (entry("src_trg_ratio", RATIO=0.5), ("a b", "а"), ("a b c", "а")),
        (entry("src_trg_ratio", RATIO=0.5, LOG=True), ("a b", "а"), ("a b c d", "а")),
        (
            entry("alpha_ratio", LANG1="en", LANG2="ru"),
            ("5 dogs", "5 собак"),
            ("5 dogs", "5 dogs"),
        ),
        (entry("alpha_ratio", LANG1="en", LANG2="ru"), ("cafe\u0301s", "и\u0306 й"), ("(a) (b)", "а б")),
        (entry("alpha_ratio", LANG1="tlh", LANG2="ru"), ("12 345", "а"), ("a", "12 345")),
        (entry("num_mismatch"), ("In 2020", "В 2020"), ("In 2020, 5", "В 2021")),
        (entry("num_mismatch"), ("007 and 1.5", "7 и 1,5"), ("It is -5 in 12", "Тут 5")),
        (entry("num_mismatch"), ("tid30", "30ая"), ("30", "тридцать")),
        (entry("url_mismatch"), ("See a.org/b", "Вот a.org/b"), ("See a.org/b", "Вот a.org/c")),
        (entry("url_mismatch"), ("The end.Beginning", "Конец"), ("me@example.com", "я")),
        (entry("currency_mismatch"), ("€5, 7 EUR", "€5, 7 EUR"), ("€5", "5 EUR")),
        (entry("currency_mismatch"), ("%s: %.250s in `BEF1:AFT1`", "%2$.250s: %1$s"), ("$1", "")),
        (entry("currency_mismatch"), ("32 bit ARM", "ARM 32 bits"), ("32 EUR", "32 bits")),
        (entry("currency_mismatch"), ("BSD 2-Clause", "BSD à 2 clauses"), ("5 EUR, 6 USD", "5 USD, 6 EUR")),
        (entry("currency_mismatch"), ("AMD64", "amd64"), ("AMD64, €5", "amd64")),
        (entry("currency_mismatch"), ("EUR5: %s", "EUR5: %1$.5s"), ("EUR5: %s", "%1$.5s")),
        (entry("opus.RegExpFilter", regexps=["x", "ы"]), ("a", "б"), ("a", "бы")),
        (entry("opus.RegExpFilter", regexps=["a", ""], accept_match=True), ("a", "б"), ("b", "б")),
        (entry("fasttext_filter"), ("No.", "Нет."), ("Das Mädchen liest das Buch im Garten.", "Нет.")),
        (entry("identical"), ("Windows", "Windows 7"), ("Windows", "WINDOWS")),
    ],
)
def test_pairs_are_kept_or_dropped(
    filter_: dict[str, Any], kept: Pair, dropped: Pair, tmp_path: Path
) -> None:
    assert filtered(tmp_path, kept, filter_) == kept
    assert filtered(tmp_path, dropped, filter_) is None


def test_edits_are_seen_by_the_filters_that_follow(tmp_path: Path) -> None:
    repairs = [entry("deescape-special-chars", "en"), entry("normalize_whitespace", "en")]
    pair = ("&lt;a&gt;  word   &amp;lt;", "а б")
    assert filtered(tmp_path, pair, *repairs, entry("max_length", MAXLENGTH=5)) == ("<a> word &lt;", "а б")
    twice = [*repairs, entry("deescape-special-chars", "en"), entry("num_mismatch")]
    assert filtered(tmp_path, pair, *twice) == ("<a> word <", "а б")
    assert filtered(tmp_path, ("&#91;1&#93;", "а б"), *repairs, entry("num_mismatch", RATIO=0.6)) is None


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (entry("bifixer", "en"), r"made.filters.json, filter 1 \(bifixer\) is for OpusCleaner itself"),
        (entry("max_length", MAXLENGTH="many"), "MAXLENGTH is 'many', not a number"),
        (entry("normalize_whitespace", "de"), "is for the language 'de', but the corpus has en and ru"),
        (entry("sed", PATTERN="a"), r"filter 1 \(sed\) works on one language, and names none"),
        (entry("desegment"), r'Write "<src>", "<trg>" or "<src>,<trg>"'),
        (entry("max_length", "en"), r'\(max_length\) works on pairs, .* Write "language": null'),
        (entry("fix_wiki", REMOVEEMPTYLINES=False), "Set it to true"),
        (entry("regexp", "en", PATTERN="s/(/x/"), "perl -C -pe .* failed: Unmatched"),
        (entry("sed", "en", PATTERN="(", REPLACEMENT=""), "sed -E .* failed"),
        (entry("opus.RegExpSub", "en", patterns=[["(", "", 0, ""]]), "is no regular expression"),
        (entry("opus.RegExpSub", "en", patterns=[["a", "", 0, ["NOPE"]]]), "with flags such as IGNORECASE"),
        (entry("opus.RegExpSub", "en", patterns=["a"]), "'a' is not .pattern, replacement, count, flags."),
        (entry("opus.RegExpFilter", regexps=["(", ""]), "not a regular expression"),
        (entry("opus.RegExpFilter", regexps=["a"]), "two expressions, for the source and the target"),
        (entry("remove_frequent_patterns", PATTERN_FILE="mine.txt"), "the file mine.txt is not given"),
    ],
)
def test_mistakes_are_told_before_any_work(broken: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        ours(filter_file(tmp_path, broken), [GOOD])


def test_a_program_that_parts_lines_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="made 6 lines of 3"):
        filtered(tmp_path, GOOD, entry("regexp", "en", PATTERN="s/girl/\\n/"))


@pytest.mark.parametrize("after", [[], [entry("max_length")]])
def test_substitutions_that_part_lines_are_told_of(after: list[dict[str, Any]], tmp_path: Path) -> None:
    sub = entry("opus.RegExpSub", "en", patterns=[["girl", "\\n", 0, []]])
    with pytest.raises(
        InputError, match=r"\(opus.RegExpSub\) writes a line feed into a line: 'The \\n reads"
    ):
        filtered(tmp_path, GOOD, sub, *after)


def test_unknown_parameters_are_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filtered(tmp_path, GOOD, entry("max_length", MAXIMUM=5))
    assert "the parameter MAXIMUM is not known" in caplog.text


# A translation of 17 words by 6, which is usual, and of 5 by 16, which is not.
WEEK = "The first week of a year is that week which contains the first Thursday of the year."
HAFTA = "Yılın ilk haftası ilk Perşembeyi içeren haftadır."
BY_WORDS: dict[str, Any] = {"UNIT": "word", "RATIO": 0.5, "ALLOWANCE": 2}
LANGS: dict[str, Any] = {"LANG1": "<src>", "LANG2": "<trg>"}


@pytest.mark.parametrize("codes", [("en", "tr"), ("tr", "en")])
def test_words_count_as_those_of_english(codes: tuple[str, str], tmp_path: Path) -> None:
    wordy = (
        "It is a large house",
        "o ev ki " * 3 + "iri daha",
    )  # 5 words would be 3.8 in Turkish: 5.8 / 13 < 0.5
    pairs = [pair if codes[0] == "en" else pair[::-1] for pair in ((WEEK, HAFTA), wordy)]
    by_language = filter_file(tmp_path, entry("length_ratio", **BY_WORDS, **LANGS))
    assert ours(by_language, pairs, codes) == pairs[:1]
    as_they_are = filter_file(tmp_path, entry("length_ratio", **BY_WORDS))
    assert ours(as_they_are, pairs, codes) == pairs[1:]


ADDRESSED = [
    ("Older OpenOffice.org versions ignore it.", "Eski OpenOffice.orglar bunu göz ardı eder."),
    ("OpenOffice.org 2.0 is out", "LibreOffice 2.0 çıktı"),
    ("Export to imgur.com", "Imgur.com'a Aktar"),
    ("invalid name in line %d", "%d.satırda geçersiz ad"),
    ("FORECAST.ETS.ADD(x)", "TAHMİN.UY.DRM.EKLE(x)"),
    ("Dropped Text.txt", "Bırakılan Metin.txt"),
    ("the 4th and 5th mouse buttons", "4.üncü ve 5.inci düğmeleri"),
    ("Go from http://a.org/x to me@b.org.", "me@b.org'a http://a.org/x'ten git."),
    ("See http://%s.a.org/ and %s.", "%2$s ve http://%1$s.a.org/ sitesine bak."),
    ("smb://server/folder", "smb://sunucu/dizin"),
    ("See e.g. main.py", "Örn. main.py'ye bak"),
]
MISADDRESSED = [
    ("See http://a.org/b", "Bak: http://a.org/c"),
    ("See kde.org", "Buna bak"),
    ("The site kde.org.tr.", "Site."),
    ("See www.heise.de", "Bak"),
    ("Write to me@example.com", "Bana yaz"),
    ("Your emails", "gorkem@kde.org.tr"),
    ("Ask 10.0.0.1", "Sor"),
    ("ftp://my.server.org/sub", "ftp://sunucum.org/alt"),
    ("kde.org and kde.org", "kde.org"),
]


def test_addresses_are_those_of_machines_and_people(tmp_path: Path) -> None:
    file = filter_file(tmp_path, entry("address_mismatch"))
    assert ours(file, ADDRESSED) == ADDRESSED
    assert ours(file, MISADDRESSED) == []
    assert ours(file, [pair[::-1] for pair in ADDRESSED]) == [pair[::-1] for pair in ADDRESSED]
    assert ours(file, [pair[::-1] for pair in MISADDRESSED]) == []


UNTRANSLATED = [
    "Start your computer without the wireless adapter plugged in.",
    "Position and Size menu icon",
    "On <b>Line</b> and “Filling” bar, click",
    "UpperLimit is optional.",
]
THE_SAME = [
    *("Windows", "New York City", "Rio Grande do Norte", "HP LaserJet 3310 MFP", "12 34 56", "%s: %s in %s"),
    *("Museum of the City of New York", "svc.IsADate(input: str, [format: str]): bool", "x=(deg*pi)/180"),
    *(">>> ui.Print(age)", "(c) 2000-2005 Nikolas Zimmermann, Daniel Molkentin", "a b c d", "tar -xzf FILE"),
]


def test_sentences_that_nobody_translated_are_dropped(tmp_path: Path) -> None:
    file = filter_file(tmp_path, entry("untranslated", WORDS=3, **LANGS))
    for codes in (("en", "tr"), ("de", "en")):
        same = [(text, text) for text in (*UNTRANSLATED, *THE_SAME)]
        assert ours(file, same, codes) == [(text, text) for text in THE_SAME]
        assert ours(file, [(UNTRANSLATED[0], f"{UNTRANSLATED[0]}!")], codes)
    assert ours(file, [("hvad er det du vil", "hvad er det du vil")], ("da", "nb"))  # both say it so


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ar", "ڤيديو چات پودكاست"),
        ("ml", "ഫയൽ തുറക്കാൻ കഴിഞ്ഞില്ല"),
        ("ur", "آؤ، کوئی مسئلہ نہیں ہے"),
        ("pa", "ਫਾਇਲਾਂ ਖੋਲ੍ਹੋ ਅਤੇ ਵੇਖੋ"),
        ("hy", "ֆայլը և պանակը"),
        ("fa", "مُدیرِ پَرونده"),
        ("ro", "Ştergeţi fişierele"),
        ("da", "én idé"),
    ],
)
def test_alphabets_have_the_letters_of_real_text(code: str, text: str) -> None:
    alphabet = letter_table(json.loads((FILTERS / "alphabets.json").read_text(encoding="utf-8"))[code])
    letters = [letter for letter in text if unicodedata.category(letter)[0] in "LM"]
    assert [letter for letter in letters if not alphabet[ord(letter)]] == []
