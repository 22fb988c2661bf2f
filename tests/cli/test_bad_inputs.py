"""Tests of people's mistakes, command by command: a clear message, and the exit code that help documents."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.conftest import Command, Said, make
from tests.end_to_end.tiny import BIN, PARTITION, Place, remember_keys
from translations_assets.cli import exits

NINES = "9" * 5000
AFTER = "marian-args.training-student.after"
FAILED, USAGE = exits.FAILED, exits.USAGE


class Bad(NamedTuple):
    """Words behind `translations`; how the command ends, and what it says of them."""

    words: tuple[str, ...]
    code: int
    said: tuple[str, ...]


def bad(words: str, code: int, *said: str) -> Bad:
    """PAIR, NINES and EMPTY stand for the partition, a number that long, and nothing."""
    named = {"PAIR": PARTITION, "EMPTY": ""}
    given = [named.get(word, word.replace("NINES", NINES)) for word in words.split()]
    return Bad(tuple(given), code, said)


BAD = [
    bad("nonsense", USAGE, "No such command 'nonsense'"),
    bad("--nonsense", USAGE, "No such option: --nonsense"),
    bad("plan EMPTY", FAILED, "there is no training config ''", "There are: en-eo.tiny"),
    bad("plan ../../etc/passwd", FAILED, "there is no training config '../../etc/passwd'"),
    bad("plan PAIR --set x", FAILED, "'x' is not of the form KEY=VALUE"),
    bad("plan PAIR --set experiment.name=[", FAILED, "--set experiment.name", "not valid YAML"),
    bad(f"plan PAIR --set {AFTER}=NINESu", FAILED, AFTER, "numbers of more than 18 digits"),
    bad(f"plan PAIR --set {AFTER}=NINES", FAILED, AFTER, "numbers of more than 18 digits"),
    bad(
        "plan PAIR --set marian-args.training-student.mini-batch=NINES",
        FAILED,
        "must be a whole number, not '999",
    ),
    bad(
        "plan PAIR --set experiment.spm-vocab-size=NINES", FAILED, "must be a whole number, not the text '99"
    ),
    bad(
        "plan PAIR --set taskcluster.split-chunks=1e400", FAILED, "must be a whole number, not the number inf"
    ),
    bad("plan PAIR --budget nan", USAGE, "--budget must be more than 0, and finite"),
    bad("plan PAIR --budget NINES", USAGE, "--budget must be more than 0, and finite"),
    bad("plan PAIR --budget -1", USAGE, "--budget must be more than 0, and finite"),
    bad("plan PAIR --budget abc", USAGE, "'--budget'", "valid number"),
    bad("plan PAIR --start merge_corpus --previous-run zzz", FAILED, "no run zzz", "translations status"),
    bad("plan --steps", USAGE, "name it"),
    bad("graph PAIR --show nonsense", USAGE, "'--show'", "'target-graph'"),
    bad("explain PAIR nothing", FAILED, "'nothing'", "translations graph en-eo.tiny"),
    bad("train PAIR --json", USAGE, "give --yes with it"),
    bad("train PAIR --server http://[junk", FAILED, "'http://[junk' is no address", "http://127.0.0.1:3000"),
    bad("train PAIR --server junk", FAILED, "'junk' is no address of a server"),
    bad("train PAIR --server http://there:NINES", FAILED, "is no address of a server"),
    bad("train PAIR --server http://there:99999", FAILED, "'http://there:99999' is no address"),
    bad("train PAIR --server http://thère", FAILED, "is no address of a server"),
    bad("train PAIR --server file:///etc/passwd", FAILED, "'file:///etc/passwd' is no address"),
    bad("train PAIR --server EMPTY", FAILED, "'' is no address of a server"),
    bad("train PAIR --server http://127.0.0.1:1", FAILED, "No Dagster server answers at", "make ui"),
    bad("status deadbeef", FAILED, "There is no run deadbeef", "translations status"),
    bad("status nothing", FAILED, "there is no training config 'nothing'"),
    bad("status NINES", FAILED, "File name too long"),
    bad("status --watch --json", USAGE, "--watch goes on for people"),
    bad("logs deadbeef x", FAILED, "There is no run deadbeef"),
    bad("logs PAIR ../..", FAILED, "'../..'", "translations graph en-eo.tiny"),
    bad("logs PAIR", USAGE, "Missing argument 'LABEL'"),
    bad("cancel PAIR", FAILED, "No run of en-eo.tiny is running", "translations status"),
    bad("cancel x --server EMPTY", FAILED, "'' is no address of a server"),
    bad("rerun deadbeef", FAILED, "There is no run deadbeef"),
    bad("shell PAIR nothing", FAILED, "'nothing'"),
    bad("results PAIR", FAILED, "not made", "translations train en-eo.tiny"),
    bad("checks nothing", FAILED, "there is no training config 'nothing'"),
    bad("artifacts PAIR --download here", FAILED, "Name the step whose files to download"),
    bad("report PAIR --output /", USAGE, "'--output'", "is a directory"),
    bad("report PAIR", FAILED, "not made", "translations train en-eo.tiny"),
    bad("publish PAIR EMPTY", FAILED, "The destination has no name", "gs://bucket/path"),
    bad("publish PAIR ftp://there/x", FAILED, "ftp://there/x", "Give a folder"),
    bad("publish PAIR gs://", FAILED, "gs:// names no bucket", "gs://bucket"),
    bad("publish PAIR configs/en-eo.tiny.yml", FAILED, "must be a folder", "Choose another path"),
    bad("tensorboard PAIR", FAILED, "not made", "translations train"),
    bad("wandb PAIR --offline", FAILED, "not made", "translations train"),
    bad("translate PAIR --model nothing", FAILED, "no model 'nothing'", "quantized"),
    bad("evaluate nothing", FAILED, "nothing is no folder"),
    bad("evaluate configs --datasets flores_devtest", FAILED, "does not name its languages", "--src en"),
    bad("serve nothing", FAILED, "there is no training config 'nothing'"),
    bad("serve configs", FAILED, "no exported model", "--download FOLDER"),
    bad("serve PAIR --port NINES", USAGE, "'--port'"),
    bad("serve PAIR --port 70000", USAGE, "'--port'", "65535"),
    bad("serve PAIR --port -1", USAGE, "'--port'", "0"),
    bad("config check nothing", FAILED, "there is no training config 'nothing'", "1 problem"),
    bad("init configs/en-eo.tiny.yml", USAGE, "is a file"),
    bad("config generate en lt", USAGE, "give --name for a search"),
    bad("config generate en xx --name x", FAILED, "xx", "Write an ISO 639 code"),
    bad("config generate en lt --name ../x", FAILED, "--name", "'../x' does not"),
    bad("config generate en lt --files gone.en gone.lt", FAILED, "no file gone.en", "Check the name"),
    bad("config generate en lt --name x --output gone/x.yml", FAILED, "gone", "no such folder", "--output"),
    bad("config migrate gone.yml", FAILED, "gone.yml: there is no such file"),
    bad("config migrate configs", FAILED, "is a folder; give the YAML file"),
    bad("find-corpus en zz", FAILED, "zz"),
    bad("find-corpus en lt --importer nothing", USAGE, "'nothing' is not one of opus, mtdata"),
    bad("cache gc --keep-days nan", USAGE, "'--keep-days'"),
    bad("cache gc --keep-days -1", USAGE, "'--keep-days'"),
    bad("cache verify --sample nan%", FAILED, "--sample nan%", "a share up to 100%"),
    bad("cache pin deadbeef", FAILED, "no run deadbeef", "translations status"),
    bad("cache unpin deadbeef", FAILED, "no pinned run deadbeef", "translations cache pins"),
    bad("cache accept PAIR train-vocab-en-eo", USAGE, "Missing option '--reason'"),
    bad("cache accept PAIR x:y --reason z", FAILED, "No step is called 'x:y'"),
    bad("registry build --output configs", FAILED, "holds something else", "another folder"),
    bad("registry build --output configs/en-eo.tiny.yml", USAGE, "is a file"),
]


@pytest.mark.parametrize("given", BAD, ids=lambda given: " ".join(given.words)[:60])
def test_a_bad_input_is_explained(given: Bad, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_MIRROR", "")
    said = command(*given.words)
    assert (said.code, said.out) == (given.code, "")
    assert "Traceback" not in said.err
    assert said.err.startswith("Usage: " if given.code == USAGE else "error: ")
    told = " ".join(said.err.split())
    assert [part for part in given.said if part not in told] == []


NAMES = {
    "opus_$(id)/v1": "holds '$'",
    "opus_`id`/v1": "holds '`'",
    "opus_a;b/v1": "holds ';'",
    "opus_../v1": "holds '../'",
    "opus_x/..": "holds '/..'",
    "mtdata_Statmt-..-1-eng-epo": "holds '-..-'",
    "hfp_../x:train:en:eo": "holds '../'",
    "hfp_a/..:train:en:eo": "holds '/..:'",
    "hfp_a/b/../c:train:en:eo": "holds '/../'",
    "hfp_a/b:train:en:eo@../..": "holds '@../'",
}


def test_names_that_no_dataset_has(command: Command, place: Place) -> None:
    listed = "".join(f"\n    - '{name}'" for name in NAMES)
    config = place.root / "configs" / f"{PARTITION}.yml"
    text = config.read_text()
    lines = ["  train:" + listed if line.startswith("  train:") else line for line in text.splitlines()]
    config.with_name("en-eo.names.yml").write_text("\n".join(lines))
    said = command("config", "check", "en-eo.names")
    assert said.code == FAILED
    assert [name for name, why in NAMES.items() if f"'{name}' {why}, which no name" not in said.err] == []


@pytest.mark.parametrize(
    ("added", "key", "first"),
    [
        ("datasets: {}\n", "datasets", "datasets:"),
        ("experiment:\n", "experiment", "experiment:"),
        ("datasets: {train: [], test: {}}\n", "datasets", "datasets:"),
        ("checks:\n  export: {level: warn}\n  export: {}\n", "checks.export", "  export:"),
        ("taskcluster:\n  split-chunks: 2\n  split-chunks:\n", "taskcluster.split-chunks", "  split-chunks:"),
    ],
)
def test_a_key_that_stands_twice_is_told_when_one_is_empty(
    added: str, key: str, first: str, command: Command, place: Place
) -> None:
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    if "." in key:  # the section is written anew
        text = "".join(part for part in _sections(text) if not part.startswith(f"{key.partition('.')[0]}:"))
    whole = text + added
    (place.root / "configs" / "en-eo.twice.yml").write_text(whole)
    said = command("config", "check", "en-eo.twice")
    lines = [number for number, line in enumerate(whole.splitlines(), 1) if line.startswith(first)]
    told = f":{lines[-1]}: {key}: stands here a second time; the one in line {lines[-1]} is empty, "
    assert told + f"so that in line {lines[-2]} counts\n" in said.out
    assert said.code == exits.DONE, said.err


def _sections(text: str) -> list[str]:
    """The top sections of a config's text, each with its line break."""
    parts: list[str] = []
    for line in text.splitlines(keepends=True):
        if line[:1].strip():
            parts.append("")
        parts[-1] += line
    return parts


SIZED = """[{"name": "a", "fileType": "model", "sourceLanguage": "en", "targetLanguage": "eo",
"architecture": "base", "decompressedSize": %s, "attachment": {"size": 1}}]"""
RECORDS = {
    "open": "[" * 100_000,
    "deep": "[" * 100_000 + "]" * 100_000,
    "an object": '{"a": 1}',
    "numbers": "[1, 2]",
    "a number": "5",
    "nothing": "",
    "binary": "\x00",
    **{f"{size:.9} bytes": SIZED % size for size in ("1e999", "Infinity", "-Infinity", "NaN", NINES)},
}


@pytest.mark.parametrize("records", RECORDS.values(), ids=RECORDS)
def test_records_of_a_model_that_are_none(records: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "records.json").write_text(records)
    (tmp_path / "a").write_text("weights")
    said = command("serve", str(tmp_path))
    assert said.code == FAILED
    assert said.err.startswith(f"error: {tmp_path}/records.json cannot be read: ")
    assert said.err.endswith("Export it again.\n")
    assert len(said.err.splitlines()) == 1


def started(place: Place, words: str, environment: Mapping[str, str], redirected: str = "") -> Said:
    """Output of a command in its own process, as a shell starts it."""
    quoted = " ".join([shlex.quote(str(BIN / "translations")), *words.split()])
    done = subprocess.run(
        f"{quoted} {redirected}",
        shell=True,
        cwd=place.root,
        env={**os.environ, **place.environment, **environment},
        input=b"",
        capture_output=True,
        check=False,
    )
    return Said(
        done.returncode, done.stdout.decode("ascii", "replace"), done.stderr.decode("ascii", "replace")
    )


RESULTS = f"results {PARTITION}"
# Each way of printing: help, a text, a table, JSON; then commands that print tables and JSON, too
WAYS = ("find-corpus --help", "config schema", RESULTS, f"{RESULTS} --json")
PRINTING = (*WAYS, f"report {PARTITION} --json", f"checks {PARTITION}", f"plan {PARTITION}")
ASCII = (
    ({"PYTHONIOENCODING": "ascii"}, WAYS),
    ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, PRINTING),
)


@pytest.fixture
def made(place: Place) -> Place:
    """The pair with a model that is evaluated."""
    make("evaluate_teacher")
    return remember_keys(place)


@pytest.mark.slow
@pytest.mark.parametrize(("environment", "printing"), ASCII, ids=["python", "locale"])
def test_an_output_of_ascii_has_all_in_it(
    environment: Mapping[str, str], printing: Sequence[str], made: Place
) -> None:
    for words in printing:
        said = started(made, words, environment)
        assert "Traceback" not in said.err, words
        assert said.code == (FAILED if words.startswith("checks") else exits.DONE), words
        assert "\ufffd" not in said.out + said.err, words  # what was no ASCII
        assert ("\\u2192" in said.out) or words != RESULTS


def test_json_is_json_in_ascii_too(place: Place) -> None:
    (place.root / "configs" / "gr\xf6\xdfe.yml").write_text("experiment: {}\n")
    said = started(place, "config check gr\xf6\xdfe.yml --json", {"PYTHONIOENCODING": "ascii"})
    assert json.loads(said.out)[0]["file"] == "gr\xf6\xdfe.yml"


@pytest.mark.slow
@pytest.mark.parametrize("words", WAYS)
def test_a_full_device_is_told(words: str, made: Place) -> None:
    said = started(made, words, {}, ">/dev/full")
    assert said.code == FAILED
    assert [line for line in said.err.splitlines() if not line.startswith(("note: ", "not made: "))] == [
        "error: standard output cannot be written: No space left on device. Give it another place, or free "
        "some space there."
    ]


def test_a_report_goes_into_a_device_and_does_not_replace_it(command: Command, made: Place) -> None:
    pipe = made.root / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        assert command("report", PARTITION, "--output", str(pipe)).code == exits.DONE
        assert reader.stdout
        assert reader.stdout.read().startswith(b"<!doctype html>")
    assert pipe.is_fifo()
    full = command("report", PARTITION, "--output", "/dev/full")
    assert (full.code, full.err) == (FAILED, "error: No space left on device: /dev/full\n")


def test_a_site_replaces_no_device(command: Command, made: Place) -> None:
    pipe = made.root / "pipe"
    os.mkfifo(pipe)
    said = command("registry", "build", "--output", str(pipe))
    assert (said.code, said.err) == (
        FAILED,
        f"error: {pipe} is not a folder. Give another one.\n",
    )
    assert pipe.is_fifo()


@pytest.mark.parametrize("redirected", ["<&-", "<&- >&- 2>&-", ">&-"])
def test_streams_that_are_closed(redirected: str, made: Place) -> None:
    said = started(made, f"train {PARTITION}", {}, redirected)
    assert "Traceback" not in said.err
    assert said.code == FAILED
    assert ("Aborted!" in said.err) is (redirected == "<&-")
    assert ("standard output cannot be written: Bad file descriptor" in said.err) is (redirected == ">&-")
