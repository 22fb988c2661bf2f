"""mtdata: its catalogue and its readers, over our downloads and archives."""

import bz2
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mtdata.entry import Entry

from pipeline.common.errors import InputError
from pipeline.data.parallel import Pair, Request
from pipeline.data.parallel_mtdata import import_entry
from tests.pipeline.data.conftest import Mirror, Written

ENGLISH_RUSSIAN = [("One.", "Один."), ("Two.", "Два.")]
EN, RU = "One.\nTwo.\n", "Один.\nДва.\n"


def _pairs(entry: Entry, folder: Path, src: str = "eng", trg: str = "rus") -> list[Pair]:
    scratch = folder / "scratch"
    scratch.mkdir()
    return list(import_entry(entry, Request(str(entry.did), src, trg), scratch).pairs)


def test_members_of_an_archive(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put_zip("https://example.org/a.zip", {"x.ru": RU, "x.en": EN, "__MACOSX/._x.en": "fork"})
    entry = Entry(
        "Group-name-1-rus-eng", "https://example.org/a.zip", in_paths=["x.ru", "*.en"], in_ext="txt"
    )
    assert _pairs(entry, tmp_path) == ENGLISH_RUSSIAN


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress)])
def test_columns_of_a_packed_table(
    suffix: str, pack: Callable[[bytes], bytes], mirror: Mirror, tmp_path: Path
) -> None:
    table = "0.9\tOne.\tОдин.\n0.8\tTwo.\tДва.\n"
    mirror.put(f"https://example.org/a.tsv.{suffix}", pack(table.encode()))
    entry = Entry("Group-name-1-eng-rus", f"https://example.org/a.tsv.{suffix}", cols=(1, 2))
    assert _pairs(entry, tmp_path) == ENGLISH_RUSSIAN


def test_a_file_for_each_language(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("https://example.org/en/text", EN)
    mirror.put("https://example.org/ru/text", "\ufeff" + RU)
    urls = ("https://example.org/en/text", "https://example.org/ru/text")
    entry = Entry("Group-name-1-eng-rus", urls, ext="txt", in_ext="txt")
    assert _pairs(entry, tmp_path) == ENGLISH_RUSSIAN


def test_invalid_utf8_is_an_error_and_not_replaced(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("https://example.org/a.tsv", b"One.\t1\nT\xffo.\t2\n")
    entry = Entry("Group-name-1-eng-rus", "https://example.org/a.tsv")
    with pytest.raises(InputError, match="Invalid UTF-8 in .*, line 2"):
        _pairs(entry, tmp_path)


def test_unequal_sides_are_an_error(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put_zip("https://example.org/a.zip", {"x.en": EN, "x.ru": "Один.\n"})
    entry = Entry(
        "Group-name-1-eng-rus", "https://example.org/a.zip", in_paths=["x.en", "x.ru"], in_ext="txt"
    )
    with pytest.raises(InputError, match="unequal number of segments"):
        _pairs(entry, tmp_path)


def test_a_short_row_is_an_error(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put("https://example.org/a.tsv", "One.\tОдин.\nalone\n")
    with pytest.raises(InputError, match="mtdata cannot read"):
        _pairs(Entry("Group-name-1-eng-rus", "https://example.org/a.tsv"), tmp_path)


def test_other_languages_are_an_error(mirror: Mirror, tmp_path: Path) -> None:
    entry = Entry("Group-name-1-eng-deu", "https://example.org/a.tsv")
    with pytest.raises(InputError, match="It is in eng-deu, not in eng-rus"):
        _pairs(entry, tmp_path)


def test_a_missing_member_is_an_error(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put_zip("https://example.org/a.zip", {"x.en": EN})
    entry = Entry(
        "Group-name-1-eng-rus", "https://example.org/a.zip", in_paths=["x.en", "*.ru"], in_ext="txt"
    )
    with pytest.raises(InputError, match=r"holds no \*\.ru\. It holds x\.en"):
        _pairs(entry, tmp_path)


def test_what_is_not_imported_is_told(mirror: Mirror, tmp_path: Path) -> None:
    entry = Entry(
        "Group-name-1-eng-rus",
        "https://example.org/a.xml.gz",
        ext="xml.gz",
        in_paths=["https://example.org/en.zip", "https://example.org/ru.zip"],
        in_ext="opus_xces",
    )
    with pytest.raises(InputError, match="use the provider opus"):
        _pairs(entry, tmp_path)


# The script, with a catalogue that lacks the two parts with nearly all entries: it is built ten times as fast
PROGRAM = """
import runpy, sys
from types import SimpleNamespace
for part in ("opus.opus_index", "flores"):
    sys.modules[f"mtdata.index.{part}"] = SimpleNamespace(load_all=lambda index: None)
runpy.run_module("pipeline.data.parallel_mtdata", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow  # mtdata builds its catalogue
def test_the_whole_script_with_mtdatas_catalogue(mirror: Mirror, tmp_path: Path) -> None:
    units = "".join(
        f'<tu><tuv xml:lang="en"><seg>{en}</seg></tuv><tuv xml:lang="ru"><seg>{ru}</seg></tuv></tu>'
        for en, ru in ENGLISH_RUSSIAN
    )
    mirror.put_zip(
        "https://tilde-model.s3-eu-west-1.amazonaws.com/worldbank.en-ru.tmx.zip",
        {"worldbank.tmx": f"<tmx><body>{units}</body></tmx>", "__MACOSX/._worldbank.tmx": "fork"},
    )
    output = tmp_path / "work" / "out"
    command = [sys.executable, "-c", PROGRAM, "--output", str(output)]
    options = "--dataset Tilde-worldbank-1-eng-rus --src ru --trg en --src-code rus --trg-code eng"
    subprocess.run([*command, *options.split()], check=True, timeout=300)
    written = Written(output)
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]
    assert written.stats["lines"]["kept"] == 2
