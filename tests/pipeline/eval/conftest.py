"""The tiny student and its quantised form, made once."""

from tests.pipeline.quantize.conftest import one_thread, quantized, tiny

__all__ = ["one_thread", "quantized", "tiny"]
