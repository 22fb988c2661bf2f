"""From a search to a config that loads without notes."""

import re
from pathlib import Path

import pytest

from tests.configs.conftest import Network
from translations_assets.common.errors import TranslationsError
from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import languages
from translations_assets.config.load import config_notes, parse_config
from translations_assets.config.providers.provider import Found
from translations_assets.configs.generate import Search, check_name, compose, generate, pair_of

EXPECTED = Path(__file__).with_name("expected.en-lt.yml")
CORPUS = Found("opus", "opus_Good/v1", "train", 1000)


def test_the_whole_text(network: Network) -> None:
    """If the change is meant, write the new text into the file."""
    text = generate("spring", network.query).text
    assert re.sub(r"(mtdata|sacreBLEU|assets) \d[\w.]*\d", r"\1 X", text) == EXPECTED.read_text(
        encoding="utf-8"
    )


def test_twice_the_same_bytes(network: Network) -> None:
    assert generate("spring", network.query) == generate("spring", network.query)


def test_it_loads_without_notes(network: Network) -> None:
    generated = generate("spring", network.query)
    config = parse_config(generated.text, "my.yml")
    assert config_notes(generated.text, "my.yml") == []
    assert not generated.problems
    assert (config.experiment.name, config.experiment.src, config.experiment.trg) == ("spring", "en", "lt")
    assert config.datasets.train[0].key == "opus_NLLB/v1"
    assert config.datasets.mono_trg == config.datasets.mono_src


def test_a_set_has_one_purpose(network: Network) -> None:
    datasets = parse_config(generate("spring", network.query).text, "my.yml").datasets
    names = [
        {(dataset.provider, dataset.name) for dataset in category}
        for category in (datasets.train, datasets.devtest, datasets.test)
    ]
    assert all(names)
    assert len(set.union(*names)) == sum(map(len, names))


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_all_languages_in_both_directions(code: str) -> None:
    for pair in ((code, "en"), ("en", code)):
        text = compose("spring", pair_of(*pair, ""), Search((CORPUS,), ())).text
        assert config_notes(text, "my.yml") == []


def test_a_pair_without_english() -> None:
    text = compose("spring", pair_of("lt", "lv", ""), Search((CORPUS,), ())).text
    assert "pontoon" not in text
    assert "flores_devtest" in text


@pytest.mark.parametrize(
    ("host", "importer", "gone"),
    [
        ("opus.nlpl.eu", "opus", "opus_Europarl/v8"),
        ("huggingface.co", "huggingface_parallel", "big/pairs"),
        ("data.hplt-project.org", "hplt-mono", "hplt_mono/v3.0"),
        ("tilde.example", "mtdata", "    - mtdata_Tilde-rapid-2016-eng-lit"),
    ],
)
def test_a_source_that_is_down_is_named(network: Network, host: str, importer: str, gone: str) -> None:
    assert gone in generate("spring", network.query).text
    network.take_away(host)
    generated = generate("spring", network.query)
    assert {problem.key for problem in generated.problems} == {importer}
    assert f"\n#   {importer}: " in generated.text
    assert gone not in generated.text
    assert "sacrebleu_wmt19" in generated.text
    assert parse_config(generated.text, "my.yml").datasets.train


def test_without_opus_its_doubles_come_from_mtdata(network: Network) -> None:
    network.take_away("opus.nlpl.eu")
    config = parse_config(generate("spring", network.query).text, "my.yml")
    assert "mtdata_Statmt-europarl-10-lit-eng" in [dataset.key for dataset in config.datasets.train]


def test_no_training_data() -> None:
    with pytest.raises(TranslationsError, match="^no training data was found for English and Lithuanian$"):
        compose("spring", pair_of("en", "lt", ""), Search((), ()))


def test_nothing_can_be_reached(network: Network) -> None:
    for host in sorted(path.name for path in network.mirror.iterdir()):
        network.take_away(host)
    with pytest.raises(
        TranslationsError, match="Try again when these can be reached:\n  opus: no answer from"
    ):
        generate("spring", network.query)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("en", "en"), "both languages"),
        (("en", "lithuanian"), "Did you mean 'lt'"),
        (("xx", "en"), "'xx' is not"),
    ],
)
def test_pairs_that_are_none(pair: tuple[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pair_of(*pair, "")


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ConfigError, match="--name: must consist of letters"):
        check_name(name, pair_of("en", "lt", ""))
