"""Memory of a line that Marian has read ahead: mini-batch × maxi-batch of them.

    python -m benchmarks.read_ahead

A tiny model is trained for two updates, on few lines of the generated text and on 100,000 more, all of which
Marian reads before the first update; with and without links between pieces for guided alignment.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from benchmarks.memory import Peak
from benchmarks.scale.text import Text, pairs
from pipeline.common.resources import marian_command

VOCABULARY, LEARNED_FROM = 16_000, 20_000
FEW, MORE = 10_000, 100_000
SMALL = {"dim-emb": 16, "transformer-dim-ffn": 16, "transformer-heads": 2, "enc-depth": 1, "dec-depth": 1}


def main() -> None:
    """Train and print."""
    with tempfile.TemporaryDirectory() as name:
        vocabulary = learn(Path(name))
        for linked in (False, True):
            few, more = (peak(Path(name), vocabulary, lines, linked) for lines in (FEW, FEW + MORE))
            what = "with links" if linked else "without links"
            print(f"{what}: {few:,.0f} MB, {more:,.0f} MB; {(more - few) * 1e6 / MORE:,.0f} bytes a line")


def learn(folder: Path) -> Path:
    """A vocabulary of the generated text."""
    text = folder / "text"
    text.write_text("".join(f"{side}\n" for pair in pairs(Text(1, 0, LEARNED_FROM)) for side in pair))
    SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "vocab"), vocab_size=VOCABULARY, minloglevel=2
    )
    return (folder / "vocab.model").rename(folder / "vocab.spm")


def peak(folder: Path, vocabulary: Path, lines: int, linked: bool) -> float:
    """MB that Marian takes at most, which reads so many lines."""
    options = {
        **SMALL,
        "type": "transformer",
        "tied-embeddings-all": True,
        "vocabs": [str(vocabulary)] * 2,
        "model": str(folder / f"{lines}-{linked}.npz"),
        "train-sets": ["stdin"],
        "max-length": 500,
        "tsv": True,
        "tsv-fields": 2 + linked,
        "guided-alignment": "2" if linked else "none",
        "mini-batch": 1000,
        "maxi-batch": 1000,
        "mini-batch-words": 200,
        "after-batches": 2,
        "cpu-threads": 1,
        "workspace": 128,
        "shuffle": "batches",
        "quiet": True,
    }
    config = folder / "train.yml"
    config.write_text(yaml.safe_dump(options))
    command = [*marian_command(), "train", "--config", str(config)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as marian:
        assert marian.stdin
        found = Peak(marian.pid)
        marian.stdin.writelines(feed(vocabulary, lines, linked))
        marian.stdin.close()
        marian.wait()
        found.stop()
    if marian.returncode:
        sys.exit(f"Marian ended with status {marian.returncode}.")
    return found.megabytes


def feed(vocabulary: Path, lines: int, linked: bool) -> Iterator[str]:
    """Lines as Marian is fed them; each piece is linked to the one at its place."""
    pieces = SentencePieceProcessor(model_file=str(vocabulary))
    for pair in pairs(Text(2, 0, lines)):
        both = min(len(side) for side in pieces.encode(list(pair))) if linked else 0
        links = " ".join(f"{place}-{place}" for place in range(both))
        yield "\t".join((*pair, *((links,) if linked else ()))) + "\n"


if __name__ == "__main__":
    main()
