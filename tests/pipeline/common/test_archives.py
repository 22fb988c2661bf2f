"""Archives: chosen members only, whatever else stands in the archive."""

import bz2
import errno
import gzip
import io
import random
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from pipeline.common import limits
from pipeline.common.archives import extract, members
from pipeline.common.errors import InputError
from pipeline.common.packed import pack, unpack

TEXT = {"corpus.en-ru.en": b"Hello.\n", "corpus.en-ru.ru": "Привет.\n".encode()}
DANGEROUS = [
    "../up.txt",
    "/absolute.txt",
    "deep/../../up.txt",
    "..\\up.txt",
    "__MACOSX/._corpus.en-ru.en",
    "._a",
]


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def _tar(path: Path, files: dict[str, bytes]) -> Path:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as file:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    compress: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress}
    path.write_bytes(compress.get(path.suffix, bytes)(whole.getvalue()))
    return path


@pytest.fixture(params=["a.zip", "a.tar", "a.tar.gz"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An archive with the two files of TEXT among members that must harm nothing."""
    pack = _zip if request.param.endswith(".zip") else _tar
    folder = tmp_path / "archives" / "inner"
    folder.mkdir(parents=True)
    return pack(folder / request.param, dict.fromkeys(DANGEROUS, b"harm") | TEXT)


def test_extracts_what_is_wanted_and_nothing_else(archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    extract(archive, {"corpus.en-ru.en": out / "en", "corpus.en-ru.ru": out / "ru"})
    assert (out / "en").read_text() == "Hello.\n"
    assert (out / "ru").read_text() == "Привет.\n"
    assert sorted(path.name for path in out.iterdir()) == ["en", "ru"]
    everything = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert everything == {"out/en", "out/ru", str(archive.relative_to(tmp_path))}


def test_only_safe_real_files_are_listed(archive: Path) -> None:
    assert members(archive) == list(TEXT)


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_member_cannot_be_extracted(archive: Path, name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no"):
        extract(archive, {name: tmp_path / "x"})
    assert not (tmp_path / "x").exists()


def test_a_missing_member_is_told_with_what_is_there(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.\S+ holds no corpus\.en-ru\.de\. It holds .*corpus\.en-ru\.en"):
        extract(archive, {"corpus.en-ru.de": tmp_path / "x"})


def test_many_members_are_not_all_listed(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "a.zip", {f"file{number}": b"" for number in range(100)})
    with pytest.raises(InputError, match="file77.* and 88 more"):
        extract(archive, {"file77x": tmp_path / "x"})


def test_links_and_folders_are_no_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(f"member-{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            file.addfile(info)
    assert members(tmp_path / "a.tar") == []
    with pytest.raises(InputError, match="It holds no file at all"):
        extract(tmp_path / "a.tar", {"member-2": tmp_path / "x"})


def test_leading_dot_folders_are_ignored_in_names(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar", {"./data/en": b"Hello.\n"})
    extract(archive, {"data/en": tmp_path / "en"})
    assert (tmp_path / "en").read_bytes() == b"Hello.\n"


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path: Path, name: str) -> None:
    """As one of PyTorch's weights, whose last member a zip's directory is looked for in."""
    inner = _zip(tmp_path / "inner.zip", {"archive/data.pkl": b"pickle"}).read_bytes()
    archive = _tar(tmp_path / name, {"config.json": b"{}", "pytorch_model.bin": inner})
    assert members(archive) == ["config.json", "pytorch_model.bin"]
    extract(archive, {"pytorch_model.bin": tmp_path / "weights"})
    assert (tmp_path / "weights").read_bytes() == inner


def test_two_files_of_one_name_are_not_one_model(tmp_path: Path) -> None:
    names = ["exported/model.bin", "exported/vocab.spm", "train/vocab.spm"]
    archive = _tar(tmp_path / "model.tar", {name: name.encode() for name in names})
    with pytest.raises(InputError, match=r"model\.tar holds exported/vocab\.spm and train/vocab\.spm"):
        unpack(archive, tmp_path / "model")


def test_a_packed_folder_is_unpacked_as_it_was_whatever_stands_last(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    _zip(tmp_path / "model" / "pytorch_model.bin", {"archive/data.pkl": b"pickle"})
    pack(tmp_path / "model", tmp_path / "model.tar")
    made = unpack(tmp_path / "model.tar", tmp_path / "made")
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()
    }


def test_an_encrypted_zip_is_told(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "a.zip", {"en": b"Hello.\n"})
    content = bytearray(archive.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    archive.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.zip is encrypted"):
        extract(archive, {"en": tmp_path / "en"})


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.bz2"])
def test_a_damaged_archive_leaves_nothing(name: str, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(500_000)
    archive = (_zip if name == "a.zip" else _tar)(tmp_path / name, {"en": noise})
    content = bytearray(archive.read_bytes())
    content[250_000] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(InputError, match=f"{name} is no zip or tar archive, or is damaged"):
        extract(archive, {"en": tmp_path / "en"})
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_a_damaged_header_is_not_the_end(name: str, tmp_path: Path) -> None:
    plain = _tar(tmp_path / "plain", {name: name.encode() * 300 for name in ("one", "two", "three")})
    content = bytearray(plain.read_bytes())
    content[content.index(b"two") + 148] ^= 1  # the header's checksum
    archive = tmp_path / name
    archive.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError, match=rf"{name} is no zip or tar archive, or is damaged \(no header at"):
        unpack(archive, tmp_path / "made")
    with pytest.raises(InputError, match="damaged"):
        extract(archive, {"one": tmp_path / "out"})
    assert not (tmp_path / "out").exists()


def test_a_tar_without_zeros_at_its_end_is_whole(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar", TEXT)
    archive.write_bytes(archive.read_bytes()[: 4 * tarfile.BLOCKSIZE])
    assert members(archive) == list(TEXT)


def test_a_name_that_is_not_in_utf8_although_its_flag_says_so_is_damage(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "a.zip", {"ĉ": b"Hello.\n"})
    archive.write_bytes(archive.read_bytes().replace("ĉ".encode(), b"\xff\xfe"))
    with pytest.raises(InputError, match=r"a\.zip is no zip or tar archive, or is damaged"):
        members(archive)


def test_a_full_disk_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    archive = _zip(tmp_path / "a.zip", TEXT)
    monkeypatch.setattr(shutil, "copyfileobj", fill)
    with pytest.raises(OSError, match="No space left"):
        extract(archive, {"corpus.en-ru.en": tmp_path / "out"})


def test_a_cut_off_archive_is_told(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar.gz", {"en": random.Random(1).randbytes(500_000)})
    archive.write_bytes(archive.read_bytes()[:100_000])
    with pytest.raises(InputError, match="damaged"):
        extract(archive, {"en": tmp_path / "en"})
    assert not (tmp_path / "en").exists()


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "text.gz", "wb") as file:
        file.write(b"Just a text.\n" * 100)
    with pytest.raises(InputError, match=r"text\.gz is no zip or tar archive"):
        members(tmp_path / "text.gz")
    with pytest.raises(InputError, match="does not exist"):
        members(tmp_path / "missing.zip")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_an_archive_that_unpacks_to_far_too_much_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "UNASKED", 1 << 20)
    pack = _zip if name.endswith(".zip") else _tar
    bomb = pack(tmp_path / name, {"bomb": b"\0" * (4 << 20), **TEXT})
    with pytest.raises(InputError, match=rf"{name}, of [\d,]+ bytes, unpacks to [\d,]+ bytes or more"):
        extract(bomb, {"corpus.en-ru.en": tmp_path / "out"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_text_that_packs_well_is_not(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNASKED", 1 << 16)
    words = random.Random(1)
    text = " ".join(words.choice(["one", "two", "three", "four"]) for _ in range(100_000)).encode()
    pack = _zip if name.endswith(".zip") else _tar
    extract(pack(tmp_path / name, {"a": text}), {"a": tmp_path / "out"})
    assert (tmp_path / "out").read_bytes() == text
