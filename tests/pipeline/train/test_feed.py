"""Tests of pipeline.train.feed and pipeline.train.curriculum: what Marian gets to read."""

import os
import re
import subprocess
from collections import Counter
from dataclasses import replace
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

import psutil
import pytest
from sentencepiece import SentencePieceProcessor

from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.errors import InputError
from pipeline.train.curriculum import Curriculum, read_curriculum
from pipeline.train.feed import CLOSED, LOST, Feed, State
from pipeline.train.pair_blocks import PAIRS, PairBlockWriter, compress_block
from tests.pipeline.train import tiny
from tests.runners.scripts import eventually

ALL = {"bicameral": True, "phonemic": True}
LINES = 200
SMALL = 10  # lines of a block


def names() -> dict[str, str]:
    source, target = tiny.corpus().vocabs
    return {"src": "en", "trg": "eo", "source-vocab": str(source), "target-vocab": str(target)}


def curriculum(name: str, conditions: dict[str, bool] | None = None) -> Curriculum:
    path = tiny.CONFIGS / f"curriculum/{name}.yml"
    return read_curriculum(path, ALL if conditions is None else conditions, names())


def aligned_lines(mark: str = "") -> list[str]:
    """Pairs as ICU tokens with an alignment, with the mark at the beginning of each source."""
    rows = []
    for source, target in tiny.pairs(LINES, seed=1):
        sides = tokenize(mark + source, "en"), tokenize(target, "eo")
        words = [[i for i, token in enumerate(side) if token != "▁"] for side in sides]
        links = " ".join(f"{i}-{j}" for i, j in zip(*words, strict=False))
        rows.append("\t".join([" ".join(sides[0]), " ".join(sides[1]), links]))
    return rows


def blocks(folder: Path, lines: list[str]) -> Path:
    """Lines as training pairs, in small blocks."""
    if not folder.exists():
        folder.mkdir()
        with PairBlockWriter(folder) as writer:
            for first in range(0, len(lines), SMALL):
                part = lines[first : first + SMALL]
                writer.write_block(compress_block(part), len(part))
    return folder


def feed(tmp_path: Path, name: str, workers: int = 1, resume: State | None = None, stage: int = 0) -> Feed:
    """A feed of small batches with the curriculum of that name."""
    scratch = tmp_path / f"scratch.{workers}"
    scratch.mkdir(exist_ok=True)
    folders = {
        "original": blocks(tmp_path / "o", aligned_lines()),
        "backtranslated": blocks(tmp_path / "b", aligned_lines("Back ")),
    }
    config = curriculum(name).stage_config(stage, folders, aligned=True, seed=7)
    return Feed(config, batch_size=100, workers=workers, scratch=scratch, resume=resume)


def fed(given: Feed, batches: int) -> list[str]:
    return [line for batch, _ in islice(given.batches(), batches) for line in batch]


@pytest.mark.parametrize("name", ["student", "teacher.one-stage"])
def test_marian_reads_no_tokenised_text(tmp_path: Path, name: str) -> None:
    lines = fed(feed(tmp_path, name), 5)
    assert len(lines) > 450
    assert not [line for line in lines if "▁" in line]
    assert [line for line in lines if line.startswith("the ")]


def test_a_student_reads_alignments_of_sentencepiece_pieces(tmp_path: Path) -> None:
    source, target = (SentencePieceProcessor(model_file=str(vocab)) for vocab in tiny.corpus().vocabs)
    beyond_words = 0
    for line in fed(feed(tmp_path, "student"), 5):
        src, trg, alignment = line.split("\t")
        links = [tuple(map(int, link.split("-"))) for link in alignment.split()]
        assert all(i < len(source.encode(src)) and j < len(target.encode(trg)) for i, j in links)
        beyond_words += any(i >= len(src.split()) for i, _ in links)
    assert beyond_words > 100  # the tokens of the input were fewer


def test_a_teacher_reads_two_fields(tmp_path: Path) -> None:
    assert {line.count("\t") for line in fed(feed(tmp_path, "teacher.one-stage"), 3)} == {1}


def test_stages_mix_what_they_say(tmp_path: Path) -> None:
    first = fed(feed(tmp_path, "teacher.two-stage"), 5)
    second = fed(feed(tmp_path, "teacher.two-stage", stage=1), 5)
    shares = [
        sum(line.upper().startswith("BACK ") for line in lines) / len(lines) for lines in (first, second)
    ]
    assert 0.3 < shares[0] < 0.45  # 0.4 less the lines that typos changed
    assert shares[1] == 0


def test_a_stage_ends_when_its_dataset_was_read_often_enough(tmp_path: Path) -> None:
    given = feed(tmp_path, "teacher.two-stage")
    back = [line for batch, _ in given.batches() for line in batch if re.match("(?i)back ", line)]
    assert 2 * LINES * 0.8 < len(back) <= 2 * LINES


def test_every_line_is_read_as_often_as_there_are_epochs(tmp_path: Path) -> None:
    lines = [f"source {n}\ttarget {n}" for n in range(333)]
    path = blocks(tmp_path / "plain", lines)
    config = curriculum("backward").stage_config(0, {"original": path}, aligned=False, seed=1)
    given = Feed(config, batch_size=100, workers=1, scratch=tmp_path)
    batches = [batch for batch, _ in given.batches()]
    assert [len(batch) for batch in batches] == [*[100] * 33, 30]
    counts = Counter(line for batch in batches for line in batch)
    assert counts == dict.fromkeys(lines, 10)
    epochs = [sorted(sum(batches, [])[n * 333 : n * 333 + 300]) for n in range(2)]
    assert len(set(epochs[0])) == 300  # none twice in an epoch
    assert epochs[0] != epochs[1]


def started(given: Feed) -> tuple[BaseProcess, IO[str]]:
    """A feed as a process in a group of its own, and what it writes."""
    reading, writing = os.pipe()
    process = given.start(writing, 0)
    os.close(writing)
    return process, os.fdopen(reading, encoding="utf-8", newline="\n")


def test_the_number_of_workers_does_not_change_the_text(tmp_path: Path) -> None:
    texts = []
    for workers in (1, 3):
        process, stream = started(feed(tmp_path, "student", workers=workers))
        with stream:
            texts.append([line.removesuffix("\n") for line in islice(stream, 400)])
        process.join(60)
        assert process.exitcode == CLOSED
    assert texts[0] == texts[1] == fed(feed(tmp_path, "student"), 5)[:400]


def test_a_feed_writes_a_stage_to_its_end(tmp_path: Path) -> None:
    process, stream = started(feed(tmp_path, "teacher.two-stage", workers=3))
    with stream:
        text = [line.removesuffix("\n") for line in stream]
    process.join(60)
    assert process.exitcode == 0
    assert text == fed(feed(tmp_path, "teacher.two-stage"), 100)


def test_a_feed_for_a_marian_that_has_ended_already(tmp_path: Path) -> None:
    marian = subprocess.Popen(["true"], start_new_session=True)
    marian.wait()
    reading, writing = os.pipe()
    process = feed(tmp_path, "student").start(writing, marian.pid)
    os.close(reading)
    os.close(writing)
    process.join(60)
    assert process.exitcode == CLOSED


def test_a_feed_whose_worker_is_killed_ends_and_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    process, stream = started(feed(tmp_path, "student", workers=2))
    with stream:
        assert stream.readline()
        feeding = psutil.Process(process.pid)
        assert eventually(lambda: len(feeding.children()) == 2)
        feeding.children()[0].kill()
        stream.read()  # to its end
    process.join(60)
    assert process.exitcode == LOST
    assert "A worker of the feed died (status -9)" in capfd.readouterr().err


def test_a_damaged_block_ends_the_feed_and_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Once, and without the frames of two processes."""
    given = feed(tmp_path, "student", workers=2)
    pairs = tmp_path / "o" / PAIRS
    content = bytearray(pairs.read_bytes())
    content[len(content) // 2] ^= 0xFF
    pairs.write_bytes(content)
    process, stream = started(given)
    with stream:
        stream.read()
    process.join(60)
    assert process.exitcode == 1
    assert given.error.startswith(f"{pairs} is damaged in block ")
    assert given.error.endswith("Make the pairs again by the script training_pairs.")
    assert capfd.readouterr().err == ""


def test_an_empty_dataset_ends_the_feed_and_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = feed(tmp_path, "teacher.two-stage")
    with PairBlockWriter(tmp_path / "b"):
        pass
    process, stream = started(given)
    with stream:
        stream.read()
    process.join(60)
    assert process.exitcode == 1
    assert " lines of backtranslated into each batch, and it is empty. Give it text, or " in given.error
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("idle_worker_dies", [False, True])
def test_a_feed_looks_ahead_a_bounded_number_of_batches(tmp_path: Path, idle_worker_dies: bool) -> None:
    """Nobody reads: what the pipe holds is written, a few batches are made, and all wait."""
    given = feed(tmp_path, "student", workers=2)
    process, stream = started(replace(given, batch_size=2000))
    with stream:
        feeding = psutil.Process(process.pid)
        assert eventually(lambda: len(feeding.children()) == 2)

        def used() -> float:
            return sum(sum(one.cpu_times()[:2]) for one in (feeding, *feeding.children()))

        idle = [0.0]

        def rests() -> bool:
            before, idle[0] = idle[0], used()
            return before == idle[0] > 0

        assert eventually(rests)
        assert len(list(given.states.iterdir())) < 4
        if idle_worker_dies:
            feeding.children()[0].kill()
            stream.read()
    process.join(60)
    assert process.exitcode == (LOST if idle_worker_dies else CLOSED)


def test_a_worker_that_dies_amid_a_batch_that_it_hands_over(tmp_path: Path) -> None:
    process, stream = started(replace(feed(tmp_path, "student", workers=2), batch_size=20_000))
    with stream:
        feeding = psutil.Process(process.pid)
        assert eventually(lambda: len(feeding.children()) == 2)
        worker = feeding.children()[0]
        assert eventually(lambda: sum(worker.cpu_times()[:2]) > 0.05)  # it makes a batch
        feeding.suspend()
        assert eventually(lambda: worker.status() == psutil.STATUS_SLEEPING)  # a socket holds no such batch
        worker.kill()
        feeding.resume()
        stream.read()
    process.join(60)
    assert process.exitcode == LOST


def test_the_size_of_batches_stands_in_the_curriculum(tmp_path: Path) -> None:
    """Other lines are modified when it differs: neither a machine nor a default may choose it."""
    lines = (tiny.CONFIGS / "curriculum/student.yml").read_text().splitlines()
    (tmp_path / "c.yml").write_text("\n".join(line for line in lines if not line.startswith("batch-size:")))
    with pytest.raises(InputError, match="KeyError 'batch-size'"):
        read_curriculum(tmp_path / "c.yml", ALL, names())


def test_a_stage_that_would_never_end_is_refused(tmp_path: Path) -> None:
    given = feed(tmp_path, "teacher.two-stage")
    with pytest.raises(InputError, match=r"a batch of 2 lines has none of backtranslated"):
        next(iter(replace(given, batch_size=2).batches()))


@pytest.mark.parametrize("name", ["student", "teacher.two-stage"])
def test_going_on_from_any_state_gives_the_lines_that_would_have_followed(tmp_path: Path, name: str) -> None:
    """Six batches go beyond an epoch of both datasets."""
    whole = list(islice(feed(tmp_path, name).batches(), 6))
    for number, (_, state) in enumerate(whole):
        rest = list(islice(feed(tmp_path, name, resume=state).batches(), 5 - number))
        assert [batch for batch, _ in rest] == [batch for batch, _ in whole[number + 1 :]]


def test_going_on_after_the_last_batch_gives_nothing(tmp_path: Path) -> None:
    *_, (_, state) = feed(tmp_path, "teacher.two-stage").batches()
    given = feed(tmp_path, "teacher.two-stage", resume=state)
    assert list(given.batches()) == []
    process, stream = started(given)
    with stream:
        assert stream.read() == ""
    process.join(60)
    assert process.exitcode == 0


def test_the_state_taken_is_the_newest_that_marian_has_passed(tmp_path: Path) -> None:
    given = feed(tmp_path, "student", resume={"begin": True})
    given.states.mkdir()
    for lines in (100, 200, 300):
        (given.states / f"{lines:015d}.json").write_text(f'{{"lines": {lines}}}')
    assert given.state_after(99) == ({"begin": True}, 0)
    assert given.state_after(250) == ({"lines": 200}, 200)
    assert given.state_after(300) == ({"lines": 300}, 300)
    assert len(list(given.states.iterdir())) == 1


def test_the_state_of_a_number_of_lines_is_that_after_them(tmp_path: Path) -> None:
    """Going on from it neither skips text that Marian has not read nor repeats what stands before it."""
    given = feed(tmp_path, "teacher.two-stage", workers=2)
    process, stream = started(given)
    with stream:
        whole = [line.removesuffix("\n") for line in stream]
    process.join(60)
    assert process.exitcode == 0
    state, lines = given.state_after(len(whole) // 2 - 1)
    assert 0 < lines < len(whole) // 2
    assert fed(feed(tmp_path, "teacher.two-stage", resume=state), 100) == whole[lines:]


def test_a_state_that_is_being_written_is_none_yet(tmp_path: Path) -> None:
    given = feed(tmp_path, "student", resume={"begin": True})
    given.states.mkdir()
    (given.states / ".000000000000100.json").write_text('{"li')
    assert given.state_after(100) == ({"begin": True}, 0)
    (given.states / "000000000000050.json").write_text('{"lines": 50}')
    assert given.state_after(100) == ({"lines": 50}, 50)


def modifiers(name: str, **conditions: bool) -> list[str]:
    return [next(iter(modifier)) for modifier in curriculum(name, conditions).modifiers]


def test_modifiers_depend_on_the_script() -> None:
    common = ["RemoveEndPunct", "Noise", "Tags"]
    assert modifiers("student", bicameral=False, phonemic=False) == common
    assert set(modifiers("student", bicameral=True, phonemic=False)) == {*common, "UpperCase", "TitleCase"}
    assert set(modifiers("teacher.two-stage", bicameral=False, phonemic=True)) == {*common, "Typos"}


def test_only_the_student_maps_alignments_to_pieces() -> None:
    assert curriculum("student").aligns_pieces
    assert not curriculum("teacher.one-stage").aligns_pieces
    assert curriculum("backward").tags is None


def test_stages_have_settings_and_orders_of_their_own(tmp_path: Path) -> None:
    files = {"original": tmp_path / "o", "backtranslated": tmp_path / "b"}
    two = curriculum("teacher.two-stage")
    first, second = (two.stage_config(stage, files, aligned=True, seed=5) for stage in (0, 1))
    assert first["pretrain"] == ["original 0.6", "backtranslated 0.4", "until backtranslated 2"]
    assert second["finetune"] == ["original 1.0", "until original inf"]
    assert list(second["datasets"]) == ["original"]


def test_stages_do_not_repeat_each_others_orders(tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text(
        "{stages: [a, b], a: [original 1.0, until original 1], b: [original 1.0, until original 1], "
        "modifiers: [], batch-size: 50}"
    )
    two = read_curriculum(tmp_path / "c.yml", ALL, names())
    folder = {"original": blocks(tmp_path / "plain", [f"source {n}\ttarget {n}" for n in range(LINES)])}
    configs = [two.stage_config(stage, folder, aligned=False, seed=5) for stage in (0, 1)]
    texts = [fed(Feed(config, batch_size=50, workers=1, scratch=tmp_path), 100) for config in configs]
    assert sorted(texts[0]) == sorted(texts[1])
    assert set(texts[0][:50]) != set(texts[1][:50])  # lines of other blocks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages: [a]", "KeyError"),
        ("- 1", "is not a curriculum"),
        ("{stages: [a], a: [x 1.0], modifiers: [], batch-size: 1}", "until clause"),
        (
            "{stages: [a], a: [x 1.0, until x 1], modifiers: [{Nonsense: 1}], batch-size: 1}",
            "Nonsense",
        ),
        (
            "{stages: [a], a: [x 1.0, until x 1], modifiers: [{UpperCase: 1, when: rainy}], batch-size: 1}",
            "bicameral, phonemic",
        ),
        (
            "{stages: [a], a: [x 1.0, until x 1], modifiers: [{Tags: 0}, {UpperCase: 1}], batch-size: 1}",
            "last modifier",
        ),
    ],
)
def test_a_bad_curriculum_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.yml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_curriculum(tmp_path / "c.yml", ALL, names())


def test_shares_of_modifiers_may_be_given() -> None:
    path = tiny.CONFIGS / "curriculum/student.yml"
    given = read_curriculum(path, {**ALL, "bicameral": False}, names(), {"UpperCase": 1, "Typos": 0.3})
    assert [modifier["Typos"] for modifier in given.modifiers if "Typos" in modifier] == [0.3]
    assert not [modifier for modifier in given.modifiers if "UpperCase" in modifier]  # as the language has it
    with pytest.raises(InputError, match="not of Tags"):
        read_curriculum(path, ALL, names(), {"Tags": 1.0})
