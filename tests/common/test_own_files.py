"""Files of the state folder are trusted only if nobody but this user could have written them."""

from __future__ import annotations

import logging
import os
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from translations_assets.common import own_files
from translations_assets.common.own_files import read_own, write_own

TEXT = b"what was remembered"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    own_files._say.cache_clear()
    path = tmp_path / "state" / "configs" / "one"
    write_own(path, TEXT)
    return path


def in_its_place(make: Callable[[Path], object]) -> Callable[[Path, pytest.MonkeyPatch], object]:
    def act(path: Path, patch: pytest.MonkeyPatch) -> None:
        path.unlink()
        make(path)

    return act


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(TEXT)
    path.symlink_to(elsewhere)


def pipe_end(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(path.parent)
        server.bind(path.name)


def endless(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


def of_another(which: str) -> Callable[[Path, pytest.MonkeyPatch], object]:
    """A file, or the folder, belongs to another user, as the system says it (only root could make it so)."""

    def act(path: Path, patch: pytest.MonkeyPatch) -> None:
        name = "fstat" if which == "file" else "stat"
        real, marked = getattr(os, name), path if which == "file" else path.parent
        own = marked.stat()

        def asked(*args: object, **kwargs: object) -> os.stat_result:
            found: os.stat_result = real(*args, **kwargs)
            mine = os.path.samestat(found, own)
            return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]]) if mine else found

        patch.setattr(os, name, asked)

    return act


STRANGE: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], object], str]] = {
    "a file of another user": (of_another("file"), "a file of it belongs to the user"),
    "a folder of another user": (of_another("folder"), "a folder of it belongs to the user"),
    "a file that the group may write": (lambda path, _: path.chmod(0o660), "other users may write a file"),
    "a file that all may write": (lambda path, _: path.chmod(0o606), "other users may write a file"),
    "a folder in its place": (in_its_place(Path.mkdir), "no plain file"),
    "a pipe": (in_its_place(os.mkfifo), "no plain file"),
    "a file of a terabyte": (in_its_place(endless), "no plain file of at most 256 MB"),
    "a link": (in_its_place(link), ""),
    "a link to itself": (in_its_place(link_to_itself), ""),
    "a socket": (in_its_place(pipe_end), ""),
    "nothing": (in_its_place(lambda path: None), ""),
}


@pytest.mark.parametrize(("make", "said"), STRANGE.values(), ids=STRANGE)
def test_what_others_could_have_written_is_not_read(
    make: Callable[[Path, pytest.MonkeyPatch], object],
    said: str,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(path.parent)
    make(path, monkeypatch)
    began = time.monotonic()
    for _ in range(2):
        with caplog.at_level(logging.WARNING), pytest.raises(OSError):  # noqa: PT011 - of any kind
            read_own(path)
    assert time.monotonic() - began < 1
    assert len(caplog.messages) == bool(said), "it is said once"
    if said:
        assert said in caplog.text
        assert str(path.parent) in caplog.text
        assert "TRANSLATIONS_STATE" in caplog.text


def test_a_folder_is_its_users_alone(path: Path) -> None:
    assert read_own(path) == TEXT
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o666)
    write_own(path, "again")
    assert read_own(path) == b"again"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_written_into_a_folder_of_another(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    of_another("folder")(path, monkeypatch)
    with caplog.at_level(logging.WARNING), pytest.raises(PermissionError, match="belongs to the user"):
        write_own(path.with_name("two"), TEXT)
    assert "belongs to the user" in caplog.text
    assert not path.with_name("two").exists()
