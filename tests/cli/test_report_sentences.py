"""Tests of the sentences that a report shows, and that its pages and long words fit screens."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
import zstandard
from sacrebleu import sentence_chrf

from tests.browsers import chromium, missing
from tests.cli.conftest import Command, make
from tests.defs import runner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.cli.report import gathered
from translations_assets.project import this_project
from translations_assets.report.sentences import Sentence
from translations_assets.running.job import Job

LONG = "ĝ" * 900 + "�" * 900
EASY, HARD = "test", "hard"  # of the names of the files that are evaluated


class Translated(runner.MadeUpRunner):
    """Of the easy set nearly all lines are alike and right; of the hard one a model gets some words wrong."""

    def _contents(self, job: Job, name: str) -> bytes:
        dataset = HARD if "hard" in " ".join((job.label, *job.command)) else EASY
        if job.label.startswith(("dataset-test", "merge-devset")) and name.endswith(".zst"):
            return self._packed([self._line(dataset, number)[".eo" in name] for number in range(200)])
        if name == "translations.zst" and "backwards" not in job.label:
            return self._packed(
                [self._made(dataset, number, "student" in job.label) for number in range(200)]
            )
        return super()._contents(job, name)

    @staticmethod
    def _packed(lines: list[str]) -> bytes:
        return zstandard.compress("".join(f"{line}\n" for line in lines).encode())

    @staticmethod
    def _line(dataset: str, number: int) -> tuple[str, str]:
        if dataset == EASY:
            return (f"The Dog {number % 50}!" if number != 77 else "A cat."), "La hundo dormas."
        return f"Sentence number {number}", " ".join(f"vorto{number}{place}" for place in range(10))

    def _made(self, dataset: str, number: int, is_student: bool) -> str:
        words = self._line(dataset, number)[1].split()
        if is_student:
            return " ".join(words)
        if dataset == EASY:
            return LONG if number == 77 else " ".join(words)
        wrong = random.Random(number).randrange(11)
        return " ".join(["xx"] * wrong + words[wrong:])


@pytest.fixture
def translated(place: Place) -> Place:
    for path in [*(place.root / "data").glob("dev.*")]:
        shutil.copyfile(path, path.with_name(path.name.replace("dev", HARD)))
    config = place.root / "configs" / f"{PARTITION}.yml"
    text = config.read_text()
    (line,) = (line for line in text.splitlines() if line.startswith("  test: "))
    easy = line.removeprefix("  test: [").removesuffix("]")
    config.write_text(text.replace(line, f"  test: [{easy}, {easy.replace('/test.', '/hard.')}]"))
    for stage in ("evaluate_exported", "evaluate_student", "evaluate_teacher", "evaluate_backwards"):
        make(stage, run=stage, runner=Translated())
    return place


def shown(dataset: str) -> list[Sentence]:
    this_project.cache_clear()
    return [
        sentence for sentence in gathered(PARTITION, None).sentences if dataset in Path(sentence.dataset).name
    ]


def test_bad_and_good_ones_of_every_test_set_are_shown(translated: Place) -> None:
    easy, hard = shown(EASY), shown(HARD)
    assert (len(easy), len(hard)) == (10, 10)
    for sentences in (easy, hard):
        assert len({sentence.source for sentence in sentences}) == 10  # 50 of 200 differ in the easy one
        scores = [
            sentence_chrf(sentence.translations["exported"], [sentence.reference]).score
            for sentence in sentences
        ]
        assert [sentence.chrf for sentence in sentences] == pytest.approx(scores)
        assert scores == sorted(scores)
    assert (easy[0].source, easy[0].translations["exported"]) == ("A cat.", LONG)
    assert easy[1].chrf == pytest.approx(100.0)
    # Of a set whose sentences have all scores: from the worst to the best, with as much between them
    assert hard[0].chrf < 12
    assert hard[-1].chrf > 88
    gaps = [after.chrf - before.chrf for before, after in zip(hard[:-1], hard[1:], strict=True)]
    assert max(gaps) < 30
    assert all({"teacher-1", "student", "exported"} <= set(sentence.translations) for sentence in hard)
    assert "backwards" not in hard[0].translations
    assert all(sentence.translations["student"] == sentence.reference for sentence in hard)
    assert hard == shown(HARD)


@pytest.mark.slow
def test_pages_with_long_words_fit_screens(
    translated: Place, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := missing("chromium"):
        pytest.skip(reason)
    command("report", PARTITION, "--output", "report.html")
    command("registry", "build")
    pages = [
        translated.root / "report.html",
        *(translated.root / "registry").rglob("*.html"),
    ]
    assert len(pages) >= 4
    with chromium() as page:
        for path in pages:
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(path.as_uri())
                page.eval_on_selector_all("details", "them => them.forEach(it => { it.open = true; })")
                assert page.evaluate("document.documentElement.scrollWidth") == width, (path.name, width)
