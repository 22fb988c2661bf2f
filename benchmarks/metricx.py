"""Translations that MetricX-24 scores a second on a CPU: one at a time, and in batches.

    python -m benchmarks.metricx

The model has the architecture of metricx-24-hybrid-large at its full size (mT5-large, 24 and 24 layers of
1024, without the embeddings of its 250,000 pieces) and random weights: its errors mean nothing, and take as
long. The sentences are of a small grammar, of different lengths.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.common.packed import pack
from pipeline.translate import convert_metricx
from pipeline.translate.metricx import MetricX
from tests.pipeline.train.tiny import pairs
from tests.pipeline.translate.hub_models import pieces, write_safetensors

WIDTH, INNER, LAYERS, HEADS = 1024, 2816, 24, 16
FEW, MANY = 4, 44  # translations; the first are for the start


def main() -> None:
    """Measure, and print."""
    rows = [(source, target) for source, target in pairs(MANY, seed=2)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder / "model")
        pack(folder / "model", folder / "model.tar")
        shutil.rmtree(folder / "model")
        (folder / "pieces").mkdir()
        shutil.copyfile(pieces(), folder / "pieces" / convert_metricx.MT5_PIECES)
        pack(folder / "pieces", folder / "pieces.tar")
        files = ["--model", str(folder / "model.tar"), "--pieces", str(folder / "pieces.tar")]
        convert_metricx.main([*files, "--token", "7", "--output", str(folder / "converted")])
        (folder / "model.tar").unlink()
        weights = (folder / "converted" / "model.bin").stat().st_size
        metricx = MetricX(folder / "converted", None)
    [*metricx.errors(rows[:FEW])]
    begun = time.perf_counter()
    alone = [error for row in rows for error in metricx.errors([row])]
    before, begun = time.perf_counter() - begun, time.perf_counter()
    together = [*metricx.errors(rows)]
    after = time.perf_counter() - begun
    print(f"one at a time: {MANY / before:.2f} translations a second")
    print(f"in batches: {MANY / after:.2f} translations a second, {before / after:.1f} ×")
    print(f"largest difference: {max(abs(a - b) for a, b in zip(alone, together, strict=True)):.1g}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"memory: {peak / 1e6:,.0f} MB with the conversion, with {weights / 1e6:,.0f} MB of weights")


def write_model(folder: Path) -> None:
    """Write a model of that architecture."""
    folder.mkdir()
    config = {
        "model_type": "mt5",
        "d_model": WIDTH,
        "d_kv": 64,
        "d_ff": INNER,
        "num_layers": LAYERS,
        "num_decoder_layers": LAYERS,
        "num_heads": HEADS,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
        "relative_attention_num_buckets": 32,
    }
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", dict(_arrays()))


def _arrays() -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    random = np.random.default_rng(1)

    def weight(*shape: int) -> npt.NDArray[np.float32]:
        return random.standard_normal(shape, np.float32) * np.float32(0.03)

    for name in ("shared.weight", "lm_head.weight"):
        yield name, weight(400, WIDTH)
    for side in ("encoder", "decoder"):
        yield f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight", weight(32, HEADS)
        yield f"{side}.final_layer_norm.weight", np.ones(WIDTH, np.float32)
        kinds = ["SelfAttention", *(["EncDecAttention"] if side == "decoder" else [])]
        for number in range(LAYERS):
            block = f"{side}.block.{number}.layer"
            for place, kind in enumerate(kinds):
                for part in "qkvo":
                    yield f"{block}.{place}.{kind}.{part}.weight", weight(WIDTH, WIDTH)
            for place in range(len(kinds) + 1):
                yield f"{block}.{place}.layer_norm.weight", np.ones(WIDTH, np.float32)
            dense = f"{block}.{len(kinds)}.DenseReluDense"
            for part, shape in (("wi_0", (INNER, WIDTH)), ("wi_1", (INNER, WIDTH)), ("wo", (WIDTH, INNER))):
                yield f"{dense}.{part}.weight", weight(*shape)


if __name__ == "__main__":
    main()
