"""The training configs of variants that leave datasets out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from translations_assets.config.errors import ConfigError
from translations_assets.config.sweep import Variant, parse_sweep
from translations_assets.configs.varied import base_setting, varied

TEXT = """
experiment:
  name: base
  src: en
  trg: ru
  corpus-max-sentences: 1000
  bicleaner: {default-threshold: 0.5, dataset-thresholds: {opus_Books_v1: 0.7, opus_TED2020_v1: 0.6}}
  merging: {dataset-weights: {train: {books: 2}}}
datasets:
  train:
    - opus_Books/v1
    - opus_TED2020/v1
    - {dataset: opus_Books/v2, alias: books}
  devtest: [flores_dev]
  test: [flores_devtest]
"""


def config(without: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(
        varied(TEXT, "en-ru.base", Variant("en-ru.base.x", {"without": without}), "x.yml")
    )
    return values


def test_a_dataset_goes_with_what_names_it() -> None:
    values = config("opus_Books/v1")
    assert values["datasets"]["train"] == ["opus_TED2020/v1", {"dataset": "opus_Books/v2", "alias": "books"}]
    assert values["experiment"]["bicleaner"]["dataset-thresholds"] == {"opus_TED2020_v1": 0.6}


@pytest.mark.parametrize("name", ["books", "opus_Books/v2", "opus_Books_v2"])
def test_a_dataset_with_an_alias_has_its_key_as_a_name_too(name: str) -> None:
    assert config(name)["datasets"]["train"] == ["opus_Books/v1", "opus_TED2020/v1"]


def test_the_setting_of_the_base_has_its_values_but_for_seeds() -> None:
    axes = "{experiment.corpus-max-sentences: [10, 20], experiment.seeds.student: [1, 2], without: [books]}"
    sweep = parse_sweep(f"base: en-ru.base\naxes: {axes}", "x", "x.yml")
    assert base_setting(TEXT, "en-ru.base", sweep) == {
        "experiment.corpus-max-sentences": 1000,
        "without": "",
    }


def test_with_all_datasets_it_is_the_base() -> None:
    assert config("")["datasets"] == yaml.safe_load(TEXT)["datasets"]


def test_a_dataset_that_the_base_has_not_is_named() -> None:
    with pytest.raises(ConfigError, match=r"without: en-ru\.base has no dataset 'opus_Bok/v1'") as caught:
        config("opus_Bok/v1")
    assert "Did you mean 'opus_Books/v1'?" in str(caught.value)
    assert [problem.file for problem in caught.value.problems] == ["x.yml"]


def test_paths_of_a_base_with_files_are_written_out(tmp_path: Path) -> None:
    source = tmp_path / "en-ru.base.yml"
    text = TEXT.replace(
        "{dataset: opus_Books/v2, alias: books}", "{dataset: './news.[LANG].gz', alias: books}"
    )
    variant = Variant("en-ru.base.x", {"without": "opus_Books/v1"})
    train = yaml.safe_load(varied(text, source, variant, "x.yml"))["datasets"]["train"]
    assert train[1] == {"dataset": f"{tmp_path}/news.[LANG].gz", "alias": "books"}
    sweep = parse_sweep("base: en-ru.base\naxes: {datasets.train: [[opus_Books/v1]]}", "x", "x.yml")
    assert base_setting(text, source, sweep)["datasets.train"][2] == train[1]
