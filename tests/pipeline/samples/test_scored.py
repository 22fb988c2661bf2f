"""Lines of steps that drop what a score speaks against."""

from collections import Counter
from pathlib import Path

import pytest

from pipeline.cefilter import filter as cefilter
from pipeline.clean import filter_mono, filter_parallel
from tests.pipeline.clean.helpers import corpus, read
from tests.pipeline.samples.drawing import draw, ran, texts

PARALLEL, WORST = "pipeline.clean.filter_parallel", "pipeline.cefilter.filter"


def scored(folder: Path, scores: list[float]) -> list[str]:
    """The options that name a corpus of so many pairs, with these scores."""
    src = corpus(folder / "c.de.zst", [f"Satz {n}" for n in range(len(scores))])
    trg = corpus(folder / "c.ru.zst", [f"Предложение {n}" for n in range(len(scores))])
    by = corpus(folder / "scores.zst", list(map(str, scores)))
    return ["--src=de", "--trg=ru", f"--corpus-src={src}", f"--corpus-trg={trg}", f"--scores={by}"]


def test_a_pair_is_dropped_up_to_the_threshold(tmp_path: Path) -> None:
    options = [*scored(tmp_path, [0.1, 0.5, 0.9, 0.2, 0.51]), "--threshold=0.5"]
    options = ran(filter_parallel.main, options, tmp_path / "out")
    found = draw(PARALLEL, tmp_path / "out", options, number=9)
    dropped = found["dropped"]["low_score"]
    assert [(row["line"], row["beside"]["score"]) for row in dropped] == [(1, "0.1"), (2, "0.5"), (4, "0.2")]
    assert [row["text"][0] for row in found["kept"]] == read(tmp_path / "out" / "corpus.de.zst")
    assert [row["reason"] for row in found["read"]] == ["low_score", "low_score", "", "low_score", ""]


def test_lines_of_one_language_are_dropped_likewise(tmp_path: Path) -> None:
    text, by = corpus(tmp_path / "m.zst", ["A", "B"]), corpus(tmp_path / "s.zst", ["0.7", "0.71"])
    options = ["--lang=de", f"--text={text}", f"--scores={by}", "--threshold=0.7"]
    options = ran(filter_mono.main, options, tmp_path / "out")
    found = draw("pipeline.clean.filter_mono", tmp_path / "out", options)
    assert (texts(found["dropped"]["low_score"]), texts(found["kept"])) == ([("A",)], [("B",)])


@pytest.mark.parametrize(
    "scores", [[-3.0, -1.0, -3.0, -3.0, -2.0], [-1.0] * 5, [0.0, -0.0, -1.0, -5.5, -5.5]]
)
def test_of_equal_scores_the_earlier_pair_goes(scores: list[float], tmp_path: Path) -> None:
    options = ran(cefilter.main, [*scored(tmp_path, scores), "--drop=0.4"], tmp_path / "out")
    found = draw(WORST, tmp_path / "out", options, number=9)
    kept = read(tmp_path / "out" / "corpus.de.zst")
    assert [row["text"][0] for row in found["kept"]] == kept
    assert len(found["dropped"]["low score"]) == 2
    assert {row["text"][0] for row in found["read"] if not row["reason"]} == set(kept)


def test_nothing_was_dropped(tmp_path: Path) -> None:
    options = ran(cefilter.main, [*scored(tmp_path, [-1.0, -2.0]), "--drop=0.05"], tmp_path / "out")
    found = draw(WORST, tmp_path / "out", options)
    assert (found["dropped"], len(found["kept"])) == ({}, 2)


def test_every_pair_is_as_likely(tmp_path: Path) -> None:
    options = [*scored(tmp_path, [n % 2 for n in range(40)]), "--threshold=0.5"]
    options = ran(filter_parallel.main, options, tmp_path / "out")
    drawn = Counter[int]()
    for seed in range(200):
        rows = draw(PARALLEL, tmp_path / "out", options, number=5, seed=seed)["dropped"]["low_score"]
        drawn.update(row["line"] for row in rows)
    assert drawn.total() == 1000
    assert set(drawn) == set(range(1, 41, 2))
    assert 25 < min(drawn.values()) <= max(drawn.values()) < 80  # 50 of each are expected, 6 the deviation


def test_the_same_seed_draws_the_same(tmp_path: Path) -> None:
    options = [*scored(tmp_path, [n / 100 for n in range(100)]), "--threshold=0.5"]
    options = ran(filter_parallel.main, options, tmp_path / "out")
    first, again, other = (draw(PARALLEL, tmp_path / "out", options, seed=seed) for seed in (7, 7, 8))
    assert first == again != other
