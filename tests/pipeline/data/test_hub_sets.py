"""WMT24++, BOUQuET and FLORES+: what is joined, what is left out and why, and whom the hub gives them to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.data import hub_documents, parallel_bouquet, parallel_flores200_plus, parallel_wmt24pp
from tests.pipeline.data.conftest import Main, Mirror, Written
from tests.pipeline.data.provider_cases import CASES, SHA, hub_set, json_lines, parquet
from tests.pipeline.data.provider_server import serving

Import = Callable[..., Written]


Segment = tuple[str, int, bool, str, str | None]  # document, number, whether it is bad, English, the other
RUSSIAN: list[Segment] = [
    ("canary", 1, True, "CANARY", "КАНАРЕЙКА"),
    ("a", 2, False, "One.", "Один."),
    ("a", 3, False, "Two. Three.\nFour.", "Два. Три.\nЧетыре."),
    ("a", 4, False, "One.", "Раз."),
    ("b", 5, False, "Five.", "Один."),
    ("b", 6, False, "Six.", None),
    ("b", 7, False, "Seven.", "Семь."),
]
GERMAN: list[Segment] = [
    ("canary", 1, True, "CANARY", "KANARIENVOGEL"),
    ("a", 3, False, "Two. Three.\nFour.", "Zwei. Drei.\nVier."),
    ("a", 2, False, "One.", "Eins."),
    ("b", 7, False, "Seven.", "Sieben."),
    ("b", 8, False, "Eight.", "Acht."),
]


@pytest.fixture
def segments(mirror: Mirror) -> None:
    page, names = parallel_wmt24pp.PAGE, ("document_id", "segment_id", "is_bad_source", "source", "target")
    files = {f"en-{code}": ("train", f"en-{code}.jsonl") for code in ("ru_RU", "de_DE")}
    for url, answer in hub_set(page, parallel_wmt24pp.REVISION, files).items():
        mirror.put(url, answer)
    for code, segments in (("ru_RU", RUSSIAN), ("de_DE", GERMAN)):
        rows: list[dict[str, object]] = [dict(zip(names, segment, strict=True)) for segment in segments]
        mirror.put(f"{page}/resolve/{SHA}/en-{code}.jsonl", json_lines(rows))


def test_bad_sources_and_repeated_segments_are_left_out_and_counted(
    segments: None, import_pairs: Import
) -> None:
    written = import_pairs(parallel_wmt24pp.main, "test", "en", "ru_RU")
    assert written.lines("corpus.en.zst") == ["One.", "Two. Three. Four.", "Seven."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два. Три. Четыре.", "Семь."]
    dropped = {"bad source": 1, "duplicate": 2, "empty side": 1}
    assert written.stats["lines"] == {"in": 7, "kept": 3, "dropped": dropped}


def test_a_pair_serves_both_directions_with_the_same_lines(segments: None, tmp_path: Path) -> None:
    options = ["--dataset", "test", "--src", "ru", "--trg", "en", "--src-code", "ru_RU", "--trg-code", "en"]
    parallel_wmt24pp.main([*options, "--output", str(tmp_path / "out")])
    assert [*read_lines(tmp_path / "out" / "corpus.ru.zst")] == ["Один.", "Два. Три. Четыре.", "Семь."]
    assert [*read_lines(tmp_path / "out" / "corpus.en.zst")] == ["One.", "Two. Three. Four.", "Seven."]


def test_two_languages_besides_english_are_joined_by_their_numbers(
    segments: None, import_pairs: Import
) -> None:
    """Whatever the order of the lines in the files."""
    written = import_pairs(parallel_wmt24pp.main, "test", "de_DE", "ru_RU")
    assert written.lines("corpus.en.zst") == ["Zwei. Drei. Vier.", "Eins.", "Sieben."]
    assert written.lines("corpus.ru.zst") == ["Два. Три. Четыре.", "Один.", "Семь."]
    assert written.stats["lines"]["dropped"] == {"bad source": 1, "in one language only": 4}
    assert len(written.stats["source"]) == 2


def test_documents_are_those_of_the_lines_that_are_kept(segments: None, tmp_path: Path) -> None:
    def documents(src: str, trg: str) -> list[str]:
        codes = ["--provider", "wmt24pp", "--dataset", "test", "--src-code", src, "--trg-code", trg]
        hub_documents.main([*codes, "--output", str(tmp_path / src)])
        assert [path.name for path in (tmp_path / src).iterdir()] == ["documents.zst"]
        return [*read_lines(tmp_path / src / "documents.zst")]

    assert documents("en", "ru_RU") == ["a", "a", "b"]
    assert documents("de_DE", "ru_RU") == ["a", "a", "b"]


def bouquet(mirror: Mirror, lines: dict[str, list[tuple[str, str]]]) -> None:
    """Put languages' files there, of (number, sentence); a number begins with its paragraph."""
    page = parallel_bouquet.PAGE
    files = {code: ("dev", f"data/sentence_level/dev/{code}.parquet") for code in lines}
    for url, answer in hub_set(page, parallel_bouquet.REVISION, files).items():
        mirror.put(url, answer)
    for code, sentences in lines.items():
        rows: list[dict[str, object]] = [
            {"uniq_id": number, "par_id": number.partition("-")[0], "src_text": text, "tgt_text": "English"}
            for number, text in sentences
        ]
        mirror.put(f"{page}/resolve/{SHA}/{files[code][1]}", parquet(rows))


def test_bouquet_has_paragraphs_of_sentences_that_any_two_languages_share(
    mirror: Mirror, import_pairs: Import, tmp_path: Path
) -> None:
    bouquet(
        mirror,
        {
            "deu_Latn": [("P1-S1", "Ja."), ("P1-S2", "Gut."), ("P2-S1", "Ja."), ("P2-S2", "Ende.")],
            "rus_Cyrl": [("P1-S2", "Хорошо."), ("P1-S1", "Да."), ("P2-S2", "Конец."), ("P2-S1", "Да!")],
        },
    )
    written = import_pairs(parallel_bouquet.main, "dev", "deu_Latn", "rus_Cyrl")
    assert written.lines("corpus.en.zst") == ["Ja.", "Gut.", "Ende."]
    assert written.lines("corpus.ru.zst") == ["Да.", "Хорошо.", "Конец."]
    assert written.stats["lines"]["dropped"] == {"duplicate": 1}
    codes = ["--src-code", "deu_Latn", "--trg-code", "rus_Cyrl", "--output", str(tmp_path / "documents")]
    hub_documents.main(["--provider", "bouquet", "--dataset", "dev", *codes])
    assert [*read_lines(tmp_path / "documents" / "documents.zst")] == ["P1", "P1", "P2"]


def flores(mirror: Mirror, rows: dict[str, list[dict[str, object]]]) -> None:
    page = parallel_flores200_plus.PAGE
    files = {code: ("dev", f"dev/{code}.jsonl") for code in rows}
    for url, answer in hub_set(page, parallel_flores200_plus.REVISION, files).items():
        mirror.put(url, answer)
    for code, lines in rows.items():
        mirror.put(f"{page}/resolve/{SHA}/dev/{code}.jsonl", json_lines(lines))


def test_flores_plus_keeps_every_sentence_and_knows_its_article(
    mirror: Mirror, import_pairs: Import, tmp_path: Path
) -> None:
    english: list[dict[str, object]] = [
        {"id": 0, "text": "A.", "url": "https://a"},
        {"id": 1, "text": "A.", "url": "https://b"},
        {"id": 2, "text": "B.", "url": "https://b"},
    ]
    russian = [{**row, "text": text} for row, text in zip(english, ["А.", "А.", "Б."], strict=True)]
    flores(mirror, {"eng_Latn": english, "rus_Cyrl": russian[::-1]})
    written = import_pairs(parallel_flores200_plus.main, "dev", "eng_Latn", "rus_Cyrl")
    assert written.lines("corpus.ru.zst") == ["А.", "А.", "Б."]
    codes = ["--src-code", "eng_Latn", "--trg-code", "rus_Cyrl", "--output", str(tmp_path / "documents")]
    hub_documents.main(["--provider", "flores200-plus", "--dataset", "dev", *codes])
    assert [*read_lines(tmp_path / "documents" / "documents.zst")] == ["https://a", "https://b", "https://b"]


def test_rows_of_another_form(mirror: Mirror, import_pairs: Import) -> None:
    flores(mirror, {code: [{"id": 0, "sentence": "A.", "url": ""}] for code in ("eng_Latn", "rus_Cyrl")})
    with pytest.raises(InputError, match="Dataset dev: A row of the set has no field 'text', only id, sent"):
        import_pairs(parallel_flores200_plus.main, "dev", "eng_Latn", "rus_Cyrl")


@pytest.mark.parametrize(
    ("main", "says"),
    [
        (parallel_wmt24pp.main, r"WMT24\+\+ has the set test only"),
        (parallel_bouquet.main, "BOUQuET has the sets dev and test only"),
        (parallel_flores200_plus.main, r"FLORES\+ has the sets dev and devtest only"),
    ],
)
def test_another_set(main: Main, says: str, import_pairs: Import) -> None:
    with pytest.raises(InputError, match=says):
        import_pairs(main, "train", "eng_Latn", "rus_Cyrl")


def test_a_language_that_is_not_there(mirror: Mirror, import_pairs: Import) -> None:
    flores(mirror, {"eng_Latn": [{"id": 0, "text": "A.", "url": ""}]})
    with pytest.raises(InputError, match=r"known to hold the split 'dev' of 'xyz_Latn'.*dev/eng_Latn\.jsonl"):
        import_pairs(parallel_flores200_plus.main, "dev", "eng_Latn", "xyz_Latn")


@pytest.mark.parametrize("day", ["locked", "refused"])
@pytest.mark.parametrize(("name", "gated"), [("bouquet", True), ("flores200-plus", True), ("wmt24pp", False)])
def test_a_set_that_asks_for_a_login_says_where_and_how(
    name: str, gated: bool, day: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hub answers 401 without a token, and 403 to an account that has not accepted the conditions."""
    case = CASES[name]
    with serving(monkeypatch) as providers:
        for url, content in case.files.items():
            providers.put(url, content)
        providers.day, providers.where = day, "/resolve/"
        with pytest.raises(InputError) as caught:
            case.main([*case.options, "--output", str(tmp_path / "out")])
    told = str(caught.value)
    assert f"the server answered {401 if day == 'locked' else 403}" in told
    page = case.data.partition("/resolve/")[0]
    where = f"accept them at {page}, and let HF_TOKEN hold a token of the account."
    assert told.endswith(where) == gated, told
