"""Checks of configs whose teacher CTranslate2 decodes."""

import json

import pytest

from pipeline.common.errors import InputError
from pipeline.translate.convert import ALIKE
from pipeline.translate.ctranslate2_options import KNOWN as KNOWN_TO_THE_SCRIPT
from pipeline.translate.ctranslate2_options import read_settings
from tests.config.texts import SMALL, problem_of, problems_of
from translations_assets.config.known import marian_options
from translations_assets.config.load import parse_config, read_values
from translations_assets.config.marian_args import CONVERTIBLE, IN_CTRANSLATE2, check_marian_args

WITH_CTRANSLATE2 = SMALL.replace("  trg: ru\n", "  trg: ru\n  teacher-decoder: ctranslate2\n")


def with_option(line: str, section: str = "decoding-teacher", text: str = WITH_CTRANSLATE2) -> str:
    return f"{text}marian-args:\n  {section}:\n    {line}\n"


def test_a_single_teacher_may_be_decoded_with_ctranslate2() -> None:
    config = parse_config(WITH_CTRANSLATE2, "my.yml")
    assert config.experiment.teacher_decoder == "ctranslate2"


def test_an_ensemble_cannot_be_decoded_with_ctranslate2() -> None:
    text = WITH_CTRANSLATE2.replace("  trg: ru\n", "  trg: ru\n  teacher-ensemble: 2\n")
    assert problem_of(text) == (
        "5 experiment.teacher-ensemble: CTranslate2 decodes with one teacher, not with 2; write 1, or "
        "teacher-decoder: marian"
    )


@pytest.mark.parametrize(
    ("section", "line", "problem"),
    [
        ("decoding-teacher", "seed: 7", "CTranslate2 has nothing like it; remove it, or write teacher-"),
        ("decoding-teacher", "weights: [1]", "CTranslate2 has nothing like it"),
        ("decoding-teacher", "output-sampling: [topk, 10]", "goes with beam-size: 1 for CTranslate2"),
        ("decoding-teacher", "max-length: 2000", "allows 2000 pieces, of a translation 3 times as many"),
        ("decoding-teacher", "max-length-factor: '21'", "allows 200 pieces, of a translation 21 times as"),
        ("training-teacher", "type: s2s", "CTranslate2 cannot decode a model with type: s2s; remove it, or"),
        (
            "training-teacher",
            "task: transformer-big-prenorm",
            "CTranslate2 cannot decode a model with task: ",
        ),
        ("training-teacher", "transformer-decoder-autoreg: rnn", "CTranslate2 cannot decode a model with"),
        ("training-teacher", "transformer-no-bias: true", "CTranslate2 cannot decode a model with"),
    ],
)
def test_what_only_marian_can_do_is_refused_by_name(section: str, line: str, problem: str) -> None:
    found = problem_of(with_option(line, section))
    assert found.startswith(f"15 marian-args.{section}.{line.partition(':')[0]}: ")
    assert problem in found
    marian = with_option(line, section, SMALL)
    parse_config(marian, "my.yml")


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ("decoding-teacher", "{beam-size: '4', mini-batch-words: '5000', maxi-batch: '10000'}"),
        ("decoding-teacher", "{precision: float16, normalize: 0.6, word-penalty: '0.1', max-length: 100}"),
        ("decoding-teacher", "{precision: 'float32 float32', max-length-crop: true}"),
        ("decoding-teacher", "{fp16: true, max-length-factor: 2.5, maxi-batch-sort: src, allow-unk: true}"),
        ("decoding-teacher", "{max-length: 2000, max-length-factor: 2}"),
        ("decoding-teacher", "{beam-size: 1, output-sampling: '[topk, 10]'}"),
        ("decoding-backward", "{seed: 7}"),
        ("training-teacher", "{task: transformer-base, transformer-ffn-activation: swish, dec-depth: 2}"),
        ("training-student", "{transformer-decoder-autoreg: rnn}"),
    ],
)
def test_the_rest_is_taken(section: str, line: str) -> None:
    parse_config(f"{WITH_CTRANSLATE2}marian-args:\n  {section}: {line}\n", "my.yml")


BACKWARDS = SMALL.replace("  trg: ru\n", "  trg: ru\n  backwards-decoder: ctranslate2\n")
TRANSFORMER = "  training-backward: {type: transformer, layer-normalization: false}\n"


def test_a_backwards_model_that_ctranslate2_decodes_is_a_transformer() -> None:
    assert problem_of(BACKWARDS) == (
        "5 experiment.backwards-decoder: CTranslate2 cannot decode the recurrent model that is the default; "
        "write type: transformer in marian-args.training-backward, or write backwards-decoder: marian"
    )
    assert "CTranslate2 cannot decode a model with type: s2s; remove it, or write backwards-" in problem_of(
        with_option("type: s2s", "training-backward", BACKWARDS)
    )
    sampling = "  decoding-backward: {beam-size: 1, output-sampling: full}\n"
    config = parse_config(f"{BACKWARDS}marian-args:\n{TRANSFORMER}{sampling}", "my.yml")
    assert config.experiment.backwards_decoder == "ctranslate2"
    wrong = f"{BACKWARDS}marian-args:\n{TRANSFORMER}  decoding-backward: {{seed: 7}}\n"
    assert "CTranslate2 has nothing like it; remove it, or write backwards-decoder" in problem_of(wrong)


HUB = f"hugging-face: {{model: a/b, revision: {'0' * 40}}}"


@pytest.mark.parametrize(
    ("use", "section", "form"),
    [
        ("  teacher: {m: 1, other: 2}", "decoding-teacher", HUB),
        ("  backwards: m", "decoding-backward", "opus-mt: {url: 'https://a.org/m.zip'}"),
        ("  teacher: by-way", "decoding-teacher", HUB),
        ("final-evaluation: {translators: [m]}", "decoding-teacher", HUB),
    ],
)
def test_translators_that_it_runs_have_its_limits(use: str, section: str, form: str) -> None:
    pivot = "by-way: {pivot: {via: lt, first: other, second: m}}"
    translators = f"translators: {{m: {{{form}}}, other: {{firefox: {{}}}}, {pivot}}}\n"
    text = SMALL.replace("  trg: ru\n", f"  trg: ru\n{use}\n") if use[0] == " " else f"{SMALL}{use}\n"
    for line, said in (("seed: 7", "nothing like it; remove it"), ("max-length: 2000", "lower one")):
        assert f"{said}, as it runs translators.m" in problem_of(
            with_option(line, section, text + translators)
        )
        other = {"decoding-teacher", "decoding-backward"} - {section}
        parse_config(with_option(line, other.pop(), text + translators), "my.yml")


def test_a_wrong_value_is_told_once() -> None:
    assert len(problems_of(with_option("beam-size: wide"))) == 1


@pytest.mark.parametrize("options", [{"max-length": 1365}, {"max-length": 1366}, {"max-length-factor": 20.5}])
def test_the_lengths_are_those_that_the_script_takes(options: dict[str, float]) -> None:
    try:
        read_settings(options)
        taken = True
    except InputError:
        taken = False
    text = f"{WITH_CTRANSLATE2}marian-args: {{decoding-teacher: {json.dumps(options)}}}\n"
    assert taken == (not [*check_marian_args(read_values(text, "my.yml").value)])


def test_the_lists_are_those_of_the_scripts() -> None:
    assert IN_CTRANSLATE2 == KNOWN_TO_THE_SCRIPT
    assert set(IN_CTRANSLATE2) <= marian_options("decode").keys()
    assert {name: tuple(CONVERTIBLE[name]) for name in ALIKE} == ALIKE
    assert set(CONVERTIBLE) <= marian_options("train").keys()
