"""A tiny English-Esperanto student with attention guided by the true links, trained in some ten seconds."""

from __future__ import annotations

from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common.lines import write_lines
from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from pipeline.quantize.quantize import main as quantize
from tests import marian
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.quantize.tiny_model import TRAINING, train_vocabulary

# "the red cat sees a dog" – "la ruĝa kato vidas hundon"
WORD_LINKS = ((0, 0), (1, 1), (2, 2), (3, 3), (5, 4))
GUIDED = "--guided-alignment-cost ce --guided-alignment-weight 1 --transformer-guided-alignment-layer last"


def train_guided(folder: Path) -> None:
    """Train in an empty folder; the quantised student is in its folder `quantized`."""
    model, pairs = folder / "model", sentence_pairs(1000)
    model.mkdir()
    sides = [folder / "train.en", folder / "train.eo"]
    vocabularies = [model / "source.spm", model / "target.spm"]
    for side, (text, vocabulary) in enumerate(zip(sides, vocabularies, strict=True)):
        write_lines(text, [pair[side] for pair in pairs])
        train_vocabulary([pair[side] for pair in pairs], vocabulary)
    processors = [SentencePieceProcessor(model_file=str(path)) for path in vocabularies]
    write_lines(folder / "links", [_piece_links(*pair, processors) for pair in pairs])
    files = ["--model", model / "model.npz", "--train-sets", *sides, "--vocabs", *vocabularies]
    marian.run(["train", *files, "--guided-alignment", folder / "links", *GUIDED.split(), *TRAINING.split()])
    write_options(model / "decoder.yml", decoder_config("model.npz", {"beam-size": 1, "normalize": 1.0}))
    quantize(["--model", str(model), "--text", str(sides[0]), "--output", str(folder / "quantized")])


def _piece_links(source: str, target: str, processors: list[SentencePieceProcessor]) -> str:
    """Links between all pieces of linked words."""
    words = [
        _words(processor.encode(text, out_type=str))
        for processor, text in zip(processors, (source, target), strict=True)
    ]
    return " ".join(
        f"{first}-{second}"
        for one, other in WORD_LINKS
        for first, word in enumerate(words[0])
        for second, another in enumerate(words[1])
        if (word, another) == (one, other)
    )


def _words(pieces: list[str]) -> list[int]:
    """For each piece the number of its word."""
    return [sum(piece.startswith("▁") for piece in pieces[: place + 1]) - 1 for place in range(len(pieces))]
