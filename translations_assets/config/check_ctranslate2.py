"""Checks of a config whose teacher CTranslate2 decodes: what only Marian can do is refused by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from translations_assets.config.check_decoding import ALLOWED
from translations_assets.config.edits import at
from translations_assets.config.known import of_scripts
from translations_assets.config.yaml_reader import KeyPath

# Options of decoding that CTranslate2 knows as well.
KNOWN = frozenset(of_scripts("ctranslate2"))
# Options of training, with the values of models that can be converted. The script that converts looks at the
# trained model; what cannot be seen there stands here.
CONVERTIBLE: Mapping[str, Sequence[object]] = {
    **of_scripts("convertible"),
    "task": ("transformer-base", "transformer-big"),
    "type": ("transformer",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-postprocess": ("dan",),
    "transformer-postprocess-top": ("",),
    "transformer-postprocess-emb": ("", "d", "n", "nd"),
    "transformer-no-projection": (False,),
}
MARIAN = "or write teacher-decoder: marian"


def check_ctranslate2(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """The key path and message of everything that CTranslate2 cannot do; nothing where Marian decodes."""
    if at(config, ("experiment", "teacher-decoder")) != "ctranslate2":
        return
    number = at(config, ("experiment", "teacher-ensemble"))
    if number not in (None, 1):
        message = (
            f"CTranslate2 decodes with one teacher, not with {number}; write 1, or teacher-decoder: marian"
        )
        yield ("experiment", "teacher-ensemble"), message
    yield from _decoding(config)
    yield from _training(config)


def _decoding(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    where = ("marian-args", "decoding-teacher")
    options = at(config, where)
    for name in options if isinstance(options, Mapping) else ():
        if name in ALLOWED and name not in KNOWN:
            yield (*where, name), f"CTranslate2 has nothing like it; remove it, {MARIAN}"
        elif name == "output-sampling" and _text(options.get("beam-size", "not given")) != "1":
            yield (*where, name), f"goes with beam-size: 1 for CTranslate2; write that, too, {MARIAN}"


def _training(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    where = ("marian-args", "training-teacher")
    options = at(config, where)
    for name, value in options.items() if isinstance(options, Mapping) else ():
        if name in CONVERTIBLE and _text(value) not in map(_text, CONVERTIBLE[name]):
            yield (
                (*where, name),
                f"CTranslate2 cannot decode a model with {name}: {value}; remove it, {MARIAN}",
            )


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
