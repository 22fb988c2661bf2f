"""Checks of Marian's options."""

from pathlib import Path

import pytest
import yaml

from pipeline.quantize import student
from tests.config.texts import SMALL, notes_on, problem_of, with_line
from translations_assets.config.load import parse_config
from translations_assets.config.marian_args import FAMILY, GUIDED


def with_option(line: str, section: str = "training-student") -> str:
    return f"{SMALL}marian-args:\n  {section}:\n    {line}\n"


@pytest.mark.parametrize(
    ("section", "line", "problem"),
    [
        ("training-student", "learning-rate: 0.1", "no such option for `train`. Did you mean 'learn-rate'?"),
        ("decoding-teacher", "beamsize: 4", "no such option for `decode`. Did you mean 'beam-size'?"),
        (
            "decoding-teacher",
            "learn-rate: 0.1",
            "this option for `train` only, and this section is for `decode`",
        ),
        ("training-teacher", "early-stopping: many", "must be a whole number, 0 or more, not 'many'"),
        ("training-teacher", "early-stopping: -1", "must be a whole number, 0 or more, not -1"),
        ("training-teacher", "dim-emb: 1.5", "must be a whole number, not 1.5"),
        ("training-teacher", "learn-rate: 3e", "must be a number, not '3e'"),
        ("training-teacher", "layer-normalization: 2", "must be true or false, not 2"),
        ("training-teacher", "tied-embeddings-all: false", "is set by the script; remove it"),
        ("training-teacher", "workspace: 9000", "is set by the script; remove it"),
        ("decoding-backward", "devices: 0", "is set by the script; remove it"),
        ("training-student", "after: 5e", "5e counts epochs, which Marian cannot see"),
        ("training-student", "after: 5e,300ku", "counts epochs, which Marian cannot see"),
        ("training-student", "after: 300ku, 5e", "counts epochs, which Marian cannot see"),
        ("training-student", "dec-cell: gru", "is 'ssru' in the models that browsers' engines run"),
        ("training-student", "transformer-ffn-depth: 3", "is '2' in the models"),
        ("training-student-finetuned", "transformer-preprocess: n", "is '' in the models"),
        ("training-student", "dim-vocabs: 1000 1000", "does not fit experiment.spm-vocab-size: 32000"),
    ],
)
def test_a_wrong_option(section: str, line: str, problem: str) -> None:
    found = problem_of(with_option(line, section))
    assert found.startswith(f"14 marian-args.{section}.{line.partition(':')[0]}: ")
    assert problem in found


@pytest.mark.parametrize(
    "line",
    [
        "early-stopping: '20'",
        "transformer-ffn-activation: relu",
        "learn-rate: 3e-4",
        "fp16: 'true'",
        "exponential-smoothing: true",
        "sentencepiece-alphas: [0, 0]",
        "after: 10ku",
        "dim-vocabs: [32000, 32000]",
        "optimizer-params: [0.9, 0.98, 1.0e-09]",
    ],
)
def test_options_as_people_write_them(line: str) -> None:
    parse_config(with_option(line), "my.yml")


@pytest.mark.parametrize(
    ("selection", "beam", "noted"), [("mbr", 1, True), ("mbr", 4, False), ("likeliest", 1, False)]
)
def test_mbr_of_a_single_translation_is_noted(selection: str, beam: int, noted: bool) -> None:
    text = with_option(f"beam-size: {beam}", "decoding-teacher")
    notes = notes_on(text.replace("  trg: ru\n", f"  trg: ru\n  selection: {{mono: {selection}}}\n"))
    assert [note.key for note in notes] == ["marian-args.decoding-teacher.beam-size"] * noted


@pytest.mark.parametrize(
    ("section", "value", "noted"),
    [
        ("training-student", "[0.5, 0.5]", True),
        ("training-student-finetuned", "0 0.1", True),
        ("training-student", "[0, 0.0]", False),
        ("training-teacher", "[0.5, 0.5]", False),
    ],
)
def test_a_student_that_samples_pieces_is_noted(section: str, value: str, noted: bool) -> None:
    notes = notes_on(with_option(f"sentencepiece-alphas: {value}", section))
    assert [note.key for note in notes] == [f"marian-args.{section}.sentencepiece-alphas"] * noted


@pytest.mark.parametrize(
    ("section", "value", "needed"),
    [
        ("training-student", "none", "2"),
        ("training-student-finetuned", "1", "2"),
        ("training-teacher", "2", "none"),
        ("training-backward", "2", "none"),
        ("training-on-finetune", "none", "2"),
    ],
)
def test_guided_alignment_is_what_the_pairs_are_made_for(section: str, value: str, needed: str) -> None:
    """The training's script would refuse others, after all that comes before it."""
    finetuned = "  finetune:\n    - opus_Books/v1\n  devtest:"
    text = with_option(f"guided-alignment: {value}", section).replace("  devtest:", finetuned)
    assert f"{section}.guided-alignment: must be {needed}, for which the pairs of" in problem_of(text)
    parse_config(text.replace(f"guided-alignment: {value}", f"guided-alignment: {needed}"), "my.yml")


def test_guided_alignment_is_that_of_the_training_configs() -> None:
    trainings = Path(__file__).parents[2] / "pipeline/train/configs/training"
    sections = ("backward", "backward.train"), ("teacher", "teacher.train"), ("student", "student.train")
    for section, name in (*sections, ("student-finetuned", "student.finetune")):
        options = yaml.safe_load((trainings / f"{name}.yml").read_text(encoding="utf-8"))
        assert GUIDED[f"training-{section}"] == str(options.get("guided-alignment", "none"))


def test_the_family_of_students_is_that_of_quantising() -> None:
    assert FAMILY.items() <= student.FAMILY.items()


def test_sizes_that_fit_the_vocabulary() -> None:
    text = with_option("dim-vocabs: 1000 1000").replace("  trg: ru", "  trg: ru\n  spm-vocab-size: 1000")
    parse_config(text, "my.yml")
    other = (
        with_line("  spm-vocab-size: 2000", "  trg: ru") + with_option("dim-vocabs: 1000 1000")[len(SMALL) :]
    )
    assert "write 2000 twice" in problem_of(other)
