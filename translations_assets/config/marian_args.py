"""Checks of `marian-args`: options that Marian knows, with values of their types, not set by the scripts.

Of Marian's decoding options some end well and leave something else than translations; these are refused, and
so is, of a model that CTranslate2 decodes, what only Marian can do.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import ItemsView, Mapping, Sequence
from typing import Any

from translations_assets.config.errors import suggestion
from translations_assets.config.experiment import Experiment
from translations_assets.config.finetuning import finetuned_in
from translations_assets.config.known import FLAG, marian_options, of_scripts
from translations_assets.config.schema import MarianArgs
from translations_assets.config.section import by_key
from translations_assets.config.text import table
from translations_assets.config.translators import converted
from translations_assets.config.yaml_reader import MOST_DIGITS, Found, at, mapping_at

# What each section of marian-args is for.
SECTIONS = {
    section: "train" if section.startswith("training") else "decode" for section in by_key(MarianArgs)
}
STUDENTS = ("training-student", "training-student-finetuned")
SET_BY_SCRIPT = {
    "train": frozenset(of_scripts("set by training")),
    "decode": frozenset({"models", "vocabs", "input", "output", "devices", "cpu-threads", "workspace"}),
}
SIZES = ("dim-emb", "transformer-dim-ffn", "transformer-decoder-dim-ffn")
INT8_WIDTH = 64  # as in pipeline.quantize, which would refuse the trained student
_RULES = table(__file__, "marian_rules.yml")
FAMILY: Mapping[str, object] = _RULES["family-of-students"]
GUIDED: Mapping[str, str] = _RULES["guided-alignment"]

# Option → words that it may be, and the least and the most of numbers; of a list, each item.
ALLOWED: Mapping[str, tuple[Sequence[str], float, float]] = of_scripts("allowed")
# Why the likeliest of the others are refused.
REFUSED: Mapping[str, str] = of_scripts("refused")
# Options of decoding that CTranslate2 knows as well.
IN_CTRANSLATE2 = frozenset(of_scripts("ctranslate2"))
# Those that limit lengths, with their defaults there, and `positions`, the most pieces that they may allow.
LENGTHS: Mapping[str, float] = of_scripts("ctranslate2 lengths")
# Options of training, with the values of models that can be converted.
CONVERTIBLE: Mapping[str, Sequence[object]] = {**of_scripts("convertible"), **_RULES["convertible"]}
# Model → the sections of its training and decoding
DECODED = {
    "teacher": ("training-teacher", "decoding-teacher"),
    "backwards": ("training-backward", "decoding-backward"),
}

_INTEGER, _NATURAL = re.compile(r"[-+]?[0-9]{1,18}"), re.compile(r"\+?[0-9]{1,18}")
_SIZE = re.compile(r"[0-9]{1,18}")  # Python makes no number of thousands of digits
_TOO_LONG = re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")


def check_marian_args(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem in `marian-args`."""
    for section, task in SECTIONS.items():
        for name, value in _options(config, section):
            if message := _wrong(name, value, task):
                yield ("marian-args", section, name), message
    yield from _student(config)
    yield from _guided(config)
    yield from _sizes_of_vocabularies(config)
    for model, (_, decoding) in DECODED.items():
        names = [*dict.fromkeys(converted(config, model))]
        if at(config, ("experiment", f"{model}-decoder")) == "ctranslate2":
            yield from _not_in_ctranslate2(config, model)
        elif names:
            yield from _not_decoded_by_ctranslate2(config, decoding, f"as it runs translators.{names[0]}")


def remarks(config: Mapping[str, Any]) -> Found:
    """Options that upstream's training takes in another way, and some that spoil what students learn."""
    beam = ("marian-args", "decoding-teacher", "beam-size")
    chosen = {*map(str, mapping_at(config, ("experiment", "selection")).values())}
    if chosen & {"mbr", "qe"} and str(at(config, beam)) == "1":
        yield beam, "leaves experiment.selection nothing to choose from; a beam of 8 is usual"
    for section in STUDENTS:
        path = ("marian-args", section, "sentencepiece-alphas")
        if re.search("[1-9]", str(at(config, path))):
            yield (
                path,
                "samples other pieces than those that alignments link, so that many links guide to other "
                "text (decision 32): leave it out",
            )
    for section, upstreams in _RULES["upstreams-delay"].items():
        options = mapping_at(config, ("marian-args", section))
        delay = str(options.get("optimizer-delay", ""))
        if _text(options.get("mini-batch-fit")) != "true" and re.fullmatch(r"[1-9]\d*", delay):
            times = f"{int(delay) / upstreams:g}"
            yield (
                ("marian-args", section, "optimizer-delay"),
                f"divides the batch of an update, and leaves it as large; upstream's would be {times} times "
                f"that of the training config: give mini-batch-words, {times} times what that config says",
            )


def _options(config: Mapping[str, Any], section: str) -> ItemsView[str, Any]:
    return mapping_at(config, ("marian-args", section)).items()


def _text(value: object) -> str:
    """A value as Marian reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


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
        return f"cannot be set: it {REFUSED.get(name, 'is none of ' + ', '.join(ALLOWED))}"
    expected = _expected(known[name], _text(value)) or (_range(name, value) if task == "decode" else "")
    if expected:
        return f"must be {expected}, not {reprlib.repr(value)}"
    ends = str(value).split(",") if task == "train" and name == "after" else []
    if any(re.fullmatch(r"[1-9]\d*e", end.strip()) for end in ends):
        return (
            f"{value} counts epochs, which Marian cannot see while a curriculum feeds it; give updates "
            "(after: 5000u) or labels (after: 1Gt)"
        )
    return ""


def _expected(kind: str, text: str) -> str:
    """Describe the values that a kind of option accepts; lists are of any kind's values."""
    if kind == FLAG and text not in ("true", "false"):
        return "true or false"
    if kind == "UINT" and not _NATURAL.fullmatch(text):
        return "a whole number, 0 or more"
    if kind == "INT" and not _INTEGER.fullmatch(text):
        return "a whole number"
    if kind == "FLOAT" and text not in ("true", "false") and not _NUMBER.fullmatch(text):
        return "a number"
    if kind != "FLOAT" and _TOO_LONG.search(text):
        return f"without numbers of more than {MOST_DIGITS} digits"
    return ""


def _range(name: str, value: Any) -> str:
    """Describe the range of a decoding option, for a value outside it."""
    words, least, most = ALLOWED[name]
    parts = value if isinstance(value, list) else _text(value).strip("[] ").replace(",", " ").split() or [""]
    if all(_fits(str(part), words, least, most) for part in parts):
        return ""
    return " or ".join([*words, *([f"{least:g} to {most:g}"] if least <= most else [])])


def _fits(part: str, words: Sequence[str], least: float, most: float) -> bool:
    try:
        return part in words or least <= float(part) <= most
    except ValueError:
        return False


def _student(config: Mapping[str, Any]) -> Found:
    """Sizes that its 8-bit form does not have, and options of another family of models."""
    for section in STUDENTS:
        for name, value in _options(config, section):
            path = ("marian-args", section, name)
            if name in SIZES and _SIZE.fullmatch(str(value)) and int(value) % INT8_WIDTH:
                yield path, f"{value} is not a multiple of {INT8_WIDTH}, as the student's 8-bit form needs it"
            if name in FAMILY and value is not None and str(value) != str(FAMILY[name]):
                yield path, f"is {str(FAMILY[name])!r} in the models that browsers' engines run; remove it"


def _guided(config: Mapping[str, Any]) -> Found:
    """Guided alignment where a training's pairs have no links, or none where they have."""
    finetuned = [("training-on-finetune", GUIDED.get(f"training-{model}")) for model in finetuned_in(config)]
    for section, needed in (*GUIDED.items(), *finetuned):
        path = ("marian-args", section, "guided-alignment")
        given = at(config, path)
        if given is not None and needed and _text(given) != needed:
            yield path, f"must be {needed}, for which the pairs of the training are made; remove it"


def _sizes_of_vocabularies(config: Mapping[str, Any]) -> Found:
    given = at(config, ("experiment", "spm-vocab-size"))
    size = Experiment.model_fields["spm_vocab_size"].default if given is None else given
    for section in SECTIONS:
        path = ("marian-args", section, "dim-vocabs")
        sizes = set(map(int, _SIZE.findall(str(at(config, path))))) - {0}
        if isinstance(size, int) and sizes and sizes != {size}:
            yield path, f"does not fit experiment.spm-vocab-size: {size}; write {size} twice, or remove it"


def _not_in_ctranslate2(config: Mapping[str, Any], model: str) -> Found:
    training, decoding = DECODED[model]
    marian = f"or write {model}-decoder: marian"
    number = at(config, ("experiment", "teacher-ensemble"))
    if model == "teacher" and number not in (None, 1):
        said = f"CTranslate2 decodes with one teacher, not with {number}; write 1, or teacher-decoder: marian"
        yield ("experiment", "teacher-ensemble"), said
    if model == "backwards" and at(config, ("marian-args", training, "type")) is None:
        said = (
            "CTranslate2 cannot decode the recurrent model that is the default; write type: transformer in "
            f"marian-args.{training}, {marian}"
        )
        yield ("experiment", "backwards-decoder"), said
    yield from _not_decoded_by_ctranslate2(config, decoding, marian)
    for name, value in _options(config, training):
        if name in CONVERTIBLE and _text(value) not in map(_text, CONVERTIBLE[name]):
            said = f"CTranslate2 cannot decode a model with {name}: {value}; remove it, {marian}"
            yield ("marian-args", training, name), said


def _not_decoded_by_ctranslate2(config: Mapping[str, Any], decoding: str, remedy: str) -> Found:
    """Options of decoding that CTranslate2 lacks, or takes in another way."""
    options = dict(_options(config, decoding))
    for name in options:
        where = ("marian-args", decoding, name)
        if name in ALLOWED and name not in IN_CTRANSLATE2:
            yield where, f"CTranslate2 has nothing like it; remove it, {remedy}"
        elif name == "output-sampling" and _text(options.get("beam-size", "not given")) != "1":
            yield where, f"goes with beam-size: 1 for CTranslate2; write that, too, {remedy}"
    lengths = {name: _text(options.get(name, LENGTHS[name])) for name in ("max-length", "max-length-factor")}
    if all(map(_NUMBER.fullmatch, lengths.values())):
        longest, factor = map(float, lengths.values())
        if longest * max(factor, 1) > LENGTHS["positions"]:
            name = "max-length" if "max-length" in options else "max-length-factor"
            allowed = f"{longest:g} pieces, of a translation {factor:g} times as many (max-length-factor)"
            most = f"CTranslate2 has positions for {LENGTHS['positions']}"
            yield ("marian-args", decoding, name), f"allows {allowed}, and {most}; lower one, {remedy}"
