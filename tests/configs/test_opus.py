"""Corpora of OPUS: the newest versions with their sizes and licences, and what is left out."""

import json

import pytest

from tests.configs.conftest import Network, by_key
from tests.configs.network import LICENCE_OF, NLLB, OPUS_API, opus_row
from translations_assets.config.errors import Problem
from translations_assets.config.providers import opus
from translations_assets.config.providers.opus import version_order
from translations_assets.config.providers.provider import Found


def found(network: Network) -> list[Found]:
    return [each for each in opus.find(network.query) if isinstance(each, Found)]


def problems(network: Network) -> list[str]:
    return [each.message for each in opus.find(network.query) if isinstance(each, Problem)]


def put_rows(network: Network, *rows: dict[str, object]) -> None:
    network.put(OPUS_API, json.dumps({"corpora": rows}).encode())


def test_the_largest_corpora_come_first(network: Network) -> None:
    train = [each for each in found(network) if each.use == "train"]
    assert [each.key for each in train[:3]] == ["opus_NLLB/v1", "opus_CCMatrix/v1", "opus_ParaCrawl/v9"]
    assert train[0].sentences == 23_298_629
    assert not train[0].estimated
    assert train[0].bytes == 1000 * 1024
    assert train[0].url == "https://object.pouta.csc.fi/OPUS-NLLB/v1/moses/en-lt.txt.zip"


def test_a_corpus_that_is_listed_twice_is_found_once(network: Network) -> None:
    corpora = by_key([each for each in found(network) if each.use == "train"])
    assert corpora["opus_ELRC-416-Swedish_Social_Secur/v1"].sentences == 147


def test_the_newest_version(network: Network) -> None:
    rows = [
        opus_row("A", version, 900, latest=latest) for version, latest in (("v9", "False"), ("v10", "False"))
    ]
    rows += [
        opus_row("B", version, 800, latest=latest) for version, latest in (("v2", "True"), ("v3", "False"))
    ]
    put_rows(network, *rows)
    skipped = {each.key: each.skipped for each in found(network) if each.use == "train"}
    assert skipped == {
        "opus_A/v10": "",
        "opus_A/v9": "v10 is newer",
        "opus_B/v2": "",
        "opus_B/v3": "v2 is newer",
    }


def test_versions_are_sorted_by_their_numbers() -> None:
    versions = ["v1", "v2", "v2.0a", "v7.1", "v8", "v10", "v2018", "v2018q4", "v2023-04-12", "v2023-10-02"]
    backwards = versions[::-1]
    assert sorted(backwards, key=version_order) == versions


@pytest.mark.parametrize("corpus", ["CCMatrix", "MultiMaCoCu", "MultiHPLT", "WikiTitles", "SPC", "WMT-News"])
def test_corpora_that_upstream_leaves_out(network: Network, corpus: str) -> None:
    put_rows(network, opus_row(corpus, "v1", 10_000), opus_row(f"Other{corpus}", "v1", 10_000))
    skipped = {each.key: each.skipped for each in found(network) if each.use == "train"}
    assert skipped[f"opus_{corpus}/v1"]
    assert not skipped[f"opus_Other{corpus}/v1"]


def test_test_sets_are_no_training_data(network: Network) -> None:
    put_rows(network, *(opus_row(name, "v1", 2000) for name in ("Flores200", "NTREX-128", "OPUS-100")))
    skipped = [each.skipped for each in found(network) if each.use == "train"]
    assert skipped == ["a test set", "a test set", "a sample of the other corpora"]


def test_licences(network: Network) -> None:
    corpora = by_key([each for each in found(network) if each.use == "train"])
    assert corpora["opus_NLLB/v1"].licence == "ODC-By"
    assert corpora["opus_Europarl/v8"].licence == "Public domain"
    assert corpora["opus_ParaCrawl/v9"].licence == ""  # "empty" in OPUS's own words
    assert corpora["opus_ELRC_2922/v1"].licence == ""  # OPUS has no such file
    assert not problems(network)


@pytest.mark.parametrize("text", ["license: >\n  folded\n", "licence: CC0\n", "license:\n"])
def test_no_licence(network: Network, text: str) -> None:
    network.put(LICENCE_OF.format("NLLB"), text.encode())
    assert by_key([each for each in found(network) if each.use == "train"])["opus_NLLB/v1"].licence == ""


def test_without_licences_the_corpora_are_found(network: Network) -> None:
    network.take_away("raw.githubusercontent.com")
    assert by_key([each for each in found(network) if each.use == "train"])["opus_NLLB/v1"].licence == ""
    assert problems(network) == [
        "licences could not all be looked up: no answer from https://raw.githubusercontent.com"
    ]


@pytest.mark.parametrize(
    "answer", [b"[]", b'{"corpora": [{"corpus": "A"}]}', b'{"corpora": 1}', b'{"corpora": [{"corpus": "A", '
               b'"version": "v1", "alignment_pairs": "many"}]}', b"<html>", b""],
)  # fmt: skip
def test_answers_that_cannot_be_understood(network: Network, answer: bytes) -> None:
    network.put(OPUS_API, answer)
    assert [each.key for each in found(network)] == ["opus_NLLB/v1", "opus_NLLB/v1"]
    assert [message.startswith(("the answer of", OPUS_API)) for message in problems(network)] == [True]


def test_no_corpora(network: Network) -> None:
    put_rows(network)
    assert {each.use for each in found(network)} == {"mono-src", "mono-trg"}
    assert not problems(network)


def test_the_monolingual_side(network: Network) -> None:
    mono = [each for each in found(network) if each.use == "mono-trg"]
    assert [(each.key, each.sentences, each.estimated) for each in mono] == [
        ("opus_NLLB/v1", 50_000_000, True)
    ]
    (network.mirror / NLLB.format("lt").removeprefix("https://")).unlink()
    assert not [each for each in found(network) if each.use == "mono-trg"]
    assert not problems(network)  # the server says that there is none
    network.take_away("object.pouta.csc.fi")
    assert len(problems(network)) == 2
