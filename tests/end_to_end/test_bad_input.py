"""Bad input by the commands that people type: one clear message, nothing lost, and it goes on once repaired.

Every run shares one place, in which the tiny pair has a model: what a defect does not concern is found
there. Each defect has a training config of its own.
"""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.common.lines import read_lines, write_lines
from tests.end_to_end.damage import copy_of
from tests.end_to_end.defects import (
    Done,
    assert_readable,
    assert_whole,
    ended,
    fill,
    label_of,
    mount,
    read_json,
    told,
    train,
    unmount,
    url,
    variant,
    web_server,
    write_pairs,
)
from tests.end_to_end.finished import finished
from tests.end_to_end.tiny import PARTITION, Place, make_place

pytestmark = pytest.mark.slow

MEGABYTE = "dog " * 250_000


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tiny pair up to the evaluation of a model."""
    return copy_of(finished(), tmp_path_factory.mktemp("bad") / "place")


def assert_nothing_lost(place: Place) -> None:
    """Check that everything of the tiny pair is still there, intact."""
    assert_whole(place)
    done = place.run("translations", "plan", PARTITION, "--target", "train_vocab", "--json")
    assert {step["status"] for step in json.loads(done.stdout)["steps"]} == {"cached"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("spm-vocab-size", "spm-vocab-siez", r"unknown key. Did you mean 'spm-vocab-size'\? Allowed: "),
        ("spm-vocab-size: 400", "spm-vocab-size: many", "must be a whole number, not the text 'many'"),
        ("target-stage: all", "target-stage: train_studnet", r"not a stage. Did you mean 'train_student'\?"),
        ("trg: eo", "trg: xx", "'xx' is not a known language. Write an ISO 639 code such as "),
        (
            "target-stage: all",
            "continuation: {models: {backwards: {url: 'https://example.org/m', mode: init, type: opusmt}}}",
            r"is for one model that is used as it is \(mode: use\)",
        ),
    ],
    ids=["unknown key", "wrong type", "unknown stage", "unknown language", "continuation"],
)
def test_a_wrong_config_is_one_line_that_names_the_place(
    place: Place, tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    path = tmp_path / f"{PARTITION}.yml"
    path.write_text(text.replace(old, new))
    line = text[: text.index(old)].count("\n") + 1
    done = train(place, str(path), "dataset_train")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"error: {re.escape(str(path))}:{line}: [a-z.-]+: .*{message}.*\n", done.stderr)


@dataclass(frozen=True)
class Bad:
    """A run over datasets that are bad in different ways, beside a good one."""

    place: Place
    partition: str
    done: Done

    def message(self, stage: str, name: str) -> str:
        """Message about the step of a stage that reads the dataset."""
        said = told(self.done)[label_of(self.place, self.partition, stage, name)]
        assert len(said) == 1, said
        return said[0]


BAD_TRAIN = ("gone", "missing", "empty", "unequal", "latin", "cut")


@pytest.fixture(scope="module")
def bad(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bad]:
    """One run over all of them; the web server knows of none of its files."""
    data = place.root / "data"
    write_pairs(place, "unequal")
    write_lines(data / "unequal.en.gz", ["The big dog."] * 30)
    for lang in ("en", "eo"):
        for prefix in ("", "mono-"):
            write_lines(data / f"{prefix}empty.{lang}.gz", [])
            (data / f"{prefix}latin.{lang}.gz").write_bytes(gzip.compress(b"good line\nbad \xff line\n"))
        (data / f"cut.{lang}.gz").write_bytes((data / f"train.{lang}.gz").read_bytes()[:900])
    with web_server(tmp_path_factory.mktemp("web")) as site:
        keys = [
            f"url_{site}/missing.[LANG].gz" if name == "missing" else url(place, name) for name in BAD_TRAIN
        ]
        good = url(place, "train")
        partition = variant(
            place,
            "en-eo.bad",
            (f'train: ["{good}"]', f"train: {json.dumps([good, *keys])}"),
            (f'mono-src: ["{url(place, "mono")}"]', f'mono-src: ["{url(place, "mono-latin")}"]'),
            (f'mono-trg: ["{url(place, "mono")}"]', f'mono-trg: ["{url(place, "mono-empty")}"]'),
        )
        (place.root / "mirror").mkdir()
        yield Bad(place, partition, train(place, partition, "merge_mono_src", **mirror(place)))


def mirror(place: Place) -> dict[str, str]:
    return {"TRANSLATIONS_MIRROR": str(place.root / "mirror")}


TOLD = {
    "gone": r"There is no file /\S+/data/gone\.en\.gz\. Check the name\.",
    "missing": r"No file can be read at http://\S+/missing\.en\.gz \(.* 404 .*\)\. Check the name\.",
    "empty": r"It is empty \(\S+/empty\.en\.gz, \S+\)\. Remove it from the config, or correct its name\.",
    "unequal": r"Unequal numbers of lines: en\.gz ends after 30 lines, eo\.gz goes on\. The files must .*",
    "latin": r"Invalid UTF-8 in en\.gz, line 2: .* at 4\. .* Convert it to UTF-8, or remove .*",
    "cut": r"e[no]\.gz is damaged after line \d+ \(.*\)\. Fetch it again\.",
}


@pytest.mark.parametrize("name", TOLD)
def test_a_bad_dataset_is_told_with_its_name_and_what_to_do(bad: Bad, name: str) -> None:
    message = bad.message("dataset_train", name)
    assert re.fullmatch(rf"Dataset \S+/{name}\.\[LANG\]\.gz: {TOLD[name]}", message)


@pytest.mark.parametrize(
    ("side", "name", "message"),
    [("src", "mono-latin", "Invalid UTF-8 in .*, line 2"), ("trg", "mono-empty", "It is empty")],
)
def test_a_bad_mono_text_is_told(bad: Bad, side: str, name: str, message: str) -> None:
    assert re.match(rf"Dataset \S+/{name}\S+: {message}", bad.message(f"dataset_mono_{side}", name))


def test_bad_datasets_stop_no_other_and_lose_nothing(bad: Bad) -> None:
    assert_readable(bad.done)
    assert len(ended(bad.done, "failed")) == len(BAD_TRAIN) + 2 == len(told(bad.done))
    assert_nothing_lost(bad.place)


def test_repaired_datasets_and_nothing_else_run_again(bad: Bad) -> None:
    """After the tests above: the texts are replaced by good ones."""
    for name in BAD_TRAIN:
        write_pairs(bad.place, name, slice(200))  # one text, which is cleaned once
    for name in ("mono-latin", "mono-empty"):
        write_pairs(bad.place, name, slice(440, 500))
    failed = ended(bad.done, "failed")
    site = re.search(r"http://(127\.0\.0\.1:\d+)/missing", bad.done.stderr)
    assert site is not None
    (bad.place.root / "mirror" / site[1]).mkdir()
    for lang in ("en", "eo"):
        data = bad.place.root / "data" / f"missing.{lang}.gz"
        data.rename(bad.place.root / "mirror" / site[1] / data.name)
    done = train(bad.place, bad.partition, "merge_mono_src", **mirror(bad.place))
    assert done.returncode == 0, done.stderr
    ran = ended(done)
    assert {label for label in ran if label.startswith("dataset-")} == failed
    assert {re.sub("-url.*|-en.*", "", label) for label in ran - failed} == {
        "clean-corpus",
        "clean-mono-src",
        "clean-mono-trg",
        "merge-corpus",
        "merge-mono-src",
        "check-mono-src",  # and no check of the corpus: the good texts merge to the one that was checked
    }
    assert_nothing_lost(bad.place)


def test_a_corpus_that_cleaning_leaves_empty(place: Place) -> None:
    for lang in ("en", "eo"):
        write_lines(place.root / "data" / f"numbers.{lang}.gz", ["1 2"] * 30)
    train_text = (url(place, "train"), url(place, "numbers"))
    partition = variant(place, "en-eo.numbers", train_text)
    done = train(place, partition, "merge_corpus")
    assert_readable(done)
    (label,) = ended(done, "failed")
    assert label.startswith("clean-corpus-url_file_numbers")
    assert told(done)[label][0].startswith(
        "Cleaning left none of 30 lines; dropped: alphabet_ratio 30. Check that"
    )
    assert_nothing_lost(place)

    write_pairs(place, "words")
    variant(place, partition, (url(place, "train"), url(place, "words")))
    done = train(place, partition, "merge_corpus")
    assert done.returncode == 0, done.stderr
    # the bytes are those of the tiny pair, whose cleaned text is found
    assert ended(done) == {label_of(place, partition, "dataset_train", "words"), "merge-corpus-en-eo"}
    assert_nothing_lost(place)


def test_a_vocabulary_too_large_for_the_text(place: Place) -> None:
    partition = variant(place, "en-eo.large", ("spm-vocab-size: 400", "spm-vocab-size: 32000"))
    done = train(place, partition, "train_vocab")
    assert_readable(done)
    ((label, (message,)),) = told(done).items()
    assert label == "train-vocab-en-eo"
    found = re.fullmatch(
        r"A vocabulary of 32,000 pieces is too large for the text \(800 lines\): "
        r"the largest size possible is \d+\. Set spm-vocab-size to at most (\d+), a multiple of 8\.",
        message,
    )
    assert found is not None, message
    assert_nothing_lost(place)

    variant(place, partition, ("spm-vocab-size: 400", f"spm-vocab-size: {found[1]}"))
    done = train(place, partition, "train_vocab")
    assert done.returncode == 0, done.stderr
    assert ended(done) == {"train-vocab-en-eo", "check-vocab-en-eo"}


@pytest.mark.parametrize("below", ["", "below"])
def test_a_store_in_the_place_of_a_file_is_refused(place: Place, tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    done = train(place, PARTITION, "train_vocab", TRANSLATIONS_STORE=str(file / below))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        rf"error: [Tt]he store .*{file}.*: choose another path\.\n|error: .*{file} is a file\. Choose "
        r"another path\.\n",
        done.stderr,
    )
    assert file.read_text() == "mine"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Place]:
    """A place whose state is on a small disk of its own."""
    place = make_place(tmp_path / "place")
    (place.root / "state").mkdir()
    if problem := mount(place.root / "state", "size=128m"):
        pytest.skip(
            f"no disk can be mounted here ({problem}); a full and a read-only disk are also simulated: see "
            "test_a_full_disk_is_told_and_leaves_nothing_half_written in tests/store/test_local.py and "
            "test_a_disk_that_is_full_during_the_commit_is_temporary in tests/runners/test_attempt.py"
        )
    try:
        yield place
    finally:
        unmount(place.root / "state")


def test_a_disk_that_is_full_or_read_only(disk: Place) -> None:
    """Without any space not even a run can be noted; with little, no step can be finished."""
    state = disk.root / "state"
    assert train(disk, PARTITION, "dataset_train").returncode == 0
    before = assert_whole(disk)

    for leave in (0, 32 << 10):
        filler = fill(state, leave)
        done = train(disk, PARTITION, "clean_corpus")
        assert_readable(done)
        assert "No space left on device" in done.stderr
        assert re.search(rf"{state}/store/.*([Ff]ree some|Check space)", done.stderr)
        assert ended(done) == set()
        assert assert_whole(disk) == before
        filler.unlink()

    assert mount(state, "remount,ro") == ""
    done = train(disk, PARTITION, "clean_corpus")
    assert_readable(done)
    assert re.search(
        rf"The store {state}/store could not write .*: Read-only file system\. Check owner", done.stderr
    )
    assert assert_whole(disk) == before

    assert mount(state, "remount,rw") == ""
    done = train(disk, PARTITION, "clean_corpus")
    assert done.returncode == 0, done.stderr
    assert {label.split("-url")[0] for label in ended(done)} == {"clean-corpus"}
    assert assert_whole(disk) == before + 1


@pytest.mark.marian
def test_lines_of_a_megabyte_go_through_the_whole_chain(place: Place) -> None:
    """In training and mono text they are dropped and counted, in test text and standard input cropped."""
    data = place.root / "data"
    for name in ("train", "dev", "test", "mono"):
        for lang in ("en", "eo"):
            lines = [*read_lines(data / f"{name}.{lang}.gz")]
            write_lines(data / f"long-{name}.{lang}.gz", [*lines[:5], MEGABYTE, *lines[5:]])
    changes = [
        (f'["{url(place, name)}"]', f'["{url(place, f"long-{name}")}"]') for name in ("train", "dev", "test")
    ]
    mono = [(f'{key}: ["{url(place, "mono")}"]', f'{key}: ["{url(place, "long-mono")}"]')
            for key in ("mono-src", "mono-trg")]  # fmt: skip
    partition = variant(place, "en-eo.long", *changes, *mono)
    made: set[str] = set()
    for target in ("evaluate_backwards", "translate_mono_trg"):
        done = train(place, partition, target)
        assert done.returncode == 0, done.stderr
        made |= ended(done)
    for cleaning in ("clean-corpus", "clean-mono-src", "clean-mono-trg"):
        (label,) = (label for label in made if label.startswith(cleaning))
        assert read_json(place, partition, label, "stats.json")["lines"]["dropped"]["too_long"] == 1
    (label,) = (label for label in made if label.startswith("evaluate-"))
    assert read_json(place, partition, label, "metrics.json")["lines"] == 21
    text = "La hundo.\n" + "hundo " * 170_000 + "\nLa kato.\n"
    done = place.run("translations", "translate", partition, "--model", "backwards", text=text)
    assert (done.returncode, done.stdout.count("\n")) == (0, 3)
