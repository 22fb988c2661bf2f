"""Real runs of the model of scale: the whole graph of a production config, with the stand-in for Marian."""

from __future__ import annotations

import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml

from benchmarks.scale import measured, real
from benchmarks.scale import pair as pair_module
from benchmarks.scale.flow import TRAINING
from benchmarks.scale.marian import READ_AHEAD
from benchmarks.scale.pair import PAIRS
from benchmarks.scale.text import Text, pairs, translated
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import decode, score_blocks
from pipeline.train.checkpoints import MODEL, OPTIMIZER, find_fault
from tests.pipeline.train.test_checkpoints import save_like_marian
from tests.pipeline.train.training import QUICK, train

STAND_IN = shlex.join([sys.executable, "-I", "-m", "benchmarks.scale.marian"])
# A small process, since a child's peak is that of its parent at first
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""
SCALE = 200_000  # three hundred pairs


def test_a_part_of_a_text_is_the_same_as_in_the_whole() -> None:
    whole = list(pairs(Text(3, 0, 12_000)))
    assert len(whole) == 12_000
    assert list(pairs(Text(3, 9_990, 10_010))) == whole[9_990:10_010]
    assert whole != list(pairs(Text(4, 0, 12_000)))
    words = [len(source.split()) for source, _ in whole]
    assert 16 < sum(words) / len(words) < 21
    assert 0.7 < len(set(whole)) / len(whole) < 0.9


def test_a_translation_has_the_words_of_its_reference() -> None:
    shared = wanted = 0
    for source, target in pairs(Text(1, 0, 500)):
        found, words = set(translated(source).lower().split()), target.lower().strip(".").split()
        shared += sum(word in found for word in words)
        wanted += len(words)
    assert shared > 0.7 * wanted


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a model's, and the stand-in as Marian."""
    monkeypatch.setenv("TRANSLATIONS_MARIAN", STAND_IN)
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("model.npz", "source.spm", "target.spm"):
        (folder / name).write_text("-")
    (folder / "decoder.yml").write_text("models: [model.npz]\nbeam-size: 4\n")
    return folder


def test_the_stand_in_translates_and_scores_as_many_lines_as_it_is_given(model: Path, tmp_path: Path) -> None:
    text, output = tmp_path / "text.zst", tmp_path / "out.zst"
    lines = [source for source, _ in pairs(Text(1, 0, 30))]
    write_lines(text, lines)
    assert decode([model], text, output) == 30
    assert list(read_lines(output)) == [translated(line) for line in lines]
    assert decode([model], text, output, nbest=True) == 120
    assert list(read_lines(output))[4].startswith("1 ||| ")
    scores = list(chain.from_iterable(score_blocks(model, text, text, tmp_path)))
    assert len(scores) == 30
    assert all(float(score) < 0 for score in scores)


@pytest.mark.slow
@pytest.mark.parametrize("links", ["", "\t0-0"])
def test_the_stand_in_takes_the_memory_of_the_lines_that_marian_reads_ahead(
    tmp_path: Path, links: str
) -> None:
    few, most, all_lines = (
        memory_of_training(tmp_path / name, lines, ahead, links)
        for name, lines, ahead in (("few", 1_000, 100), ("most", 60_000, 30), ("all", 60_000, 100))
    )
    each = READ_AHEAD[bool(links)]
    assert most - few == pytest.approx(29_000 * each, rel=0.4)
    assert all_lines - few == pytest.approx(59_000 * each, rel=0.4)


def memory_of_training(folder: Path, lines: int, ahead: int, links: str) -> int:
    """The largest memory in bytes of the stand-in, which reads so many lines, so many thousand ahead."""
    folder.mkdir()
    save_like_marian(folder, 1)
    config = {
        "model": str(folder / MODEL),
        "mini-batch": 1000,
        "maxi-batch": ahead,
        "valid-metrics": [],
        **dict.fromkeys(("disp-freq", "save-freq", "valid-freq"), "1000u"),
        **({"guided-alignment": "2"} if links else {}),
    }
    (folder / "train.yml").write_text(yaml.safe_dump(config))
    text = folder / "text"
    text.write_text("".join(f"{source}\t{target}{links}\n" for source, target in pairs(Text(1, 0, lines))))
    command = [*shlex.split(STAND_IN), "train", "--config", str(folder / "train.yml")]
    with text.open() as stream:
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *command], stdin=stream, capture_output=True, text=True, check=True
        )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.marian
def test_the_saves_of_the_stand_in_are_as_large_as_those_of_the_model(tmp_path: Path) -> None:
    given = {
        "TRANSLATIONS_MARIAN": f"{STAND_IN} --weights-mb 2",
        "TRANSLATIONS_CHECKPOINTS": tmp_path / "sets",
    }
    asked = {**QUICK, "after": "35u", "mini-batch-words": 100}
    done = train(tmp_path, asked, env=given)
    assert done.returncode == 0, done.stderr
    newest = max((tmp_path / "sets").iterdir())
    assert find_fault(newest) is None
    assert 6e6 < sum((newest / name).stat().st_size for name in (MODEL, OPTIMIZER)) < 9e6


@pytest.mark.slow
def test_the_graph_runs_at_a_fraction_of_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as the last training; what evaluates and exports models takes no longer for more text."""
    monkeypatch.setattr(pair_module, "TEST_SETS", pair_module.TEST_SETS[:1])
    taken = real.run(tmp_path, "160", SCALE, "finetune_student", words_per_second=0)
    pair = real.scaled(PAIRS["160"], SCALE)
    assert taken["pipeline.data.parallel_url"].lines >= sum(pair.train())
    assert taken[TRAINING].steps == 4
    assert taken["pipeline.translate.extract_best"].lines > pair.parallel * 0.7
    assert all(one.memory > 0 for one in taken.values() if one.seconds > 2)
    table = list(measured.table(taken, {}))
    assert len(table) == 2 + len(taken)
    assert any(line.startswith("pairs.zst ") for line in measured.bytes_a_line(taken))
    again = real.run(tmp_path, "160", SCALE, "finetune_student", words_per_second=0)
    assert again == taken, "nothing is made twice"
