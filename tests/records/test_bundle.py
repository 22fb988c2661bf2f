"""Code bundles: what `pack` writes is read; what else stands in their place is refused, soon, in words."""

from __future__ import annotations

import gzip
import io
import tarfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from translations_assets.keys.code.bundle import pack
from translations_assets.records.bundle import MOST_BYTES, BundleError, unpack

FILES = {
    "pipeline/__init__.py": "",
    "pipeline/clean/langs.py": "NAMES = ('ĉiuj', 'все')\n" * 100,
    "pipeline/train/" + "d" * 60 + "/" + "m" * 80 + ".py": "x = 1\n",
}
WHOLE = pack(FILES)


def member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", **fields: object) -> bytes:
    """A member of a tar: header and contents."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8") + data + b"\0" * (-len(data) % 512)


def archive(*members: bytes) -> bytes:
    return b"".join(members) + b"\0" * 1024


def written(form: int, *infos: tarfile.TarInfo, **headers: str) -> bytes:
    """A tar as Python's own library writes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, pax_headers=headers) as tar:
        for info in infos:
            tar.addfile(info)
    return buffer.getvalue()


def changed(at: int, data: bytes) -> bytes:
    return WHOLE[:at] + data + WHOLE[at + len(data) :]


def renumbered(header: bytes, at: int, field: bytes) -> bytes:
    """A header with another field, and a checksum that is right."""
    new = bytearray(header[:at] + field + header[at + len(field) :])
    new[148:156] = b" " * 8
    new[148:156] = b"%06o\0 " % sum(new[:512])
    return bytes(new)


LONG = tarfile.TarInfo("/".join(["folder"] * 60) + "/x.py")
TAMPERED: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "a byte": lambda: b"x",
    "zeros that are too short": lambda: b"\0" * 512,
    "its header alone": lambda: WHOLE[:512],
    "cut in a header": lambda: WHOLE[:700],
    "cut in contents": lambda: WHOLE[: 512 + 512 + 512 + 100],
    "cut before its end": lambda: WHOLE.rstrip(b"\0") + b"\0" * 400,
    "without its end": lambda: archive(member("a.py", data=b"x"))[:-1024],
    "half its end": lambda: archive(member("a.py", data=b"x"))[:-512],
    "text": lambda: b"def main():\n    pass\n" * 200,
    "a picture": lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "compressed": lambda: gzip.compress(WHOLE),
    "a compressed terabyte's beginning": lambda: gzip.compress(b"\0" * 50_000_000),
    "another byte in a header": lambda: changed(3, b"X"),
    "a size that is no number": lambda: renumbered(WHOLE, 124, b"99999999999\0"),
    "a size that is negative": lambda: renumbered(WHOLE, 124, b"\xff" * 12),
    "a size of a terabyte": lambda: renumbered(WHOLE, 124, b"\x80" + (1 << 40).to_bytes(11, "big")),
    "a size beyond the end": lambda: renumbered(WHOLE, 124, b"00100000000\0"),
    "a folder's size beyond the end": lambda: archive(member("a", tarfile.DIRTYPE, size=10_000_000)),
    "a name that is no UTF-8": lambda: archive(renumbered(member("abc"), 0, b"\xff\xfe\xfd")),
    "an empty name": lambda: archive(renumbered(member("a"), 0, b"\0")),
    "a name from the root": lambda: archive(member("/etc/passwd.py")),
    "a name that leads out": lambda: archive(member("a/../../x.py")),
    "a name of dots": lambda: archive(member("..")),
    "a name with a line's end": lambda: archive(member("a\nb.py")),
    "a link": lambda: archive(member("a.py", tarfile.SYMTYPE, linkname="/etc/passwd")),
    "a hard link": lambda: archive(member("a.py"), member("b.py", tarfile.LNKTYPE, linkname="a.py")),
    "a pipe": lambda: archive(member("a.py", tarfile.FIFOTYPE)),
    "a device": lambda: archive(member("a.py", tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "a sparse file": lambda: archive(member("a.py", tarfile.GNUTYPE_SPARSE)),
    "an unknown kind": lambda: archive(member("a.py", b"Z")),
    "a long name": lambda: written(tarfile.GNU_FORMAT, LONG),
    "an extended header": lambda: written(tarfile.PAX_FORMAT, LONG),
    "a global header": lambda: written(tarfile.PAX_FORMAT, tarfile.TarInfo("a.py"), comment="x"),
    "an extended header of 300 MB": lambda: archive(member("x", tarfile.XHDTYPE, b"9" * 300_000_000)),
    "an extended header of 30 MB": lambda: archive(member("x", tarfile.XHDTYPE, b"9 a=b\n" * 5_000_000)),
    "a thousand extended headers": lambda: archive(*[member("x", tarfile.XHDTYPE, b"9 a=bcd\n")] * 10_000),
    "a file of 33 MB": lambda: archive(member("a.py", data=b"\n" * (MOST_BYTES + 1))),
    "a file and a folder of one name": lambda: archive(member("a"), member("a/b.py")),
    "a folder and a file of one name": lambda: archive(member("a/b/c.py"), member("a/b")),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_is_no_bundle_is_refused_and_nothing_is_made(name: str, tmp_path: Path) -> None:
    bundle = TAMPERED[name]()
    (tmp_path / "code").mkdir()
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(BundleError) as caught:
            unpack(bundle, tmp_path / "code")
        seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert seconds < 1
    assert peak < MOST_BYTES + (1 << 20)
    assert str(caught.value)
    assert len(str(caught.value)) < 400
    assert [*tmp_path.rglob("*")] == [tmp_path / "code"]


def test_a_bundle_is_read_as_it_was_packed(tmp_path: Path) -> None:
    unpack(WHOLE, tmp_path)
    made = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.py")}
    assert made == FILES


def test_folders_of_a_tar_are_no_files_of_a_bundle(tmp_path: Path) -> None:
    unpack(archive(member("a/", tarfile.DIRTYPE), member("a/b.py", data=b"x = 1\n")), tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["b.py"]


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    """Wherever a bundle ends too early: of what is left no file is made, as another would not be missed."""
    small = pack({"a.py": "x = 1\n", "b.py": "y = 2\n"})
    end = len(small.rstrip(b"\0"))
    for length in [*range(0, end, 97), *range(end - 3, end + 512, 31)]:
        with pytest.raises(BundleError):
            unpack(small[:length], tmp_path / "code")
    assert not (tmp_path / "code").exists()
