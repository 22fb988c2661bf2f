"""Tiny models in CTranslate2's form, converted once a session."""

from functools import cache
from pathlib import Path

from pipeline.translate.convert import main
from tests.pipeline.train import tiny
from tests.session import new_folder, once


@cache
def converted() -> Path:
    """`tiny.model()`, with split vocabularies."""
    model = tiny.model()
    return once("converted", lambda folder: convert(model, folder / "converted")) / "converted"


@cache
def joint_model() -> Path:
    """A model of Marian with one vocabulary, all embeddings tied, and other options than most."""
    return once("joint", _train_joint) / "model"


def _train_joint(folder: Path) -> None:
    corpus, vocab = tiny.corpus(), tiny.corpus().vocabs[1]
    pairs = tiny.training_pairs(folder / "pairs", (vocab, vocab), *corpus.train)
    options = {"source-vocab": vocab, "target-vocab": vocab, "original": pairs}
    args = {
        **tiny.TINY,
        "enc-depth": 2,
        "transformer-heads": 4,
        "transformer-decoder-dim-ffn": 96,
        "transformer-ffn-activation": "swish",
        "transformer-postprocess-emb": "nd",
        "after": "150u",
    }
    done = tiny.run_script("pipeline.train.train", *corpus.arguments(folder / "model", args, options))
    assert done.returncode == 0, done.stderr


def convert(model: Path, output: Path | None = None) -> Path:
    """A model in CTranslate2's form."""
    output = output or new_folder() / "converted"
    main(["--model", str(model), "--output", str(output)])
    return output
