"""Tests of the contents of a generated config."""

from dataclasses import replace

import pytest

from tests.configs.conftest import by_key
from translations_assets.config.providers.provider import Found, Query
from translations_assets.configs.generate import bare_name, choose, judge, pair_of

PAIR = pair_of("en", "lt", "")
CORPUS = Found("opus", "opus_Good/v1", "train", 1000)
FLORES = Found("flores", "flores_devtest", "test", 1012)


def reason(*found: Found) -> str:
    """Reason to leave out the last of some datasets."""
    return list(judge(found))[-1].skipped


def keys(category: str, query: Query, *found: Found) -> list[str]:
    return [each.key for each in choose(found, query).chosen[category]]


def test_the_least_size() -> None:
    assert reason(replace(CORPUS, sentences=199)) == "not enough data"
    assert reason(replace(CORPUS, sentences=200)) == ""
    assert reason(replace(CORPUS, sentences=None)) == ""


@pytest.mark.parametrize("name", ["no version", "A B/v1", "A\n/v1", "A\x00/v1", "A/v1/x"])
def test_names_that_cannot_be_keys(name: str) -> None:
    assert "cannot be a dataset key" in reason(replace(CORPUS, key=f"opus_{name}"))


def test_short_names_that_are_the_same() -> None:
    other = replace(CORPUS, key="opus_Good/v.1")
    assert reason(replace(CORPUS, key="opus_Good/v_1"), other) == "another dataset has the same short name"
    assert reason(replace(CORPUS, key="opus_Good/v_1"), replace(other, use="mono-src")) == ""


@pytest.mark.parametrize(
    ("opus", "mtdata"),
    [
        ("Europarl/v8", "Statmt-europarl-10-lit-eng"),
        ("NeuLab-TedTalks/v1", "Neulab-tedtalks_train-1-eng-lit"),
        ("LinguaTools-WikiTitles/v2014", "LinguaTools-wikititles-2014-eng-lit"),
        ("ParaCrawl/v9", "ParaCrawl-paracrawl-9-eng-lit"),
        ("Books/v1", "Statmt-books_wmt17-1-eng-lit"),
        ("ELRC-725-Hallituskausi_2011_2/v1", "ELRC-725_hallituskausi_2011_2015-1-eng-fin"),
    ],
)
def test_what_opus_has_is_not_taken_from_mtdata(opus: str, mtdata: str) -> None:
    double = Found("mtdata", f"mtdata_{mtdata}", "train", 5000)
    assert reason(replace(CORPUS, key=f"opus_{opus}"), double) == "OPUS has it"
    assert reason(CORPUS, double) == ""


def test_monolingual_text_of_opus_is_no_double() -> None:
    mono = replace(CORPUS, key="opus_NLLB/v1", use="mono-src")
    assert reason(mono, Found("mtdata", "mtdata_AllenAi-nllb-1-eng-lit", "train", 5000)) == ""


def test_a_test_set_that_may_be_part_of_a_corpus_of_opus() -> None:
    test = Found("mtdata", "mtdata_ParIce-opensubtitles_test-20.05-eng-isl", "test")
    assert (
        reason(replace(CORPUS, key="opus_OpenSubtitles/v2024"), test) == "OPUS has the corpus that it is of"
    )
    assert reason(CORPUS, test) == ""


def test_bare_names() -> None:
    assert bare_name("NeuLab-TedTalks") == bare_name("Neulab" + "tedtalks_train") == "neulabtedtalks"


def test_the_order_is_kept_and_reasons_of_sources_count() -> None:
    found = [replace(CORPUS, key=f"opus_{name}/v1") for name in "CAB"]
    choice = choose([*found, replace(CORPUS, key="opus_D/v1", skipped="damaged")], PAIR)
    assert [each.key for each in choice.chosen["train"]] == ["opus_C/v1", "opus_A/v1", "opus_B/v1"]
    assert [each.skipped for each in choice.skipped] == ["damaged"]


def test_dev_sets_are_mixed() -> None:
    dev = Found("sacrebleu", "sacrebleu_wmt19/dev", "devtest")
    assert keys("devtest", PAIR, dev) == ["sacrebleu_aug-mix_wmt19/dev"]


def test_pontoon_is_for_short_text() -> None:
    assert keys("test", PAIR, Found("pontoon", "tmx_pontoon", "test")) == ["tmx_aug-short_pontoon"]


@pytest.mark.parametrize(
    ("pair", "variants"),
    [
        (("en", "lt"), {"mix", "noise", "inline-noise", "punct", "title", "upper", "typos"}),
        (("ar", "en"), {"mix", "noise", "inline-noise", "punct", "typos"}),
        (("en", "ja"), {"mix", "noise", "inline-noise", "punct"}),
        (("ko", "en"), {"mix", "noise", "inline-noise", "punct"}),
    ],
)
def test_variants_that_change_text_of_the_scripts(pair: tuple[str, str], variants: set[str]) -> None:
    chosen = keys("test", pair_of(*pair, ""), FLORES)
    assert chosen[0] == "flores_devtest"
    assert set(chosen[1:]) == {f"flores_aug-{name}_devtest" for name in variants}


def test_marks_are_put_on_datasets() -> None:
    judged = by_key(list(judge([CORPUS, replace(CORPUS, key="opus_Small/v1", sentences=3)])))
    assert {key: each.skipped for key, each in judged.items()} == {
        "opus_Good/v1": "",
        "opus_Small/v1": "not enough data",
    }
