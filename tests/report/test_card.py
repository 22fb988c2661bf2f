"""The metadata of a model card, as the Hugging Face hub's own library reads them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard

from tests.config.texts import SMALL, problem_of
from translations_assets.config.load import parse_config
from translations_assets.report.card import card_metadata
from translations_assets.report.page import EXAMPLES, _examples
from translations_assets.report.sentences import Sentence
from translations_assets.results.scores import Scores

ON_HUB = """\
    - opus_ParaCrawl/v9
    - hfp_someone/corpus:train:en:ru
  mono-src:
    - hf_someone/web:subset:train:text@1.0
    - hf_someone/web:other:train:text
    - news-crawl_news.2021
"""


def metadata(text: str, evaluations: Any) -> dict[str, Any]:
    """The metadata of a model with a config, and what its evaluations say."""
    session = SimpleNamespace(config=parse_config(text, "my.yml"), partition="en-ru.small")
    shown = next(iter(evaluations), "")
    return card_metadata(
        SimpleNamespace(session=session, evaluations=evaluations, shown_model=shown)  # type: ignore[arg-type]
    )


def read(made: dict[str, Any]) -> Any:
    """What the hub's library reads, and would write again."""
    data: Any = ModelCard(f"---\n{yaml.safe_dump(made, sort_keys=False)}---\n# A model\n").data
    assert data.to_dict() == made
    return data


def test_languages_licence_datasets_and_scores() -> None:
    text = SMALL.replace("    - opus_ParaCrawl/v9\n", ON_HUB)
    text = text.replace("  trg: ru\n", "  trg: zh_hant\n  licence: mpl-2.0\n").replace(":ru\n", ":zh\n")
    scores = {"dataset": "flores_devtest", "lines": 3, "bleu": {"score": 27.126}, "chrf": {"score": 51.0}}
    read_as = read(metadata(text, {"student": {"flores_devtest": Scores.from_dict(scores)}}))
    assert (read_as.language, read_as.license) == (["en", "zh"], "mpl-2.0")
    assert read_as.datasets == ["someone/corpus", "someone/web"]
    assert (read_as.metrics, read_as.pipeline_tag) == (["bleu", "chrf"], "translation")
    assert [(one.dataset_type, one.metric_value) for one in read_as.eval_results] == [
        ("flores_devtest", 27.13),
        ("flores_devtest", 51.0),
    ]


def test_before_a_model_is_evaluated() -> None:
    made = metadata(SMALL, {})
    assert not {"datasets", "metrics", "model-index"} & made.keys()
    assert made["license"] == "unknown"
    read(made)


@pytest.mark.parametrize("licence", ["CC BY 4.0", "-mit", '""'])
def test_a_licence_is_written_as_the_hub_writes_it(licence: str) -> None:
    problem = problem_of(SMALL.replace("  trg: ru\n", f"  trg: ru\n  licence: {licence}\n"))
    assert "must be written as the Hugging Face hub writes it, such as cc-by-4.0" in problem


@pytest.mark.parametrize(("sets", "of_each"), [(1, 20), (2, 10), (5, 4), (10, 2), (30, 2)])
def test_examples_are_bad_and_good_ones(sets: int, of_each: int) -> None:
    """A report's sentences are ordered by sets, and by score in each, the worst first."""
    sentences = [
        Sentence(f"set {number}", f"{number} {place}", "", {}, 100.0 * place / (of_each - 1))
        for number in range(sets)
        for place in range(of_each)
    ]
    found = _examples(sentences)
    assert len({one.source for one in found}) == EXAMPLES
    assert {one.chrf < 50 for one in found} == {True, False}


def test_few_sentences_are_all_examples() -> None:
    few = [Sentence("set", str(number), "", {}, 0.0) for number in range(3)]
    assert [_examples(few[:count]) for count in range(4)] == [few[:count] for count in range(4)]
