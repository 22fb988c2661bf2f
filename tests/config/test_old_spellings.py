"""Old spellings, by generation: what is read in their place, and the note for each."""

from pathlib import Path

import pytest

from tests.config.texts import SMALL, notes_on, problems_of, with_line
from translations_assets.config.load import config_notes, parse_config, read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.schema import TrainingConfig

GENERATIONS = Path(__file__).parent / "generations"


def values_of(name: str) -> TrainingConfig:
    """A config of an earlier generation, also with what is understood but not built."""
    text = (GENERATIONS / f"{name}.yml").read_text(encoding="utf-8")
    return TrainingConfig.model_validate(read_values(text, name).value)


def notes_of(text: str) -> list[str]:
    """The notes on a config, one line each: `7 datasets.train[0]: message`, without those of no effect."""
    found = [f"{note.line} {note.key}: {note.message}" for note in notes_on(text)]
    return [note for note in found if "has no effect" not in note]


def notes_of_generation(name: str) -> dict[str, int | None]:
    text = (GENERATIONS / f"{name}.yml").read_text(encoding="utf-8")
    notes = config_notes(text, name)
    return {note.key: note.line for note in notes if "has no effect" not in note.message}


def test_snakemake_of_2021() -> None:
    config = values_of("snakemake-2021")
    assert config.experiment.bicleaner.default_threshold == 0.5
    assert config.experiment.bicleaner.dataset_thresholds == {"opus_CCAligned_v1": 0.7}
    assert config.experiment.mono_max_sentences_src.total == 200_000_000
    assert config.experiment.mono_max_sentences_src.per_dataset == 200_000_000
    assert (config.experiment.student_model, config.target_stage) == ("tiny", "all")
    assert config.marian_args.training_backward == {"early-stopping": "5"}
    assert config.marian_args.training_teacher == {"early-stopping": "20"}
    parse_config((GENERATIONS / "snakemake-2021.yml").read_text(encoding="utf-8"), "accepted")


def test_every_key_of_2021_that_is_read_as_another_is_told_with_its_line() -> None:
    assert notes_of_generation("snakemake-2021") == {
        "": 2,  # target-stage, marian-args.training-student
        "root": 2,
        "cuda": 3,
        "deps": 4,
        "gpus": 5,
        "workspace": 6,
        "experiment": 8,
        "experiment.teacher-mode": 8,
        "experiment.backward-model": 14,
        "experiment.mono-max-sentences-src": 16,
        "experiment.mono-max-sentences-trg": 17,
        "experiment.bicleaner-threshold": 18,
        "experiment.split-length": 20,
        "experiment.bicleaner.dataset-thresholds.opus_CCAligned/v1": 24,
        "experiment.bicleaner.dataset-thresholds.opus_bible-uedin/v1": 25,
        "training": 27,
        "marian-args.training-teacher-base": 27,
        "marian-args.training-backward.after": 29,
        "marian-args.training-teacher-base.after": 32,
    }


def test_snakemake_of_2022() -> None:
    config = values_of("snakemake-2022")
    args = config.marian_args
    assert args.training_backward == {"early-stopping": "5", "disp-freq": 10}
    assert args.training_teacher == {"early-stopping": "40", "disp-freq": 20}
    assert args.training_student["dim-vocabs"] == [32000, 32000]
    assert args.decoding_backward["output-sampling"] == ["topk", 10]
    backwards, vocab = config.continuation.models.backwards, config.continuation.vocab
    assert backwards is not None
    assert (backwards.url, backwards.mode) == ("https://example.org/models/en-ru", "use")
    assert vocab is not None
    assert vocab.src == vocab.trg == "https://example.org/models/vocab.spm"
    assert config.taskcluster.split_chunks == 10
    assert config.experiment.opuscleaner_mode == "legacy"
    assert config.experiment.bicleaner.dataset_thresholds == {}


def test_an_option_that_another_overrides_is_named() -> None:
    text = (GENERATIONS / "snakemake-2022.yml").read_text(encoding="utf-8")
    (note,) = [note for note in notes_of(text) if "training-teacher-base:" in note]
    assert note.endswith("without early-stopping: 20, which training-teacher-finetuned overrides")


def test_taskcluster_of_2024() -> None:
    config = values_of("taskcluster-2024")
    experiment, models = config.experiment, config.continuation.models
    assert experiment.mono_max_sentences_src.total == 500_000_000
    assert experiment.bicleaner.dataset_thresholds == {
        "opus_ParaCrawl_v9": 0.7,
        "mtdata_Tilde-airbaltic-1-eng-rus": 0.6,
    }
    assert models.teacher is not None
    assert models.teacher.urls == ("https://example.org/models/en-ru/1", "https://example.org/models/en-ru/2")
    assert models.backwards is not None
    assert models.backwards.url == "https://example.org/models/ru-en/student"
    assert [test.key for test in config.datasets.test] == ["flores_devtest", "sacrebleu_wmt20"]
    assert config.previous_group_ids == ("dOW0JdeoTFqFu431zzJ6Lw",)
    fluency = experiment.hplt_min_fluency
    assert (fluency.mono_src, fluency.mono_trg) == (0.7, 0.85)
    assert (config.start_stage, config.target_stage) == ("alignments-student", "all-pipeline")
    assert config.taskcluster.worker_classes == {"default": "gcp-spot", "shortlist": "gcp-standard"}
    assert experiment.student_model == "tiny"


def test_taskcluster_of_2025() -> None:
    config = values_of("taskcluster-2025")
    assert config.continuation.corpora.distillation is not None
    assert config.continuation.corpora.distillation.src == "https://example.org/corpus.en.zst"
    assert config.experiment.monocleaner.mono_src.dataset_thresholds == {}
    assert config.experiment.student_model == "base"


@pytest.mark.parametrize("name", ["opus_ParaCrawl/v8.1", "opus_ParaCrawl_v8_1", "opus_NLLB_v2"])
def test_a_threshold_that_matches_no_dataset_is_dropped_from_an_old_config(name: str) -> None:
    lines = f"  bicleaner:\n    dataset-thresholds:\n      {name}: 0.7\n      opus_ParaCrawl/v9: 0.6"
    text = with_line(f"  use-opuscleaner: 'true'\n{lines}", "  trg: ru")
    note = f"8 experiment.bicleaner.dataset-thresholds.{name}: removed: datasets.train lists no such dataset"
    assert any(found.startswith(note) for found in notes_of(text))
    thresholds = {"opus_ParaCrawl_v9": 0.6}
    assert parse_config(text, "my.yml").experiment.bicleaner.dataset_thresholds == thresholds
    rewritten, _ = migrated(text, "my.yml")
    assert f"      {name}" not in rewritten
    assert parse_config(rewritten, "my.yml").experiment.bicleaner.dataset_thresholds == thresholds
    today = text.replace("  use-opuscleaner: 'true'\n", "")
    assert any("matches no dataset in datasets.train" in problem for problem in problems_of(today))


def test_a_problem_in_what_was_moved_is_told_where_it_stands() -> None:
    model = "      train-teacher:\n        urls: [https://example.org/1]\n        mode: used\n"
    text = with_line(f"  pretrained-models:\n    # mine\n{model}".replace("\n  ", "\n"), "  trg: ru")
    assert any(
        found.startswith("9 continuation.models.teacher.mode: must be one of") for found in problems_of(text)
    )


def test_lines_behind_a_removed_item_stay_right() -> None:
    text = SMALL + "    - flores_devtest\n    - flores_dev\n"
    assert problems_of(text)[1:] == [
        "13 datasets.test[1]: 'flores_dev' is in devtest too; a set can be used for one purpose only"
    ]
    assert notes_of(text)[:1] == [
        "12 datasets.test[1]: 'flores_devtest' stands in the list twice; this one is removed"
    ]


def test_of_datasets_that_stand_twice_each_stays_once() -> None:
    """Also when two are removed from one list of an old config, the first before the last."""
    again = "    - opus_ParaCrawl/v9\n    - opus_NLLB/v1\n    - opus_ParaCrawl/v9\n    - opus_WikiMatrix/v1\n"
    text = SMALL.replace("  devtest:", f"    - opus_NLLB/v1\n{again}  devtest:")
    keys = [dataset.key for dataset in parse_config(text, "old.yml").datasets.train]
    assert keys == ["opus_ParaCrawl/v9", "opus_NLLB/v1", "opus_WikiMatrix/v1"]
    assert [note.split(":")[0] for note in notes_of(text)] == [
        "9 datasets.train[2]",
        "10 datasets.train[3]",
        "11 datasets.train[4]",
    ]


def test_legacy_cleaning_wins_over_a_mode_of_opuscleaner() -> None:
    others = "  teacher-mode: one-stage\n  student-model: tiny"
    text = with_line(f"{others}\n  use-opuscleaner: 'false'\n  opuscleaner-mode: defaults", "  trg: ru")
    assert parse_config(text, "my.yml").experiment.opuscleaner_mode == "legacy"
    assert [note.partition(": ")[0] for note in notes_of(text)] == [
        "7 experiment.use-opuscleaner",
        "8 experiment.opuscleaner-mode",
    ]
    assert migrated(text, "my.yml")[0] == with_line(f"{others}\n  opuscleaner-mode: legacy", "  trg: ru")


def test_the_fluency_of_hplt_has_another_name_now() -> None:
    old = "  min-fluency-threshold:\n    # of the first release\n    mono-trg: 0.95"
    text = with_line(old, "  trg: ru")
    fluency = parse_config(text, "my.yml").experiment.hplt_min_fluency
    assert (fluency.mono_src, fluency.mono_trg) == (0.8, 0.95)
    assert notes_of(text) == [
        "5 experiment.min-fluency-threshold: a key of 2024; read as hplt-min-fluency",
    ]
    rewritten = migrated(text, "my.yml")[0]
    assert rewritten == with_line(old.replace("min-fluency-threshold", "hplt-min-fluency"), "  trg: ru")
    assert notes_of(rewritten) == []
    both = with_line(f"{old}\n  hplt-min-fluency:\n    mono-trg: 0.9", "  trg: ru")
    assert [problem.partition(": ")[0] for problem in problems_of(both)] == [
        "5 experiment.min-fluency-threshold"
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("use-opuscleaner: maybe", "a key of 2024, true or false"),
        ("mono-max-sentences-src: many", "must be a mapping with the keys total, per-dataset"),
        ("pretrained-models: [a]", "a key of 2024; write continuation.models"),
        ("pretrained-models: {train-student: {urls: [a], mode: use}}", "a key of 2024"),
        ("pretrained-models: {train-backwards: {urls: [a, b], mode: use}}", "a key of 2024"),
        ("backward-model: 5", "a key of 2022; its place is taken by"),
        ("spm_sample_size: 4000", "Did you mean 'spm-sample-size'?"),
    ],
)
def test_what_has_the_form_of_no_year_is_refused(line: str, problem: str) -> None:
    found = problems_of(with_line(f"  {line}", "  trg: ru"))
    assert len(found) == 1
    assert found[0].startswith("5 experiment.")
    assert problem in found[0]


def test_todays_key_wins_over_an_old_one_only_by_hand() -> None:
    text = SMALL + "taskcluster:\n  split-chunks: 3\n"
    text = text.replace("  trg: ru\n", "  trg: ru\n  split-chunks: 2\n")
    assert problems_of(text) == [
        "5 experiment.split-chunks: unknown key: it belongs in the section taskcluster, once"
    ]


def test_epochs_other_than_the_curriculums_are_refused() -> None:
    text = SMALL + "marian-args:\n  training-backward:\n    after: 12e\n"
    (found,) = problems_of(text)
    assert found.startswith("14 marian-args.training-backward.after: 12e counts epochs")


def test_a_config_of_today_has_no_notes() -> None:
    assert config_notes(with_line("  student-model: base-memory", "  trg: ru"), "my.yml") == []
