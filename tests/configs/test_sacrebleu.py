"""sacreBLEU's sets of a pair: no two that share sentences, and none that share them with training data."""

import re

from translations_assets.config.languages import languages
from translations_assets.config.providers import held_out
from translations_assets.config.providers.provider import Found
from translations_assets.configs.generate import pair_of


def found(src: str, trg: str) -> dict[str, Found]:
    told = [each for each in held_out.find_sacrebleu(pair_of(src, trg, "")) if isinstance(each, Found)]
    return {each.key.removeprefix("sacrebleu_"): each for each in told}


def uses(src: str, trg: str) -> dict[str, str]:
    return {name: each.use for name, each in found(src, trg).items() if not each.skipped}


def test_a_pair_in_both_directions() -> None:
    assert uses("en", "lt") == uses("lt", "en") == {"wmt19": "test", "wmt19/dev": "devtest"}
    assert found("en", "lt")["wmt19"].url.startswith("https://data.statmt.org/")


def test_every_second_set_is_for_validation() -> None:
    sets = uses("en", "ru")
    years = [use for name, use in sets.items() if re.fullmatch(r"wmt\d\d", name)]
    assert years == [("test", "devtest")[number % 2] for number in range(len(years))]
    assert sets["mtedx/valid"] == "devtest"


def test_one_set_of_the_same_sentences() -> None:
    sets = found("en", "de")
    assert sets["wmt21/systems"].skipped == "the sentences of wmt21 again"
    assert sets["wmt19/google/hqr"].skipped == "the sentences of wmt19 again"
    for src, trg in (("en", code) for code in languages() if code != "en"):
        years = [name.partition("/")[0] for name in uses(src, trg) if not name.endswith(("/dev", "/valid"))]
        years = [year for year in years if year.startswith("wmt") and year != "wmt20"]
        assert len(set(years)) == len(years), trg


def test_what_is_left_out() -> None:
    assert "TED" in found("en", "fr")["iwslt17/tst2016"].skipped
    assert "blank lines" in found("en", "cs")["wmt08"].skipped
    assert found("en", "fr")["mtnt1.1/train"].skipped == "a training set"


def test_a_pair_that_sacrebleu_lacks() -> None:
    assert found("lt", "lv") == {}
