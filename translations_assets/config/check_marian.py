"""Checks of `marian-args`: options that Marian knows, with values of their types, not set by the scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from translations_assets.config.check_decoding import ALLOWED, range_of, refusal
from translations_assets.config.edits import at
from translations_assets.config.errors import suggestion
from translations_assets.config.known import FLAG, marian_options, of_scripts
from translations_assets.config.schema import Experiment, MarianArgs
from translations_assets.config.section import by_key
from translations_assets.config.yaml_reader import KeyPath

# What each section of marian-args is for.
SECTIONS = {
    section: "train" if section.startswith("training") else "decode" for section in by_key(MarianArgs)
}
SET_BY_SCRIPT = {
    "train": frozenset(of_scripts("set by training")),
    "decode": frozenset({"models", "vocabs", "input", "output", "devices", "cpu-threads", "workspace"}),
}
SIZES = ("dim-emb", "transformer-dim-ffn", "transformer-decoder-dim-ffn")
# What upstream's training configs give, and the batches of pipeline/train/configs/training come to.
UPSTREAMS_DELAY = {
    "training-backward": 1,
    "training-teacher": 2,
    "training-student": 2,
    "training-student-finetuned": 4,
}
INT8_WIDTH = 64  # as in pipeline.quantize.quantize, which would refuse the trained student

_INTEGER, _NATURAL = re.compile(r"[-+]?[0-9]{1,18}"), re.compile(r"\+?[0-9]{1,18}")
_SIZE = re.compile(r"[0-9]{1,18}")  # Python makes no number of thousands of digits
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")


def check_marian_args(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The key path and message of every problem in `marian-args`."""
    for section, task in SECTIONS.items():
        options = at(config, ("marian-args", section))
        for name, value in options.items() if isinstance(options, Mapping) else ():
            if message := _wrong(name, value, task):
                yield ("marian-args", section, name), message
    yield from _sizes_of_the_student(config)
    yield from _sizes_of_vocabularies(config)


def remarks(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Options that upstream's training takes in another way."""
    for section, upstreams in UPSTREAMS_DELAY.items():
        options = at(config, ("marian-args", section))
        if not isinstance(options, Mapping) or str(options.get("mini-batch-fit")).lower() == "true":
            continue
        delay = str(options.get("optimizer-delay", ""))
        if re.fullmatch(r"[1-9]\d*", delay):
            times = f"{int(delay) / upstreams:g}"
            yield (
                ("marian-args", section, "optimizer-delay"),
                f"divides the batch of an update, and leaves it as large; upstream's would be {times} times "
                f"that of the training config: give mini-batch-words, {times} times what that config says",
            )


def _wrong(name: str, value: Any, task: str) -> str:
    known = marian_options(task)
    if name in SET_BY_SCRIPT[task]:
        return "is set by the script; remove it"
    if name.startswith("-"):
        return ""  # reported by the schema
    if name not in known:
        other = "decode" if task == "train" else "train"
        if name in marian_options(other):
            return f"Marian has this option for `{other}` only, and this section is for `{task}`"
        return f"Marian has no such option for `{task}`.{suggestion(name, known)}"
    if task == "decode" and name not in ALLOWED:
        return refusal(name)
    expected = _expected(known[name], value) or (range_of(name, value) if task == "decode" else "")
    if expected:
        return f"must be {expected}, not {value!r}"
    if task == "train" and name == "after" and re.fullmatch(r"[1-9]\d*e", str(value)):
        return (
            f"{value} counts epochs, which Marian cannot see while OpusTrainer feeds it; give updates "
            "(after: 5000u) or labels (after: 1Gt)"
        )
    return ""


def _expected(kind: str, value: Any) -> str:
    """What a value should be, when it is not of a kind; lists are of any kind's values."""
    text = str(value).lower() if isinstance(value, bool) else str(value).strip()
    if kind == FLAG and text not in ("true", "false"):
        return "true or false"
    if kind == "UINT" and not _NATURAL.fullmatch(text):
        return "a whole number, 0 or more"
    if kind == "INT" and not _INTEGER.fullmatch(text):
        return "a whole number"
    if kind == "FLOAT" and text not in ("true", "false") and not _NUMBER.fullmatch(text):
        return "a number"
    return ""


def _sizes_of_the_student(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for section in ("training-student", "training-student-finetuned"):
        for name in SIZES:
            size = at(config, ("marian-args", section, name))
            if _SIZE.fullmatch(str(size)) and int(size) % INT8_WIDTH:
                message = f"{size} is not a multiple of {INT8_WIDTH}, as the student's 8-bit form needs it"
                yield ("marian-args", section, name), message


def _sizes_of_vocabularies(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    given = at(config, ("experiment", "spm-vocab-size"))
    size = Experiment.model_fields["spm_vocab_size"].default if given is None else given
    for section in SECTIONS:
        path = ("marian-args", section, "dim-vocabs")
        sizes = set(map(int, _SIZE.findall(str(at(config, path))))) - {0}
        if isinstance(size, int) and sizes and sizes != {size}:
            yield path, f"does not fit experiment.spm-vocab-size: {size}; write {size} twice, or remove it"
