"""Sweeps as files: the variants of their axes, and which of them differ by chance alone."""

from __future__ import annotations

import dagster as dg
import pytest

from translations_assets.config.errors import ConfigError
from translations_assets.config.sweep import TrainingSweep, parse_sweep, settings_of

TEXT = """
base: en-eo.demo
axes:
  marian-args.training-student.learn-rate: [0.001, 0.002]
  experiment.seeds.student: [1, 2]
  without: ["", opus_Books/v1]
exclude:
  - {without: opus_Books/v1, experiment.seeds.student: 2}
"""
RATE, SEED = "marian-args.training-student.learn-rate", "experiment.seeds.student"


def sweep() -> TrainingSweep:
    return parse_sweep(TEXT, "rates", "rates.yml")


def test_every_combination_that_is_not_excluded_is_a_variant() -> None:
    values = [tuple(variant.values.values()) for variant in sweep().variants]
    assert values == [
        (rate, seed, without)
        for rate in (0.001, 0.002)
        for seed, without in ((1, ""), (1, "opus_Books/v1"), (2, ""))
    ]
    assert sweep().variants[1].partition == (
        "en-eo.demo.rates.learn-rate-0.001.student-1.without-opus_Books-v1"
    )


def test_variants_that_differ_in_seeds_alone_are_one_setting() -> None:
    settings = [*settings_of(sweep().variants)]
    assert [setting for setting, _ in settings] == [
        {RATE: rate, "without": without} for rate in (0.001, 0.002) for without in ("", "opus_Books/v1")
    ]
    assert [[variant.values[SEED] for variant in group] for _, group in settings] == [[1, 2], [1]] * 2


def test_datasets_that_are_left_out_are_no_overrides_of_keys() -> None:
    last = sweep().variants[1]
    assert (last.overrides, last.without) == ({RATE: 0.001, SEED: 1}, "opus_Books/v1")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("[-0.2, 0.2, 0.3]", ["value-1", "value-2", "0.3"]),
        ("[a/b, a b]", ["value-1", "value-2"]),
        ('["", none]', ["value-1", "value-2"]),
        ("[value-2, [1]]", ["value-1", "value-2"]),
        ("[-0.2, a/b, {x: 1}]", ["0.2", "a-b", "value-3"]),
    ],
)
def test_each_value_has_a_word_of_its_own(values: str, words: list[str]) -> None:
    """Two variants of one name would be one partition, and one of them would never be trained."""
    text = f"base: en-eo.demo\naxes: {{marian-args.training-student.label-smoothing: {values}}}"
    variants = parse_sweep(text, "x", "x.yml").variants
    assert [variant.partition for variant in variants] == [
        f"en-eo.demo.x.label-smoothing-{word}" for word in words
    ]


@pytest.mark.parametrize(
    ("base", "name", "message"),
    [
        ("en-eo...demo", "rates", "sweep.yml:1: base: must be the name of a training config"),
        ("en-eo.demo..", "rates", "sweep.yml:1: base: must be the name of a training config"),
        ("en-eo.demo", "more...rates", "a sweep's name must consist of letters, digits"),
        ("en-eo.demo", "rates..", "a sweep's name must consist of letters, digits"),
    ],
)
def test_no_variant_is_called_as_a_range_of_partitions(base: str, name: str, message: str) -> None:
    """Dagster refuses such a key, and with it all definitions."""
    with pytest.raises(ConfigError) as caught:
        parse_sweep(f"base: {base}\naxes: {{{SEED}: [1]}}", name, "sweep.yml")
    assert message in str(caught.value)


def test_a_value_that_no_key_can_have_stands_there_as_its_number() -> None:
    text = f'base: en-eo.demo\naxes: {{{RATE}: ["0..1", "a...b", "a..", "b."], {SEED}: [1]}}'
    keys = [variant.partition for variant in parse_sweep(text, "rates", "sweep.yml").variants]
    assert [key.split(".rates.learn-rate-")[1] for key in keys] == [
        "0..1.student-1",
        "value-2.student-1",
        "value-3.student-1",
        "b..student-1",
    ]
    assert dg.StaticPartitionsDefinition(keys).get_partition_keys() == keys
