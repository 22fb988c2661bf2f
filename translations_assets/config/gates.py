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


class StudentGap(GateSection):
    """The student is close to the teacher on the test sets."""

    max_gap: Points = Field(default=5.0, description="how much lower its chrF may be than the teachers'")


class QuantizedGap(GateSection):
    """The quantised student is close to the one that it was made from, on the test sets."""

    level: Level = _error()
    max_gap: Points = Field(
        default=3.0, description="how much lower its chrF may be than the float student's"
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
    teacher_margin: TeacherMargin = optional_section("teachers against the backwards model")
    translations: Translations = optional_section("empty and copied translations")
    student_gap: StudentGap = optional_section("student against teachers")
    quantized_gap: QuantizedGap = optional_section("quantised student against float")
    export: ExportGate = optional_section("whether exported files load and translate")
