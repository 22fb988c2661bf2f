"""sacreBLEU: its own reading of a test set, from files of the mirror, the sides never exchanged."""

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.plain_text import PlainTextDataset

from pipeline.common.errors import InputError
from pipeline.data.parallel_sacrebleu import main
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]
URL = "https://example.org/sets/tiny.tar.gz"
FILES = {
    "tiny/text.ru": "Один.\nДва.\n",
    "tiny/text.en": "One.\nTwo.\n",
    "tiny/src.sgm": '<doc sysid="a" docid="x" genre="news" origlang="en">\n<seg id="1">One.</seg>\n</doc>\n',
    "tiny/ref.sgm": '<doc sysid="a" docid="x" genre="news" origlang="en">\n<seg id="1">Один.</seg>\n</doc>\n',
}
for lang, texts in {
    "en": ("Written in English.", "This, too.", "In Russian."),
    "ru": ("По-английски.", "И это.", "По-русски."),
}.items():
    first, second, third = (
        f'<seg id="{number}">{text}</seg>\n' for number, text in enumerate(texts, start=1)
    )
    FILES[f"tiny/both.{lang}.sgm"] = (
        f'<doc sysid="a" docid="x" genre="news" origlang="en">\n<p>\n{first}{second}</p>\n</doc>\n'
        f'<doc sysid="a" docid="y" genre="news" origlang="ru">\n{third}</doc>\n'
    )


def _archive() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, text in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            file.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


@pytest.fixture
def tiny(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """Two more test sets in sacreBLEU's catalogue: tiny exists for ru-en only, sgml for en-ru."""
    content = _archive()
    mirror.put(URL, content)
    known: dict[str, Any] = {
        "data": [URL],
        "md5": [hashlib.md5(content).hexdigest()],
        "description": "",
        "citation": "",
    }
    pairs = {"ru-en": ["tiny/text.ru", "tiny/text.en"]}
    sgml = {"en-ru": ["tiny/src.sgm", "tiny/ref.sgm"]}
    monkeypatch.setitem(sacrebleu.DATASETS, "tiny", PlainTextDataset("tiny", langpairs=pairs, **known))
    both = FakeSGMLDataset("both", langpairs={"en-ru": ["tiny/both.en.sgm", "tiny/both.ru.sgm"]}, **known)
    monkeypatch.setitem(sacrebleu.DATASETS, "both", both)
    monkeypatch.setitem(sacrebleu.DATASETS, "sgml", FakeSGMLDataset("sgml", langpairs=sgml, **known))
    return mirror


def test_the_other_direction_keeps_each_language_in_its_file(tiny: Mirror, import_pairs: Import) -> None:
    written = import_pairs(main, "tiny", "en", "ru")
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]
    assert written.stats["direction"] == "ru-en"
    assert written.stats["source"][0]["url"] == URL


def test_sacrebleu_reads_its_own_formats(tiny: Mirror, import_pairs: Import) -> None:
    written = import_pairs(main, "sgml", "en", "ru")
    assert written.lines("corpus.en.zst") == ["One."]
    assert written.lines("corpus.ru.zst") == ["Один."]


@pytest.mark.parametrize(
    ("src", "trg", "name", "lang", "lines"),
    [
        ("en", "ru", "source", "en", ["Written in English.", "This, too."]),
        ("ru", "en", "target", "ru", ["Written in English.", "This, too."]),  # files are named en, ru
        ("en", "ru", "target", "ru", ["По-русски."]),
        ("ru", "en", "source", "en", ["По-русски."]),
    ],
)
def test_lines_by_the_language_that_they_were_written_in(
    tiny: Mirror, import_pairs: Import, src: str, trg: str, name: str, lang: str, lines: list[str]
) -> None:
    written = import_pairs(main, f"both/{name}-original", src, trg)
    assert written.lines(f"corpus.{lang}.zst") == lines


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tiny/source-original", "does not tell in which languages"),
        ("both/original", "has no such test set"),
    ],
)
def test_originals_that_are_not_there(tiny: Mirror, import_pairs: Import, name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        import_pairs(main, name, "ru", "en")


def test_a_file_that_is_not_the_one_sacrebleu_means(tiny: Mirror, import_pairs: Import) -> None:
    tiny.put(URL, b"something else")
    with pytest.raises(
        InputError, match=r"Dataset tiny: https://example\.org/sets/tiny\.tar\.gz has changed"
    ):
        import_pairs(main, "tiny", "en", "ru")


def test_a_pair_of_languages_that_is_not_there(tiny: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match="neither for en-de nor for de-en, only for ru-en"):
        import_pairs(main, "tiny", "en", "de")


def test_a_test_set_that_does_not_exist(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(
        InputError, match=r"Dataset wmt02: sacreBLEU \S+ has no such test set\. Near it: .*wmt"
    ):
        import_pairs(main, "wmt02", "en", "ru")


def test_a_file_that_cannot_be_had(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(
        InputError, match=r"Dataset wmt20: .*data\.statmt\.org/wmt20/translation-task/test\.tgz"
    ):
        import_pairs(main, "wmt20", "en", "ru")


def test_the_folder_of_its_cache_is_the_scratch_folder(
    tiny: Mirror, import_pairs: Import, tmp_path: Path
) -> None:
    import_pairs(main, "tiny", "ru", "en")
    left = {path.name for path in (tmp_path / "work").rglob("*")}
    assert left == {"out", "corpus.en.zst", "corpus.ru.zst", "stats.json"}
