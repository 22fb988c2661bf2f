"""`report`: a page and a model card, of what is made."""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
import zstandard

from tests.checks.numbers import NUMBERS, differences, training
from tests.cli.conftest import Command, make
from tests.defs import runner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli.report import gathered
from translations_assets.project import this_project
from translations_assets.records.cost import HOUR, Cost, amount, duration
from translations_assets.records.manifest import Blob
from translations_assets.report.page import SECTIONS
from translations_assets.results.evaluations import PARAMETERS
from translations_assets.results.known import read_text
from translations_assets.store.local import LocalStore
from translations_assets.why.estimates import TRAINING

PAGE, CARD = f"{PARTITION}.html", f"{PARTITION}.md"


class Page(HTMLParser):
    """The text of a page, its elements, and what it would fetch."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.text, self.tags, self.ids, self.fetched = "", set[str](), set[str](), list[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.text += " "
        for name, value in attrs:
            if name == "id":
                self.ids.add(str(value))
            if name in ("src", "href", "data", "action") and not str(value).startswith("#"):
                self.fetched.append(str(value))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_is_not_made_is_no_report(command: Command, place: Place) -> None:
    said = command("report", PARTITION)
    assert said.code == 1
    assert said.err == (
        f"error: not made: the store has no results of {PARTITION}. "
        f"To make them: translations train {PARTITION}\n"
    )
    assert not (place.root / PAGE).exists()


def test_a_page_tells_everything_and_needs_nothing_else(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(runner.STATISTICS, "samples", ["empty: <script>alert(1)</script> | B"])
    make("evaluate_exported", checks=True)
    said = command("report", PARTITION)
    assert said.out == f"{PAGE}\n"
    page = Page(place.root / PAGE)
    assert page.ids >= set(SECTIONS)
    assert not page.fetched
    assert not page.tags & {"script", "link", "img", "iframe"}
    assert "<script>alert(1)</script>" in page.text  # as text
    assert re.search(r"exported\s+1\.0\s+2\.0\s+± 0\.5", page.text)
    assert re.search(r"exported\s+17\.0 MB\s+2,500\s+150 MB", page.text)
    assert re.search(r"train-teacher-en-eo-1\s+1,000\s+100", page.text)  # pairs that it read
    assert re.search(r"worker class\s+duration\s+of GPU\s+of CPU\s+cpu", page.text)
    assert "training-collapse" in page.text
    assert "url(" not in (place.root / PAGE).read_text()


def test_each_file_of_the_store_is_read_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all parts of a report together: gates and tables read the same files."""
    make("evaluate_exported", checks=True)
    read: Counter[str] = Counter()
    read_blob = LocalStore.read_blob

    def counting(store: LocalStore, blob: Blob) -> bytes:
        read[blob.digest] += 1
        return read_blob(store, blob)

    monkeypatch.setattr(LocalStore, "read_blob", counting)
    this_project.cache_clear()
    gathered(PARTITION, None)
    assert len(read) > 10
    assert read.total() == len(read)


def test_what_is_made_in_part_is_told_as_such(command: Command, place: Place) -> None:
    make("merge_corpus")
    assert command("report", PARTITION, "-o", "so-far.html").out == "so-far.html\n"
    text = Page(place.root / "so-far.html").text
    assert re.search(r"\d+ of \d+ steps have no result yet", text)
    assert "No model is evaluated yet." in text


def test_the_backwards_model_says_its_direction(command: Command, place: Place) -> None:
    make("evaluate_backwards")
    command("report", PARTITION)
    assert re.search(r"backwards \(Esperanto → English\)\s+1\.0\s+2\.0", Page(place.root / PAGE).text)
    command("report", PARTITION, "--card")
    card = (place.root / CARD).read_text()
    assert "| backwards (Esperanto → English) | 1.0 | 2.0 ± 0.5 |" in card
    assert "## Sentences" not in card  # of the other direction none are shown


def test_a_training_whose_gpu_was_full_says_so(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = training(50.0, derived={"optimizer-delay": 4, "out-of-memory-at": 1500})
    monkeypatch.setitem(runner.METRICS, "pipeline.train.train", full)
    make("train_teacher")
    command("report", PARTITION)
    text = Page(place.root / PAGE).text
    assert re.search(r"ran out: micro-batches are half as large from update\s+1,500\s+on", text)


def test_scores_stand_beside_those_of_the_artifact_before(command: Command, place: Place) -> None:
    make("evaluate_teacher")
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("after: 20u", "after: 40u"))
    make("evaluate_teacher", run="run-2")
    command("report", PARTITION)
    text = Page(place.root / PAGE).text
    before = r"BLEU 1\.0 \(\+0\.0\)\s+chrF 2\.0\s+± 0\.5 \(\+0\.0\)\s+, 1970-01-01"
    assert re.search(rf"teacher-1\s+1\.0\s+2\.0\s+± 0\.5\s+{before}", text)
    assert re.search(r"2\.0\s+chrF\s+teacher-1, tiny; \+0\.0 from before", text)
    assert re.search(r"teacher-1\s+0\.0 MB", text)  # its file's, which is made up


def test_the_exported_model_stands_beside_the_released_one(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {**differences("tiny", released=(48.5, 0.04)), "model": "exported"}
    monkeypatch.setitem(NUMBERS, "pipeline.checks.differences", found)
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(f"{config.read_text()}final-evaluation: {{released: true}}\n")
    make("final_evaluation", checks=True)
    command("report", PARTITION)
    text = Page(place.root / PAGE).text
    assert re.search(r"2\.0\s+chrF\s+exported, tiny; \+1\.5 from released", text)
    assert re.search(r"exported\s+1\.0\s+2\.0\s+± 0\.5\s+\+1\.50 from released, p = 0\.040", text)
    assert re.search(r"released\s+1\.0\s+2\.0\s+± 0\.5", text)


def test_html_in_translation_stands_in_report_and_card(command: Command, place: Place) -> None:
    make("evaluate_exported")
    command("report", PARTITION)
    assert "HTML" not in Page(place.root / PAGE).text
    make("check_export")
    for options in ((), ("--card",)):
        command("report", PARTITION, *options)
    text = Page(place.root / PAGE).text
    assert re.search(r"word\s+140\s+97\.1 %\s+220\s+86\.4 %\s+list\s+140\s+100\.0 %\s+220\s+100\.0 %", text)
    assert re.search(r"all\s+280\s+98\.6 %\s+440\s+93\.2 %", text)
    assert re.search(r"export\s+markup\s+warn\s+passed\s+98\.6 % of 280 documents", text)
    assert (
        "\nHTML: 98.6 % of 280 documents keep their tags, 93.2 % of 440 " in (place.root / CARD).read_text()
    )


def test_a_model_card_has_the_hubs_metadata(command: Command, place: Place) -> None:
    make("evaluate_exported", checks=True)
    assert command("report", PARTITION, "--card").out == f"{CARD}\n"
    _, metadata, text = (place.root / CARD).read_text().split("---\n", 2)
    found = yaml.safe_load(metadata)
    assert found["language"] == ["en", "eo"]
    assert found["pipeline_tag"] == "translation"
    assert (found["license"], found["library_name"]) == ("unknown", "fxtranslate")
    assert {"translation", "marian"} <= {*found["tags"]}
    (results,) = found["model-index"][0]["results"]
    assert {metric["type"]: metric["value"] for metric in results["metrics"]} == {"bleu": 1.0, "chrf": 2.0}
    assert "| exported | 1.0 | 2.0 ± 0.5 |" in text
    assert "passed, 0 failed" in text


def test_a_folder_that_is_not_there_is_told(command: Command, place: Place) -> None:
    make("merge_corpus")
    said = command("report", PARTITION, "-o", "nowhere/report.html")
    assert said.code == 1
    assert "nowhere" in said.err


def test_money_is_told_where_the_deployment_has_prices(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("merge_corpus", runner=runner.MadeUpRunner(seconds=1800.0))
    command("report", PARTITION)
    assert "energy" not in Page(place.root / PAGE).text
    prices = place.root / "deployment.yml"
    prices.write_text("costs: {currency: EUR, worker-classes: {cpu: {price: 0.5, watts: 1000}}}\n")
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(prices))
    command("report", PARTITION)
    text = Page(place.root / PAGE).text
    assert re.search(r"dataset_train\s+1\s+30 min\s+30 min of CPU\s+0\.25 EUR\s+0\.50 kWh", text)
    whole = re.search(r"energy\s+cpu\s+(\S+ \w+)\s+\1\s+([\d.]+) EUR\s+([\d.]+) kWh", text)
    assert whole, text[text.index("worker class") :][:200]
    assert float(whole[3]) == 2 * float(whole[2])


def test_each_model_is_told_with_what_it_took_and_all_that_it_was_made_from(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything takes an hour; a training has four GPUs, other steps that ask for some, too."""
    make("evaluate_exported", runner=runner.MadeUpRunner(seconds=3600.0, gpus=4))
    prices = place.root / "deployment.yml"
    prices.write_text(
        "costs: {currency: EUR, worker-classes: {cpu: {price: 0.5}, large-gpu: {price: 8, watts: 2000}}}\n"
    )
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(prices))
    this_project.cache_clear()
    graph = this_project().configs.read(PARTITION).graph
    found = gathered(PARTITION, None)
    assert list(found.models) == [
        "backwards",
        "teacher-1",
        "student",
        "finetuned-student",
        "quantized",
        "exported",
    ]
    for model, (label, own) in {
        "teacher-1": ("train-teacher-en-eo-1", Cost(HOUR, 0, 4 * HOUR, 8, 2)),
        "exported": ("export-en-eo", Cost(HOUR, HOUR, money=0.5)),
    }.items():
        before = graph.step_closure([graph.step(label)])
        gpus = [step for step in before if step.worker.endswith("gpu")]
        large = [step for step in before if step.worker == "large-gpu"]
        cheap = [step for step in before if step.worker == "cpu"]
        assert found.cost(found.models[model]) == own
        whole = found.cost(found.origins(model))
        assert whole.seconds == len(before) * HOUR
        assert whole.gpu_seconds == len(gpus) * 4 * HOUR
        assert whole.money == pytest.approx(8 * len(large) + 0.5 * len(cheap))
        assert whole.kwh == pytest.approx(2 * len(large))
        assert found.unknown(found.origins(model)) == 0
    teacher, exported = (found.cost(found.origins(model)) for model in ("teacher-1", "exported"))
    assert teacher.gpu_seconds < exported.gpu_seconds  # which was made by the teacher
    known = {label: cost for label, cost in found.costs.items() if label != "train-teacher-en-eo-1"}
    lost = replace(found, costs=known)
    assert lost.unknown(lost.origins("exported")) == 1
    assert lost.cost(lost.origins("exported")).seconds == exported.seconds - HOUR
    command("report", PARTITION)
    money = rf"{amount(exported.money)} EUR\s*{amount(exported.kwh)} kWh"
    itself = r"60 min\s+0.50 EUR"
    assert re.search(
        rf"exported\s+{itself}\s+{duration(exported.seconds)}\s+\S+ h\s+{money}", page_text(place)
    )
    command("report", PARTITION, "--card")
    hours = duration(exported.gpu_seconds)
    card = (place.root / CARD).read_text()
    assert f"| {duration(exported.seconds)} | {hours} | {amount(exported.money)} EUR |" in card
    assert "| teacher-1 | 60 min | 4.0 h | 8.0 EUR | 2.0 kWh |" in card


def page_text(place: Place) -> str:
    return Page(place.root / PAGE).text


def test_hours_stand_under_the_class_where_steps_run(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("train_vocab", runner=runner.MadeUpRunner(seconds=3600.0))
    deployment = place.root / "deployment.yml"
    deployment.write_text(
        f"runner: kubernetes\nstore: {this_project().store.url}\nkubernetes:\n  image: registry/worker\n"
        f"  files: [{place.root / 'data'}]\n"
        "  worker-classes: {cpu: {}, large-cpu: {}, gpu: {gpus: 1}}\n"
        "  stages: {train_vocab: {worker-class: cpu}}\n"
        "costs: {worker-classes: {cpu: {price: 1}, large-cpu: {price: 3}}}\n"
    )
    own = gathered(PARTITION, None).classes
    monkeypatch.setenv("TRANSLATIONS_DEPLOYMENT", str(deployment))
    this_project.cache_clear()
    moved = gathered(PARTITION, None).classes
    assert moved["cpu"].seconds == own["cpu"].seconds + HOUR
    assert moved["cpu"].money == pytest.approx(moved["cpu"].seconds / HOUR)
    assert moved["large-cpu"].seconds == own["large-cpu"].seconds - HOUR
    command("report", PARTITION)
    assert re.search(r"train-vocab-en-eo\s+cpu\s+60 min\s+60 min of CPU\s+1.0 USD", page_text(place))


def test_a_run_with_overrides_is_not_what_counted_before(command: Command, place: Place) -> None:
    make("evaluate_teacher", overrides={"marian-args.training-teacher.after": "10u"})
    make("evaluate_teacher", run="run-2")
    command("report", PARTITION)
    assert not re.search(r"BLEU 1\.0 \(", Page(place.root / PAGE).text)


def test_the_size_of_an_ensemble_is_that_of_all_its_models(command: Command, place: Place) -> None:
    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("experiment:\n", "experiment:\n  teacher-ensemble: 2\n"))
    make("evaluate_teacher_ensemble")
    this_project.cache_clear()
    found = gathered(PARTITION, None).sizes
    graph = this_project().configs.read(PARTITION).graph
    results = gathered(PARTITION, None).results
    sizes = [
        max(
            blob.size
            for name, blob in results[step.label].manifest.outputs.items()
            if PARAMETERS.fullmatch(name)
        )
        for step in graph.stages["train_teacher"]
        if step.script == TRAINING
    ]
    assert len(sizes) == 2
    assert found["teacher-ensemble"] == sum(sizes) > 0


def test_lines_of_a_text_end_with_line_feeds_alone(tmp_path: Path) -> None:
    """As in the scripts: a text that holds other separators of lines is as long as its references."""
    store = LocalStore(tmp_path)
    lines = ["one\x0btwo", "three\u2028four", "", "five\rsix", "\x85"]
    blob = store.add_bytes(zstandard.compress("".join(f"{line}\n" for line in lines).encode()))
    assert read_text(store, blob) == lines
