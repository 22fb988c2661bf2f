"""URLs: packed in any way, of any kind, with [LANG] for the language."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pipeline.common.errors import InputError
from pipeline.data.parallel_url import main
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]
EN, RU = b"One.\nTwo.\n", "Один.\nДва.\n".encode()


def _plain(text: bytes) -> bytes:
    return text


def _as_pzstd(text: bytes) -> bytes:
    """A frame to be passed over comes first."""
    return b"\x50\x2a\x4d\x18\4\0\0\0size" + zstandard.compress(text)


@pytest.mark.parametrize("pack", [zstandard.compress, gzip.compress, _plain, _as_pzstd])
@pytest.mark.parametrize("suffix", [".zst", ".gz", ".txt", ""])
def test_what_the_file_is_counts_not_its_name(
    pack: Callable[[bytes], bytes], suffix: str, mirror: Mirror, import_pairs: Import
) -> None:
    mirror.put(f"https://example.org/data/news.en{suffix}", pack(EN))
    mirror.put(f"https://example.org/data/news.ru{suffix}", pack(RU))
    written = import_pairs(main, f"https://example.org/data/news.[LANG]{suffix}", "en", "ru")
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]


@pytest.mark.parametrize("scheme", ["gs://", "https://storage.googleapis.com/"])
def test_google_storage(scheme: str, mirror: Mirror, import_pairs: Import) -> None:
    mirror.put("https://storage.googleapis.com/bucket/en/text", EN)
    mirror.put("https://storage.googleapis.com/bucket/ru/text", RU)
    written = import_pairs(main, f"{scheme}bucket/[LANG]/text", "en", "ru")
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]
    assert written.stats["source"][0]["url"] == f"{scheme}bucket/en/text"


def test_files_on_this_machine(tmp_path: Path, mirror: Mirror, import_pairs: Import) -> None:
    (tmp_path / "en.txt").write_bytes(EN)
    (tmp_path / "ru.txt").write_bytes(RU)
    written = import_pairs(main, f"file://{tmp_path}/[LANG].txt", "en", "ru")
    assert written.lines("corpus.en.zst") == ["One.", "Two."]


def test_a_url_without_a_place_for_the_language(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match=r"holds no \[LANG\]"):
        import_pairs(main, "https://example.org/news.zst", "en", "ru")


def test_one_code_for_both_sides_is_refused(
    mirror: Mirror, import_pairs: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        import_pairs(main, "https://example.org/news.[LANG]", "en", "en")
    assert "--src-code and --trg-code are both en" in capsys.readouterr().err


def test_a_damaged_file(mirror: Mirror, import_pairs: Import) -> None:
    packed = zstandard.compress(b"".join(b"Line %d.\n" % number for number in range(10_000)))
    mirror.put("https://example.org/en.zst", packed[: len(packed) // 2])
    mirror.put("https://example.org/ru.zst", packed)
    with pytest.raises(InputError, match=r"Dataset https://example\.org/.*: en\.zst is damaged"):
        import_pairs(main, "https://example.org/[LANG].zst", "en", "ru")


def test_the_message_has_no_folder_of_ours(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the output folder is named as the engine names it, relative to the current folder."""
    mirror.put("https://example.org/en.txt", EN)
    mirror.put("https://example.org/ru.txt", RU + RU)
    monkeypatch.chdir(tmp_path)
    options = ["--src", "en", "--trg", "ru", "--src-code", "en", "--trg-code", "ru", "--output", "out"]
    with pytest.raises(InputError, match=r"^Dataset \S+: Unequal numbers of lines: en\.txt ends .*, ru\.txt"):
        main(["--dataset", "https://example.org/[LANG].txt", *options])


@pytest.mark.parametrize("scheme", ["https://storage.googleapis.com/", "gs://"])
def test_real_data(scheme: str, real_mirror: Path, import_pairs: Import) -> None:
    url = f"{scheme}releng-translations-dev/data/en-ru/pytest-dataset.[LANG].zst"
    written = import_pairs(main, url, "en", "ru")
    assert written.stats["lines"]["kept"] == 8
    assert (
        written.lines("corpus.en.zst")[1]
        == "“I will not,” retorted the Witch, “for it is now my shoe, and not yours.”"
    )
