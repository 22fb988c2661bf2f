"""The table of gates, and what comes of one by a session's results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from translations_assets.checks import cleaned, markup, models, offensive, text, vocabularies
from translations_assets.checks.verdict import Documents, NotComputed, NothingToJudge, Verdict
from translations_assets.common.errors import StepFailed, TranslationsError
from translations_assets.config.datasets import parse_dataset
from translations_assets.config.gates import Checks, GateSection
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.step import Step
from translations_assets.results.evaluations import called, compares
from translations_assets.results.files import (
    Reader,
    read_comparison,
    read_metrics,
    read_numbers,
    read_statistics,
)
from translations_assets.results.scores import PARAGRAPHS, Comparison, Scores
from translations_assets.running.session import Session, UpstreamMissing

Judge: TypeAlias = "Callable[[Any, Any], Verdict]"
State = Literal["passed", "failed", "off", "not computed", "nothing to judge"]
HARMLESS: tuple[State, ...] = ("passed", "off", "nothing to judge")


@dataclass(frozen=True)
class Gate:
    """A question about what a stage made.

    name    that of its section in the training config's `checks`
    stage   the judged stage
    reads   the stages whose numbers it needs: those that compute such, cleaning, trainings, evaluations
    judge   what these tell, and thresholds → verdict
    reader  reads what stages tell that are not made for gates

    A failure of level `error` stops all that is downstream of the stage.

        gate = Gate("duplicates", "merge_corpus", ("check_merge_corpus",), text.duplicates)
        examine(session, gate, {}).state  # "passed", for one
    """

    name: str
    stage: str
    reads: tuple[str, ...]
    judge: Judge
    reader: Reader[object] = read_metrics

    @property
    def identifier(self) -> str:
        """The name as Python and Dagster allow it."""
        return self.name.replace("-", "_")

    def thresholds(self, config: TrainingConfig) -> GateSection:
        """Its section of a training config, with its level."""
        section: GateSection = getattr(config.checks, self.identifier)
        return section

    @property
    def description(self) -> str:
        """The gate's demand, in a sentence."""
        return str(Checks.model_fields[self.identifier].annotation.__doc__)


def _gates(
    name: str,
    judge: Judge,
    *stages: str,
    reads: tuple[str, ...] = ("check_{}",),
    reader: Reader[object] = Gate.reader,
) -> Iterator[Gate]:
    """A gate for each of several stages, whose name stands in `reads` for `{}`."""
    for stage in stages:
        yield Gate(name, stage, tuple(name.format(stage) for name in reads), judge, reader)


_TEXTS = ("merge_corpus", "merge_mono_src", "merge_mono_trg", "cefilter")
_CLEANED = ("clean_corpus", "clean_mono")
_ALIGNED = ("alignments_original", "alignments_backtranslated", "alignments_student")
_TRAINED = ("train_backwards", "train_teacher", "train_student")
_TRANSLATED = ("train_teacher", "translate_corpus", "translate_mono_src", "cefilter")
_BACK_TRANSLATED, _BACK_COLLAPSE = "translate_mono_trg", partial(text.collapse, made=0)
_STUDENTS = ("evaluate_student", "evaluate_finetuned_student")
_OWN = ("{}",)
_WITH_BACKWARDS = ("{}", "train_backwards")
_WITH_CORPUS = ("check_{}", "check_merge_corpus")
_WITH_TEACHERS = ("{}", "evaluate_teacher", "evaluate_teacher_ensemble", "check_{}")
_WITH_FLOAT = ("{}", "evaluate_finetuned_student", "check_{}")

GATES: tuple[Gate, ...] = (
    *_gates("held-out-exact", text.held_out_exact, *_TEXTS),
    *_gates("held-out-near", text.held_out_near, *_TEXTS),
    *_gates("language", text.language, *_TEXTS),
    *_gates("identification", text.identification, *_CLEANED, reads=_OWN, reader=read_statistics),
    *_gates("agreement", cleaned.agreement, "clean_corpus", reads=_OWN, reader=read_statistics),
    *_gates("sides", cleaned.sides, *_CLEANED, reads=_OWN, reader=read_statistics),
    *_gates("half-translated", cleaned.half_translated, "clean_corpus", reads=_OWN, reader=read_statistics),
    *_gates("dropped", cleaned.dropped, *_CLEANED, reads=_OWN, reader=read_statistics),
    *_gates("duplicates", text.duplicates, *_TEXTS),
    *_gates("empty-lines", text.empty_lines, *_TEXTS),
    *_gates("length-ratio", text.length_ratio, "merge_corpus", "cefilter"),
    *_gates("vocabulary", vocabularies.vocabulary, "train_vocab"),
    *_gates("vocabulary-case", vocabularies.vocabulary_case, "train_vocab"),
    *_gates("translations", text.translations, *_TRANSLATED),
    *_gates("translations", partial(text.translations, made=0), _BACK_TRANSLATED),
    *_gates("alignment-indices", models.alignment_indices, *_ALIGNED),
    *_gates("alignment-links", models.alignment_links, *_ALIGNED),
    *_gates("export", models.export, "export"),
    *_gates("markup", markup.markup, "export"),
    *_gates("offensive-words", offensive.offensive_words, "export"),
    *_gates("training-collapse", models.collapse, *_TRAINED, "finetune_student", reads=_OWN),
    *_gates("training-curve", models.curve, *_TRAINED, reads=_OWN),
    *_gates("training-curve", partial(models.curve, epochs=False), "finetune_student", reads=_OWN),
    *_gates("teacher-floor", models.teacher_floor, "train_teacher"),
    *_gates("teacher-margin", models.teacher_margin, "train_teacher", reads=_WITH_BACKWARDS),
    *_gates("translation-collapse", text.collapse, *_TRANSLATED, reads=_WITH_CORPUS),
    *_gates("translation-collapse", _BACK_COLLAPSE, _BACK_TRANSLATED, reads=_WITH_CORPUS),
    *_gates("student-gap", models.student_gap, *_STUDENTS, reads=_WITH_TEACHERS),
    *_gates("quantized-gap", models.quantized_gap, "evaluate_quantized", reads=_WITH_FLOAT),
    *_gates("exported-gap", models.exported_gap, "evaluate_exported", reads=_WITH_FLOAT),
    *_gates("exported-loss", models.exported_gap, "evaluate_exported", reads=_WITH_FLOAT),
    *_gates("released-gap", models.released_gap, "final_evaluation", reads=("{}", "check_{}")),
)


@dataclass(frozen=True)
class Finding:
    """The result of a gate.

    description  for people, overrides included
    thresholds   the numbers of its section of the training config
    overridden   keys of that section which have another value in this run
    verdict      None when the numbers are not there, or there is nothing to judge
    unpaid       the numbers are not there for want of budget
    """

    gate: Gate
    level: str
    state: State
    description: str
    thresholds: Mapping[str, Any]
    overridden: Mapping[str, Any]
    verdict: Verdict | None = None
    unpaid: bool = False

    @property
    def is_error(self) -> bool:
        """True if it failed with level `error`."""
        return self.state == "failed" and self.level == "error"


def examine(session: Session, gate: Gate, errors: Mapping[str, TranslationsError]) -> Finding:
    """Judge a gate by the results that the session has, or finds by key or ref. Nothing is run.

    `errors` maps the stages whose steps were run for it, and have no result, to why.
    """
    try:
        for stage in gate.reads:
            if stage in errors:
                raise errors[stage]
        verdict = gate.judge(_documents(session, gate), gate.thresholds(session.config))
    except StepFailed as error:
        if error.unpaid:
            found = _finding(session, gate, "not computed", str(error))
            return replace(found, unpaid=found.state != "off")
        verdict = Verdict(False, str(error))
    except NothingToJudge as error:
        return _finding(session, gate, "nothing to judge", f"nothing to judge: {error}")
    except (UpstreamMissing, NotComputed) as error:
        return _finding(session, gate, "not computed", str(error))
    return _finding(session, gate, "passed" if verdict.passed else "failed", verdict.description, verdict)


def _finding(
    session: Session, gate: Gate, state: State, description: str, verdict: Verdict | None = None
) -> Finding:
    """Make a gate's finding, given its verdict and its level in this run."""
    section = gate.thresholds(session.config)
    values = section.model_dump(by_alias=True)
    overridden = {key: values[key] for key in _overridden_keys(gate, session.options.overrides)}
    thresholds = {key: value for key, value in values.items() if isinstance(value, int | float)}
    if section.level == "off":
        description = f"off; it would have {state}: {description}" if verdict else "off"
        state = "off"
    if overridden:
        keys = ", ".join(f"checks.{gate.name}.{key}: {value}" for key, value in overridden.items())
        description = f"overridden for this run ({keys}): {description}"
    return Finding(gate, section.level, state, description, thresholds, overridden, verdict)


def _documents(session: Session, gate: Gate) -> Documents[object]:
    """Return what the stages tell that a gate reads, with the names of test sets for judges.

    Raises UpstreamMissing when steps were never made.
    """
    found: dict[str, dict[str, object]] = {}
    for stage in gate.reads:
        steps = session.graph.stages[stage]
        session.results.need(steps)
        found[stage], read = {}, _reader_of(session, stage) or gate.reader
        for step in steps:
            told = read(session.store, session.results.result_of(step).outputs, step.label)
            if isinstance(told, Scores | Comparison):
                told = replace(told, dataset=_name(step, told))
            if told is not None:  # a model that was fetched tells nothing
                found[stage][step.label] = told
    return found


def _name(step: Step, told: Scores | Comparison) -> str:
    """The config's name of a test set; marked if it is a variant, as its key tells: names may be anything."""
    name = called(step, told.dataset)
    key = str(step.args["dataset"]).removesuffix(PARAGRAPHS)
    return f"{name}{models.VARIANT}" if parse_dataset(key).augmentation else name


def _reader_of(session: Session, stage: str) -> Reader[object] | None:
    """Return the reader of what a stage tells that is made for gates; None for others."""
    if stage not in session.graph.checks:
        return None
    return read_comparison if compares(session.graph, stage) else read_numbers


def _overridden_keys(gate: Gate, overrides: Mapping[str, Any]) -> list[str]:
    """The overridden keys of a gate's section; overrides are nested, dotted, or both."""
    prefix = f"checks.{gate.name}."
    return [key.removeprefix(prefix) for key in _dotted(overrides, "") if key.startswith(prefix)]


def _dotted(values: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key
