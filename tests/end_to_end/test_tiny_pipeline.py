"""The whole chain on a tiny pair, by the commands that people type."""

import json
from pathlib import Path

import pytest
from fxtranslate import Translator
from sacrebleu import corpus_chrf

from pipeline.common.lines import write_lines
from tests.browsers import chromium, missing, playground, typed
from tests.end_to_end.tiny import PARTITION, Place, sentences, unseen

pytestmark = [pytest.mark.slow, pytest.mark.marian]

MODELS = {"backwards", "teacher-1", "student", "finetuned-student", "quantized", "exported"}


def plan(place: Place, partition: str = PARTITION) -> dict[str, str]:
    """Label → status."""
    done = place.run("translations", "plan", partition, "--target", "all", "--json")
    assert done.returncode == 0, done.stderr
    return {step["label"]: step["status"] for step in json.loads(done.stdout)["steps"]}


def test_everything_is_cached_after_a_run(trained: Place) -> None:
    assert set(plan(trained).values()) == {"cached"}


def test_a_second_run_has_nothing_to_do(trained: Place) -> None:
    done = trained.run("translations", "train", PARTITION, "--yes")
    assert done.returncode == 0
    assert "nothing to run" in done.stdout


def test_dagster_materializes_from_the_cache(trained: Place) -> None:
    """By Dagster's own command: what is selected is found, not made."""
    done = trained.run(
        "dagster", "asset", "materialize", "--select", "key:train_student+", "--partition", PARTITION
    )
    assert done.returncode == 0, done.stderr
    assert "STEP_SUCCESS" in done.stderr
    assert ": started" not in done.stderr


def test_every_model_has_learned_to_translate(trained: Place) -> None:
    done = trained.run("translations", "results", PARTITION, "--json")
    scores = json.loads(done.stdout)
    assert set(scores) == MODELS
    for tests in scores.values():
        for score in tests.values():  # of sentences that no training has seen
            assert 70 <= score["bleu"] <= 100
            assert 85 <= score["chrf"] <= 100


def test_scores_are_also_a_table(trained: Place) -> None:
    done = trained.run("translations", "results", PARTITION)
    assert "quantized" in done.stdout
    assert "→" in done.stdout


def test_a_report_shows_what_was_trained(trained: Place, tmp_path: Path) -> None:
    done = trained.run("translations", "report", PARTITION, "--output", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text()
    assert "have no result yet" not in page
    assert page.count('<table class="sentence">') == 20
    assert page.count("<polyline") > 8  # of four trainings, each with scores, costs and speeds
    source, reference = sentences()[420]  # the test set has 20 lines: all of them are shown
    assert f'<td lang="en">{source}</td>' in page
    assert f'<td lang="eo">{reference}</td>' in page
    assert len(page) < 5_000_000


# Before its script has read what there is, a page is not busy either, and has no cards
TRANSLATED = """!document.querySelector('[aria-busy=true]')
    && document.querySelector('#teacher')?.textContent && document.querySelector('#target-1')?.textContent"""


def download_export(trained: Place, folder: Path) -> None:
    done = trained.run("translations", "artifacts", PARTITION, "export-en-eo", "--download", str(folder))
    assert done.returncode == 0, done.stderr


def test_a_browser_translates_a_paragraph_of_two_thousand_words(trained: Place, tmp_path: Path) -> None:
    """Beside the model of a run, and the teacher, which says what its longest text is."""
    if reason := missing("chromium"):
        pytest.skip(reason)
    runs = json.loads(trained.run("translations", "status", "--json").stdout)["runs"]
    source, reference = (" ".join(side) for side in zip(*sentences()[:340], strict=True))
    assert len(source.split()) >= 2000
    whole = next(run["run"] for run in runs if run["steps_done"] > 50)
    with playground(PARTITION, whole, environment=trained.environment) as served, chromium() as page:
        page.goto(served.url)
        teacher = page.locator("#teacher")
        expected = page.locator("#target-1").text_content
        for _ in range(2):  # the first example, then another one
            page.wait_for_function(TRANSLATED)
            assert corpus_chrf([str(teacher.text_content())], [[str(expected())]]).score > 70
            page.locator("#examples button").nth(2).click()
        assert corpus_chrf([typed(page, source)], [[reference]]).score > 85
        page.wait_for_selector("#target-1[aria-busy=false]")
        assert expected() == page.locator("#target").text_content()
        page.get_by_text("at most 2,000 characters").wait_for()
        served.process.terminate()
        assert served.process.wait(60) == 0


def test_the_export_is_as_firefoxs_engines_load_it(trained: Place, tmp_path: Path) -> None:
    download_export(trained, tmp_path / "export")
    read = {path.name: path.read_bytes() for path in (tmp_path / "export").iterdir()}
    engine = ("model.eneo.intgemm.alphas.bin", "lex.50.50.eneo.s2t.bin", "vocab.eneo.spm")
    assert set(read) == {
        *(name for file in engine for name in (file, f"{file}.zst")),
        *("records.json", "metadata.json", "model_info.json", "config.intgemm8bitalpha.yml"),
    }
    metadata = json.loads(read["metadata.json"])
    model, shortlist, vocabulary = (read[name] for name in engine)
    assert metadata["byteSize"] == len(model)
    assert (metadata["sourceLanguage"], metadata["targetLanguage"]) == ("en", "eo")
    translator = Translator(model, vocabulary, vocabulary, shortlist)
    assert translator.translate("The big dog sees the cat.").endswith(".")


@pytest.mark.parametrize("model", ["quantized", "student", "teacher-1", "backwards"])
def test_translating_standard_input(trained: Place, model: str) -> None:
    text = "The big dog sees the cat.\n\nThe old cow likes the bird.\n"
    done = trained.run("translations", "translate", PARTITION, "--model", model, text=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 3


def test_the_log_of_a_step(trained: Place) -> None:
    done = trained.run("translations", "logs", PARTITION, "train-vocab-en-eo")
    assert done.returncode == 0, done.stderr
    assert "vocab" in done.stdout


def test_status_names_every_stage(trained: Place) -> None:
    done = trained.run("translations", "status", PARTITION)
    assert "train_student" in done.stdout
    assert "failed" not in done.stdout


def test_the_gates_are_judged_from_the_cache(trained: Place) -> None:
    """No gate of level `error` fails."""
    done = trained.run("translations", "checks", PARTITION, "--json")
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""  # nothing ran
    found = {(check["asset"], check["check"]): check for check in json.loads(done.stdout)["checks"]}
    assert {check["state"] for check in found.values()} <= {"passed", "failed", "nothing to judge"}
    assert found["export", "export"]["numbers"]["empty"] <= 0.2
    assert found["merge_corpus", "held-out-exact"]["numbers"] == {
        "whole pairs": 0,
        "lines, en": 0,
        "lines, eo": 0,
    }


def test_ctranslate2_decodes_the_same_teacher(trained: Place, tmp_path: Path) -> None:
    """The teacher is found, converted once, and translates both texts, one of them as MBR chooses."""
    text = (trained.root / "configs" / f"{PARTITION}.yml").read_text()
    path = tmp_path / f"{PARTITION}-ctranslate2.yml"
    path.write_text(
        text.replace(
            "student-model: tiny",
            "teacher-decoder: ctranslate2\n  selection: {mono: mbr}\n  student-model: tiny",
        )
    )
    before = plan(trained, str(path))
    done = trained.run("translations", "train", str(path), "--target", "merge_translated", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert before["train-teacher-en-eo-1"] == "cached"
    assert before["convert-teacher-en-eo"] == "run"
    made = [
        label for label, status in plan(trained, str(path)).items() if before[label] != status == "cached"
    ]
    assert {label.partition("-en-eo")[0] for label in made} >= {
        *("convert-teacher", "translate-corpus", "translate-mono-src", "extract-best", "merge-translated"),
        "mbr-mono-src",
    }


def test_ctranslate2_translates_back_by_sampling(trained: Place, tmp_path: Path) -> None:
    text = (trained.root / "configs" / f"{PARTITION}.yml").read_text()
    path = tmp_path / f"{PARTITION}-back.yml"
    path.write_text(
        text.replace("student-model: tiny", "backwards-decoder: ctranslate2\n  student-model: tiny")
    )
    sampled = "marian-args.decoding-backward={beam-size: 1, output-sampling: [topk, 10]}"
    options = ("--target", "translate_mono_trg", "--set", sampled, "--yes")
    done = trained.run("translations", "train", str(path), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    made = [label for label in done.stdout.split() if "-en-eo" in label]
    assert "train-backwards-en-eo" not in made
    assert {"convert-backwards-en-eo", "translate-mono-trg-en-eo-1/2", "collect-mono-trg-en-eo"} <= {*made}


def test_without_a_filter_the_student_would_learn_from_all_that_was_distilled(
    trained: Place, tmp_path: Path
) -> None:
    text = (trained.root / "configs" / f"{PARTITION}.yml").read_text()
    path = tmp_path / f"{PARTITION}-unfiltered.yml"
    path.write_text(text.replace("student-model: tiny", "filter: none\n  student-model: tiny"))
    done = trained.run("translations", "train", str(path), "--target", "alignments_student", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    statuses = plan(trained, str(path))
    assert statuses["collect-alignments-student-en-eo"] == "cached"
    assert not [label for label in statuses if label.startswith(("score-", "cefilter-"))]


def test_own_test_sets_are_evaluated_by_paragraphs(trained: Place, tmp_path: Path) -> None:
    pairs = unseen("eo")[:7]
    for name, lines in {
        "en": [english for english, _ in pairs],
        "eo": [other for _, other in pairs],
        "documents": ["first"] * 3 + ["second"] * 3 + ["third"],
    }.items():
        write_lines(tmp_path / f"own.{name}.zst", lines)
    text = (trained.root / "configs" / f"{PARTITION}.yml").read_text()
    path = tmp_path / f"{PARTITION}-paragraphs.yml"
    text = text.replace("/test.[LANG].gz", f'/test.[LANG].gz", "{tmp_path}/own.[LANG].zst')
    path.write_text(f"{text}evaluation: {{paragraphs: [file_own]}}\n")
    done = trained.run("translations", "train", str(path), "--target", "evaluate_exported", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = trained.run("translations", "results", str(path), "--json")
    scores = json.loads(shown.stdout)["exported"]
    assert scores["file_own (paragraphs)"]["chrf"] >= 70


def test_an_edit_of_one_setting_runs_only_what_it_concerns(trained: Place) -> None:
    """Last in this file: it changes the config, and puts it back."""
    path = trained.root / "configs" / f"{PARTITION}.yml"
    before = path.read_text()
    try:
        path.write_text(before.replace("-finetuned:\n", "-finetuned:\n    disp-first: 7\n"))
        statuses = plan(trained)
    finally:
        path.write_text(before)
    assert statuses["finetune-student-en-eo"] == "run"
    assert statuses["train-student-en-eo"] == "cached"
    changed = ("finetuned", "quantized", "exported")
    follow = tuple(f"{verb}-{model}" for verb in ("evaluate", "check") for model in changed)
    assert {label for label, status in statuses.items() if status == "maybe"} == {
        "quantize-en-eo",
        "export-en-eo",
        "check-export-en-eo",
        "check-markup-en-eo",
        *(label for label in statuses if label.startswith(follow)),
    }
