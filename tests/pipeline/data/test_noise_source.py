"""Noise in source lines whose translations stay as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.noise_source import main, noisy

LINE = "The old teacher sees our house, and Maria knows it well."
LINES = [f"{LINE} That is number {number}!" for number in range(2000)]


def noise(folder: Path, shares: dict[str, float], name: str = "out", lines: list[str] = LINES) -> Path:
    write_lines(folder / "src", lines)
    write_lines(folder / "trg", [f"t{number}" for number in range(len(lines))])
    texts = ["--corpus-src", str(folder / "src"), "--corpus-trg", str(folder / "trg")]
    given = ["--src", "en", "--trg", "eo", "--shares", json.dumps(shares)]
    main([*given, *texts, "--output", str(folder / name)])
    return folder / name


def test_each_kind() -> None:
    found = {
        kind: noisy(kind, LINE, 7, "en", "eo")
        for kind in ("typos", "upper-case", "lower-case", "punctuation")
    }
    assert found["upper-case"] == LINE.upper()
    assert found["lower-case"] == LINE.lower()
    assert found["punctuation"] == LINE.removesuffix(".")
    assert found["typos"] != LINE
    assert sum(one != other for one, other in zip(LINE, found["typos"], strict=False)) >= 2
    for number in range(50):
        spaced = noisy("spacing", LINE, number, "en", "eo")
        assert spaced.replace(" ", "") == LINE.replace(" ", "")
        assert abs(len(spaced) - len(LINE)) == 1
    assert noisy("upper-case", "bir", 1, "tr", "en") == "BİR"
    assert noisy("lower-case", "IŞIK, İSTANBUL", 1, "tr", "en") == "ışık, istanbul"
    assert noisy("punctuation", "…?!", 1, "en", "eo") == "…?!"
    assert noisy("spacing", "a", 1, "en", "eo") == "a"


def test_a_share_of_the_lines_has_noise_and_translations_stay(tmp_path: Path) -> None:
    shares = {"typos": 0.1, "upper-case": 0.2, "punctuation": 0.05}
    out = noise(tmp_path, shares)
    src, trg = (list(read_lines(out / f"corpus.{lang}.zst")) for lang in ("en", "eo"))
    assert trg == [f"t{number}" for number in range(2000)]
    counts = json.loads((out / "stats.json").read_text())["noise"]
    assert sum(counts.values()) == 2000
    assert counts["clean"] == sum(one == other for one, other in zip(src, LINES, strict=True))
    for kind, share in shares.items():
        assert counts[kind] == pytest.approx(share * 2000, abs=70)
    assert sum(line.isupper() for line in src) == counts["upper-case"]


def test_the_same_text_has_the_same_noise_wherever_it_stands(tmp_path: Path) -> None:
    first, second = (noise(tmp_path, {"typos": 0.5}, name) for name in ("one", "two"))
    assert (first / "corpus.en.zst").read_bytes() == (second / "corpus.en.zst").read_bytes()
    longer = noise(tmp_path, {"typos": 0.5}, "three", [*LINES, "More."])
    assert list(read_lines(longer / "corpus.en.zst"))[:2000] == list(read_lines(first / "corpus.en.zst"))


@pytest.mark.parametrize(
    ("shares", "says"),
    [({"typo": 0.1}, "not typo"), ({"typos": 0.6, "spacing": 0.5}, "sum up to 1.1, which is more than all")],
)
def test_wrong_shares_are_refused(tmp_path: Path, shares: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        noise(tmp_path, shares)
    assert not (tmp_path / "out").exists()
