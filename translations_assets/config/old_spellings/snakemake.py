"""Old spellings of 2021 and 2022, when Snakemake ran the pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from translations_assets.config.edits import Edit, Put, is_free, renamed
from translations_assets.config.key_paths import at, has
from translations_assets.config.old_spellings.generations import is_old

TEACHER_BASE = "training-teacher-base"
MODELS_OF_2021 = {
    "s2s": "training-backward",
    "backward": "training-backward",
    "teacher-all": TEACHER_BASE,
    "teacher-base": TEACHER_BASE,
    "teacher-parallel": "training-teacher-finetuned",
    "teacher-finetuned": "training-teacher-finetuned",
    "student": "training-student",
    "student-finetuned": "training-student-finetuned",
}

NOT_YET = "NOT-YET-SUPPORTED"  # what the first configs for Taskcluster say in place of a path

BACKWARD_EPOCHS = 10  # as in pipeline/train/configs/curriculum/backward.yml
EPOCHS = "the curriculum tells how many epochs there are, and early stopping ends training"
BASE_EPOCHS = 2  # of back-translations, as in pipeline/train/configs/curriculum/teacher.two-stage.yml


def training_of_2021(values: dict[str, Any]) -> Iterator[Edit]:
    """`training.s2s.after-epochs: 10` → `marian-args.training-backward.after: 10e`."""
    section = values.get("training")
    if not isinstance(section, Mapping) or not set(section) <= set(MODELS_OF_2021):
        return
    puts, lost = [], []
    for model, options in section.items():
        for option, value in options.items() if isinstance(options, Mapping) else ():
            unit = {"after-epochs": "e", "after-batches": "u"}.get(option)
            name, new = ("after", f"{value}{unit}") if unit else (option, value)
            path = ("marian-args", MODELS_OF_2021[model], name)
            if name == "after" and _counts_other_epochs(MODELS_OF_2021[model], new):
                lost.append(f"{model}.{option}: {value}")
            else:
                puts.append(Put(path, new, ("training", model, option)))
    if all(is_free(values, put.path) for put in puts):
        said = f" without {', '.join(lost)}: {EPOCHS}" if lost else ""
        yield Edit(("training",), f"a section of 2021; read as marian-args{said}", tuple(puts))


def perplexity(values: dict[str, Any]) -> Iterator[Edit]:
    """The metric of the best model in 2021, the exponential of the cross-entropy: the same model is best."""
    path = ("experiment", "best-model")
    if at(values, path) == "perplexity":
        said = "perplexity of 2021; read as ce-mean-words, of which it is the exponential"
        yield Edit(path, said, (Put(path, "ce-mean-words", path),))


def bicleaner_threshold(values: dict[str, Any]) -> Iterator[Edit]:
    """One threshold for all datasets, before each could have its own."""
    old, new = ("experiment", "bicleaner-threshold"), ("experiment", "bicleaner", "default-threshold")
    if has(values, old) and has(values, new):
        yield Edit(old, "a key of 2021; removed, as bicleaner.default-threshold is there")
    yield from renamed(values, old, new, "a key of 2021")


def earlier_models(values: dict[str, Any]) -> Iterator[Edit]:
    """`backward-model` and `vocab`: a path, or an empty text for none."""
    for key, taken in (("backward-model", ("models", "backwards")), ("vocab", ("vocab",))):
        old, new = ("experiment", key), ("continuation", *taken)
        given = at(values, old)
        if has(values, old) and given in ("", None, NOT_YET):
            yield Edit(old, "a key of 2022; removed, as it names nothing")
        elif isinstance(given, str) and is_free(values, new):
            said = f"a key of 2022; read as continuation.{'.'.join(taken)}"
            if key == "vocab":
                puts = tuple(Put((*new, side), given, old) for side in ("src", "trg"))
            else:
                puts = (
                    Put((*new, "url"), given, old),
                    Put((*new, "mode"), "use", old),
                    Put((*new, "type"), "default", old),
                )
            yield Edit(old, said, puts)


def other_epochs(values: dict[str, Any]) -> Iterator[Edit]:
    """Epochs of an old config that are not those of a curriculum: early stopping ends training then."""
    sections = at(values, ("marian-args",)) if is_old(values) else None
    for section, options in sections.items() if isinstance(sections, Mapping) else ():
        after = options.get("after") if isinstance(options, Mapping) else None
        if _counts_other_epochs(section, after):
            yield Edit(("marian-args", section, "after"), f"{after}: removed: {EPOCHS}")


def _counts_other_epochs(section: str, after: object) -> bool:
    told = section == TEACHER_BASE or (section, after) == ("training-backward", f"{BACKWARD_EPOCHS}e")
    return not told and re.fullmatch(r"[1-9]\d*e", str(after)) is not None


def epochs_of_the_backwards_model(values: dict[str, Any]) -> Iterator[Edit]:
    """Epochs are counted by the curriculum now, as Marian sees an endless stream."""
    path = ("marian-args", "training-backward", "after")
    if at(values, path) == f"{BACKWARD_EPOCHS}e":
        yield Edit(
            path, f"removed: the backwards model's curriculum ends after {BACKWARD_EPOCHS} epochs, too"
        )


def teacher_in_two_runs(values: dict[str, Any]) -> Iterator[Edit]:
    """Until 2023 a teacher was trained twice: on all text, then on the parallel corpus alone.

    Now one run does both (teacher-mode: two-stage); it ends as the second run did.
    """
    base, tuned, new = (("marian-args", f"training-teacher{name}") for name in ("-base", "-finetuned", ""))
    if has(values, new) or not isinstance(at(values, ("marian-args",)), Mapping):
        return
    options = at(values, base)
    if isinstance(options, Mapping):
        if options.get("after") == f"{BASE_EPOCHS}e":
            said = f"removed: two-stage teachers see back-translations for {BASE_EPOCHS} epochs, too"
            yield Edit((*base, "after"), said)
        elif "after" in options:
            said = (
                f"{options['after']}: removed, as the first stage's length is that of teacher-mode: two-stage"
            )
            yield Edit((*base, "after"), said)
    yield from _joined(values, base, tuned, new)


def _joined(values: Any, base: Any, tuned: Any, new: Any) -> Iterator[Edit]:
    first, second = at(values, base), at(values, tuned)
    if isinstance(first, Mapping) and not isinstance(second, Mapping):
        put = Put(new, {name: value for name, value in first.items() if name != "after"}, base)
        yield Edit(base, "a key of 2022; read as training-teacher", (put,))
    elif isinstance(second, Mapping):
        yield Edit(tuned, "a key of 2022; read as training-teacher", (Put(new, dict(second), tuned),))
        if isinstance(first, Mapping):
            kept = [name for name in first if name not in second and name != "after"]
            puts = tuple(Put((*new, name), first[name], (*base, name)) for name in kept)
            other = [
                f"{name}: {first[name]}" for name in first if second.get(name, first[name]) != first[name]
            ]
            lost = f" without {', '.join(other)}, which training-teacher-finetuned overrides" if other else ""
            yield Edit(base, f"a key of 2022; read as training-teacher{lost}", puts)


RULES = (
    training_of_2021,
    perplexity,
    bicleaner_threshold,
    earlier_models,
    epochs_of_the_backwards_model,
    teacher_in_two_runs,
)
FIRST_RULES = (other_epochs,)  # it looks for what other rules take away
