"""Overriding parts of a config."""

import pytest

from tests.config.texts import SMALL
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import apply_overrides, parse_config

CONFIG = parse_config(SMALL + "marian-args:\n  training-student:\n    after: 800u\n", "my.yml")


def test_values_are_changed_and_the_rest_stays() -> None:
    changed = apply_overrides(
        CONFIG, {"marian-args.training-student.after": "50u", "experiment.spm-vocab-size": 1000}
    )
    assert changed.marian_args.training_student == {"after": "50u"}
    assert changed.experiment.spm_vocab_size == 1000
    assert changed.datasets == CONFIG.datasets
    assert CONFIG.marian_args.training_student["after"] == "800u"


def test_an_option_of_the_student_leaves_the_others_as_they_are() -> None:
    small = parse_config(SMALL, "my.yml")
    for overrides in (
        {"marian-args.training-student.after": "50u"},
        {"marian-args": {"training-student": {"after": "50u"}}},
    ):
        changed = apply_overrides(small, overrides)
        assert changed.marian_args.training_student == {"early-stopping": "15", "after": "50u"}


def test_a_mapping_is_merged_into_its_section() -> None:
    changed = apply_overrides(CONFIG, {"experiment": {"mono-max-sentences-src": {"total": 7}}})
    assert changed.experiment.mono_max_sentences_src.total == 7
    assert changed.experiment.mono_max_sentences_src.per_dataset == 70_000_000
    assert changed.experiment.name == "small"


def test_no_overrides_change_nothing() -> None:
    assert apply_overrides(CONFIG, {}) == CONFIG
    assert apply_overrides(CONFIG, {}).digest == CONFIG.digest


def test_the_name_of_a_threshold_may_hold_dots() -> None:
    with pytest.raises(ConfigError) as caught:
        apply_overrides(CONFIG, {"experiment.bicleaner.dataset-thresholds.opus_ParaCrawl.v9": 0.7})
    assert str(caught.value) == (
        "overrides: experiment.bicleaner.dataset-thresholds.opus_ParaCrawl.v9: matches no dataset in "
        "datasets.train. Did you mean 'opus_ParaCrawl_v9'? Names: opus_ParaCrawl_v9"
    )


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (
            "experiment.spm-vocab-sise",
            8,
            "experiment.spm-vocab-sise: unknown key. Did you mean 'spm-vocab-size'?",
        ),
        ("experiment.spm-vocab-size", "8", "experiment.spm-vocab-size: must be a whole number"),
        ("experiment.trg", "en", "experiment.trg: is the source language too (en)"),
        ("datasets.test", ["flores_dev"], "datasets.devtest[0]: 'flores_dev' is in test too"),
        ("experiment.name.first", "x", "experiment.name.first: name is no section"),
        ("target-stage", "nowhere", "target-stage: 'nowhere' is not a stage."),
    ],
)
def test_what_overrides_make_wrong(key: str, value: object, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        apply_overrides(CONFIG, {key: value})
    assert str(caught.value).startswith(f"overrides: {problem}")
