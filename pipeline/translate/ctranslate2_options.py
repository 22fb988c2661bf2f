"""Marian's decoding options, as far as CTranslate2 knows them, too.

What it does not know is refused: an option without effect would be an error that nobody sees.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.common.decoding_options import check_decoding
from pipeline.common.errors import InputError
from pipeline.common.marian import MAX_LENGTH
from pipeline.common.marian_options import Value

# As in translations_assets.config.marian_args, which refuses the others before anything runs.
KNOWN = frozenset(
    {
        *("beam-size", "normalize", "word-penalty", "max-length", "max-length-crop", "max-length-factor"),
        *("mini-batch", "mini-batch-words", "maxi-batch", "maxi-batch-sort", "precision", "fp16"),
        *("allow-unk", "output-sampling"),
    }
)
POSITIONS = 4096  # of a sentence or translation for which a converted model has embeddings


@dataclass(frozen=True)
class Settings:
    """How to decode.

    beam               translations of a sentence that are looked at together
    normalize          power of the length by which a log-probability is divided
    word_penalty       what each piece takes from it before
    max_length         pieces of a sentence that are read, the end of sentence among them
    max_length_factor  how many times as long as the longest sentence of its batch a translation may get
    batch_sentences    sentences of a batch, unless batch_words is given
    batch_words        pieces of a batch, or 0
    read_ahead         sentences that are read and sorted by length together
    half_precision     whether a GPU computes with 16 bits
    allow_unknown      whether the unknown piece may be written
    sampled            pieces of which the next one is drawn, 0 for all; None to look for the likeliest
    temperature        of the drawing
    """

    beam: int
    normalize: float
    word_penalty: float
    max_length: int
    max_length_factor: float
    batch_sentences: int
    batch_words: int
    read_ahead: int
    half_precision: bool
    allow_unknown: bool
    sampled: int | None
    temperature: float


def read_settings(options: Mapping[str, Value]) -> Settings:
    """The settings that Marian's options mean. Raises InputError for what CTranslate2 cannot do."""
    if unknown := sorted(options.keys() - KNOWN):
        raise InputError(
            f"CTranslate2 has nothing like Marian's {', '.join(unknown)}. Remove it from marian-args, or "
            "decode with Marian (experiment.teacher-decoder: marian, or backwards-decoder)."
        )
    check_decoding(options)
    length, factor = _whole(options, "max-length", MAX_LENGTH), _number(options, "max-length-factor", 3)
    if length * max(factor, 1) > POSITIONS:
        raise InputError(
            f"max-length {length} with max-length-factor {factor:g} allows more than {POSITIONS} pieces, and "
            "a converted model has positions for no more. Lower one of them."
        )
    beam = _whole(options, "beam-size", 1)
    sampled, temperature = _sampling(options.get("output-sampling"), beam)
    batch = _whole(options, "mini-batch", 1)
    return Settings(
        beam=beam,
        normalize=_number(options, "normalize", 0),
        word_penalty=_number(options, "word-penalty", 0),
        max_length=length,
        max_length_factor=factor,
        batch_sentences=batch,
        batch_words=_whole(options, "mini-batch-words", 0),
        read_ahead=batch * _whole(options, "maxi-batch", 1),
        half_precision=_half(options),
        allow_unknown=bool(options.get("allow-unk", False)),
        sampled=sampled,
        temperature=temperature,
    )


def _whole(options: Mapping[str, Value], name: str, default: int) -> int:
    value = options.get(name, default)
    if not isinstance(value, int):
        raise InputError(f"{name} must be a whole number, not {value!r}")
    return value


def _number(options: Mapping[str, Value], name: str, default: float) -> float:
    return float(str(options.get(name, default)))


def _half(options: Mapping[str, Value]) -> bool:
    given = options.get("precision", "float16" if options.get("fp16") else "float32")
    return (given[0] if isinstance(given, list) else given) == "float16"


def _sampling(given: "Value | None", beam: int) -> tuple[int | None, float]:
    """How many pieces are drawn from, and the temperature, of `topk`, `[topk, 10, 0.8]` or `[full, 0.8]`."""
    if given is None:
        return None, 1.0
    if beam != 1:
        raise InputError(f"output-sampling goes with beam-size 1 for CTranslate2, not {beam}")
    method, *numbers = given if isinstance(given, list) else [given]
    defaults = {"topk": [10.0, 1.0], "full": [1.0]}.get(str(method), [])
    found = [float(number) for number in numbers if isinstance(number, int | float) and number > 0]
    if not defaults or len(found) < len(numbers) or len(found) > len(defaults):
        raise InputError(f"output-sampling must be as [topk, 10, 0.8] or [full, 0.8], not {given!r}")
    *top, temperature = found + defaults[len(found) :]
    return int(top[0]) if top else 0, temperature
