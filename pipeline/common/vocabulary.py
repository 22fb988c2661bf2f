"""Loading a SentencePiece vocabulary."""

from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError


def load_vocabulary(path: Path) -> SentencePieceProcessor:
    """Load a SentencePiece model; raises InputError when the file is none."""
    try:
        return SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path} is not a SentencePiece model ({error}). Give a vocab.*.spm.") from error
