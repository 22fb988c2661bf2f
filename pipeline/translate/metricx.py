"""MetricX-24 (Juraska et al. 2024), a model that estimates the errors of a translation, run by CTranslate2.

It reads source and candidate, and a reference if there is one: the same weights estimate quality without a
reference. It gives an error from 0 to 25 by the weights of MQM: lower is better.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import ctranslate2
import numpy as np

from pipeline.common.errors import InputError
from pipeline.common.vocabulary import load_vocabulary
from pipeline.translate.ctranslate2_decoder import explained, load_translator

Row: TypeAlias = "tuple[str, str] | tuple[str, str, str]"  # source, candidate, reference

PIECES = "source.spm"  # of a converted model: what cuts text into pieces
NOTHING, SCORE = 0, 3  # the rows of the converted model's last layer: one of zeros, and the error's
MOST_PIECES = 1535  # 1,536 with an end of the text, which the model was trained without
LEAST, MOST = 0.0, 25.0
READ_AHEAD = 2_048  # rows that are sorted into batches together
BATCH_PIECES = {"cuda": 8_192, "cpu": 512}  # small ones keep all cores of a CPU busy


class MetricX:
    """A model that `pipeline.translate.convert_metricx` has converted, on GPUs or all threads."""

    def __init__(self, model: Path, cuda_lock: Path | None) -> None:
        # In half precision mT5's sums overflow
        self._translator = load_translator(model, False, cuda_lock)
        self._pieces = load_vocabulary(model / PIECES)

    def errors(self, rows: Iterable[Row]) -> Iterator[float]:
        """The error of each candidate, in order.

        Raises TemporaryError when a GPU failed, InputError for a model that gives no numbers.
        """
        left = iter(rows)
        while block := [*islice(left, READ_AHEAD)]:
            with explained():
                found = self._translator.translate_batch(
                    [self._pieces.encode(_text(row), out_type=str)[:MOST_PIECES] for row in block],
                    max_batch_size=BATCH_PIECES[self._translator.device],
                    batch_type="tokens",
                    max_input_length=0,
                    beam_size=1,
                    max_decoding_length=1,
                    return_logits_vocab=True,
                )
            for result in found:
                with explained():
                    error = _error(result)
                yield error


def _text(row: Row) -> str:
    source, candidate, *reference = row
    return "".join([f"source: {source} candidate: {candidate}", *(f" reference: {one}" for one in reference)])


def _error(result: "ctranslate2.TranslationResult") -> float:
    """The error's output, clipped; measured from that of the zeros, lest outputs are log-probabilities."""
    ((step,),) = result.logits
    outputs = np.array(step.to_device(ctranslate2.Device.cpu))
    error = float(outputs[SCORE] - outputs[NOTHING])
    if not math.isfinite(error):  # min and max would make a perfect translation of it
        raise InputError(
            f"MetricX gave {error} in place of an error: its weights are damaged, or too large. Fetch and "
            "convert the model again."
        )
    return min(MOST, max(LEAST, error))
