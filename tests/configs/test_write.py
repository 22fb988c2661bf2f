"""The text of a config: comments, sizes, and names that YAML would read as something else."""

from dataclasses import replace

import pytest
import yaml

from translations_assets.config.errors import Problem
from translations_assets.config.load import config_notes, parse_config
from translations_assets.config.providers.provider import Found, licence_text
from translations_assets.configs.generate import choose, pair_of, size_text, write

CORPUS = Found("opus", "opus_Good/v1", "train", 1000, bytes=50_000, licence="CC0")
DEV = Found("flores", "flores_dev", "devtest", 997)
HPLT = Found("hplt-mono", "hplt_mono/v3.0", "mono-trg")


def text_of(*found: Found, src: str = "en", trg: str = "lt", name: str = "spring", problem: str = "") -> str:
    query = pair_of(src, trg, "")
    problems = [Problem(problem, key="opus")] if problem else []
    text = write(name, query, choose([DEV, CORPUS, *found], query), problems)
    parse_config(text, "my.yml")
    assert not config_notes(text, "my.yml")
    return text


def test_names_that_yaml_would_read_as_something_else() -> None:
    experiment = yaml.safe_load(text_of(src="no", trg="en", name="2024"))["experiment"]
    assert [experiment[key] for key in ("name", "src", "trg")] == ["2024", "no", "en"]


def test_what_servers_say_stays_within_comments() -> None:
    evil = "\nexperiment: {name: evil}\n\x85target-stage: all\u2028a: b\x00"
    left_out = replace(CORPUS, key=f"opus_{evil}", licence=licence_text(evil), skipped=evil)
    config = yaml.safe_load(text_of(left_out, problem=evil))
    assert config["experiment"]["name"] == "spring"
    assert config["target-stage"] == "all"
    assert list(config) == ["experiment", "datasets", "target-stage", "taskcluster"]


def test_totals_tell_what_is_known_and_what_is_estimated() -> None:
    guessed = [Found("mtdata", f"mtdata_A-{name}-1-eng-lit", "train", 500, estimated=True) for name in "bc"]
    unknown = Found("mtdata", "mtdata_A-d-1-eng-lit", "train")
    text = text_of(*guessed, unknown)
    assert (
        "# 1,000 sentences in 1 dataset; ~1,000 sentences in 2 datasets; 1 dataset of unknown size\n" in text
    )
    assert "  # nothing was found\n  # Of each at most 70,000,000 are used, and 100,000,000 in all.\n" in text
    assert "  mono-src: []\n" in text


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ({}, 1),
        ({"train": [1_998_000, 1_000]}, 1),  # and those of CORPUS
        ({"train": [1_998_000, 1_001, None]}, 2),
        ({"train": [59_999_000]}, 30),
        ({"train": [50_000_000], "mono-src": [69_000_000, 1_000_000]}, 35),
        ({"mono-trg": [500_000_000]}, 35),  # of each dataset no more than 70 million
        ({"mono-trg": [80_000_000, 80_000_000]}, 50),  # and of all 100 million
        ({"train": [3_000_000_000]}, 1000),
    ],
)
def test_a_part_is_some_hours_of_a_worker(sizes: dict[str, list[int | None]], parts: int) -> None:
    found = [
        Found("opus", f"opus_C{use}{number}/v1".replace("-", ""), use, size)
        for use, several in sizes.items()
        for number, size in enumerate(several)
    ]
    config = parse_config(text_of(*found), "my.yml")
    assert config.taskcluster.split_chunks == parts


def test_problems_are_named() -> None:
    assert "#   opus: no answer from https://opus.nlpl.eu\n" in text_of(
        problem="no answer from https://opus.nlpl.eu"
    )
    assert "could be learnt" not in text_of()


@pytest.mark.parametrize(
    ("pair", "keys"),
    [
        (("en", "lt"), {}),
        (("ja", "en"), {"spm-vocab-split": True}),
        (("ko", "zh"), {"spm-vocab-split": True}),
        (("en", "zh_hant"), {"spm-vocab-size": 64_000}),
    ],
)
def test_vocabularies_of_scripts_with_many_characters(pair: tuple[str, str], keys: dict[str, object]) -> None:
    experiment = yaml.safe_load(text_of(src=pair[0], trg=pair[1]))["experiment"]
    assert {key: value for key, value in experiment.items() if key.startswith("spm")} == keys


@pytest.mark.parametrize(
    ("pair", "scored"), [(("en", "lt"), True), (("ko", "en"), True), (("ko", "zh"), False)]
)
def test_a_pair_without_english_is_not_scored(pair: tuple[str, str], scored: bool) -> None:
    experiment = yaml.safe_load(text_of(src=pair[0], trg=pair[1]))["experiment"]
    assert experiment.get("bicleaner") == (None if scored else {"default-threshold": 0})


def test_a_backwards_model_that_need_not_be_trained() -> None:
    config = yaml.safe_load(text_of(src="en", trg="ru"))
    assert config["experiment"]["teacher-mode"] == "one-stage"
    model = config["continuation"]["models"]["backwards"]
    assert (model["mode"], model["url"].split("/")[-3:-1]) == ("use", ["ru-en", "better-teacher"])
    other = yaml.safe_load(text_of(src="ru", trg="en"))
    assert "continuation" not in other
    assert "teacher-mode" not in other["experiment"]


def test_a_higher_score_where_there_is_plenty_of_text() -> None:
    assert "mono-trg: 8.0" in text_of(HPLT, src="lt", trg="en")
    assert "mono-trg: 8.0" not in text_of(HPLT)
    assert "mono-trg: 8.0" not in text_of(src="lt", trg="en")


def test_sizes() -> None:
    assert size_text(CORPUS) == "1,000 sentences"
    assert size_text(replace(CORPUS, sentences=1, estimated=True)) == "~1 sentence (50.0 kB)"
    assert (
        size_text(replace(CORPUS, sentences=None, extent="part of an archive"))
        == "part of an archive (50.0 kB)"
    )
    assert size_text(replace(CORPUS, sentences=None, bytes=None)) == ""


def test_licences_are_short() -> None:
    assert licence_text("<a href='x'>CC  BY</a>\n4.0") == "CC BY 4.0"
    assert [licence_text(stated) for stated in ("empty", "unknown", "", None, 3)] == [""] * 5
    assert len(licence_text("x" * 1000)) == 60
