"""The curriculum that a script's command line gives; `test_feed` has what becomes of it."""

import argparse

import pytest

from pipeline.common.errors import InputError
from pipeline.train.curriculum import Curriculum, add_curriculum_arguments, given_curriculum
from tests.pipeline.train import tiny


def given(modifiers: str) -> Curriculum:
    parser = argparse.ArgumentParser()
    add_curriculum_arguments(parser)
    path = str(tiny.CONFIGS / "curriculum/teacher.one-stage.yml")
    args = parser.parse_args(["--curriculum", path, "--bicameral", "--modifiers", modifiers])
    return given_curriculum(args, {"src": "en", "trg": "fr"})


def test_shares_are_in_place_of_the_files() -> None:
    modifiers = given('{"UpperCase": 1, "TitleCase": 0}').modifiers
    read = dict(pair for modifier in modifiers for pair in modifier.items())
    assert (read["UpperCase"], read["TitleCase"]) == (1, 0)


@pytest.mark.parametrize(
    ("modifiers", "said"),
    [
        ("{UpperCase: 0.3}", r"--modifiers is no JSON object \(.*\): \{UpperCase: 0.3\}"),
        ("7", "--modifiers is no JSON object"),
        ('{"UpperCase": 3}', "the share of UpperCase is a number from 0 to 1, not 3"),
        ('{"UpperCase": "0.3"}', "from 0 to 1, not '0.3'"),
        ('{"UpperCase": NaN}', "from 0 to 1, not nan"),
        ('{"Noise": 0.3}', "not of Noise"),
    ],
)
def test_what_are_no_shares_is_told(modifiers: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        given(modifiers)
