"""Tests of pipeline.common.marian: no line may get lost, whatever is translated or scored."""

import shutil
import stat
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
import yaml
from sacrebleu.metrics.chrf import CHRF

from pipeline.common import finished, marian, marian_answers
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.common.marian import (
    decode,
    decode_blocks,
    decode_each,
    decoder_config,
    load_model,
    score_blocks,
)
from pipeline.common.marian_options import Options, write_options
from pipeline.common.marian_process import marian_error
from tests.pipeline.train import tiny


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", "2")
    monkeypatch.setenv("TRANSLATIONS_WORKSPACE", "256")


def text_file(folder: Path, *lines: str) -> Path:
    write_lines(folder / "text.zst", lines)
    return folder / "text.zst"


def decoded(
    folder: Path, *lines: str, settings: Options | None = None, model: Path | None = None
) -> list[str]:
    decode([model or tiny.model()], text_file(folder, *lines), folder / "out.zst", settings)
    return tiny.lines_of(folder / "out.zst")


def score(model: Path, source: Path, target: Path, output: Path) -> int:
    return write_lines(output, [*chain.from_iterable(score_blocks(model, source, target, output.parent))])


def chrf(translations: list[str], references: list[str]) -> float:
    return float(CHRF().corpus_score(translations, [references]).score)


DEV = tiny.pairs(30, seed=2)
SOURCES, TARGETS = ([pair[side] for pair in DEV] for side in (0, 1))


def swapped(folder: Path) -> Path:
    """The model with its vocabularies, which have equal sizes, in the wrong order."""
    shutil.copytree(tiny.model(), folder / "swapped")
    (folder / "swapped/source.spm").rename(folder / "swapped/x")
    (folder / "swapped/target.spm").rename(folder / "swapped/source.spm")
    (folder / "swapped/x").rename(folder / "swapped/target.spm")
    return folder / "swapped"


@pytest.mark.marian
def test_a_model_translates_with_its_vocabularies_in_its_order(tmp_path: Path) -> None:
    assert chrf(decoded(tmp_path, *SOURCES), TARGETS) > 80
    assert chrf(decoded(tmp_path, *SOURCES, model=swapped(tmp_path)), TARGETS) < 40


@pytest.mark.marian
def test_lines_of_any_length_keep_their_number(tmp_path: Path) -> None:
    lines = [
        "the old dog eats the big cat.",
        "the cat " * 750,
        "",
        "x" * 1_000_000,
        "   ",
        "a ||| b",
        SOURCES[0],
    ]
    translations = decoded(tmp_path, *lines, settings={"max-length": 30})
    assert len(translations) == len(lines)
    assert translations[2] == translations[4] == ""
    assert chrf([translations[6]], [TARGETS[0]]) > 60


@pytest.mark.marian
def test_n_best_lists_have_beam_size_entries_a_line(tmp_path: Path) -> None:
    text = text_file(tmp_path, SOURCES[0], "", "the cat " * 750, SOURCES[1])
    lines = decode([tiny.model()], text, tmp_path / "out.zst", {"beam-size": 3}, nbest=True)
    numbers = [line.split(" ||| ")[0] for line in tiny.lines_of(tmp_path / "out.zst")]
    assert lines == 12
    assert numbers == [str(number) for number in range(4) for _ in range(3)]


@pytest.mark.marian
@pytest.mark.parametrize("nbest", [False, True])
def test_threads_do_not_change_the_translations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nbest: bool
) -> None:
    monkeypatch.setattr(marian_answers, "UNIT_ROWS", 4)
    settings: Options = {"mini-batch": 2, "maxi-batch": 20, "beam-size": 2}
    text = text_file(tmp_path, *SOURCES[:17])
    outputs = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
        decode([tiny.model()], text, tmp_path / "out.zst", settings, nbest)
        outputs.append(tiny.lines_of(tmp_path / "out.zst"))
    assert outputs[0] == outputs[1] == outputs[2]
    numbers = [line.split(" ||| ")[0] for line in outputs[0]]
    assert not nbest or numbers == [str(number) for number in range(17) for _ in range(2)]


INPUT = "input=$(sed -n '/^input:/{n;s/^- //p}' $config)\noutput=$(sed -n 's/^output: //p' $config)\n"


def test_each_thread_is_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of one process may take the same copy of the model, and crash or write wrong numbers."""
    monkeypatch.setenv("TRANSLATIONS_THREADS", "3")
    monkeypatch.setattr(finished, "BLOCK_ROWS", 1)
    monkeypatch.setattr(marian_answers, "UNIT_ROWS", 2)
    noted = f"grep ^cpu-threads $config >> {tmp_path}/threads"
    fake_marian(tmp_path, monkeypatch, f"{INPUT}{noted}\nsed 's/$/ !/' $input > $output")
    lines = ["ccc", "a", "dddd", "bb", "", "gggggg", "fffff", "e", "1", "22", "333"]
    settings: Options = {"maxi-batch": 8}
    decode([empty_model(tmp_path)], text_file(tmp_path, *lines), tmp_path / "out.zst", settings)
    assert tiny.lines_of(tmp_path / "out.zst") == [f"{line} !" for line in lines]
    # four units of the first eight lines for three processes, two of the other three lines for two
    assert (tmp_path / "threads").read_text().splitlines() == ["cpu-threads: 1"] * 5


@pytest.mark.marian
def test_an_ensemble_of_a_model_with_itself_translates_as_the_model(tmp_path: Path) -> None:
    text = text_file(tmp_path, *SOURCES[:10])
    for number, models in enumerate(([tiny.model()], [tiny.model()] * 2)):
        decode(models, text, tmp_path / f"out.{number}", {"beam-size": 1})
    assert tiny.lines_of(tmp_path / "out.0") == tiny.lines_of(tmp_path / "out.1")


def test_an_empty_text_needs_no_marian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_MARIAN", "/nowhere/marian")
    model = empty_model(tmp_path)
    assert decode([model], text_file(tmp_path), tmp_path / "out.zst") == 0
    assert score(model, text_file(tmp_path), text_file(tmp_path), tmp_path / "scores.zst") == 0
    assert tiny.lines_of(tmp_path / "out.zst") == tiny.lines_of(tmp_path / "scores.zst") == []


@pytest.mark.marian
def test_true_pairs_score_above_shuffled_ones(tmp_path: Path) -> None:
    means = []
    for name, targets in (("true", TARGETS), ("shuffled", TARGETS[1:] + TARGETS[:1])):
        folder = tmp_path / name
        folder.mkdir()
        write_lines(folder / "t", targets)
        assert score(tiny.model(), text_file(folder, *SOURCES), folder / "t", folder / "scores.zst") == 30
        means.append(sum(map(float, tiny.lines_of(folder / "scores.zst"))) / 30)
    assert means[0] > means[1] + 1


@pytest.mark.marian
def test_scores_of_lines_of_any_length_keep_their_order(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", [SOURCES[0], "the cat " * 750, "", "x" * 1_000_000, SOURCES[0]])
    write_lines(tmp_path / "t", [TARGETS[0], "LA TAC " * 750, "LA", "", TARGETS[1]])
    assert score(tiny.model(), tmp_path / "s", tmp_path / "t", tmp_path / "scores") == 5
    scores = list(map(float, tiny.lines_of(tmp_path / "scores")))
    assert scores[0] > scores[4]


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "s", ["a", "b"])
    write_lines(tmp_path / "t", ["a"])
    with pytest.raises(InputError, match="t ends after 1 lines, .*s goes on"):
        score(empty_model(tmp_path), tmp_path / "s", tmp_path / "t", tmp_path / "scores")


def empty_model(folder: Path) -> Path:
    """A model's folder with empty files."""
    model = folder / "model"
    model.mkdir()
    for name in ("model.npz", "source.spm", "target.spm"):
        (model / name).write_bytes(b"")
    write_options(model / "decoder.yml", decoder_config("model.npz", {"beam-size": 2, "maxi-batch": 100}))
    return model


def quantised_model(folder: Path) -> Path:
    """The folder of a quantised model with empty files."""
    model = empty_model(folder)
    (model / "model.npz").rename(model / "model.intgemm8.bin")
    (model / "lex.bin").write_bytes(b"")
    write_options(model / "decoder.yml", decoder_config("model.intgemm8.bin", {}, shortlist="lex.bin"))
    return model


def fake_marian(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a shell script in Marian's place; $config is the file with its options."""
    script = folder / "marian.sh"
    script.write_text(f"#!/bin/sh\nconfig=$3\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("TRANSLATIONS_MARIAN", str(script))


CUT_SHORT = "output=$(sed -n 's/^output: //p' $config); echo one > $output; echo two >> $output"


CRASH = """echo run >> $0.runs
if [ $(wc -l < $0.runs) -le {crashes} ]; then echo 'Error: {said}' >&2; kill -ABRT $$; fi
"""
FAULT = "Segmentation fault"
FREED = "De-allocated child 116 transpose of 933 reshape"


@pytest.mark.parametrize(("crashes", "said"), [(0, FAULT), (1, FAULT), (2, FAULT), (1, FREED)])
def test_a_crash_of_marian_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashes: int, said: str
) -> None:
    fake_marian(tmp_path, monkeypatch, CRASH.format(crashes=crashes, said=said) + "\n" + CUT_SHORT)
    decode([empty_model(tmp_path)], text_file(tmp_path, "a", "b"), tmp_path / "out.zst")
    assert tiny.lines_of(tmp_path / "out.zst") == ["one", "two"]


def test_crashing_every_time_is_worth_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_marian(tmp_path, monkeypatch, CRASH.format(crashes=3, said=FAULT) + "\n" + CUT_SHORT)
    with pytest.raises(TemporaryError, match="Segmentation fault"):
        decode([empty_model(tmp_path)], text_file(tmp_path, "a", "b"), tmp_path / "out.zst")
    assert len((tmp_path / "marian.sh.runs").read_text().splitlines()) == 3


@pytest.mark.parametrize(("ends", "error"), [("exit 1", InputError), ("kill -9 $$", TemporaryError)])
def test_what_marian_has_said_is_told_where_it_ends_between_two_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, error: type[Exception]
) -> None:
    ended = tmp_path / "ended"
    said = "echo 'Error: no such piece' >&2"
    fake_marian(tmp_path, monkeypatch, f'read line; echo "$line!"; {said}; exec 0<&-; touch {ended}; {ends}')

    def lines() -> Iterator[str]:
        yield "a"
        while not ended.exists():
            time.sleep(0.01)
        yield "b"

    translations = decode_each([empty_model(tmp_path)], lines())
    assert next(translations) == "a!"
    with pytest.raises(error, match=r"marian decode failed \(status -?\d\): Error: no such piece"):
        next(translations)


@pytest.mark.marian
def test_what_follows_whole_blocks_is_the_same_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "BLOCK_ROWS", 1)
    settings: Options = {"mini-batch": 2, "maxi-batch": 3, "maxi-batch-sort": "src", "beam-size": 2}
    text = text_file(tmp_path, *SOURCES[:20])
    for nbest, lines in ((False, 6), (True, 12)):
        decoding = [tiny.model()], text, tmp_path, settings, nbest
        blocks = [*decode_blocks(*decoding)]
        assert [*map(len, blocks)] == [lines, lines, lines, lines // 3]
        for number in (1, 3):
            assert [*decode_blocks(*decoding, number * lines)] == blocks[number:]
        assert [*decode_blocks(*decoding, sum(map(len, blocks)))] == []
    monkeypatch.setattr(marian, "SCORING", {**marian.SCORING, "mini-batch": 2, "maxi-batch": 3})
    write_lines(tmp_path / "targets", TARGETS[:20])
    scored = [*score_blocks(tiny.model(), text, tmp_path / "targets", tmp_path)]
    assert [*map(len, scored)] == [6, 6, 6, 2]
    assert [*score_blocks(tiny.model(), text, tmp_path / "targets", tmp_path, 12)] == scored[2:]


def test_after_a_crash_it_goes_on_with_the_next_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "BLOCK_ROWS", 2)
    monkeypatch.setattr(marian, "QUANTISED", {**marian.QUANTISED, "mini-batch": 1, "maxi-batch": 2})
    body = f"""{INPUT}
cat $input >> {tmp_path}/given; echo . >> {tmp_path}/given
if [ $(wc -l < $input) = 5 ]; then head -3 $input; printf '{FAULT}' >&2; kill -SEGV $$; fi
cat $input"""
    fake_marian(tmp_path, monkeypatch, body)
    lines = ["a", "b", "c", "d", "e"]
    assert decode([quantised_model(tmp_path)], text_file(tmp_path, *lines), tmp_path / "out.zst") == 5
    assert tiny.lines_of(tmp_path / "out.zst") == lines
    assert (tmp_path / "given").read_text().split() == [*lines, ".", "c", "d", "e", "."]


def test_missing_lines_are_an_error_although_marian_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_marian(tmp_path, monkeypatch, CUT_SHORT)
    model, text = empty_model(tmp_path), text_file(tmp_path, "a", "b", "c")
    with pytest.raises(InputError, match="2 lines instead of 3"):
        decode([model], text, tmp_path / "out.zst")
    with pytest.raises(InputError, match="2 lines instead of 6"):
        decode([model], text, tmp_path / "out.zst", nbest=True)
    with pytest.raises(InputError, match="2 lines instead of 3"):
        score(model, text, text, tmp_path / "out.zst")
    assert not (tmp_path / "out.zst").exists()


def test_lines_are_always_cropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen.yml"
    fake_marian(tmp_path, monkeypatch, f"cp $config {seen}; {CUT_SHORT}")
    decode([empty_model(tmp_path)], text_file(tmp_path, "a", "b"), tmp_path / "out")
    options = yaml.safe_load(seen.read_text())
    assert (options["max-length"], options["max-length-crop"]) == (200, True)
    assert [Path(vocab).name for vocab in options["vocabs"]] == ["source.spm", "target.spm"]


def test_a_quantised_model_is_decoded_with_its_shortlist_and_fixed_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.yml"
    fake_marian(tmp_path, monkeypatch, f"cp $config {seen}; {CUT_SHORT}")
    model = quantised_model(tmp_path)
    assert load_model(model).quantised
    settings = {"beam-size": 8, "mini-batch-words": 5000, "maxi-batch": 7}
    decode([model], text_file(tmp_path, "a", "b"), tmp_path / "out", settings)
    options = yaml.safe_load(seen.read_text())
    assert options["shortlist"] == [str(model / "lex.bin"), False]
    assert (options["beam-size"], options["cpu-threads"]) == (1, 1)
    assert (options["mini-batch"], options["mini-batch-words"], options["maxi-batch"]) == (32, 0, 100)


@pytest.mark.marian
def test_an_option_that_cannot_be_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="beem-size cannot be set: it is none of beam-size, "):
        decoded(tmp_path, "the cat", settings={"beem-size": 4})


@pytest.mark.marian
def test_a_model_that_brings_a_beam_of_nothing(tmp_path: Path) -> None:
    """As a fetched one may; Marian would crash, and be tried again."""
    model = empty_model(tmp_path)
    (model / "decoder.yml").write_text((model / "decoder.yml").read_text() + "beam-size: 0\n")
    with pytest.raises(InputError, match="beam-size must be 1 to 100, not 0"):
        decode([model], text_file(tmp_path, "a"), tmp_path / "out")


def test_an_incomplete_folder_is_refused(tmp_path: Path) -> None:
    model = empty_model(tmp_path)
    (model / "source.spm").unlink()
    with pytest.raises(InputError, match=r"source\.spm is missing"):
        load_model(model)
    with pytest.raises(InputError, match=r"it has no decoder\.yml"):
        load_model(tmp_path)


def test_models_with_different_vocabularies_make_no_ensemble(tmp_path: Path) -> None:
    models = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        models.append(empty_model(tmp_path / name))
    (models[1] / "target.spm").write_bytes(b"other")
    with pytest.raises(InputError, match="different vocabularies"):
        decode(models, text_file(tmp_path, "a"), tmp_path / "out")


@pytest.mark.parametrize(
    ("status", "log", "kind"),
    [
        (-6, "Error: CUDA error 2 'out of memory'", TemporaryError),
        (-6, "Error: CUDA error 209 'no kernel image is available for execution on the device'", InputError),
        (-9, "", TemporaryError),
        (-11, "", TemporaryError),
        (-6, "Error: Segmentation fault", TemporaryError),
        (-6, "malloc_consolidate(): unaligned fastbin chunk detected", TemporaryError),
        (-6, "Error: There are option(s) in a config file that are not expected: x", InputError),
    ],
)
def test_what_another_machine_may_manage_is_tried_again(status: int, log: str, kind: type[Exception]) -> None:
    error = marian_error("decode", status, f"[2026-01-01] starting\n{log}\n[0x7f] stack")
    assert type(error) is kind
    assert log in str(error)
