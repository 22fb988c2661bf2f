"""How much of Marian's workspace a micro-batch takes: an estimate, from the model's shape.

Sentences are padded to the longest of their micro-batch, so what counts are padded words. Marian keeps the
values of all nodes until the gradients have been computed back to them, which frees them: a word of a
transformer's layer takes vectors of the model's width and one of the feed-forward net's; dropout takes more;
a word of the target besides two of the vocabulary's size. Attention takes numbers for each head and pair of
words. The factors are those of memory measured on a CPU, to which they fit within 5 % (`python -m
benchmarks.batches --measure`), in single precision; a GPU with half precision needs less.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.common.marian_options import Value

Numbers = npt.NDArray[np.int64]

BYTES = 4
ENCODER, DECODER, DROPOUT = 17, 23, 6  # vectors of the model's width for a word in a layer
RECURRENT_SOURCE, RECURRENT_TARGET = 36, 40  # vectors of the cell's width, in one layer and attention
ATTENTION = 3.2  # numbers for a head and a pair of words
OUTPUT = 2  # vectors of the vocabulary's size


@dataclass(frozen=True)
class Need:
    """Bytes of workspace for a padded word of the source, one of the target, and a pair of padded words that
    attention compares, by whose they are.
    """

    source: float
    target: float
    pair_of_source: float
    pair_of_target: float
    pair_of_both: float

    def of(self, sentences: Numbers, source: Numbers, target: Numbers) -> npt.NDArray[np.float64]:
        """Bytes for micro-batches of so many sentences, padded to so many words on each side."""
        each = (
            self.source * source
            + self.target * target
            + self.pair_of_source * source**2
            + self.pair_of_target * target**2
            + self.pair_of_both * source * target
        )
        return np.asarray(sentences * each, dtype=np.float64)


def estimate(expanded: Mapping[str, Value], vocab_size: int) -> Need:
    """What a model needs, by its options as pipeline.train.settings.expand gives them, and the larger of its
    vocabularies' sizes.
    """
    layers, decoder_layers, width = (
        int(str(expanded[name])) for name in ("enc-depth", "dec-depth", "dim-emb")
    )
    output = OUTPUT * vocab_size
    if expanded.get("type") != "transformer":
        cell = int(str(expanded["dim-rnn"]))
        source, target = RECURRENT_SOURCE * layers * cell, RECURRENT_TARGET * decoder_layers * cell + output
        return Need(BYTES * source, BYTES * target, 0, 0, 0)
    inner = int(str(expanded["transformer-dim-ffn"]))
    more = DROPOUT if float(str(expanded.get("transformer-dropout", 0))) else 0
    attention = BYTES * ATTENTION * int(str(expanded["transformer-heads"]))
    attends = expanded["transformer-decoder-autoreg"] == "self-attention"
    return Need(
        source=BYTES * layers * ((ENCODER + more) * width + inner),
        target=BYTES * (decoder_layers * ((DECODER + more) * width + inner) + output),
        pair_of_source=attention * layers,
        pair_of_target=attention * decoder_layers * attends,
        pair_of_both=attention * decoder_layers,
    )
