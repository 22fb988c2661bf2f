"""The numbers and translators that a report names: those of what it tells."""

from types import SimpleNamespace
from typing import Any

import pytest

from translations_assets.config.load import parse_config
from translations_assets.report.facts import Before, Report
from translations_assets.report.page import tiles
from translations_assets.results.scores import Scores

CONFIG = """\
experiment: {{name: a, src: lt, trg: ru, {experiment}}}
translators:
  opus: {{opus-mt: {{url: "https://example.org/opus.zip"}}}}
  google: {{google: {{}}}}
  via: {{pivot: {{via: en, first: google, second: google}}}}
datasets:
  train: [opus_ParaCrawl/v9]
  devtest: [flores_dev]
  test: [flores_devtest]
  mono-src: [news-crawl_news.2021]
  mono-trg: [news-crawl_news.2021]
"""


@pytest.mark.parametrize(
    ("experiment", "given"),
    [
        ("teacher: via", [("google", "teacher", 1.0)]),
        (
            "teacher: {via: 1, google: 1, opus: 2}",
            [("google", "teacher", 0.5), ("opus", "teacher", 0.5)],
        ),
        ("backwards: opus", [("opus", "back-translation", 1.0)]),
        ("teacher: google, backwards: opus", [("google", "teacher", 1.0)]),  # nothing is translated back
    ],
)
def test_each_translator_that_made_text_is_named_once_for_a_use(experiment: str, given: list[Any]) -> None:
    config = parse_config(CONFIG.format(experiment=experiment), "my.yml")
    report: Any = SimpleNamespace(session=SimpleNamespace(config=config))
    named = Report.given.__get__(report)
    assert [(one.name, one.use, one.share) for one in named] == given


def scores(dataset: str, chrf: float) -> Scores:
    return Scores.from_dict({"dataset": dataset, "chrf": {"score": chrf}})


def test_the_first_numbers_are_those_of_the_test_set_that_they_name() -> None:
    """In the middle of a run the last model may be evaluated on another set than the models before."""
    before = {("exported", "ntrex"): scores("ntrex", 38.5), ("exported", "flores"): scores("flores", 59.0)}
    own = scores("ntrex", 39.5)
    report: Any = SimpleNamespace(
        shown_model="exported",
        shown_scores=own,
        before={key: Before(earlier, 0.0) for key, earlier in before.items()},
        gates=[],
        spent=SimpleNamespace(seconds=1.0),
        prices=None,
    )
    assert next(iter(tiles(report))) == ("chrF", "39.5", "exported, ntrex; +1.0 from before")
