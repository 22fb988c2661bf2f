"""Imports of files that a step is given."""

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.data import mono_file, parallel_file


def test_a_pair_of_files_packed_in_any_way(tmp_path: Path) -> None:
    (tmp_path / "src").write_bytes(gzip.compress(b"One.\nTwo.\n"))
    (tmp_path / "trg.gz").write_bytes(b"Vienas.\r\nDu.")
    files = ["--corpus-src", f"{tmp_path}/src", "--corpus-trg", f"{tmp_path}/trg.gz"]
    parallel_file.main(["--src=en", "--trg=lt", *files, "--output", f"{tmp_path}/out"])
    assert list(read_lines(tmp_path / "out" / "corpus.en.zst")) == ["One.", "Two."]
    assert list(read_lines(tmp_path / "out" / "corpus.lt.zst")) == ["Vienas.", "Du."]
    assert json.loads((tmp_path / "out" / "stats.json").read_text())["lines"]["kept"] == 2
    (tmp_path / "src").write_text("One.\n")
    with pytest.raises(InputError, match=r"en has 1, lt has 2\."):
        parallel_file.main(["--src=en", "--trg=lt", *files, "--output", f"{tmp_path}/again"])


def test_a_file_in_one_language(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(zstandard.compress(b"One.\nTwo.\nThree.\n"))
    options = ["--lang=en", "--text", f"{tmp_path}/text", "--output", f"{tmp_path}/out"]
    mono_file.main([*options, "--max-sentences=2"])
    assert len(list(read_lines(tmp_path / "out" / "mono.en.zst"))) == 2


@pytest.mark.parametrize("name", ["text.zst", "text"])
def test_a_file_that_pzstd_has_packed(name: str, tmp_path: Path) -> None:
    """It begins with a frame to be passed over, and has another before each further frame."""
    passed_over = b"\x50\x2a\x4d\x18\4\0\0\0size"
    frames = (zstandard.compress(line) for line in (b"One.\n", b"Two.\n"))
    (tmp_path / name).write_bytes(b"".join(passed_over + frame for frame in frames))
    mono_file.main(
        ["--lang=en", "--text", f"{tmp_path}/{name}", "--max-sentences=9", "--output", f"{tmp_path}/out"]
    )
    assert list(read_lines(tmp_path / "out" / "mono.en.zst")) == ["One.", "Two."]
