"""Several sources at once."""

from tests.configs.conftest import Network
from translations_assets.configs.generate import SOURCES, USUAL, search


def test_the_order_is_that_of_the_sources(network: Network) -> None:
    found = search(network.query, ["news-crawl", "opus", "sacrebleu"])
    importers = list(dict.fromkeys(each.importer for each in found.found))
    assert importers == ["opus", "sacrebleu", "news-crawl"]
    assert not found.problems


def test_one_source_alone(network: Network) -> None:
    assert {each.importer for each in search(network.query, ["mtdata"]).found} == {"mtdata"}


def test_all_sources_but_one_are_asked_by_default() -> None:
    assert set(SOURCES) - set(USUAL) == {"huggingface_any"}
