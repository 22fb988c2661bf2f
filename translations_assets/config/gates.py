"""The section `checks` of a training config: levels and thresholds of the quality gates.

None of it is part of a step's key: a threshold that is changed runs nothing again. What each gate judges, and
how, stands in `translations_assets.checks`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from translations_assets.config.section import Section, optional_section


def _level(value: object) -> object:
    """`off` is text here and false in the Launchpad, whose YAML is of version 1.1."""
    return "off" if value is False else value


Level: TypeAlias = Annotated[Literal["off", "warn", "error"], BeforeValidator(_level)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Points: TypeAlias = Annotated[float, Field(ge=-100, le=100)]
Score: TypeAlias = Annotated[float, Field(ge=0, le=100)]

_LEVEL = "how a failure counts; `off` judges nothing"


class GateSection(Section):
    """The level and thresholds of one gate."""

    level: Level = Field(default="warn", description=_LEVEL)


def _error() -> Any:
    return Field(default="error", description=_LEVEL)


class HeldOutExact(GateSection):
    """No pair of a dev or test set, and no line of at least five words, stands in training text."""

    level: Level = _error()
    max_lines: int = Field(
        default=0,
        ge=0,
        description="pairs, or lines of at least five words, that training text has of a dev or test set",
    )


class HeldOutNear(GateSection):
    """Few lines of dev and test sets have near-duplicates in training text."""

    max_share: Share = Field(
        default=0.02,
        description="share of the dev and test lines of at least five words that are nearly the same as "
        "a training line",
    )


class LanguageGate(GateSection):
    """Training text is in its language."""

    max_share: Share = Field(
        default=0.1, description="share of lines that the identifier takes for another language"
    )


class Duplicates(GateSection):
    """Training text does not repeat itself."""

    max_share: Share = Field(default=0.1, description="share of lines whose letters an earlier line has")


class LengthRatio(GateSection):
    """The sides of pairs have comparable lengths."""

    max_share: Share = Field(
        default=0.02, description="share of pairs whose length ratio is over three times off the median"
    )


class EmptyLines(GateSection):
    """Training text has no empty lines."""

    level: Level = _error()
    max_share: Share = Field(default=0.001, description="share of lines without text")


class Vocabulary(GateSection):
    """The vocabularies cover the corpus and the dev and test sets."""

    min_coverage: Share = Field(
        default=0.99, description="share of characters that pieces hold, and single bytes need not spell"
    )
    max_unknown: Share = Field(default=0.001, description="share of unknown pieces")
    max_letter_in_bytes: int = Field(
        default=4, ge=0, description="times that bytes spell one letter of the language's alphabet, in a text"
    )


class AlignmentIndices(GateSection):
    """Alignments are links between words that there are."""

    level: Level = _error()
    max_wrong: int = Field(
        default=0, ge=0, description="links that are none, or point beyond the end of a line"
    )


class AlignmentLinks(GateSection):
    """Alignments link most words."""

    max_unaligned: Share = Field(default=0.1, description="share of pairs without a link")
    min_links: float = Field(default=0.4, ge=0, description="links a word, at least")
    max_links: float = Field(default=2.0, ge=0, description="links a word, at most")


class TrainingCollapse(GateSection):
    """Every trained model has learned to translate, and has not unlearned it again."""

    level: Level = _error()
    min_chrf: Score = Field(default=15.0, description="the best chrF on the validation set, at least")
    max_fall: Share = Field(
        default=0.5, description="how much of its best chrF a model may have lost at the last validation"
    )
    max_rise: float = Field(
        default=1.0,
        ge=0,
        description="how much higher than its best cross-entropy may be at the last validation, in nats a "
        "word: at 1 the perplexity is 2.7 times the best",
    )


class TrainingCurve(GateSection):
    """Scores of a training agree with each other, and it has seen all of its text."""

    max_chrf_gap: Points = Field(
        default=10.0, description="how much lower than its best chrF may be where cross-entropy is best"
    )
    max_entropy_gap: float = Field(
        default=0.5,
        ge=0,
        description="how much higher than its best cross-entropy may be where chrF is best, in nats a word",
    )
    min_epochs: float = Field(
        default=1.0, ge=0, description="how often a training has seen its text, at least; not of finetuning"
    )


class TeacherFloor(GateSection):
    """The teachers together translate the dev set, or nothing is distilled."""

    # Sentences of FLORES against other ones have a chrF of 16 to 21 in English and Russian, and of 2 to 5 in
    # Chinese: so a model may write well and not care for its source. What is worth distilling has 25 in
    # Chinese and 40 in most languages. One number is no floor for all scripts, so chance counts, too. BLEU is
    # no measure where no spaces part the words. Figures: benchmarks.collapse, decision 21.
    level: Level = _error()
    min_chrf: Score = Field(default=20.0, description="the teachers' chrF on the dev set, at least")
    min_above_chance: Points = Field(
        default=10.0,
        description="how much higher it must be than their chrF against the references of other sentences",
    )


class TeacherMargin(GateSection):
    """Every teacher is better than the backwards model on the validation set, or nothing is distilled."""

    level: Level = _error()
    margin: Points = Field(
        default=-5.0,
        description="how much higher a teacher's chrF must be than the backwards model's, which translates "
        "in the opposite direction; below 0 it may be lower",
    )


class Translations(GateSection):
    """Translated text is neither empty nor a copy of its source."""

    max_empty: Share = Field(default=0.01, description="share of empty translations")
    max_copied: Share = Field(
        default=0.1, description="share of translations with the letters of their source"
    )


class TranslationCollapse(GateSection):
    """Translations differ as their sources do, do not loop, and are as long as the corpus lets expect."""

    level: Level = _error()
    min_distinct: Share = Field(default=0.5, description="different translations, for each different source")
    max_looping: Share = Field(
        default=0.05, description="share of translations that repeat themselves where their source does not"
    )
    max_length_factor: float = Field(
        default=1.5,
        ge=1,
        description="how many times longer or shorter than the parallel corpus' all translations may be, for "
        "each character of their sources; of the dev set: than its references",
    )


class StudentGap(GateSection):
    """The student is close to the teacher on the test sets."""

    max_gap: Points = Field(default=5.0, description="how much lower its chrF may be than the teachers'")


class QuantizedGap(GateSection):
    """The quantised student is close to the one that it was made from, on the test sets."""

    level: Level = _error()
    max_gap: Points = Field(
        default=3.0, description="how much lower its chrF may be than the float student's"
    )
    max_gain: Points = Field(
        default=3.0, description="how much higher it may be, as the float student is broken where it is lower"
    )


class ExportGate(GateSection):
    """The exported files load and translate."""

    level: Level = _error()
    max_empty: Share = Field(default=0.2, description="share of empty translations of some dev sentences")
    max_copied: Share = Field(default=0.5, description="share of those that are copies of their source")


class Checks(Section):
    """The quality gates."""

    held_out_exact: HeldOutExact = optional_section("dev and test lines in training text")
    held_out_near: HeldOutNear = optional_section("near-duplicates of dev and test lines in training text")
    language: LanguageGate = optional_section("languages of training text")
    duplicates: Duplicates = optional_section("repeated lines of training text")
    length_ratio: LengthRatio = optional_section("lengths of the sides of pairs")
    empty_lines: EmptyLines = optional_section("empty lines of training text")
    vocabulary: Vocabulary = optional_section("coverage of the vocabularies")
    alignment_indices: AlignmentIndices = optional_section("whether links point to words")
    alignment_links: AlignmentLinks = optional_section("how many links there are")
    training_collapse: TrainingCollapse = optional_section("trained models that cannot translate")
    training_curve: TrainingCurve = optional_section("chrF against cross-entropy, and epochs")
    teacher_floor: TeacherFloor = optional_section("what the teachers' translations are worth")
    teacher_margin: TeacherMargin = optional_section("teachers against the backwards model")
    translation_collapse: TranslationCollapse = optional_section(
        "repeated, looping and too long translations"
    )
    translations: Translations = optional_section("empty and copied translations")
    student_gap: StudentGap = optional_section("student against teachers")
    quantized_gap: QuantizedGap = optional_section("quantised student against float")
    export: ExportGate = optional_section("whether exported files load and translate")
