"""Which of Marian's decoding options may be set, and to what.

Marian has others that end well and leave something else than translations: word scores, alignments, pieces.
And what builds the model comes with its weights. So the options are those listed here, and no others.
"""

from collections.abc import Mapping, Sequence

from pipeline.common.errors import InputError
from pipeline.common.marian_options import Value

# Option → words that it may be, and the least and the most of numbers; of a list, each item.
# As in translations_assets.config.marian_args, which looks before anything runs.
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


def check_decoding(options: Mapping[str, Value]) -> None:
    """Raises InputError for options, or values of them, with which decoding would not leave translations."""
    wrong = [f"{name} {why}" for name, value in options.items() if (why := _wrong(name, value))]
    if wrong:
        raise InputError(f"Decoding options: {'; '.join(wrong)}")


def _wrong(name: str, value: Value) -> str:
    if name not in ALLOWED:
        return f"cannot be set: it {REFUSED.get(name, 'is none of ' + ', '.join(ALLOWED))}"
    words, least, most = ALLOWED[name]
    numbers = [f"{least:g} to {most:g}"] if least <= most else []
    fits = all(_fits(part, words, least, most) for part in _parts(value))
    return "" if fits else f"must be {' or '.join([*words, *numbers])}, not {value!r}"


def _parts(value: Value) -> Sequence[str]:
    words = value.split() or [""] if isinstance(value, str) else [value]
    parts = value if isinstance(value, list) else words
    return [str(part).lower() if isinstance(part, bool) else str(part) for part in parts]


def _fits(part: str, words: Sequence[str], least: float, most: float) -> bool:
    try:
        return part in words or least <= float(part) <= most
    except ValueError:
        return False
