"""`registry build`: the models of all runs as a site and a database."""

import json
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.cli.test_report import Page
from tests.end_to_end.tiny import PARTITION, Place
from tests.store.values import finish
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project
from translations_assets.records.run import RunRecord
from translations_assets.registry.read import RunRow, StoreReader
from translations_assets.registry.reports import Reports
from translations_assets.store.local import LocalStore


def asked(database: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute(question).fetchall()


def test_every_model_that_a_run_evaluated_is_there(command: Command, place: Place) -> None:
    make("merge_corpus", run="no-model")
    make("evaluate_backwards", run="first", overrides={"marian-args.training-backward.after": "10u"})
    make("evaluate_exported", run="second")
    make("evaluate_exported", run="third")  # the same again
    said = command("registry", "build")
    assert said.out == "2 models: registry/index.html\n"
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
    assert set(index.fetched) == {
        f"{kind}/{run}.html" for kind in ("runs", "reports") for run in ("first", "second")
    }
    assert re.search(r"exported\s+tiny\s+2\.0\s+1\.0\s+17\.0 MB\s+2,500", index.text)
    assert re.search(r"exported\s+1\.0\s+2\.0\s+± 0\.5", run.text)
    assert "spm-vocab-size: 400" in run.text
    assert run.fetched == ["../index.html", "../reports/second.html"]
    reports = [Page(site / "reports" / f"{run}.html").text for run in ("first", "second")]
    assert "after: 10u" in reports[0]  # each of what its run was asked for, and used
    assert "after: 10u" not in reports[1]
    assert ["2,500" in report for report in reports] == [False, True]


def test_places_of_publication_are_shown(command: Command, place: Place) -> None:
    make("evaluate_exported", run="first")
    command("publish", PARTITION, "released", "--write")
    command("registry", "build")
    ((url,),) = asked(place.root / "registry" / "registry.sqlite", "select url from publications")
    assert str(url).startswith(f"file://{place.root}/released/models/en-eo/tiny_")
    assert "published" in Page(place.root / "registry" / "index.html").text
    assert url in Page(place.root / "registry" / "runs" / "first.html").fetched


def test_models_are_known_by_the_first_test_set_of_the_config(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    config = store.add_bytes(b'{"datasets": {"test": ["z_first", {"dataset": "a_second", "alias": "two"}]}}')
    used = {}
    for dataset in ("a_second", "z_first"):
        scores = json.dumps({"dataset": dataset, "chrf": {"score": 1.0}}).encode()
        made = finish(
            store, dataset, {"metrics.json": scores}, stage="evaluate_exported", config=vars(config)
        )
        used[dataset] = (made.key, made.generation)
    store.write_run("run-1", RunRecord("run-1", "en-eo", "here", ("en", "eo"), uses=used))
    (row,) = StoreReader(store).rows()
    assert [*row.evaluations["exported"]] == ["z_first", "a_second"]


def test_a_run_is_known_by_the_last_model_of_the_graph(command: Command, place: Place) -> None:
    """Of what it was asked to make, whichever was found, or made, last."""
    make("check_evaluate_student", run="first")
    store = Project().store
    record = store.read_run("first")
    assert record
    wanted = {stage: labels for stage, labels in record.steps.items() if stage == "evaluate_student"}
    uses = dict(reversed([*record.uses.items()]))  # the teacher after the student
    store.write_run("first", replace(record, steps=wanted, uses=uses))
    command("registry", "build")
    text = Page(place.root / "registry" / "index.html").text
    assert "1 language pair," in text
    assert re.search(r"student\s+tiny", text)


def test_it_is_made_anew_but_for_reports_that_would_be_the_same(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("evaluate_backwards", run="first")
    command("registry", "build", "-o", "models")
    report = place.root / "models" / "reports" / "first.html"
    report.write_text("as it was")
    gone = place.root / "models" / "runs" / "gone.html"
    gone.write_text("a run that is no more")
    assert command("registry", "build", "-o", "models").code == 0
    assert not gone.exists()
    assert report.read_text() == "as it was"
    monkeypatch.setattr("translations_assets.registry.reports._makers", lambda: "other templates")
    command("registry", "build", "-o", "models")
    assert "backwards" in Page(report).text
    assert [path.name for path in place.root.iterdir() if path.name.startswith(".registry")] == []


def test_a_folder_with_something_else_is_left_alone(command: Command, place: Place) -> None:
    make("evaluate_backwards", run="first")
    said = command("registry", "build", "--output", "configs")
    assert said.code == 1
    assert said.err == "error: configs holds something else than a registry. Give another folder.\n"
    os.mkfifo(place.root / "pipe")  # a device would go as well: /dev/null itself, for the superuser
    assert command("registry", "build", "--output", "pipe").code == 1
    assert (place.root / "pipe").is_fifo()
    assert (place.root / "configs" / f"{PARTITION}.yml").is_file()


def test_what_is_no_folder_is_left_alone(command: Command, place: Place) -> None:
    """As /dev/null, which was replaced by a folder."""
    os.mkfifo(place.root / "pipe")
    said = command("registry", "build", "--output", "pipe")
    assert (said.code, said.err) == (1, "error: pipe is not a folder. Give another one.\n")
    assert (place.root / "pipe").is_fifo()


def test_a_run_of_another_form_has_no_report(command: Command, place: Place) -> None:
    make("evaluate_backwards", run="first")
    store = Project().store
    record = store.read_run("first")
    assert record
    config = store.add_bytes(b'{"experiment": {"naem": "tiny"}}')
    used = dict(record.uses)
    for label, (key, generation) in record.uses.items():
        made = store.generation(key, generation)
        assert made
        made = replace(made, generation=9, provenance=replace(made.provenance, config=config))
        store.commit(made)
        used[label] = (key, 9)
    store.write_run("first", replace(record, uses=used))
    said = command("registry", "build")
    assert (said.code, said.out) == (0, "1 model: registry/index.html\n")
    assert "note: run first has no report: it is not of today's form" in said.err
    index = Page(place.root / "registry" / "index.html")
    assert index.fetched == ["runs/first.html"]


def rows() -> list[tuple[str, str, str, list[str]]]:
    return [
        (row.run, row.model, row.made_by, [place.url for place in row.published])
        for row in StoreReader(Project().store).rows()
    ]


def evaluate_again(run: str, again: str) -> None:
    """Another run evaluates the exported model of a run anew, with one more metric and another speed."""
    store = Project().store
    record = store.read_run(run)
    assert record
    (label,) = (label for label in record.uses if label.startswith("evaluate-exported"))
    made = store.generation(*record.uses[label])
    assert made
    metrics = json.loads(store.read_blob(made.outputs["metrics.json"]))
    metrics |= {"chrfpp": metrics["chrf"], "speed": {**metrics["speed"], "words_per_second": 2600.0}}
    outputs = {**made.outputs, "metrics.json": store.add_bytes(json.dumps(metrics).encode())}
    store.commit(replace(made, generation=2, outputs=outputs))
    store.write_run(again, replace(record, run=again, uses={**record.uses, label: (made.key, 2)}))


def test_a_model_is_there_once_with_the_run_that_made_it(command: Command, place: Place) -> None:
    make("evaluate_exported", run="maker")
    longer = {"marian-args.training-student.after": "40u"}
    make("evaluate_teacher", run="other-student", overrides=longer)  # whose teacher the maker has made
    assert rows() == [("maker", "exported", "maker", [])]
    evaluate_again("maker", "again")
    assert rows() == [("again", "exported", "maker", [])]  # it tells more of the model
    make("evaluate_exported", run="other-student", overrides=longer)
    found = {row[0]: row for row in rows()}
    assert found == {
        "again": ("again", "exported", "maker", []),
        "other-student": ("other-student", "exported", "other-student", []),
    }
    command("registry", "build")
    text = Page(place.root / "registry" / "runs" / "again.html").text
    assert "exported, made by run maker; as run again found it" in text
    assert "translations status maker" in text


def test_models_of_failed_runs_alone_are_left_out(command: Command, place: Place) -> None:
    make("evaluate_teacher", run="failed")
    store = Project().store
    record = store.read_run("failed")
    assert record
    store.write_run("failed", replace(record, failed={"train-student-en-eo": "too little text"}))
    assert rows() == []
    make("evaluate_teacher", run="later")
    assert rows() == [("later", "teacher-1", "failed", [])]


def test_only_the_model_that_was_published_is_marked(command: Command, place: Place) -> None:
    make("evaluate_exported", run="first")
    command("publish", PARTITION, "released", "--write")
    make("evaluate_exported", run="second", overrides={"marian-args.training-student.after": "40u"})
    store = Project().store
    first, second = (store.read_run(run) for run in ("first", "second"))
    assert first
    assert second
    published = first.uses["export-en-eo"]
    assert published != second.uses["export-en-eo"]
    # It may have used the other's export, too, as what its own is compared with
    store.write_run("second", replace(second, uses={**second.uses, "export-before": published}))
    found = {run: places for run, _, _, places in rows()}
    assert found["second"] == []
    assert [Path(url).parent.name for url in found["first"]] == ["en-eo"]


def test_an_empty_store_gives_an_empty_list(command: Command, place: Place) -> None:
    make("merge_corpus", run="no-model")
    assert command("registry", "build").out == "0 models: registry/index.html\n"
    assert "0 models of 0 language pairs" in Page(place.root / "registry" / "index.html").text


def test_runs_with_the_same_scores_and_other_overrides_are_both_there(command: Command, place: Place) -> None:
    make("evaluate_backwards", run="plain")
    make("evaluate_backwards", run="changed", overrides={"marian-args.training-backward.after": "10u"})
    rows = {row.run: row for row in StoreReader(Project().store).rows()}
    assert rows["plain"].evaluations == rows["changed"].evaluations
    assert [bool(rows[run].overrides) for run in ("plain", "changed")] == [False, True]


def test_a_report_is_made_anew_when_its_config_is_known_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = RunRecord("run-1", "en-ru", started=1.0)
    row = RunRow(
        *("run-1", "en-ru", "main", ("en", "ru"), 1.0, "", "{}", "", frozenset(), "run-1"),
        *({}, (), (), record),
    )
    made: list[str] = []

    def make_up(_: Reports, row: RunRow, reader: StoreReader) -> bytes:
        made.append(row.config)
        return b"page"

    monkeypatch.setattr(Reports, "_made", make_up)
    store, known = LocalStore(tmp_path / "store"), dict[str, str]()
    for number, config in enumerate(("{}", "{}", '{"experiment": {}}')):
        before, site = tmp_path / f"site-{number - 1}", tmp_path / f"site-{number}"
        site.mkdir()
        reports = Reports(store, KeyMaker(tmp_path), before, known)
        known = {"run-1": reports.write(site, replace(row, config=config), StoreReader(store))}
    assert made == ["{}", '{"experiment": {}}']
