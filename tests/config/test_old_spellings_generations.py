"""Tests of the generation of a config, and the meaning of missing keys at that time."""

from pathlib import Path

import pytest

from tests.config.texts import LEFT_OPEN, SMALL, with_line
from translations_assets.config.load import config_notes, parse_config, read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.old_spellings.generations import Generation, is_old, newest_mark
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.yaml_reader import read_yaml

GENERATIONS = Path(__file__).parent / "generations"
LAST = "    - flores_devtest\n"  # of the small config


def in_experiment(lines: str) -> str:
    return with_line("\n".join(f"  {line}" for line in lines.splitlines()), "  trg: ru")


def values_of(text: str) -> TrainingConfig:
    return TrainingConfig.model_validate(read_values(text, "my.yml").value)


@pytest.mark.parametrize(
    ("name", "newest", "old"),
    [
        ("snakemake-2021", Generation.FIRST, True),
        ("snakemake-2022", Generation.OPUSCLEANER, True),
        ("taskcluster-2024", Generation.MODIFIERS, True),
        ("taskcluster-2025", Generation.CONTINUATION, True),
        ("today", Generation.TODAY, False),
    ],
)
def test_the_generation_of_a_config(name: str, newest: Generation, old: bool) -> None:
    values = read_yaml((GENERATIONS / f"{name}.yml").read_text(encoding="utf-8"), name).value
    assert (newest_mark(values), is_old(values)) == (newest, old)


def test_left_over_keys_do_not_make_a_config_older() -> None:
    """As in upstream's own fixtures, which carried keys of Snakemake along into 2025."""
    text = in_experiment("backward-model: NOT-YET-SUPPORTED\nsplit-length: 5000\nteacher-decoder: marian")
    values = read_yaml(text, "my.yml").value
    assert (newest_mark(values), is_old(values)) == (Generation.CONTINUATION, True)
    config = values_of(text)
    assert (config.experiment.student_model, config.experiment.opuscleaner_mode) == ("base-memory", "custom")
    assert config.target_stage == "evaluate-teacher"


@pytest.mark.parametrize(
    ("lines", "student", "cleaning", "stage"),
    [
        ("backward-model: ''", "tiny", "legacy", "all"),
        ("backward-model: NOT-YET-SUPPORTED", "tiny", "legacy", "all"),
        ("mono-max-sentences-src: 1000", "tiny", "legacy", "all"),
        ("use-opuscleaner: 'true'", "tiny", "custom", "all"),
        ("use-opuscleaner: 'false'", "tiny", "legacy", "all"),
        ("pretrained-models: {}\nopuscleaner-mode: defaults", "tiny", "defaults", "all"),
        (
            "use-opuscleaner: 'true'\nmono-max-sentences-src:\n  total: 9\n  per-dataset: 9",
            "tiny",
            "custom",
            "all",
        ),
        ("use-opuscleaner: 'true'\nteacher-decoder: marian", "base-memory", "custom", "evaluate-teacher"),
        ("use-opuscleaner: 'true'\nstudent-model: base", "base", "custom", "evaluate-teacher"),
        ("teacher-mode: one-stage", "base-memory", "custom", "evaluate-teacher"),
    ],
)
def test_what_is_not_given_means_what_it_meant_then(
    lines: str, student: str, cleaning: str, stage: str
) -> None:
    text = in_experiment(lines)
    new, _ = migrated(text, "my.yml")
    for config in (values_of(text), values_of(new)):
        assert config.experiment.student_model == student
        assert config.experiment.opuscleaner_mode == cleaning
        assert config.target_stage == stage
    assert values_of(new) == values_of(text)
    assert not any(LEFT_OPEN in note.message for note in config_notes(new, "my.yml")) or new == text


@pytest.mark.parametrize(
    ("marian_args", "patience"),
    [("", "20"), ("marian-args:\n  training-backward:\n    disp-freq: 10\n", "20")],
)
def test_the_patience_of_an_old_student_was_that_of_its_training_config(
    marian_args: str, patience: str
) -> None:
    text = in_experiment("use-opuscleaner: 'true'") + marian_args
    assert values_of(text).marian_args.training_student == {"early-stopping": patience}
    assert values_of(migrated(text, "my.yml")[0]) == values_of(text)
    assert parse_config(SMALL, "my.yml").marian_args.training_student == {"early-stopping": "15"}


def test_the_limit_of_the_corpus_was_that_of_the_validation_set_until_it_had_its_own() -> None:
    limited = "corpus-max-sentences: 1000"
    assert (
        values_of(in_experiment(f"use-opuscleaner: 'true'\n{limited}")).experiment.dev_max_sentences == 1000
    )
    later = f"use-opuscleaner: 'true'\narchive-corpora: true\n{limited}"
    assert values_of(in_experiment(later)).experiment.dev_max_sentences != 1000


def test_where_nothing_tells_todays_meaning_holds_with_one_note() -> None:
    (note,) = config_notes(SMALL, "my.yml")
    assert (note.line, note.key) == (1, "experiment")
    assert note.message == (
        "nothing shows which year this config is of; read as one of today, with "
        "target-stage: evaluate-teacher (all before 2024-10), "
        "experiment.opuscleaner-mode: custom (legacy before 2023-09), "
        "experiment.student-model: base-memory (tiny before 2024-10), "
        "marian-args.training-student.early-stopping: 15 (20 before 2024-10). "
        "Give experiment.student-model, as all configs since October 2024 do"
    )
    assert config_notes(in_experiment("student-model: tiny"), "my.yml") == []
    assert config_notes(SMALL + "checks: {}\n", "my.yml") == []


@pytest.mark.parametrize(
    ("lines", "sets", "told"),
    [
        ("use-opuscleaner: 'true'", "", ["experiment.teacher-mode"]),
        ("use-opuscleaner: 'true'\nteacher-mode: one-stage", "", []),
        (
            "use-opuscleaner: 'true'",
            "    - flores_aug-title_devtest\n",
            ["experiment.teacher-mode", "datasets"],
        ),
        ("use-opuscleaner: 'true'", "    - flores_aug-noise_devtest\n", ["experiment.teacher-mode"]),
        ("teacher-mode: two-stage\nstudent-model: tiny", "    - flores_aug-title_devtest\n", []),
    ],
)
def test_what_no_key_can_restore_is_noted(lines: str, sets: str, told: list[str]) -> None:
    text = in_experiment(lines) + sets
    found = [
        note.key
        for note in config_notes(text, "my.yml")
        if note.key in ("experiment.teacher-mode", "datasets")
    ]
    assert found == told
    assert {*told} <= {note.key for note in migrated(text, "my.yml")[1]}
