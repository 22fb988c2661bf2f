"""Datasets of the Hugging Face hub, for a person to look at."""

import json

import pytest

from tests.configs.conftest import Network
from tests.configs.network import HUB_API, of_pair, repository
from translations_assets.config.errors import Problem
from translations_assets.config.providers import huggingface
from translations_assets.config.providers.provider import Found

MONO_API = (
    "https://huggingface.co/api/datasets?filter=language:{}&filter=multilinguality:monolingual"
    "&sort=downloads&direction=-1&limit=100&full=true"
)
ANY_API = (
    "https://huggingface.co/api/datasets?filter=language:{}&sort=downloads&direction=-1&limit=100&full=true"
)


def test_parallel_datasets_by_size(network: Network) -> None:
    found = [each for each in huggingface.find_parallel(network.query) if isinstance(each, Found)]
    assert [(each.key, each.extent, each.licence, each.use) for each in found] == [
        ("web/pages", "1B<n<10B", "", ""),
        ("big/pairs", "10M<n<100M", "cc0-1.0", "train"),
        ("hfp_told/columns:train:English:lt", "", "cc-by-4.0", "train"),
        ("locked/pairs", "1M<n<10M, asks for a login", "", "train"),
        ("hfp_Some/OPUS_copy:en-lt:train:en:lt", "", "", "train"),
        ("hfp_told/pairs:lt-en:train:en:lt", "", "", "train"),
        ("tiny/pairs", "n<1K", "", "train"),
    ]
    told = [each for each in found if each.sentences]
    assert [(each.sentences, each.skipped) for each in told] == [
        (1_200_000, ""),
        (35_000, "OPUS has it"),
        (35_000, ""),
    ]
    others = {each.skipped for each in found if each not in told}
    assert others == {huggingface.TO_BE_NAMED["huggingface_parallel"]}
    assert found[1].url == "https://huggingface.co/datasets/big/pairs"


def test_the_order_does_not_depend_on_downloads(network: Network) -> None:
    before = list(huggingface.find_parallel(network.query))
    answer = json.loads((network.mirror / HUB_API.removeprefix("https://")).read_text())
    network.put(HUB_API, json.dumps(answer[::-1]).encode())
    assert list(huggingface.find_parallel(network.query)) == before


def test_monolingual_and_any_datasets(network: Network) -> None:
    for code in ("en", "lt"):
        network.put(MONO_API.format(code), json.dumps([repository(f"{code}/text")]).encode())
        network.put(ANY_API.format(code), json.dumps([repository(f"{code}/any")]).encode())
    mono = [each.key for each in huggingface.find_mono(network.query) if isinstance(each, Found)]
    every = [each.key for each in huggingface.find_any(network.query) if isinstance(each, Found)]
    assert (mono, every) == (["en/text", "lt/text"], ["en/any", "lt/any"])


@pytest.mark.parametrize("answer", [b'{"error": "busy"}', b'[{"tags": []}]', b"[1]", b"<html>"])
def test_answers_that_cannot_be_understood(network: Network, answer: bytes) -> None:
    network.put(HUB_API, answer)
    [problem] = huggingface.find_parallel(network.query)
    assert isinstance(problem, Problem)
    assert HUB_API in problem.message


@pytest.mark.parametrize(
    "told",
    [
        {"gated": "auto"},
        {"tags": []},
        {"cardData": {}},
        {"cardData": None},
        {"cardData": {"dataset_info": [of_pair("en", "lv")]}},
        {"cardData": {"dataset_info": [of_pair("en", "lt", split="validation")]}},
    ],
)
def test_what_no_card_tells_is_for_a_person_to_name(network: Network, told: dict[str, object]) -> None:
    known = {"cardData": {"dataset_info": [of_pair("en", "lt")]}}
    repositories = [{**repository("some/pairs", "task_categories:translation"), **known, **told}]
    network.put(HUB_API, json.dumps(repositories).encode())
    [found] = huggingface.find_parallel(network.query)
    assert isinstance(found, Found)
    assert (found.key, bool(found.skipped)) == ("some/pairs", True)
