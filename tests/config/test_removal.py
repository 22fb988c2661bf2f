"""Configs without a dataset: it goes, with its comment and what names it, and all else stays."""

import pytest

from translations_assets.config.datasets import Dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.removal import without_datasets

CONFIG = """\
# Bulgarian to Croatian
experiment:
  name: spring # the second try
  src: bg
  trg: hr
  bicleaner:
    default-threshold: 0.5
    dataset-thresholds:
      opus_B_v2: 0.7 # noisy
      opus_A_v1: 0.6
  merging:
    dataset-weights:
      train: {web: 2, opus_B_v2: 3}
      mono-src: {opus_B_v2: 4}
datasets:
  train:
    # the good ones
    - opus_A/v1 # parliament
    - opus_B/v2 # crawled
    - dataset: url_https://example.org/web.[LANG].zst
      alias: web
  devtest: [flores_dev, opus_B/v2, ntrex_test]
  test: [flores_devtest]
  mono-src:
    - opus_B/v2
documents:
  datasets: [opus_A_v1, opus_B_v2]
  share: 0.2
"""
DEV = "[flores_dev, opus_B/v2, ntrex_test]"


def without(text: str, *keys: str) -> str:
    def goes(dataset: Dataset) -> bool:
        return dataset.key in keys or dataset.alias in keys

    return without_datasets(text, "bg-hr.spring.yml", goes).text


def lines_gone(before: str, after: str) -> list[str]:
    """The lines that are no more, and those in their place."""
    import difflib

    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def test_all_that_names_a_dataset_goes_with_it() -> None:
    assert lines_gone(CONFIG, without(CONFIG, "opus_B/v2")) == [
        "-       opus_B_v2: 0.7 # noisy",
        "-       train: {web: 2, opus_B_v2: 3}",
        "+       train: {web: 2}",
        "-       mono-src: {opus_B_v2: 4}",
        "+       mono-src: {}",
        "-     - opus_B/v2 # crawled",
        "-   devtest: [flores_dev, opus_B/v2, ntrex_test]",
        "+   devtest: [flores_dev, ntrex_test]",
        "-   mono-src:",
        "+   mono-src: []",
        "-     - opus_B/v2",
        "-   datasets: [opus_A_v1, opus_B_v2]",
        "+   datasets: [opus_A_v1]",
    ]


def test_the_paths_that_went_are_named() -> None:
    removal = without_datasets(CONFIG, "x.yml", lambda dataset: dataset.alias == "web")
    assert removal.removed == ["datasets.train[2]", "experiment.merging.dataset-weights.train.web"]
    assert lines_gone(CONFIG, removal.text) == [
        "-       train: {web: 2, opus_B_v2: 3}",
        "+       train: {opus_B_v2: 3}",
        "-     - dataset: url_https://example.org/web.[LANG].zst",
        "-       alias: web",
    ]


def test_a_threshold_of_another_list_stays() -> None:
    text = CONFIG.replace("    - opus_B/v2 # crawled\n", "")
    assert "opus_B_v2: 0.7 # noisy" in without(text, "opus_B/v2")


def test_several_of_a_list_go() -> None:
    assert "datasets: [opus_A_v1, opus_B_v2]" not in without(CONFIG, "opus_A/v1", "opus_B/v2")
    assert without(CONFIG, "opus_A/v1", "opus_B/v2", "web").count("train: []") == 1
    assert "  devtest: [ntrex_test]\n" in without(CONFIG, "flores_dev", "opus_B/v2")
    assert "  devtest: []\n" in without(CONFIG, "flores_dev", "opus_B/v2", "ntrex_test")


def test_nothing_goes() -> None:
    assert without(CONFIG, "opus_C/v1") == CONFIG


def test_a_list_in_brackets_on_several_lines() -> None:
    text = CONFIG.replace(
        "[flores_dev, opus_B/v2, ntrex_test]", "[\n    flores_dev,\n    opus_B/v2,\n    ntrex_test]"
    )
    assert "  devtest: [\n    flores_dev,\n    ntrex_test]\n" in without(text, "opus_B/v2")


@pytest.mark.parametrize(
    "dev",
    [
        "[flores_dev,\n    opus_B/v2, # mine\n    ntrex_test]",
        "&sets [flores_dev, opus_B/v2]\n  finetune: *sets",
    ],
)
def test_what_cannot_be_edited_is_said(dev: str) -> None:
    assert DEV in CONFIG
    with pytest.raises(ConfigError, match="by hand"):
        without(CONFIG.replace(DEV, dev), "opus_B/v2")
