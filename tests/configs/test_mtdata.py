"""mtdata's entries of a pair: their uses, sizes, and what is left out."""

import pytest

from tests.configs.conftest import Network, by_key
from tests.configs.network import CATALOGUE
from tests.mtdata import state_with_catalogue
from translations_assets.config.datasets import check_parallel
from translations_assets.config.errors import Problem
from translations_assets.config.providers import mtdata
from translations_assets.config.providers.provider import Found
from translations_assets.config.web import Answer
from translations_assets.configs.generate import pair_of

REAL = mtdata.catalogue  # before a test puts another one there


def found(network: Network, src: str = "en", trg: str = "lt") -> dict[str, Found]:
    query = pair_of(src, trg, str(network.mirror))
    return by_key([each for each in mtdata.find(query) if isinstance(each, Found)])


def test_entries_of_the_pair_in_either_direction(network: Network) -> None:
    keys = list(found(network))
    assert keys == list(found(network, "lt", "en")) == sorted(keys)
    assert "mtdata_Statmt-europarl-10-lit-eng" in keys
    assert not [key for key in keys if "OPUS" in key or "lav" in key or "pol" in key or "news_crawl" in key]
    assert list(found(network, "en", "lv")) == ["mtdata_EU-eac_forms-1-eng-lav"]


def test_uses(network: Network) -> None:
    entries = found(network)
    assert entries["mtdata_Lindat-khresmoi_summary_dev-2-eng-lit"].use == "devtest"
    assert entries["mtdata_Lindat-khresmoi_summary_test-2-eng-lit"].use == "test"
    assert entries["mtdata_Tilde-rapid-2016-eng-lit"].use == "train"


@pytest.mark.parametrize(
    ("corpus", "use"),
    [
        ("hien_dev", "devtest"),
        ("kftt_tune", "devtest"),
        ("zenamt_eng_val", "devtest"),
        ("nunavut_hansard_devtest", "devtest"),
        ("wikipedia_dev_kmen", "devtest"),
        ("dev", "devtest"),
        ("pmi_test", "test"),
        ("hien_train", "train"),
        ("latest", "train"),
        ("medev", "train"),
    ],
)
def test_names_tell_uses(corpus: str, use: str) -> None:
    assert mtdata._use(corpus) == use


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("ELRC-www.lrs.lt-1-eng-lit", "ELRC"),
        ("Statmt-europarl-9-lit-eng", "10 is newer"),
        ("Statmt-newsdev_enlt-2019-eng-lit", "sacreBLEU"),
        ("Neulab-tedtalks_test-1-eng-lit", "TED"),
        ("Flores-flores200_dev-1-eng-lit", "FLORES"),
        ("Google-wmt24pp-1-eng-lit_LT", "WMT24++ has a provider"),
        ("Tilde-czechtourism-1-eng-lit", "does not exist"),
    ],
)
def test_what_is_left_out(network: Network, key: str, reason: str) -> None:
    assert reason in found(network)[f"mtdata_{key}"].skipped


def test_sizes(network: Network) -> None:
    entries = found(network)
    rapid = entries["mtdata_Tilde-rapid-2016-eng-lit"]
    assert (rapid.bytes, rapid.sentences, rapid.estimated) == (11_300_000, 100_000, True)
    two_files = entries["mtdata_EU-dcep-1-eng-lit"]
    assert (two_files.bytes, two_files.sentences) == (45_200_000, 400_000)
    shared = entries["mtdata_EU-eac_forms-1-eng-lit"]
    assert (shared.bytes, shared.sentences, shared.extent) == (3_500_000, None, "part of an archive")


def test_only_what_may_be_used_is_measured(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(url: str, mirror: str) -> Answer:
        asked.append(url)
        return Answer(1000)

    monkeypatch.setattr(mtdata, "ask", ask)
    found(network)
    assert CATALOGUE["Tilde-rapid-2016-eng-lit"][0] in asked
    assert not [url for url in asked if "tinyurl" in url or "elrc" in url or "v9" in url]


def test_servers_that_are_away_are_one_problem(network: Network) -> None:
    network.take_away("tilde.example")
    assert found(network)["mtdata_Tilde-rapid-2016-eng-lit"].skipped.startswith("no answer")
    problems = [each for each in mtdata.find(network.query) if isinstance(each, Problem)]
    assert len(problems) == 1
    assert problems[0].message.startswith(
        "3 of 8 datasets cannot be reached; mtdata_Tilde-airbaltic-1-eng-lit: no answer"
    )


def test_a_catalogue_that_cannot_be_built(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(network.mirror.parent))
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", "raise OSError('no space left')")
    monkeypatch.setattr(mtdata, "catalogue", REAL)
    message = "mtdata's catalogue cannot be built: OSError: no space left"
    assert list(mtdata.find(network.query)) == [Problem(message, key="mtdata")]


@pytest.mark.slow
def test_the_real_catalogue(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(state_with_catalogue()))
    monkeypatch.setattr(mtdata, "catalogue", REAL)
    monkeypatch.setattr(mtdata, "ask", lambda url, mirror: Answer(1 << 20))
    entries = found(network)
    assert entries["mtdata_Tilde-rapid-2016-eng-lit"].sentences == (1 << 20) // 113
    assert entries["mtdata_Statmt-europarl-9-lit-eng"].skipped == "10 is newer"
    assert entries["mtdata_Microsoft-ntrex-128-eng-lit"].skipped
    used = [each for each in entries.values() if not each.skipped]
    assert len(used) > 10
    assert [check_parallel(each.key).key for each in used] == [each.key for each in used]
