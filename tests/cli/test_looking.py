"""`graph`, `plan`, `status`, `logs`, `artifacts`, `results`: what is there, for people and as JSON."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Command, make
from tests.defs.runner import METRICS, STATISTICS, MadeUpRunner
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.project import Project
from translations_assets.runners import machine

VOCAB = "train-vocab-en-eo"


def test_the_graph_needs_no_store(command: Command, place: Place) -> None:
    said = command("graph", PARTITION)
    assert VOCAB in said.out.splitlines()
    assert not (place.root / "state").exists()


def test_tasks_are_labels_and_full_has_edges(command: Command) -> None:
    tasks, full = command("graph", PARTITION), command("graph", PARTITION, "--show", "full")
    assert len(tasks.out.splitlines()) == len(set(tasks.out.splitlines())) > 40
    assert [line for line in full.out.splitlines() if not line.startswith(" ")] == tasks.out.splitlines()
    assert f"{VOCAB}\n    <- merge-corpus-en-eo\n" in full.out


def test_target_and_its_closure(command: Command) -> None:
    ask = ("graph", PARTITION, "--target", "train_vocab", "--json", "--show")
    assert list(json.loads(command(*ask, "target").out)) == [VOCAB]
    closure = json.loads(command(*ask, "target-graph").out)
    assert {step["attributes"]["stage"] for step in closure.values()} == {
        "dataset_train",
        "dataset_devtest",
        "dataset_test",
        "clean_corpus",
        "merge_corpus",
        "train_vocab",
    }


def test_optimized_leaves_out_what_is_cached(command: Command) -> None:
    make("merge_corpus")
    ask = ("graph", PARTITION, "--target", "train_vocab", "--json", "--show", "optimized")
    (step,) = json.loads(command(*ask).out).values()
    assert step["label"] == VOCAB
    assert len(step["key"]) == 64


def test_graph_as_json(command: Command) -> None:
    graph = json.loads(command("graph", PARTITION, "--json").out)
    step = graph[VOCAB]
    assert (step["label"], step["key"]) == (VOCAB, None)
    assert step["attributes"]["stage"] == "train_vocab"
    assert set(step["dependencies"].values()) == {"merge-corpus-en-eo"}
    assert step["task"]["script"] == "pipeline.train.vocab"
    assert step["task"]["args"]["vocab_size"] == 400
    assert all(set(other["dependencies"].values()) <= set(graph) for other in graph.values())


def test_plan_as_json(command: Command) -> None:
    make("merge_corpus")
    plan = json.loads(command("plan", PARTITION, "--json").out)
    steps = {step["label"]: step for step in plan["steps"]}
    assert steps["merge-corpus-en-eo"]["status"] == "cached"
    assert steps[VOCAB]["status"] == "run"
    assert steps[VOCAB]["reasons"] == ["no earlier artifact"]
    assert steps["merge-translated-en-eo"]["status"] == "maybe"
    assert steps["train-student-en-eo"]["status"] == "run", "none like it was ever made"
    assert steps["train-student-en-eo"]["key"] is None


def test_a_plan_looks_for_gpus_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []

    def find(environment: object) -> list[machine.Gpu]:
        looked.append(environment)
        return [machine.Gpu("0", 24_000), machine.Gpu("1", 24_000)]

    monkeypatch.setattr(machine, "find_gpus", find)
    costs = json.loads(command("plan", PARTITION, "--json").out)["costs"]
    assert len(looked) == 1
    hours = costs["large-gpu"]["at_least"]
    assert hours["gpu_hours"] == pytest.approx(2 * hours["hours"], rel=0.01)  # trainings have both


def test_plan_for_people(command: Command) -> None:
    make("merge_corpus")
    said = command("plan", PARTITION, "--target", "train_vocab")
    stop, *stages, summary = said.out.splitlines()
    assert stop.startswith(
        "up to train_vocab, without a student; --target all makes one, or target-stage: all"
    )
    assert command("plan", PARTITION).out.startswith("up to all\n")
    assert ["train_vocab", "1", "run"] in [line.split() for line in stages]
    counts = r"\d+ steps: 5 cached, \d run(, \d maybe)?"
    assert re.fullmatch(counts + r"; about \d s \(\d s of CPU\)(, at most .*)?, by an estimate", summary)
    steps = command("plan", PARTITION, "--target", "train_vocab", "--steps")
    assert f"run    {VOCAB}  (no earlier artifact)" in steps.out


def test_plan_tells_how_often_a_training_reads_its_text(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STATISTICS, "lines", {"in": 1300, "kept": 1280, "dropped": {"empty": 20}})
    make("merge_corpus")
    said = command("plan", PARTITION)
    assert "    train-backwards-en-eo: 20 updates of 32 are about 0.5 epochs\n" in said.out
    assert "train-teacher-en-eo-1: 20 updates" not in said.out  # its back-translated text is not known yet
    assert "train-teacher-en-eo-1: about 1" in said.out, "what it takes is estimated none the less"
    assert "20 updates of 32 are about 0.5 epochs" in command("plan", PARTITION, "--steps").out
    steps = {step["label"]: step for step in json.loads(command("plan", PARTITION, "--json").out)["steps"]}
    assert steps["train-backwards-en-eo"]["epochs"] == {"original": 0.5}
    setting = "marian-args.training-backward"
    longer = command("plan", PARTITION, "--set", f"{setting}.after=2ku")
    assert "its curriculum ends after 10 epochs, before 2,000 updates of 32" in longer.out
    in_words = command("plan", PARTITION, "--set", f"{setting}.mini-batch-words=500")
    assert "epochs" not in in_words.out
    make("translate_mono_trg")
    both = "train-teacher-en-eo-1: 20 updates of 32 are about 0.35 epochs of original, 0.15 of backtranslated"
    assert both in command("plan", PARTITION).out
    settings = "experiment.teacher-mode=two-stage", "marian-args.training-teacher.after=400u"
    two_stages = command("plan", PARTITION, *(word for setting in settings for word in ("--set", setting)))
    assert "400 updates of 32 are about 8 epochs of original, 2 of backtranslated" in two_stages.out


def test_plan_and_status_tell_from_where_a_training_goes_on(command: Command, tmp_path: Path) -> None:
    make("train_backwards", runner=MadeUpRunner(fails="train-backwards-en-eo"))
    steps = json.loads(command("plan", PARTITION, "--json").out)["steps"]
    (key,) = (step["key"] for step in steps if step["label"] == "train-backwards-en-eo")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "model.npz").write_text("weights")
    store = Project().store
    for number, update in enumerate((1200, 1400), start=1):
        store.add_checkpoint(key, 1, f"{number:06d}-update-{update:09d}", tmp_path / "set")
    told = "    train-backwards-en-eo continues from update 1,400\n"
    for words in (("plan", PARTITION), ("plan", PARTITION, "--steps"), ("status", PARTITION)):
        assert told in command(*words).out
    planned = {step["label"]: step for step in json.loads(command("plan", PARTITION, "--json").out)["steps"]}
    assert planned["train-backwards-en-eo"]["goes_on_from"] == "update 1,400"
    assert "goes on" not in command("plan", PARTITION, "--set", "marian-args.training-backward.after=9u").out


def test_start_repeats_although_cached(command: Command) -> None:
    make("train_vocab")
    said = command("plan", PARTITION, "--target", "train_vocab", "--start", "merge_corpus", "--steps")
    assert "run    merge-corpus-en-eo  (the run repeats the stage merge_corpus)" in said.out
    assert re.search(
        r"steps: 4 cached, \d run; about \d s .*, from past durations, 2 steps by an estimate", said.out
    )


def test_status(command: Command) -> None:
    make("merge_corpus")
    rows = {row["label"]: row for row in json.loads(command("status", PARTITION, "--json").out)["steps"]}
    assert (rows["merge-corpus-en-eo"]["state"], rows["merge-corpus-en-eo"]["host"]) == ("finished", "here")
    assert (rows[VOCAB]["state"], rows[VOCAB]["attempts"]) == ("waiting", 0)
    people = command("status", PARTITION)
    assert ["merge_corpus", "1", "finished"] in [line.split()[:3] for line in people.out.splitlines()]
    assert f"{len(rows)} steps: 5 cached" in people.out


def test_the_log_of_a_step(command: Command) -> None:
    make("train_vocab")
    said = command("logs", PARTITION, VOCAB)
    assert (said.code, said.out) == (0, f"the log of {VOCAB}\n")
    assert command("logs", "-f", PARTITION, VOCAB).out == said.out


def test_artifacts_are_listed(command: Command) -> None:
    make("train_vocab")
    found = json.loads(command("artifacts", PARTITION, "--json").out)
    assert len(found) == 6
    assert set(found[VOCAB]) == {"vocab.en.spm", "vocab.eo.spm", "stats.json"}
    people = command("artifacts", PARTITION, VOCAB)
    assert f"36  {found[VOCAB]['vocab.en.spm']['digest'][:12]}  vocab.en.spm" in people.out


def test_downloaded_files_are_the_persons_own(command: Command, tmp_path: Path) -> None:
    """Not the store's, which a hard link would be: an edit of them would damage it."""
    make("train_vocab")
    said = command("artifacts", PARTITION, VOCAB, "--download", str(tmp_path / "out" / "vocab"))
    assert said.code == 0, said.err
    files = {path.name: path for path in (tmp_path / "out" / "vocab").iterdir()}
    assert set(files) == {"vocab.en.spm", "vocab.eo.spm", "stats.json"}
    for path in files.values():
        assert path.stat().st_nlink == 1
        assert os.access(path, os.W_OK)
    assert json.loads(files["stats.json"].read_text())["lines"]["in"] == 3


def test_a_download_replaces_no_file(command: Command, tmp_path: Path) -> None:
    make("train_vocab")
    (tmp_path / "vocab.eo.spm").write_text("mine")
    said = command("artifacts", PARTITION, VOCAB, "--download", str(tmp_path))
    assert said.code == 1
    assert "already holds vocab.eo.spm. Give another folder." in said.err
    assert (tmp_path / "vocab.eo.spm").read_text() == "mine"
    assert not (tmp_path / "vocab.en.spm").exists()


def test_a_download_to_where_no_folder_can_be(command: Command, tmp_path: Path) -> None:
    make("train_vocab")
    (tmp_path / "file").write_text("a file")
    said = command("artifacts", PARTITION, VOCAB, "--download", str(tmp_path / "file" / "below"))
    assert said.code == 1
    assert "cannot be written" in said.err
    assert "Traceback" not in said.err


def test_results(command: Command) -> None:
    make("evaluate_teacher")
    make("evaluate_backwards")
    assert json.loads(command("results", PARTITION, "--json").out) == {
        "backwards": {"tiny": {"bleu": 1.0, "chrf": 2.0, "ci": {"chrf": 0.5}}},
        "teacher-1": {"tiny": {"bleu": 1.0, "chrf": 2.0, "ci": {"chrf": 0.5}}},
    }
    people = command("results", PARTITION)
    assert re.search(r"teacher-1 . +1\.0 . 2\.0 ± 0\.5", people.out)
    assert "A dog.\n    → Hundo!" in people.out


def test_results_tell_how_models_differ(command: Command) -> None:
    for stage in ("evaluate_teacher", "evaluate_student", "check_evaluate_student"):
        make(stage)
    assert "-1.50 from teacher, p = 0.040" in command("results", PARTITION).out
    student = json.loads(command("results", PARTITION, "--json").out)["student"]["tiny"]
    assert student["others"] == {"teacher": {"chrf": {"difference": -1.5, "p_value": 0.04}}}


def test_results_tell_what_the_exported_model_needs(command: Command) -> None:
    make("evaluate_exported")
    speed = "exported: 2,500 words/s on one thread, 150 MB of memory, model 17.0 MB"
    assert speed in command("results", PARTITION).out
    found = json.loads(command("results", PARTITION, "--json").out)["exported"]["tiny"]
    assert found["words_per_second"] == 2500


def test_results_tell_what_becomes_of_html(command: Command) -> None:
    make("evaluate_exported")
    assert "HTML" not in command("results", PARTITION).out
    make("check_export")
    told = "HTML: 98.6 % of 280 documents keep their tags, 93.2 % of 440 tags stand round the right words"
    assert f"{told} (Marian, 8 bits)\n" in command("results", PARTITION).out


def test_scores_that_are_damaged_are_told_with_what_to_do(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METRICS, "pipeline.eval.evaluate", {"dataset": "tiny", "chrf": {"signature": "x"}})
    make("evaluate_backwards")
    said = command("results", PARTITION)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error: metrics.json of evaluate-backwards-")
    assert said.err.endswith(
        "cannot be read: by_metric: it has no score. To make it anew, name the step's stage: "
        "translations train PARTITION --start STAGE\n"
    )


def test_results_of_a_final_evaluation(command: Command) -> None:
    """The exported student has a row already, with what it needs."""
    other = {"name": "mine", "form": "firefox", "url": "https://example.org/mine"}
    make("final_evaluation", overrides={"final-evaluation": {"models": [other]}})
    setting = f"final-evaluation={json.dumps({'models': [other]})}"
    found = json.loads(command("results", PARTITION, "--set", setting, "--json").out)
    assert [*found][-3:] == ["exported", "released", "mine"]
    assert found["mine"]["tiny"] == found["released"]["tiny"]
    assert found["mine"]["tiny"]["chrf"] == 2
    assert found["exported"]["tiny"]["words_per_second"] == 2500


def test_a_student_without_a_shortlist_is_what_translates(command: Command) -> None:
    make("quantize", overrides={"experiment": {"shortlist": "none"}})
    said = command("translate", PARTITION, "--set", "experiment.shortlist=none")
    assert "decoder.yml" in said.err  # made up: the script was begun, and cannot read it


def test_translate_knows_the_models_as_results_call_them(command: Command) -> None:
    for name in ("backwards", "teacher-1", "student", "finetuned-student", "quantized"):
        said = command("translate", PARTITION, "--model", name)
        assert "is not made" in said.err, said.err
    for name, hint in (("finetuned", "Did you mean finetuned-student?"), ("teacher-2", "teacher-1?")):
        said = command("translate", PARTITION, "--model", name)
        assert (said.code, hint in said.err) == (1, True)
        assert "It has backwards, teacher-1, student, finetuned-student, quantized." in said.err
    said = command(
        "translate", PARTITION, "--model", "teacher-ensemble", "--set=experiment.teacher-ensemble=2"
    )
    assert "train-teacher-en-eo-1 is not made" in said.err


def test_results_of_a_dataset_with_an_alias(command: Command, place: Place) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    path.write_text(
        re.sub(r"  test: \[(.*)\]", r"  test: [{dataset: \1, alias: mine}]", path.read_text(), count=1)
    )
    assert "evaluate-backwards-mine-en-eo" in command("graph", PARTITION).out
    make("evaluate_backwards")
    assert set(json.loads(command("results", PARTITION, "--json").out)["backwards"]) == {"mine"}


def test_what_is_out_of_date_is_shown_with_a_note(command: Command, place: Place) -> None:
    make("evaluate_backwards")
    path = place.root / "configs" / f"{PARTITION}.yml"
    model = "training-backward: &model"
    path.write_text(path.read_text().replace(model, f"{model}\n    transformer-dropout: 0.1"))
    said = command("results", PARTITION, "--json")
    assert set(json.loads(said.out)) == {"backwards"}
    assert "note: evaluate_backwards is out of date" in said.err


@pytest.mark.parametrize("verb", ["plan", "graph", "status", "artifacts"])
def test_a_path_is_as_good_as_a_name(command: Command, place: Place, tmp_path: Path, verb: str) -> None:
    make("merge_corpus")
    path = tmp_path / "en-eo.elsewhere.yml"
    path.write_text((place.root / "configs" / f"{PARTITION}.yml").read_text())
    by_name, by_path = command(verb, PARTITION), command(verb, str(path))
    assert by_path.code == 0, by_path.err
    assert by_path.out == by_name.out


def test_all_training_configs_are_planned_in_a_line_each(command: Command, place: Place) -> None:
    make("merge_devset")
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    (place.root / "configs" / "en-eo.copy.yml").write_text(text)
    said = command("plan", "--target", "merge_devset")
    assert (said.code, said.out) == (0, "2 with everything cached; to list them: --all\n"), said.err
    said = command("plan", "--all", "--target", "merge_devset")
    assert [line.split(maxsplit=1) for line in said.out.splitlines()] == [
        [name, "3 steps: 3 cached"] for name in sorted(("en-eo.copy", PARTITION))
    ]
    (place.root / "configs" / "en-eo.broken.yml").write_text("experiment: {\n")
    broken = command("plan", "--all", "--target", "merge_devset", "--json")
    assert broken.code == 1
    assert set(json.loads(broken.out)["partitions"]) == {"en-eo.copy", PARTITION}
    assert "en-eo.broken.yml:1: not valid YAML" in broken.err


def test_what_is_cached_is_listed_on_demand(command: Command) -> None:
    make("merge_corpus")
    ask = ("plan", PARTITION, "--target", "train_vocab")
    some, every = command(*ask).out.splitlines(), command(*ask, "--all").out.splitlines()
    assert "train_vocab" in " ".join(some)
    assert [line for line in every if re.search(r"  \d+ cached$|^merge_corpus", line)]
    assert [line for line in every if line not in some] == [
        line for line in every[:-1] if line.endswith(" cached")
    ]
    steps, all_steps = command(*ask, "--steps").out, command(*ask, "--steps", "--all").out
    assert steps.count("\ncached ") == 0
    assert all_steps.count("\ncached ") == 5
    assert "--steps is for one training config" in command("plan", "--steps").err


@pytest.mark.parametrize(
    "words",
    [
        ("results",),
        ("artifacts", "train-teacher-en-eo-1"),
        ("translate", "--model", "teacher-1"),
        ("translate",),
    ],
    ids=" ".join,
)
def test_the_config_itself_never_answers_for_it_with_overrides(
    command: Command, words: tuple[str, ...]
) -> None:
    make("final_evaluation")
    verb, *others = words
    setting = "--set", "experiment.spm-vocab-size=328"
    said = command(verb, PARTITION, *others, *setting)
    assert said.code == 1
    assert said.out == ""
    assert "not made" in said.err
    assert f"translations train {PARTITION}" in said.err
    assert "--set=experiment.spm-vocab-size=328" in said.err


def test_what_is_made_with_overrides_is_shown_and_what_is_not_is_named(command: Command) -> None:
    setting = "marian-args.training-backward.after=21u"
    make("final_evaluation")
    make("evaluate_backwards", overrides={"marian-args.training-backward.after": "21u"})
    said = command("results", PARTITION, "--set", setting, "--json")
    assert said.code == 1
    assert "backwards" in json.loads(said.out)
    assert not {"teacher-1", "student"} & set(json.loads(said.out))
    assert said.err.startswith("not made: evaluate-")
    listed = command("artifacts", PARTITION, "--set", setting, "--json")
    assert listed.code == 1
    assert "train-backwards-en-eo" in json.loads(listed.out)
    assert "train-student-en-eo" not in json.loads(listed.out)
    assert "not made: " in listed.err


def test_plan_tells_how_often_a_training_reads_a_text_to_finetune_on(
    command: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STATISTICS, "lines", {"in": 1300, "kept": 1280, "dropped": {"empty": 20}})
    settings = {
        "datasets.finetune": [{"dataset": f"url_file://{place.root}/finetune.[LANG].gz", "alias": "better"}],
        "finetuning.old-text": 0.25,
        "marian-args.training-on-finetune.after": "40u",
        "marian-args.training-on-finetune.mini-batch": 32,
    }
    make("train_student", overrides=settings, runner=MadeUpRunner(fails="train-student-on-finetune-en-eo"))
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    told = "40 updates of 32 are about 0.25 epochs of original, 0.75 of finetune"
    assert f"train-student-on-finetune-en-eo: {told}" in command("plan", PARTITION, *words).out
