"""Tests of pipeline.translate.ctranslate2_options."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.marian_options import Options, parse_marian_args, read_options
from pipeline.translate.ctranslate2_options import Settings, read_settings

TEACHER = Path("pipeline/translate/configs/teacher.yml").absolute()


def settings(marian_args: str = "{}") -> Settings:
    return read_settings({**read_options(TEACHER), **parse_marian_args(marian_args)})


def test_the_teachers_config_is_understood() -> None:
    assert settings() == Settings(
        beam=8,
        normalize=1.0,
        word_penalty=0.0,
        max_length=200,
        max_length_factor=3.0,
        batch_sentences=1,
        batch_words=5000,
        read_ahead=10_000,
        half_precision=True,
        allow_unknown=False,
        sampled=None,
        temperature=1.0,
    )


def test_marian_args_override_it() -> None:
    given = settings(
        '{"beam-size": "4", "normalize": "0.6", "word-penalty": "0.2", "max-length": 100, "mini-batch": "16",'
        ' "mini-batch-words": "0", "maxi-batch": "4", "precision": "float32", "max-length-crop": "true"}'
    )
    assert (given.beam, given.normalize, given.word_penalty, given.max_length) == (4, 0.6, 0.2, 100)
    assert (given.batch_sentences, given.batch_words, given.read_ahead) == (16, 0, 64)
    assert not given.half_precision


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        ("topk", (10, 1.0)),
        ("[topk, 5]", (5, 1.0)),
        ("[topk, 5, 0.7]", (5, 0.7)),
        ("full", (0, 1.0)),
        ("full 0.5", (0, 0.5)),
    ],
)
def test_sampling_as_marian_writes_it(sampling: str, expected: tuple[int, float]) -> None:
    given = settings(f'{{"beam-size": 1, "output-sampling": "{sampling}"}}')
    assert (given.sampled, given.temperature) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"skip-cost": True, "alignment": "soft"},
            "CTranslate2 has nothing like Marian's alignment, skip-cost",
        ),
        ({"max-length-crop": False}, "max-length-crop must be true"),
        ({"precision": "int8"}, "precision must be float16 or float32"),
        ({"beam-size": 0}, "beam-size must be 1 to 100, not 0"),
        ({"normalize": "much"}, "normalize must be 0 to 10, not 'much'"),
        ({"output-sampling": "topk", "beam-size": 4}, "output-sampling goes with beam-size 1"),
        ({"output-sampling": ["epsilon", 0.1]}, "output-sampling must be topk or full or 0.01 to"),
        ({"beam-size": 1.5}, "beam-size must be a whole number, not 1.5"),
        ({"output-sampling": ["full", 1, 2]}, "output-sampling must be as"),
        ({"output-sampling": ["topk", "ten"]}, "output-sampling must be topk or full"),
        ({"max-length": 2000}, "allows more than 4096 pieces"),
    ],
)
def test_what_ctranslate2_cannot_do_is_refused(options: Options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_settings(options)
