"""The command over everything that may differ: page, terminal, JSON, and results that one side lacks."""

import json

import pytest

from tests.cli.conftest import Command, make
from tests.cli.shapes import check_shape
from tests.cli.test_explain import config, edit
from tests.cli.test_report import Page
from tests.diff.translated import Translating, garbled
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.diff.words import TITLES

AFTER = "marian-args.training-student.after"


def different(place: Place) -> None:
    """Two runs that differ in a dataset, the vocabulary and the student."""
    make("evaluate_exported", run="before", runner=Translating(garbled(0.3, seed=2)))
    data = config(place).read_text().partition('train: ["')[2].partition("/train.")[0]
    edit(config(place), "train: [", f'train: ["{data}/mono.[LANG].gz", ')
    edit(config(place), "spm-vocab-size: 400", "spm-vocab-size: 392")
    made = Translating(
        garbled(0.2, seed=3), words_per_second=3000.0, seconds=1800.0, vocabulary=b"another one"
    )
    make("evaluate_exported", run="after", runner=made)


@pytest.mark.slow
def test_all_sections_are_shown_and_the_config_need_not_be_there(command: Command, place: Place) -> None:
    different(place)
    config(place).unlink()
    said = command("diff", "before", PARTITION, "--output", "changes.html")
    assert (said.code, said.out) == (0, "changes.html\n"), said.err
    page, people = Page(place.root / "changes.html"), command("diff", "before", PARTITION).out.splitlines()
    assert page.fetched == []
    assert {*TITLES} <= page.ids
    assert [line for line in people if line in TITLES.values()] == [*TITLES.values()]
    for told in ("experiment.spm-vocab-size: 400 → 392", "exported: 17.0 MB, 2,500 words/s → 3,000 words/s"):
        assert any(told in line for line in people), told
        assert told in page.text
    datasets = [line for line in people if line.startswith("  url") or "mono.[LANG]" in line]
    assert any(" added: " in line for line in datasets), people
    assert {line.split()[0] for line in people if line.startswith("               in ")} == {"in"}
    found = json.loads(command("diff", "before", PARTITION, "--json").out)
    check_shape("diff", found)
    assert {cause["kind"] for cause in found["steps"]["causes"]} == {"data", "option"}
    assert found["steps"]["added"]
    assert found["steps"]["removed"] == []


@pytest.mark.slow
def test_results_that_one_side_lacks_or_has_out_of_date_are_said(command: Command, place: Place) -> None:
    make("train_student", run="short")
    make("evaluate_exported", run="long", runner=Translating(garbled(0.3, seed=2)))
    found = json.loads(command("diff", "short", "long", "--json").out)
    steps = found["steps"]
    assert (steps["causes"], steps["following"], steps["added"], steps["only_old"]) == ([], [], [], [])
    assert "export-en-eo" in steps["only_new"]
    people = command("diff", "short", "long").out
    assert "made in the new one only: " in people
    assert "chrF - → 62.3 ± 4.3: the old side has no such score" in people
    edit(config(place), "  training-student: *model", "  training-student: {<<: *model, after: 30u}")
    make("train_student", run="later")
    found = json.loads(command("diff", "long", PARTITION, "--json").out)
    assert found["old"]["out_of_date"] == []
    assert found["new"]["out_of_date"] == ["finetune-student-en-eo"]
    assert f"{PARTITION}: out of date, made from results of before: finetune-student-en-eo" in found["notes"]
    assert [cause["text"] for cause in found["steps"]["causes"]] == [f"{AFTER}: 20u → 30u"]


def test_an_unknown_side_is_an_error_and_leaves_no_page(command: Command, place: Place) -> None:
    said = command("diff", "en-eo.tiny", "en-eo", "--output", "changes.html")
    assert said.code == 1
    assert (
        said.err == "error: The store has no run, partition or variant 'en-eo.tiny'. There is no run yet.\n"
    )
    assert not (place.root / "changes.html").exists()
