"""A teacher in each form: from its files on the net to an exported student in Firefox's engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from pipeline.common.lines import read_lines
from tests.chat_server import Chat, chat_server
from tests.end_to_end.defects import web_server
from tests.end_to_end.given import GATE, HUB, Run, artifacts, write_hub, write_metricx_hub
from tests.end_to_end.tiny import PARTITION, Place, sentences
from tests.pipeline.translate.test_opusmt import release
from tests.remote_settings import released_as
from tests.translation_server import KEY as COMPANY_KEY
from tests.translation_server import Company, translation_server
from translations_assets.stages.final_evaluation import METRICS

pytestmark = [pytest.mark.slow, pytest.mark.marian]

TRAINED = "train-teacher-en-eo-1"
# Of a model with random weights, or one that was trained on other sentences
WARN = ("training-collapse", "translation-collapse", "student-gap", "quantized-gap", "exported-gap", "export")
RANDOM = (GATE, GATE + "".join(f"{name}: {{level: warn}}, " for name in WARN))
# Sentences that never end by themselves are too long to be trained on
SHORT = ("decoding-teacher: {", "decoding-teacher: {max-length-factor: 1, ")
FIREFOX = "  fox: {firefox: {}}\n"


@pytest.fixture(scope="module")
def mirror(trained: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the net has: the tiny pair's student as Firefox's model, and a model of the hub."""
    mirror = tmp_path_factory.mktemp("mirror")
    exported = artifacts(trained, "export-en-eo", tmp_path_factory.mktemp("exported"))
    for src, trg in (("en", "eo"), ("en", "lt")):
        released_as(exported, mirror, src, trg)
    write_hub(mirror)
    return mirror


@pytest.fixture(scope="module")
def site(trained: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The tiny pair's teacher, and a release of OPUS-MT, in a folder of the web."""
    folder = tmp_path_factory.mktemp("site")
    artifacts(trained, TRAINED, folder)
    (folder / "release").symlink_to(release())
    with web_server(folder) as site:
        yield site


@pytest.fixture(scope="module")
def run(trained: Place) -> Iterator[Run]:
    known = dict(sentences())
    chat = Chat(known, lambda _: 100)
    with chat_server(chat) as url:
        yield Run(trained, chat, url)


THEIRS = f"  theirs: {{marian: {{urls: ['SITE/{TRAINED}']}}}}\n"
PIVOT = "  by-lt: {pivot: {via: lt, first: fox, second: theirs}}\n"
# The translators, what is made of the teacher, and whether it knows the sentences
FORMS = {
    "theirs": (THEIRS, "fetch-theirs-en-eo-1", True),
    "hub": (f"  hub: {{{HUB}}}\n", "convert-hub-en-eo", False),
    "opus": ("  opus: {opus-mt: {url: 'SITE/release'}}\n", "convert-opus-en-eo", False),
    "fox": (FIREFOX, "fetch-fox-en-eo", True),
    "by-lt": (f"{FIREFOX}{THEIRS}{PIVOT}", "translate-corpus-en-eo-1/2", False),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_student_of_each_form_of_teacher(
    run: Run, site: str, mirror: Path, tmp_path: Path, name: str
) -> None:
    translators, label, knows = FORMS[name]
    made = run.train(
        f"en-eo.{name}",
        "evaluate_exported",
        translators.replace("SITE", site),
        f"teacher: {name}",
        "",
        *(() if knows else (RANDOM, SHORT)),
        TRANSLATIONS_MIRROR=str(mirror),
    )
    assert label in made  # a student of what another has distilled to the same bytes is not trained again
    assert not [label for label in made if label.startswith(("train-teacher", "train-backwards"))]
    found = json.loads(run.place.run("translations", "results", f"en-eo.{name}", "--json").stdout)
    (scores,) = found["exported"].values()
    assert scores["chrf"] >= 0
    distilled = artifacts(run.place, "merge-translated-en-eo", tmp_path, f"en-eo.{name}") / "stats.json"
    assert json.loads(distilled.read_text())["lines"]["kept"] > 100


@pytest.mark.parametrize(
    ("name", "target"), [("google", "evaluate_exported"), ("microsoft", "translate_corpus")]
)
def test_a_student_of_a_company(run: Run, name: str, target: str) -> None:
    """That of one company: what follows the answers is the same."""
    company = Company(name, dict(sentences()).__getitem__, cycle(["", "", "429", "", "few", "", "500"]))
    with translation_server(company) as url:
        environment = {f"{name.upper()}_API_KEY": COMPANY_KEY, f"{name.upper()}_BASE_URL": url}
        made = run.train(f"en-eo.{name}", target, f"  co: {{{name}: {{}}}}", "teacher: co", **environment)
    assert {"ask-corpus-en-eo-1/2", "ask-corpus-en-eo-2/2"} <= made
    assert COMPANY_KEY not in run.place.run("translations", "status", f"en-eo.{name}", "--json").stdout
    if target == "evaluate_exported":
        found = json.loads(run.place.run("translations", "results", f"en-eo.{name}", "--json").stdout)
        (scores,) = found["exported"].values()
        assert scores["chrf"] > 90


def test_metricx_selects_filters_and_evaluates(run: Run, site: str, tmp_path: Path) -> None:
    metricx = write_metricx_hub(tmp_path)
    made = run.train(
        "en-eo.metricx",
        "check_evaluate_exported",
        THEIRS.replace("SITE", site),
        "teacher: theirs\n  selection: {corpus: qe, mono: qe}\n  filter: qe",
        f"{metricx}evaluation: {{metricx: [reference, qe]}}\n",
        TRANSLATIONS_MIRROR=str(tmp_path),
    )
    assert {"best-by-qe-corpus-en-eo-1/2", "best-by-qe-mono-src-en-eo-2/2", "score-en-eo-1/2"} <= made
    assert len([label for label in made if label.startswith("convert-metricx-")]) == 1  # for all that use it
    assert not [label for label in made if label.startswith(("train-backwards", "train-teacher"))]
    folder = artifacts(run.place, "cefilter-en-eo", tmp_path / "artifacts", "en-eo.metricx")
    lines = json.loads((folder / "stats.json").read_text())["lines"]
    assert lines["dropped"]["low score"] == lines["in"] // 20 > 0
    done = run.place.run("translations", "results", "en-eo.metricx", "--json")
    (scores,) = json.loads(done.stdout)["exported"].values()
    assert 0 <= scores["metricx24"] <= 25
    assert 0 <= scores["metricx24_qe"] <= 25
    assert {"metricx24", "metricx24_qe"} <= scores["others"]["finetuned-student"].keys()
    assert "MetricX-24 error" in run.place.run("translations", "results", "en-eo.metricx").stdout


def test_firefoxs_model_and_a_pivot_beside_the_student(
    run: Run, site: str, mirror: Path, tmp_path: Path
) -> None:
    """The model that Firefox would ship is the student itself: it says the same."""
    more = "final-evaluation: {released: true, translators: [fox, by-lt]}\n"
    made = run.train(
        "en-eo.pivot",
        "final_evaluation",
        f"{FIREFOX}{PIVOT}{THEIRS.replace('SITE', site)}",
        "best-model: chrf",
        more,
        TRANSLATIONS_MIRROR=str(mirror),
    )
    # Not by the translation's label: both of Firefox's models here have the same bytes, so that one step
    # makes the translations for both, under the label of whichever was fetched first
    evaluated = "final-evaluation-fox-"
    (test,) = [label.removeprefix(evaluated) for label in made if label.startswith(evaluated)]
    own, first, fox = (
        [*read_lines(artifacts(run.place, label, tmp_path, partition) / "translations.zst")]
        for label, partition in (
            (f"evaluate-exported-{test}", PARTITION),
            (f"translate-en-lt-final-evaluation-by-lt-{test}", "en-eo.pivot"),
            (f"translate-final-evaluation-fox-{test}", "en-eo.pivot"),
        )
    )
    assert own == first == fox
    found = json.loads(run.place.run("translations", "results", "en-eo.pivot", "--json").stdout)
    ((ours,), (shipped,)) = (found[name].values() for name in ("fox", "released"))
    assert {name: ours[name] for name in METRICS} == {name: shipped[name] for name in METRICS}
    assert set(found) >= {"by-lt", "exported"}
    report = tmp_path / "report.html"
    done = run.place.run("translations", "report", "en-eo.pivot", "--output", str(report))
    assert done.returncode == 0, done.stderr
    assert "by-lt" in report.read_text(encoding="utf-8")
