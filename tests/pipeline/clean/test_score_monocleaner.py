"""Scoring text of one language with Monocleaner: a stand-in for the program, and the program itself.

The latter needs an environment of requirements/monocleaner.lock, whose interpreter MONOCLEANER_PYTHON names.
"""

import io
import os
import tarfile
from pathlib import Path

import pytest

from pipeline.clean import score_monocleaner
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus, files_of, read, stats_of
from tests.pipeline.clean.stand_in import calls, expected, use_environment

LINES = [f"line number {number}" for number in range(11)]
LETTERS = "abcdefghilmnoprstu"


def pack(path: Path, members: dict[str, str]) -> Path:
    """A language pack."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def metadata(model: str) -> str:
    """As monocleaner-train writes it."""
    return (
        f"language: en\nlm_type: CHARACTER\nlm_file: {model}\nclean_mean_perp: -1.2\nclean_stddev_perp: 0.1\n"
        "noisy_mean_perp: -2.5\nnoisy_stddev_perp: 0.1\n"
    )


def letters_model() -> str:
    """A language model in ARPA's form that knows letters, and of their order next to nothing."""
    known = ["<unk>", "<s>", "</s>", "SPACE", *LETTERS]
    ones = "\n".join(f"{-4.0 if name == '<unk>' else -1.0}\t{name}\t0" for name in known)
    counts = f"ngram 1={len(known)}\nngram 2=1"
    return f"\\data\\\n{counts}\n\n\\1-grams:\n{ones}\n\n\\2-grams:\n-1.0\ta b\n\n\\end\\\n"


def scores(folder: Path, lock: Path, name: str = "out") -> list[str]:
    words = ["--text", folder / "mono.zst", "--model", folder / "model.tgz", "--monocleaner-lock", lock]
    score_monocleaner.main([*map(str, words), "--output", str(folder / name)])
    return read(folder / name / "scores.zst")


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    corpus(tmp_path / "mono.zst", LINES)
    pack(tmp_path / "model.tgz", {"en/metadata.yaml": metadata("en.lm"), "en/en.lm": "model"})
    return use_environment(tmp_path, "monocleaner", monkeypatch)


def test_every_line_has_its_score(tmp_path: Path, lock: Path) -> None:
    assert scores(tmp_path, lock) == list(map(expected, LINES))
    assert stats_of(tmp_path / "out")["lines"]["in"] == 11
    (call,) = calls()
    assert call["argv"][:-1] == ["--disable_hardrules", "--disable_lang_ident", "--score_only", "--quiet"]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_bytes_do_not_depend_on_blocks_and_threads(
    tmp_path: Path, lock: Path, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    scores(tmp_path, lock, "whole")
    monkeypatch.setattr(score_monocleaner, "BLOCK", 2)
    monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
    scores(tmp_path, lock, "blocks")
    assert len(calls()) == 1 + 6
    assert files_of(tmp_path / "blocks") == files_of(tmp_path / "whole")


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"en/en.lm": "model"}, "it has 0 metadata.yaml, not one"),
        ({"en/metadata.yaml": metadata("en.lm")}, "holds no en/en.lm"),
        ({"en/metadata.yaml": "language: en"}, "names no language model"),
        ({"en/metadata.yaml": "[: not YAML"}, "names no language model"),
    ],
)
def test_what_is_no_language_pack(tmp_path: Path, lock: Path, members: dict[str, str], says: str) -> None:
    pack(tmp_path / "model.tgz", members)
    with pytest.raises(InputError, match=says):
        scores(tmp_path, lock)
    assert calls() == []


@pytest.mark.skipif(
    "MONOCLEANER_PYTHON" not in os.environ,
    reason="MONOCLEANER_PYTHON names no interpreter of an environment with Monocleaner",
)
def test_the_program_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that knows the letters of one language finds lines in another less fluent."""
    python = Path(os.environ["MONOCLEANER_PYTHON"])
    monkeypatch.setattr(score_monocleaner, "interpreter", lambda lock: python)
    pack(tmp_path / "model.tgz", {"en/metadata.yaml": metadata("en.arpa"), "en/en.arpa": letters_model()})
    corpus(tmp_path / "mono.zst", ["this is a song", "это песня", "", "a song, это"])
    known, unknown, empty, mixed = map(float, scores(tmp_path, Path("requirements/monocleaner.lock")))
    assert known == 1.0
    assert unknown == 0.0
    assert 0 < mixed < 1
    assert 0 <= empty <= 1
