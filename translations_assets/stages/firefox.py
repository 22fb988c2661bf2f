"""Models that Firefox ships: fetched, and run as it runs them."""

from __future__ import annotations

from translations_assets.config.languages import Language
from translations_assets.graph.stage import step
from translations_assets.graph.step import Output
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS
from translations_assets.stages.handles import RESUMED_ATTEMPTS

PACKED_MODEL = "model.tar"


def fetch_released(label: str, src: Language, trg: Language) -> Output:
    """The model that Firefox ships from one language to another, its files in a tar."""
    released = step(
        "pipeline.eval.released",
        label=label,
        args={"src": firefox_code(src), "trg": firefox_code(trg)},
        outputs=(PACKED_MODEL, "records.json", "stats.json"),
        repeatable=False,  # there are new releases
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return released[PACKED_MODEL]


def firefox_code(spoken: Language) -> str:
    """The code by which Firefox knows a language: zh-Hans, zh-Hant, and the language's own for all others."""
    return f"{spoken.iso639_1}-{spoken.script_code}" if spoken.chinese else spoken.code


def translate_in_engine(name: str, model: Output, text: Output) -> Output:
    """The translations of a text by a model in Firefox's form; `name` is how labels end."""
    translated = step(
        "pipeline.eval.with_engine",
        label=f"translate-{name}",
        inputs={"model": model, "text": text},
        outputs=("translations.zst", "stats.json"),
        worker="large-cpu",
        resumable=True,
        repeatable=False,  # models without multipliers are run by Marian, whose sums depend on the machine
        attempts=RESUMED_ATTEMPTS,
    )
    return translated["translations.zst"]
