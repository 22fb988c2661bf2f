"""Monolingual text: the years of the News Crawl, and HPLT."""

import pytest

from tests.configs.conftest import Network
from tests.configs.network import HPLT, NEWS, listing
from translations_assets.config.errors import Problem
from translations_assets.config.providers.monolingual import find_hplt, find_news
from translations_assets.config.providers.provider import Found


def test_years_of_both_languages(network: Network) -> None:
    found = list(find_news(network.query))
    assert [(each.key, each.use) for each in found if isinstance(each, Found)] == [
        ("news-crawl_news.2019", "mono-src"),
        ("news-crawl_news.2020", "mono-src"),
        ("news-crawl_news.2019", "mono-trg"),
        ("news-crawl_news.2020", "mono-trg"),
    ]


def test_sizes_and_addresses_of_years(network: Network) -> None:
    network.put(NEWS.format("lt"), listing("lt", of_2011="113K", of_2012="1.5G", of_2013="900"))
    found = [each for each in find_news(network.query) if isinstance(each, Found)][2:]
    assert [(each.bytes, each.sentences) for each in found] == [
        (115_712, 1024),
        (1_610_612_736, 14_253_210),
        (900, 7),
    ]
    assert all(each.estimated for each in found)
    assert found[0].url == "http://data.statmt.org/news-crawl/lt/news.2011.lt.shuffled.deduped.gz"


def test_a_language_without_news(network: Network) -> None:
    (network.mirror / NEWS.format("lt").removeprefix("http://") / "index.html").unlink()
    found = list(find_news(network.query))
    assert {each.use for each in found if isinstance(each, Found)} == {"mono-src"}
    assert len(found) == 2


def test_a_listing_in_another_form(network: Network) -> None:
    network.put(NEWS.format("lt"), b'<a href="news.2019.lt.shuffled.deduped.gz"> big')
    problems = [each for each in find_news(network.query) if isinstance(each, Problem)]
    assert [each.message for each in problems] == [f"the listing {NEWS.format('lt')} cannot be understood"]


def test_hplt_tells_its_shards(network: Network) -> None:
    network.put(
        HPLT.format("lit_Latn"), b"https://data.hplt-project.org/three/sorted/lit_Latn/5_1.jsonl.zst\n"
    )
    found = [each for each in find_hplt(network.query) if isinstance(each, Found)]
    assert [(each.key, each.use, each.extent, each.licence) for each in found] == [
        ("hplt_mono/v3.0", "mono-src", "3 shards", "CC0-1.0"),
        ("hplt_mono/v3.0", "mono-trg", "1 shard", "CC0-1.0"),
    ]


def test_hplt_lacks_a_language(network: Network) -> None:
    (network.mirror / HPLT.format("eng_Latn").removeprefix("https://")).unlink()
    assert [each.use for each in find_hplt(network.query) if isinstance(each, Found)] == ["mono-trg"]


@pytest.mark.parametrize("answer", [b"", b"<html>not found</html>"])
def test_no_list_of_shards(network: Network, answer: bytes) -> None:
    network.put(HPLT.format("eng_Latn"), answer)
    problems = [each for each in find_hplt(network.query) if isinstance(each, Problem)]
    assert [each.message for each in problems] == [f"{HPLT.format('eng_Latn')} is no list of shards"]


@pytest.mark.parametrize(
    ("find", "host"),
    [(find_news, "data.statmt.org"), (find_hplt, "data.hplt-project.org")],
)
def test_servers_that_are_away(network: Network, find: object, host: str) -> None:
    network.take_away(host)
    told = list(find(network.query))  # type: ignore[operator]
    assert [type(each) for each in told] == [Problem, Problem]
    assert all("no answer" in each.message for each in told)
