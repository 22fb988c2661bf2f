"""A small config, and the problems of a text as `line key: message`."""

import pytest

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import config_notes, parse_config

SMALL = """\
experiment:
  name: small
  src: en
  trg: ru
datasets:
  train:
    - opus_ParaCrawl/v9
  devtest:
    - flores_dev
  test:
    - flores_devtest
"""


LEFT_OPEN = "nothing shows which year this config is of"


def notes_on(text: str) -> list[Problem]:
    """The notes on a config but the one that the small config has: that it may be an old one."""
    return [note for note in config_notes(text, "my.yml") if not note.message.startswith(LEFT_OPEN)]


def problems_of(text: str) -> list[str]:
    """Problems of a config, one line each: `7 datasets.train[0]: message`."""
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.yml")
    return [f"{problem.line} {problem.key}: {problem.message}" for problem in caught.value.problems]


def problem_of(text: str) -> str:
    """The only thing that is wrong with a config."""
    (problem,) = problems_of(text)
    return problem


def with_line(line: str, after: str) -> str:
    """The small config with a line inserted."""
    assert f"{after}\n" in SMALL
    return SMALL.replace(f"{after}\n", f"{after}\n{line}\n")
