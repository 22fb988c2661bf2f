"""The table of what Marian and sacreBLEU know."""

import json

from benchmarks.known import make_table
from pipeline.train.settings import OWN
from translations_assets.config.known import TABLE, marian_options, sacrebleu_sets
from translations_assets.config.marian_args import INT8_WIDTH, SET_BY_SCRIPT, SIZES


def test_the_table_is_that_of_the_installed_versions() -> None:
    assert json.loads(TABLE.read_text(encoding="utf-8")) == make_table()


def test_options_have_types() -> None:
    options = marian_options("train")
    assert [options[name] for name in ("early-stopping", "learn-rate", "after", "dim-vocabs", "fp16")] == [
        *("UINT", "FLOAT", "TEXT", "VECTOR", "FLAG")
    ]
    assert "beam-size" in marian_options("decode")
    assert "learn-rate" not in marian_options("decode")


def test_test_sets_have_pairs() -> None:
    assert "en-ru" in sacrebleu_sets()["wmt19"]


def test_what_the_scripts_decide_is_what_is_refused() -> None:
    assert SET_BY_SCRIPT["train"] == OWN
    assert INT8_WIDTH == 64
    assert set(SIZES) <= set(marian_options("train"))
