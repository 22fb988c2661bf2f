"""The table of gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from translations_assets.checks import models, text, training, translations
from translations_assets.checks.verdict import Documents, Verdict
from translations_assets.config.gates import GateSection
from translations_assets.config.schema import TrainingConfig

Judge: TypeAlias = "Callable[[Documents, Any], Verdict]"


@dataclass(frozen=True)
class Gate:
    """A question about what a stage made.

    name      that of its section in the training config's `checks`
    stage     the judged stage
    reads     the stages whose numbers it needs: stages that compute such numbers, trainings, evaluations
    judge     numbers and thresholds → verdict
    blocking  a failure of level `error` stops all that is downstream
    """

    name: str
    stage: str
    reads: tuple[str, ...]
    judge: Judge
    blocking: bool = False

    def thresholds(self, config: TrainingConfig) -> GateSection:
        """Its section of a training config."""
        section: GateSection = getattr(config.checks, self.name.replace("-", "_"))
        return section

    @property
    def description(self) -> str:
        """What is asked for, in a sentence."""
        field = TrainingConfig.model_fields["checks"].annotation
        assert field is not None
        section = field.model_fields[self.name.replace("-", "_")].annotation
        return str(section.__doc__)


_OF_TEXT: Mapping[str, Judge] = {
    "held-out-exact": text.held_out_exact,
    "held-out-near": text.held_out_near,
    "language": text.language,
    "duplicates": text.duplicates,
    "empty-lines": text.empty_lines,
}
_OF_PAIRS: Mapping[str, Judge] = {**_OF_TEXT, "length-ratio": text.length_ratio}
_OF_ALIGNMENTS: Mapping[str, Judge] = {
    "alignment-indices": models.alignment_indices,
    "alignment-links": models.alignment_links,
}
_OF_TRANSLATIONS: Mapping[str, Judge] = {"translations": translations.translations}
# By judged stage, the gates that read what `check_<stage>` computes.
_OF_NUMBERS: Mapping[str, Mapping[str, Judge]] = {
    "merge_corpus": _OF_PAIRS,
    "merge_mono_src": _OF_TEXT,
    "merge_mono_trg": _OF_TEXT,
    "train_vocab": {"vocabulary": models.vocabulary},
    "train_teacher": _OF_TRANSLATIONS,
    "translate_mono_trg": {"translations": translations.back_translations},
    "alignments_original": _OF_ALIGNMENTS,
    "alignments_backtranslated": _OF_ALIGNMENTS,
    "translate_corpus": _OF_TRANSLATIONS,
    "translate_mono_src": _OF_TRANSLATIONS,
    "cefilter": {**_OF_PAIRS, **_OF_TRANSLATIONS},
    "alignments_student": _OF_ALIGNMENTS,
    "export": {"export": models.export},
}
_TRAININGS: Mapping[str, Judge] = {
    "train_backwards": training.curve,
    "train_teacher": training.curve,
    "train_student": training.curve,
    "finetune_student": training.finetuning_curve,
}
_TRANSLATED = ("train_teacher", "translate_mono_trg", "translate_corpus", "translate_mono_src", "cefilter")
_TEACHERS = ("evaluate_teacher", "evaluate_teacher_ensemble")

GATES: tuple[Gate, ...] = (
    *(
        Gate(name, stage, (f"check_{stage}",), judge)
        for stage, judges in _OF_NUMBERS.items()
        for name, judge in judges.items()
    ),
    *(
        gate
        for stage, judge in _TRAININGS.items()
        for gate in (
            Gate("training-collapse", stage, (stage,), training.collapse, blocking=True),
            Gate("training-curve", stage, (stage,), judge),
        )
    ),
    Gate("teacher-floor", "train_teacher", ("check_train_teacher",), models.teacher_floor, blocking=True),
    *(
        Gate(
            "translation-collapse",
            stage,
            (f"check_{stage}", "check_merge_corpus"),
            translations.back_collapse if stage == "translate_mono_trg" else translations.collapse,
            blocking=True,
        )
        for stage in _TRANSLATED
    ),
    Gate(
        "teacher-margin",
        "train_teacher",
        ("train_teacher", "train_backwards"),
        models.teacher_margin,
        blocking=True,
    ),
    *(
        Gate("student-gap", stage, (stage, *_TEACHERS), models.student_gap)
        for stage in ("evaluate_student", "evaluate_finetuned_student")
    ),
    Gate(
        "quantized-gap",
        "evaluate_quantized",
        ("evaluate_quantized", "evaluate_finetuned_student"),
        models.quantized_gap,
    ),
)
