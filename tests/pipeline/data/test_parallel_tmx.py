"""Translation memories: streamed, from anybody."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.data import parallel_tmx, tmx
from pipeline.data.tmx import read_units, segment
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]
URL = "https://example.org/memory.tmx"
HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><body>'
TAIL = "</body></tmx>"


def unit(**segments: str) -> str:
    variants = (
        f'<tuv xml:lang="{lang.replace("_", "-")}"><seg>{text}</seg></tuv>' for lang, text in segments.items()
    )
    return f"<tu>{''.join(variants)}</tu>"


def memory(*units: str) -> str:
    return HEAD + "".join(units) + TAIL


def test_units_become_pairs(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put(
        URL,
        memory(
            unit(en_US="Save &amp; quit", ru="Сохранить\n  и выйти"),
            unit(ru="Открыть", en_US="Open"),
            unit(en_US="German", de="Deutsch"),
            unit(en_US="Empty", ru=" "),
            unit(
                en_US='<bpt i="1">&lt;b&gt;</bpt>Bold<ept i="1">&lt;/b&gt;</ept> <hi>word</hi>',
                ru="Слово<ph>x</ph>",
            ),
        ),
    )
    written = import_pairs(parallel_tmx.main, URL, "en", "ru")
    assert written.lines("corpus.en.zst") == ["Save & quit", "Open", "Bold word"]
    assert written.lines("corpus.ru.zst") == ["Сохранить и выйти", "Открыть", "Слово"]
    assert written.stats["lines"] == {"in": 5, "kept": 3, "dropped": {"a side is missing": 2}}


@pytest.mark.parametrize(
    ("src", "trg", "locale"), [("en", "sv-SE", "sv-SE"), ("zh-TW", "en", "zh-TW")], ids=["from", "into"]
)
def test_pontoon_is_asked_for_the_language_that_is_not_english(
    src: str, trg: str, locale: str, mirror: Mirror, import_pairs: Import
) -> None:
    url = f"https://pontoon.mozilla.org/translation-memory/{locale}.all-projects.tmx"
    mirror.put(
        url,
        memory(
            f'<tu><tuv xml:lang="en-US"><seg>A</seg></tuv><tuv xml:lang="{locale}"><seg>B</seg></tuv></tu>'
        ),
    )
    written = import_pairs(parallel_tmx.main, "pontoon", src, trg)
    sides = written.lines("corpus.en.zst") + written.lines("corpus.ru.zst")
    assert sides == (["A", "B"] if src == "en" else ["B", "A"])


def test_pontoon_translates_from_english(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match="Pontoon translates from English; it has no de and ru"):
        import_pairs(parallel_tmx.main, "pontoon", "de", "ru")
    with pytest.raises(InputError, match="Give pontoon or the URL of a TMX file, not 'all'"):
        import_pairs(parallel_tmx.main, "all", "en", "ru")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("en", "American"),
        ("en-GB", "British"),
        ("EN_gb", "British"),
        ("zh_hant", "Han"),
        ("e", ""),
        ("fr", ""),
    ],
)
def test_languages_are_found_by_code_or_by_a_more_precise_one(code: str, expected: str) -> None:
    variants = [("en-US", "American"), ("en-GB", "British"), ("zh-Hant", "Han")]
    assert segment(variants, code) == expected


def test_a_language_itself_wins_over_what_is_more_precise() -> None:
    variants = [("pt-BR", "Brazilian"), ("pt", "Portuguese"), ("pt-PT", "European")]
    assert [segment(variants, code) for code in ("pt", "pt-BR", "pt-PT")] == [
        "Portuguese",
        "Brazilian",
        "European",
    ]


def test_control_characters_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(memory(unit(en="Wait\x03 for it", ru="Жди")))
    assert list(read_units(tmp_path / "a.tmx")) == [[("en", "Wait for it"), ("ru", "Жди")]]


@pytest.mark.parametrize("chunk", [tmx.CHUNK, 1, 7])
def test_references_to_what_is_no_character_are_passed_over(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tmx, "CHUNK", chunk)
    segments = {"en": "Wait&#x1F; for&#0; it&#xD83D;&#233;&#x0A;&amp;", "ru": "&#00012;Жди&#xFFFF;"}
    (tmp_path / "a.tmx").write_text(memory(unit(**segments)))
    assert list(read_units(tmp_path / "a.tmx")) == [[("en", "Wait for ité\n&"), ("ru", "Жди")]]


def test_entities_that_nobody_declares(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(
        memory(unit(en="A&nbsp;caf&eacute;", ru="один&product;два<ph>&nbsp;</ph>"))
    )
    assert list(read_units(tmp_path / "a.tmx")) == [[("en", "A\xa0café"), ("ru", "один два")]]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_encodings_that_the_file_declares(encoding: str, tmp_path: Path) -> None:
    text = memory(unit(en="Café", fr="Café")).replace("utf-8", encoding)
    (tmp_path / "a.tmx").write_bytes(text.encode(encoding))
    assert list(read_units(tmp_path / "a.tmx")) == [[("en", "Café"), ("fr", "Café")]]


def test_a_long_memory_is_read_unit_by_unit(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    units = "".join(unit(en=f"Number {number}", ru=f"Число {number}") for number in range(20_000))
    path.write_bytes(gzip.compress(memory(units).encode()))
    found = read_units(path)
    assert next(found) == [("en", "Number 0"), ("ru", "Число 0")]
    assert sum(1 for _ in found) == 19_999


def test_a_segment_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tmx, "LONGEST_SEGMENT", 100_000)
    (tmp_path / "a.tmx").write_text(memory(unit(en="a" * 3_000_000, ru="б")))
    [[(_, english), _]] = read_units(tmp_path / "a.tmx")
    assert len(english) < 300_000


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    "<tmx><body><tu><tuv xml:lang='en'><seg>&b;</seg></tuv></tu></body></tmx>"
)
OUTSIDE = BOMB.replace('<!ENTITY a "ha">', '<!ENTITY a SYSTEM "file:///etc/passwd">')


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB, "declares the entity 'a'"),
        (OUTSIDE, "declares the entity 'a'"),
        ("<html><body/></html>", "is XML, but no TMX: it begins with <html>"),
        (memory(unit(en="a", ru="b"))[:-20], "no well-formed TMX"),
        (memory("<tu></tuv></tu>"), "no well-formed TMX: mismatched tag, line 3"),
        ("just text\n", "no well-formed TMX: syntax error, line 1"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "unknown encoding"),
        ("", "no well-formed TMX: no element found"),
    ],
)
def test_hostile_and_broken_files(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(content)
    with pytest.raises(InputError, match=says):
        list(read_units(tmp_path / "a.tmx"))
