"""The model as browsers' engines read it: embeddings in 8 bits, too, and a multiplier for each matrix.

The multiplier ("alpha") of what enters the matrix NAME is a scalar, `NAME_QuantMultA`. That of the output
layer, which is the target's embedding turned, is itself stored in 8 bits (127, and a scale), as all is whose
name has `Wemb` in it: so does Mozilla's conversion, and browsermt's engine looks for it. With a joint
vocabulary `fxtranslate` looks for it as `none_QuantMultA`, a float.
"""

from collections.abc import Iterator, Mapping

from pipeline.quantize.marian_binary import (
    CONFIG,
    INTGEMM8_BROWSER,
    Tensor,
    bytes_tensor,
    float_tensor,
    int8_tensor,
)
from pipeline.quantize.student import JOINT, Weights

MULTIPLIER = "_QuantMultA"
OUTPUT_MULTIPLIER = f"none{MULTIPLIER}"


def browser_model(weights: Weights, multipliers: Mapping[str, float]) -> list[Tensor]:
    """The tensors of `*.intgemm.alphas.bin`, by name. Each matrix must have its multiplier."""
    tensors = [*_weights(weights, multipliers), *_multipliers(weights, multipliers)]
    tensors.append(bytes_tensor(CONFIG, weights.config_text))
    return sorted(tensors, key=lambda tensor: tensor.name)


def _weights(weights: Weights, multipliers: Mapping[str, float]) -> Iterator[Tensor]:
    for name, array in weights.arrays.items():
        if name in weights.embeddings:
            yield int8_tensor(name, array, INTGEMM8_BROWSER)
        elif name in multipliers:
            yield int8_tensor(name, array, INTGEMM8_BROWSER, turned=True)
        else:
            yield float_tensor(name, array)


def _multipliers(weights: Weights, multipliers: Mapping[str, float]) -> Iterator[Tensor]:
    output = weights.embeddings[-1]
    for name, value in multipliers.items():
        if name == output:
            yield int8_tensor(name + MULTIPLIER, [[value]], INTGEMM8_BROWSER)
        else:
            yield float_tensor(name + MULTIPLIER, [[value]])
    if output == JOINT:
        yield float_tensor(OUTPUT_MULTIPLIER, [[multipliers[output]]])
