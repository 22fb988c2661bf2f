"""Which of Marian's decoding options `marian-args` may set, and to what.

Marian has others that end well and leave something else than translations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Option → words that it may be, and the least and the most of numbers; of a list, each item.
# As in pipeline.common.decoding_options, which looks again when it decodes.
ALLOWED: Mapping[str, tuple[tuple[str, ...], float, float]] = {
    "beam-size": ((), 1, 100),
    "normalize": ((), 0, 10),
    "word-penalty": ((), -100, 100),
    "max-length": ((), 1, 4096),
    "max-length-crop": (("true",), 1, 0),
    "max-length-factor": ((), 0.1, 100),
    "mini-batch": ((), 1, 100_000),
    "mini-batch-words": ((), 0, 10_000_000),
    "maxi-batch": ((), 1, 1_000_000),
    "maxi-batch-sort": (("none", "src"), 1, 0),
    "precision": (("float16", "float32"), 1, 0),
    "fp16": (("true", "false"), 1, 0),
    "allow-unk": (("true", "false"), 1, 0),
    "output-sampling": (("topk", "full"), 0.01, 1_000_000),
    "seed": ((), 1, 2**31 - 1),
    "weights": ((), 0, 1000),
}
# As well: why the likeliest of the others are refused.
REFUSED: Mapping[str, str] = {
    "alignment": "writes alignments behind every translation",
    "word-scores": "writes scores behind every translation",
    "no-spm-decode": "writes pieces of words instead of text",
    "no-spm-encode": "takes the text for pieces of words",
    "force-decode": "takes translations from the text",
    "skip-cost": "leaves out the probabilities by which translations are chosen",
    "ignore-model-config": "decodes with other options than the model was trained with",
    "right-left": "writes sentences backwards, unless the model was trained so",
    "skip": "leaves out the part that no model can do without",
    "tsv": "reads columns, and the text has one sentence a line",
    "allow-special": "lets a translation hold line breaks",
    "n-best": "is for the script to decide",
    "shortlist": "comes with the model",
}


def refusal(name: str) -> str:
    """Why an option that Marian knows is not among those that may be set."""
    return f"cannot be set: it {REFUSED.get(name, 'is none of ' + ', '.join(ALLOWED))}"


def range_of(name: str, value: Any) -> str:
    """What the value of an option should be, when it is something else."""
    words, least, most = ALLOWED[name]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    parts = value if isinstance(value, list) else text.strip("[] ").replace(",", " ").split() or [""]
    if all(_fits(str(part), words, least, most) for part in parts):
        return ""
    return " or ".join([*words, *([f"{least:g} to {most:g}"] if least <= most else [])])


def _fits(part: str, words: Sequence[str], least: float, most: float) -> bool:
    try:
        return part in words or least <= float(part) <= most
    except ValueError:
        return False
