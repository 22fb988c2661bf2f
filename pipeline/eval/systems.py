"""Models of any form, and the engines that run them.

| form | told by | engine |
|---|---|---|
| Firefox's, with multipliers of activations | `model.*.intgemm.alphas.bin` | `fxtranslate` |
| Firefox's, without | `model.*.intgemm8.bin` | Marian |
| Marian's, with `model.npz` or 8-bit weights | `decoder.yml` | Marian |
| CTranslate2's, with `source.spm` and `target.spm` | `model.bin` | CTranslate2 |
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.marian import DECODER_CONFIG, decode
from pipeline.common.marian_options import Options
from pipeline.eval.exported import translate as translate_in_engine
from pipeline.eval.marian_form import write_marian_folder
from pipeline.translate.ctranslate2_decoder import Decoder
from pipeline.translate.ctranslate2_options import read_settings

MULTIPLIERS, WITHOUT = ".intgemm.alphas.bin", ".intgemm8.bin"
PACKED = (".zst", ".gz")
# How a model is decoded whose folder does not say it: as most are evaluated.
DECODING: Options = {
    "beam-size": 4,
    "normalize": 1.0,
    "mini-batch": 32,
    "maxi-batch": 100,
    "maxi-batch-sort": "src",
}


Form = Literal["firefox", "marian", "ctranslate2"]


@dataclass(frozen=True)
class Translated:
    """What a model made of a text; its form and engine; what that took, where it was timed."""

    lines: list[str]
    form: Form
    engine: str
    speed: dict[str, float] = field(default_factory=dict)


def translate(model: Path, text: Path, scratch: Path, unspaced: bool = False) -> Translated:
    """Translate a text with the model in a folder, whatever its form; an empty line stays empty.

    `unspaced` says that the text has no spaces between words, which are counted where it is timed.
    Raises InputError when the folder holds no model, or its engine cannot use it.
    """
    files = sorted(path for path in model.iterdir() if path.is_file()) if model.is_dir() else []
    names = [path.name for path in files]
    if DECODER_CONFIG in names:
        return Translated(_by_marian(model, text, scratch), "marian", "marian")
    if "model.bin" in names:
        found = Decoder(model, read_settings(DECODING)).translate(text)
        return Translated([best.text for best, *_ in found], "ctranslate2", "ctranslate2")
    if holds(names, MULTIPLIERS):
        lines, speed = translate_in_engine(files, [*read_lines(text)], unspaced)
        return Translated(lines, "firefox", "fxtranslate", speed)
    if holds(names, WITHOUT):
        write_marian_folder(files, scratch / "marian")
        return Translated(_by_marian(scratch / "marian", text, scratch), "firefox", "marian")
    raise InputError(_no_model(model, names))


def _by_marian(model: Path, text: Path, scratch: Path) -> list[str]:
    decode([model], text, scratch / "translations")
    return [*read_lines(scratch / "translations")]


def holds(names: Sequence[str], end: str) -> bool:
    return any(name.startswith("model.") and name.endswith(end) for name in names)


def _no_model(model: Path, names: Sequence[str]) -> str:
    packed = [name for name in names if name.startswith("model.") and name.endswith(PACKED)]
    if packed:
        return f"{model} holds {packed[0]}, which is packed. Unpack its files first."
    return (
        f"{model} holds no model. Give a folder with model.*{MULTIPLIERS} and its vocabulary (as exported, "
        f"or Firefox's), with {DECODER_CONFIG} (Marian's), or with model.bin, source.spm and target.spm "
        "(CTranslate2's)."
    )
