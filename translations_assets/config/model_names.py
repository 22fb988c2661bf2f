"""Names of the models of a training config in results, gates, comparisons and options of commands.

Stages are called by the same names: `evaluate_finetuned_student`.
"""

from __future__ import annotations

BACKWARDS = "backwards"
ENSEMBLE = "teacher-ensemble"  # all teachers together, where there are several
STUDENT = "student"  # before finetuning
FINETUNED = "finetuned-student"
QUANTIZED = "quantized"  # in 8 bits, as Marian decodes it
EXPORTED = "exported"  # the same as users get it, in Firefox's engine
RELEASED = "released"  # the model that Firefox ships

TEACHERS = "teacher-"  # how the names of teachers begin
OTHERS = (BACKWARDS, STUDENT, FINETUNED, QUANTIZED, EXPORTED, RELEASED)


def teacher(number: int) -> str:
    """The name of a teacher, counted from 1."""
    return f"{TEACHERS}{number}"


TRANSLATING = (
    BACKWARDS,
    teacher(1),
    ENSEMBLE,
    STUDENT,
    FINETUNED,
    QUANTIZED,
)  # what Marian runs, for completion
