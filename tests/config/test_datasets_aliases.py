"""Names that a config gives to datasets itself."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.config.texts import SMALL, problem_of, problems_of, with_line
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.json_schema import json_schema
from translations_assets.config.load import apply_overrides, config_notes, parse_config, read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.sources import addresses

URL = "url_https://example.org/data/bulletins.[LANG].zst"
NAMED = f"    - dataset: {URL}\n      alias: bulletins"
TEXT = with_line(NAMED, "    - opus_ParaCrawl/v9")


def with_threshold(name: str, text: str = TEXT) -> str:
    line = f"  bicleaner: {{dataset-thresholds: {{{name}: 0.7}}}}\n"
    return text.replace("  trg: ru\n", f"  trg: ru\n{line}")


def test_a_dataset_with_an_alias() -> None:
    config = parse_config(TEXT, "my.yml")
    dataset = config.datasets.train[1]
    assert (dataset.key, dataset.alias, dataset.short_name) == (URL, "bulletins", "bulletins")
    assert config_notes(TEXT, "my.yml") == []
    assert migrated(TEXT, "my.yml") == (TEXT, [])
    assert apply_overrides(config, {"experiment.spm-vocab-size": 32000}) == config
    dumped = json.loads(config.model_dump_json(by_alias=True))["datasets"]["train"]
    assert dumped == ["opus_ParaCrawl/v9", {"dataset": URL, "alias": "bulletins"}]


def test_the_digest_of_a_config_without_aliases_knows_nothing_of_them() -> None:
    config = parse_config(SMALL, "my.yml")
    digest = config.digest
    dumped = config.model_dump(mode="json", by_alias=True)["datasets"]  # what the digest is made of
    assert (dumped["train"], dumped["devtest"]) == (["opus_ParaCrawl/v9"], ["flores_dev"])
    assert parse_config(TEXT, "my.yml").digest != digest


@pytest.mark.parametrize("name", ["bulletins", "Œuvres", "हिन्दी", "a", "2021-08_x", "a" * 50])
def test_good_aliases(name: str) -> None:
    text = with_threshold(name, TEXT.replace("alias: bulletins", f"alias: {name}"))
    assert parse_config(text, "my.yml").experiment.bicleaner.dataset_thresholds == {name: 0.7}
    assert not list(Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(text)))
    assert migrated(text, "my.yml") == (text, [])


@pytest.mark.parametrize("name", ["a.b", "a/b", "'a b'", "-a", "_a", "a" * 51, "''", "../a", "a…b"])
def test_bad_aliases(name: str) -> None:
    assert "must consist of letters, digits" in problem_of(TEXT.replace("alias: bulletins", f"alias: {name}"))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{dataset: opus_Books/v1}", "alias is missing"),
        ("{alias: books}", "dataset is missing"),
        ("{dataset: opus_Books/v1, alias: 1}", "alias is missing, or is no text"),
        ("{dataset: [opus_Books/v1], alias: books}", "dataset is missing, or is no text"),
        ("{dataset: opus_Books/v1, alais: books}", "unknown key 'alais'. Did you mean 'alias'?"),
        ("{dataset: opsu_Books/v1, alias: books}", "'opsu' in 'opsu_Books/v1' provides no parallel datasets"),
        ("[opus_Books/v1]", "must be a dataset key, or a mapping of dataset and alias"),
        ("12", "must be a dataset key, or a mapping of dataset and alias"),
    ],
)
def test_entries_of_other_forms(entry: str, message: str) -> None:
    text = with_line(f"    - {entry}", "    - opus_ParaCrawl/v9")
    assert problem_of(text).startswith(f"8 datasets.train[1]: {message}")
    assert list(Draft202012Validator(json_schema()).iter_errors(yaml.safe_load(text)))


def test_thresholds_go_by_the_alias_alone() -> None:
    slug = parse_dataset(URL).slug
    assert problem_of(with_threshold(slug)) == (
        f"5 experiment.bicleaner.dataset-thresholds.{slug}: has the alias 'bulletins' in datasets.train; "
        "write that"
    )
    assert problem_of(with_threshold("bulletin")).endswith(
        "Did you mean 'bulletins'? Names: bulletins, opus_ParaCrawl_v9"
    )


def test_weights_go_by_the_alias() -> None:
    line = "  corpus-max-sentences: 9\n  merging: {dataset-weights: {train: {bulletins: 2}}}"
    config = parse_config(TEXT.replace("  trg: ru\n", f"  trg: ru\n{line}\n"), "my.yml")
    assert config.experiment.merging.dataset_weights.train == {"bulletins": 2}


def test_an_alias_stands_for_one_dataset() -> None:
    twice = TEXT.replace("opus_ParaCrawl/v9", "{dataset: opus_ParaCrawl/v9, alias: bulletins}")
    assert "has the same short name as 'opus_ParaCrawl/v9'" in problem_of(twice)
    again = TEXT.replace("- opus_ParaCrawl/v9", f"- {URL}")
    assert problem_of(again) == f"8 datasets.train[1]: {URL!r} stands in the list twice; remove one"
    mono = "  mono-src:\n    - {dataset: opus_Books/v1, alias: %s}\n"
    assert problem_of(TEXT + mono % "bulletins") == (
        f"15 datasets.mono-src[0]: 'bulletins' is the name of {URL!r} in datasets.train, too; "
        "an alias stands for one dataset"
    )
    assert "'opus_ParaCrawl/v9' in datasets.train" in problem_of(TEXT + mono % "opus_ParaCrawl_v9")
    both = "  mono-src:\n    - {dataset: opus_ParaCrawl/v9, alias: crawl}\n"
    assert parse_config(TEXT + both, "my.yml").datasets.mono_src[0].short_name == "crawl"


def test_what_is_checked_of_keys_is_checked_of_those_with_an_alias() -> None:
    text = TEXT.replace("- flores_devtest", "- {dataset: flores_aug-upper_dev, alias: loud}")
    assert any("'flores_dev' is in test too" in problem for problem in problems_of(text))
    wanted = [looked.addresses for looked in addresses(read_values(TEXT, "my.yml").value)]
    assert [
        ["https://example.org/data/bulletins.en.zst"],
        ["https://example.org/data/bulletins.ru.zst"],
    ] in wanted
