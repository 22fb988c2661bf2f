"""The frame of every script: exit codes, the output folder, JSON."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.script import new_folder, write_json


def _run(body: str) -> subprocess.CompletedProcess[str]:
    code = f"""
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.script import run
def main():
    {body}
run(main)
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("pass", 0, ""),
        ("raise InputError('The file a.txt is empty.')", 1, "error: The file a.txt is empty.\n"),
        ("raise TemporaryError('No answer.')", 75, "error (worth another attempt): No answer.\n"),
        ("open('missing.txt')", 1, "error: No such file or directory: missing.txt\n"),
    ],
)
def test_exit_codes(body: str, code: int, says: str) -> None:
    ended = _run(body)
    assert (ended.returncode, ended.stderr, ended.stdout) == (code, says, "")


def test_a_full_disk_is_worth_another_attempt() -> None:
    ended = _run("import errno; raise OSError(errno.ENOSPC, 'No space left on device', 'out/text.zst')")
    assert ended.returncode == 75
    assert ended.stderr.startswith("error: No space left on device: out/text.zst\nMake room")


@pytest.mark.parametrize("name", ["EIO", "ESTALE", "ETIMEDOUT", "EREMOTEIO", "ENOMEM", "EAGAIN"])
def test_so_are_a_disk_that_is_away_and_a_machine_that_is_short_of_something(name: str) -> None:
    number = vars(errno)[name]
    ended = _run(f"raise OSError({number}, 'Told by the system', 'in/text.zst')")
    told = "error (worth another attempt): Told by the system: in/text.zst\n"
    assert (ended.returncode, ended.stderr) == (75, told)


@pytest.mark.parametrize(("said", "told"), [("", ""), ("3 TiB", ": 3 TiB")])
def test_so_is_memory_that_python_does_not_get(said: str, told: str) -> None:
    ended = _run(f"raise MemoryError({said!r})")
    assert ended.returncode == 75
    assert ended.stderr == f"error (worth another attempt): Memory was short{told}\n"


def test_a_fault_in_the_script_shows_where() -> None:
    ended = _run("raise KeyError('bug')")
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


def test_logs_go_to_stderr() -> None:
    ended = _run("import logging; logging.getLogger('a').info('Read 3 lines')")
    assert ended.stderr.endswith(" a: Read 3 lines\n")
    assert ended.stdout == ""


def test_the_output_folder_is_made_and_must_be_empty(tmp_path: Path) -> None:
    assert new_folder(tmp_path / "deep" / "out").is_dir()
    new_folder(tmp_path / "deep" / "out")
    (tmp_path / "deep" / "out" / "file").touch()
    with pytest.raises(InputError, match="not empty"):
        new_folder(tmp_path / "deep" / "out")
    with pytest.raises(InputError, match="not empty"):
        new_folder(tmp_path / "deep" / "out" / "file")


def test_json_keeps_the_order_and_the_letters(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": "ĉ", "a": [1]})
    assert (tmp_path / "a.json").read_text() == '{\n  "b": "ĉ",\n  "a": [\n    1\n  ]\n}\n'
