"""`registry build`: the models of all runs as a site and a database."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Command, make
from tests.cli.test_report import Page
from tests.end_to_end.tiny import PARTITION, Place


def asked(database: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute(question).fetchall()


def test_every_run_that_evaluated_a_model_is_there(command: Command, place: Place) -> None:
    make("merge_corpus", run="no-model")
    make("evaluate_backwards", run="first", overrides={"marian-args.training-backward.after": "10u"})
    make("evaluate_exported", run="second")
    make("evaluate_exported", run="third")  # the same again
    said = command("registry", "build")
    assert said.out == "2 runs: registry/index.html\n"
    site = place.root / "registry"
    runs = asked(site / "registry.sqlite", "select run, pair, partition, overrides from runs order by run")
    option = '--set=marian-args.training-backward.after="10u"'
    assert runs == [("first", "en-eo", PARTITION, option), ("second", "en-eo", PARTITION, "")]
    chrf = asked(
        site / "registry.sqlite",
        "select score, interval from scores where run = 'second' and model = 'exported' and metric = 'chrf'",
    )
    assert chrf == [(2.0, 0.5)]
    index, run = Page(site / "index.html"), Page(site / "runs" / "second.html")
    assert set(index.fetched) == {"runs/first.html", "runs/second.html"}
    assert re.search(r"exported\s+2\.0\s+1\.0\s+tiny\s+17\.0 MB\s+2,500", index.text)
    assert re.search(r"exported\s+1\.0\s+2\.0\s+± 0\.5", run.text)
    assert "spm-vocab-size: 400" in run.text
    assert run.fetched == ["../index.html"]


def test_it_is_made_anew(command: Command, place: Place) -> None:
    make("evaluate_backwards", run="first")
    command("registry", "build", "-o", "models")
    gone = place.root / "models" / "runs" / "gone.html"
    gone.write_text("a run that is no more")
    assert command("registry", "build", "-o", "models").code == 0
    assert not gone.exists()
    assert [path.name for path in place.root.iterdir() if path.name.startswith(".registry")] == []


def test_a_folder_with_something_else_is_left_alone(command: Command, place: Place) -> None:
    make("evaluate_backwards", run="first")
    said = command("registry", "build", "--output", "configs")
    assert said.code == 1
    assert said.err == "error: configs holds something else than a registry. Give another folder.\n"
    assert (place.root / "configs" / f"{PARTITION}.yml").is_file()


def test_an_empty_store_gives_an_empty_list(command: Command, place: Place) -> None:
    make("merge_corpus", run="no-model")
    assert command("registry", "build").out == "0 runs: registry/index.html\n"
    assert "0 runs of 0 language pairs" in Page(place.root / "registry" / "index.html").text
