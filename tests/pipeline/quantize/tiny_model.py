"""A tiny English-Esperanto student with two vocabularies of one size, trained in some ten seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from pipeline.alignments.shortlist import main as make_shortlist
from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from tests import marian
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus

ROOT = Path(__file__).resolve().parents[3]

Pairs = list[tuple[str, str]]

VOCABULARY = 360
SYMBOLS = "__source__,__target__,__done__,__start__,__end__"
EMOJI = "🤣🚀🐱"  # no pieces of the vocabularies: they are written in bytes
TRAINING = """
    --type transformer --dim-emb 64 --transformer-dim-ffn 128 --transformer-heads 2
    --enc-depth 1 --dec-depth 1 --transformer-decoder-autoreg rnn --dec-cell ssru --tied-embeddings
    --transformer-ffn-activation relu
    --learn-rate 0.006 --lr-warmup 50 --mini-batch 64 --maxi-batch 10 --after-batches 200 --seed 1
    --sync-sgd --cpu-threads 2 --workspace 256 --quiet
"""


@dataclass(frozen=True)
class Tiny:
    """Folders and files: the model, its shortlist, and a test set of 100 lines that it did not see."""

    model: Path
    shortlist: Path
    test: tuple[Path, Path]
    test_pairs: Pairs

    @classmethod
    def in_folder(cls, folder: Path) -> Tiny:
        """Results of `train_tiny` in a folder."""
        test = folder / "corpus.en.zst", folder / "corpus.eo.zst"
        return cls(folder / "model", folder / "shortlist" / "lex.s2t.zst", test, sentence_pairs(1100)[1000:])


def train_tiny(folder: Path) -> None:
    """Train in an empty folder."""
    pairs = sentence_pairs(1100)
    plain, unseen = pairs[:1000], pairs[1000:]
    model, files = folder / "model", folder / "plain"
    model.mkdir()
    files.mkdir()
    corpus = write_corpus(files, plain)
    for side, name in enumerate(("source", "target")):
        train_vocabulary([pair[side] for pair in plain], model / f"{name}.spm")
    _train(model, [*plain, *_with_emoji(plain[::4])], files)
    settings = {"beam-size": 4, "normalize": 1.0}
    write_options(model / "decoder.yml", decoder_config("model.npz", settings))
    make_shortlist(_shortlist_arguments(model, corpus, folder / "shortlist"))
    write_corpus(folder, unseen)


def train_vocabulary(lines: Sequence[str], output: Path, size: int = VOCABULARY) -> None:
    """Train a SentencePiece model with byte fallback and symbols, as the pipeline does."""
    with output.open("wb") as writer:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=writer,
            vocab_size=size,
            bos_id=-1,
            eos_id=0,
            unk_id=1,
            user_defined_symbols=SYMBOLS,
            byte_fallback=True,
            num_threads=1,
            minloglevel=2,
        )


def _with_emoji(pairs: Pairs) -> Pairs:
    return [
        (f"{source} {EMOJI[number % 3]}", f"{target} {EMOJI[number % 3]}")
        for number, (source, target) in enumerate(pairs)
    ]


def _train(model: Path, pairs: Pairs, scratch: Path) -> None:
    sides = [scratch / "train.en", scratch / "train.eo"]
    for side, text in enumerate(sides):
        text.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    vocabularies = [model / "source.spm", model / "target.spm"]
    files = ["--model", scratch / "model.npz", "--train-sets", *sides, "--vocabs", *vocabularies]
    marian.run(["train", *files, *TRAINING.split()])
    (scratch / "model.npz").rename(model / "model.npz")


def _shortlist_arguments(model: Path, corpus: tuple[Path, Path], output: Path) -> list[str]:
    vocabularies = ["--source-vocab", model / "source.spm", "--target-vocab", model / "target.spm"]
    texts = ["--corpus-src", corpus[0], "--corpus-trg", corpus[1]]
    curriculum = ROOT / "pipeline" / "train" / "configs" / "curriculum" / "student.yml"
    options = ["--src", "en", "--trg", "eo", "--curriculum", curriculum]
    return [*map(str, [*vocabularies, *texts, *options, "--output", output])]
