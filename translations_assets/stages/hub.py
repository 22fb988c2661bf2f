"""Models of the Hugging Face hub, fetched."""

from __future__ import annotations

from collections.abc import Sequence

from translations_assets.graph.stage import step
from translations_assets.graph.step import Output
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS


def fetch_from_hub(label: str, model: str, revision: str, files: Sequence[str] = ()) -> Output:
    """The files of a model that a conversion needs, or only those that are named, in a tar."""
    fetched = step(
        "pipeline.translate.fetch_hugging_face",
        label=label,
        args={"model": model, "revision": revision, "files": files or None},
        outputs=("model.tar", "stats.json"),
        attempts=DOWNLOAD_ATTEMPTS,
        secrets=("HF_TOKEN",),
    )
    return fetched["model.tar"]
