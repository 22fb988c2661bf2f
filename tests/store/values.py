"""Small values that the tests of the stores use."""

from __future__ import annotations

from translations_assets.steps.manifest import Blob, Manifest, Ref, Usage

KEY = "ab" * 32
OTHER_KEY = "cd" * 32


def manifest(
    outputs: dict[str, Blob], key: str = KEY, generation: int = 1, label: str = "split-en-ru"
) -> Manifest:
    """A finished step with these outputs."""
    return Manifest(
        key=key,
        generation=generation,
        outputs=outputs,
        label=label,
        reason="no result for its key",
        bundle=Blob("00" * 32, 10),
        provenance={"args": {"parts": 3}, "text": "ĉiuj – все"},
        attempt=1,
        host="here",
        started=100.25,
        ended=101.5,
        usage=Usage(1.25, 1.0, 1 << 20, 4096),
    )


def ref(run: str, time: float, space: str = "ann/main", partition: str = "en-ru.big-vocab") -> Ref:
    """What a run published for `merge_corpus`."""
    return Ref(
        space=space,
        partition=partition,
        stage="merge_corpus",
        run=run,
        time=time,
        config_digest="ef" * 32,
        steps={"merge-corpus-en-ru": (KEY, 1)},
        outputs={"merge-corpus-en-ru": {"corpus.en.zst": Blob("11" * 32, 5)}},
    )
