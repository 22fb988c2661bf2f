"""Samples of files are even over position and data set. More seeds: `benchmarks/uniformity.py`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks import uniformity
from benchmarks.uniformity import SAMPLERS, SIZES, Sampler, by_reservoir, p_value, p_values, write_texts


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("suffix", [".zst", ".gz"])
@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_every_line_is_as_likely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampler: Sampler, suffix: str, share: float
) -> None:
    monkeypatch.setattr(uniformity, "SEEDS", 12)
    assert min(p_values(write_texts(tmp_path, suffix), sampler, share)) > 0.001


def test_a_sample_of_the_tail_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uniformity, "SEEDS", 12)

    def tail(files: Sequence[Path], size: int, seed: int) -> Iterator[int]:
        return (number for number in by_reservoir(files, size, seed) if number > sum(SIZES) // 4)

    assert max(p_values(write_texts(tmp_path, ".zst"), tail, 0.1)) < 0.001


def test_p_values_are_those_of_tables() -> None:
    # a chi-square of 43.82 with 19 degrees of freedom, one of 7.81 with 3
    counts = [100.0] * 20
    deviation = (43.82 * 100 / 2) ** 0.5
    counts[0], counts[1] = 100 + deviation, 100 - deviation
    assert p_value(counts, [1.0] * 20, 1.0) == pytest.approx(0.001, abs=0.0002)
    deviation = (7.815 * 100 / 2) ** 0.5
    assert p_value([100 + deviation, 100 - deviation, 100, 100], [1.0] * 4, 1.0) == pytest.approx(
        0.05, abs=0.002
    )
