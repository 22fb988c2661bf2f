"""Vocabularies: their sizes, and the pieces that only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentencepiece import SentencePieceProcessor

from translations_assets.common.errors import TranslationsError
from translations_assets.diff.sides import Side
from translations_assets.records.manifest import Blob
from translations_assets.running.protocols import Reading

STAGE = "train_vocab"
EXAMPLES = 12  # pieces that are shown of those that only one side has, the commonest first


@dataclass(frozen=True)
class VocabularyChange:
    """A vocabulary that differs; sizes in pieces, None where it is not there, or cannot be read.

    only_old  how many pieces the other lacks, and some of them; likewise only_new
    """

    name: str
    old: int | None
    new: int | None
    only_old: int
    only_new: int
    old_examples: Sequence[str]
    new_examples: Sequence[str]


def compare_vocabularies(store: Reading, old: Side, new: Side) -> list[VocabularyChange]:
    """Compare the vocabularies that were trained, or fetched for it, by the names of their files."""
    before, after = (dict(_files(side)) for side in (old, new))
    return [
        _compared(store, name, before.get(name), after.get(name))
        for name in dict.fromkeys([*after, *before])
        if before.get(name) != after.get(name)
    ]


def _files(side: Side) -> Iterator[tuple[str, Blob]]:
    for made in side.results.values():
        if made.stage == STAGE:
            yield from ((name, blob) for name, blob in made.outputs.items() if name.endswith(".spm"))


def _compared(store: Reading, name: str, old: Blob | None, new: Blob | None) -> VocabularyChange:
    before, after = _pieces(store, old), _pieces(store, new)
    gone = come = list[str]()
    if before is not None and after is not None:
        olds, news = set(before), set(after)
        gone, come = (
            [piece for piece in before if piece not in news],
            [piece for piece in after if piece not in olds],
        )
    return VocabularyChange(
        name=name,
        old=None if before is None else len(before),
        new=None if after is None else len(after),
        only_old=len(gone),
        only_new=len(come),
        old_examples=gone[:EXAMPLES],
        new_examples=come[:EXAMPLES],
    )


def _pieces(store: Reading, blob: Blob | None) -> list[str] | None:
    """The pieces of a vocabulary in its order; None where the store has none that can be read."""
    try:
        model = SentencePieceProcessor(model_proto=store.read_blob(blob)) if blob else None
    except (TranslationsError, RuntimeError):  # SentencePiece's own for what is no model
        return None
    return [model.id_to_piece(number) for number in range(model.get_piece_size())] if model else None
