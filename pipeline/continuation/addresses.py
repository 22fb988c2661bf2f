"""Where the files of a model may be below the URL of its folder, the likeliest name first.

Folders are those of this pipeline's artifacts, model.npz source.spm target.spm decoder.yml, and those that
Mozilla's pipeline left over the years. There model.npz is the last save of a training, and the best ones have
the metric in their names. Folders of exported students have weights in 8 bits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.common.errors import InputError

METRICS = ("chrf", "bleu-detok", "ce-mean-words")
LAST = "model.npz"


def weights_urls(folder: str, metric: str, pair: str) -> list[str]:
    """The weights: the best by a metric, the best by another one, the only ones, an exported `enru`'s."""
    metrics = (metric, *(other for other in METRICS if other != metric))
    best = [f"{prefix}model.npz.best-{name}.npz" for name in metrics for prefix in ("final.", "")]
    exported = (f"model.{pair}.intgemm.alphas.bin", f"model.{pair}.intgemm8.bin")
    return [below(folder, name) for name in (*best, LAST, *exported)]


def decoder_urls(weights: str) -> list[str]:
    """Decoding options, by the address of the weights."""
    folder = weights.rpartition("/")[0]
    return [f"{weights}.decoder.yml", below(folder, "decoder.yml"), below(folder, "model.npz.decoder.yml")]


def vocabulary_urls(folder: str, src: str, trg: str) -> tuple[list[str], list[str]]:
    """The vocabularies of a model from `src` to `trg`, in its own order: one a side, or a joint one."""
    joint = f"vocab.{src}{trg}.spm"
    source, target = (
        [below(folder, name) for name in (own, f"vocab.{lang}.spm", "vocab.spm", exported, joint)]
        for own, lang, exported in (
            ("source.spm", src, f"srcvocab.{src}{trg}.spm"),
            ("target.spm", trg, f"trgvocab.{src}{trg}.spm"),
        )
    )
    return source, target


def state_urls(folder: str) -> dict[str, list[str]]:
    """What a training leaves to be gone on with: name of our own → addresses."""
    names = {
        "last.npz": LAST,
        "last.optimizer.npz": f"{LAST}.optimizer.npz",
        "last.progress.yml": f"{LAST}.progress.yml",
    }
    return {own: [below(folder, own), below(folder, name)] for own, name in names.items()}


@contextmanager
def told_of(urls: Sequence[str], scratch: Path) -> Iterator[None]:
    """Errors of what is read from a scratch folder tell the URLs that its files came from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{', '.join(urls)}: {str(error).replace(f'{scratch}/', '')}") from error


def below(folder: str, name: str) -> str:
    """The URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}"
