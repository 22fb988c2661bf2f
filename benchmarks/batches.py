"""Sizes of micro-batches, and the number that an update is divided into, on GPUs of some size.

    python -m benchmarks.batches [--corpus SOURCE TARGET] [--gpus 4] [--workspace 12000] [--vocab-size 32000]
    python -m benchmarks.batches --measure

For each of the pipeline's training configs it prints optimizer-delay, and the shares of the workspace that
the largest and the average micro-batch take. By default, lengths are drawn like those of a cleaned corpus:
source pieces log-normal with a median of 25; the logarithm of the ratio of the sides normal with a deviation
of 0.18, and of 0.5 for one pair in fifty. With a corpus, they are those of its lines, in pieces of
vocabularies learnt from it.

--measure compares the estimate of the workspace with what Marian takes on one thread of a CPU: the memory of
one update less that of a short one. It takes some minutes, and 5 GB.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
from sentencepiece import SentencePieceProcessor

from pipeline.common.lines import read_lines
from pipeline.common.marian_options import Options, read_options, write_options
from pipeline.common.resources import marian_command
from pipeline.train.batches import Batches, count_pieces, plan_batch, simulate
from pipeline.train.settings import expand, merge
from pipeline.train.vocab import learn
from pipeline.train.workspace import Need, Numbers, estimate
from translations_assets.common.settings import repository_root
from translations_assets.stages.training import BACKWARDS_LENGTH, STUDENT_LENGTH, TEACHER_LENGTH

CONFIGS = repository_root() / "pipeline" / "train" / "configs"
TRAININGS = (
    ("backward", "backward.train"),
    ("teacher", "teacher.train"),
    ("student.tiny", "student.train"),
    ("student.base", "student.train"),
    ("student.base-memory", "student.train"),
    ("student.base-memory", "student.finetune"),
)
LENGTHS = {  # of the longest pair, which a training reads from its pairs
    "backward.train": BACKWARDS_LENGTH,
    "teacher.train": TEACHER_LENGTH,
    "student.train": STUDENT_LENGTH,
    "student.finetune": STUDENT_LENGTH,
}
PAIRS = 200_000
MEGABYTE = 1 << 20
SMALLER: Options = {"task": "transformer-base", "dim-emb": 256, "transformer-dim-ffn": 1024}
MODELS: Sequence[tuple[str, Options]] = (
    ("student.tiny", {}),
    ("student.base-memory", {}),
    ("teacher", {**SMALLER, "enc-depth": 2, "dec-depth": 2}),
    ("backward", {"dim-rnn": 512, "dim-emb": 256}),
)
SHAPES = ((64, 30, 30), (64, 60, 30), (64, 30, 60), (16, 120, 120))  # pairs, pieces of source and target


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table of one of both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", nargs=2, type=Path, help="source and target")
    parser.add_argument("--gpus", type=int, default=4, help="number of GPUs")
    parser.add_argument("--workspace", type=int, default=12_000, help="MB on each")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="pieces of the larger vocabulary")
    parser.add_argument("--measure", action="store_true", help="compare the estimate with Marian")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="batches-") as name:
        if args.measure:
            measure(Path(name))
        else:
            plan(args, Path(name))


def plan(args: argparse.Namespace, scratch: Path) -> None:
    """Print a line for each training config."""
    lengths = corpus_lengths(args.corpus, scratch) if args.corpus else drawn_lengths(PAIRS)
    os.environ["TRANSLATIONS_GPUS"] = " ".join(map(str, range(args.gpus)))
    os.environ["TRANSLATIONS_WORKSPACE"] = str(args.workspace)
    print(f"{len(lengths):,} pairs, mean {lengths.mean(axis=0).round(1)}, {args.gpus} × {args.workspace} MB")
    print("| training | optimizer-delay | largest micro-batch, of the workspace | mean |")
    for model, training in TRAININGS:
        files = CONFIGS / f"model/{model}.yml", CONFIGS / f"training/{training}.yml"
        expanded = expand(merge(read_options(files[0]), read_options(files[1]), {}), scratch)
        expanded["max-length"] = LENGTHS[training]
        short = lengths[(lengths <= LENGTHS[training]).all(axis=1)]
        need = estimate(expanded, args.vocab_size)
        batches = list(simulate(short, expanded))
        planned = int(str(plan_batch(expanded, args.vocab_size, short)["optimizer-delay"]))
        shares = [
            f"{share(batches, args.gpus * planned, need, args.workspace):.0%}" for share in (largest, typical)
        ]
        print(f"| {model}, {training} | {planned} | {' | '.join(shares)} |", flush=True)


def drawn_lengths(pairs: int) -> Numbers:
    """Lengths as of a cleaned corpus, shape (pairs, 2)."""
    random = np.random.default_rng(1)
    source = np.exp(random.normal(math.log(25), 0.75, pairs))
    spread = np.where(random.random(pairs) < 0.02, 0.5, 0.18)
    target = source * np.exp(random.normal(0, 1, pairs) * spread)
    lengths = np.round(np.stack([source, target], axis=1)).astype(np.int64)
    return np.maximum(lengths, 2)


def corpus_lengths(files: Sequence[Path], scratch: Path) -> Numbers:
    """The lengths of a corpus' different pairs, by vocabularies of at most 8,000 pieces."""
    pairs = [pair for pair in dict.fromkeys(zip(*map(read_lines, files), strict=True)) if all(pair)]
    vocabs = [scratch / "source.spm", scratch / "target.spm"]
    for number, vocab in enumerate(vocabs):
        vocab.write_bytes(learn([pair[number] for pair in pairs], 8000, "nmt_nfkc"))
    return count_pieces([" ".join(a.split()) + "\t" + " ".join(b.split()) for a, b in pairs], vocabs, False)


def largest(simulated: Sequence[Batches], parts: int, need: Need, megabytes: int) -> float:
    """The largest share of the workspace that a micro-batch takes."""
    return max(float(taken.max()) for taken in _taken(simulated, parts, need)) / (megabytes * 1e6)


def typical(simulated: Sequence[Batches], parts: int, need: Need, megabytes: int) -> float:
    """The average share of the workspace that micro-batches take."""
    return float(np.mean(np.concatenate(list(_taken(simulated, parts, need))))) / (megabytes * 1e6)


def _taken(simulated: Sequence[Batches], parts: int, need: Need) -> Iterator[npt.NDArray[np.float64]]:
    for batches in simulated:
        micro = batches.divide(parts)
        yield need.of(micro.sentences, micro.source, micro.target)


def measure(scratch: Path) -> None:
    """Print, for models and shapes of micro-batches, the estimate and what Marian takes."""
    random = Random(1)
    words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=4)) for _ in range(20_000)]
    vocab = scratch / "vocab.spm"
    vocab.write_bytes(learn([" ".join(random.choices(words, k=20)) for _ in range(20_000)], 8000, "nmt_nfkc"))
    pieces = SentencePieceProcessor(model_file=str(vocab))
    whole = [word for word in words if len(pieces.encode(word)) == 1]
    print("| model | pairs × source, target | estimate, MB | measured, MB | ratio |")
    for model, changed in MODELS:
        config: Options = {**read_options(CONFIGS / f"model/{model}.yml"), **changed}
        need = estimate(expand(config, scratch), pieces.get_piece_size())
        least = _peak(config, (2, 3, 3), whole, vocab, scratch)
        for shape in SHAPES:
            taken = _peak(config, shape, whole, vocab, scratch) - least
            estimated = float(need.of(*(np.array([size]) for size in shape))[0]) / MEGABYTE
            each = f"{shape[0]} × {shape[1]}, {shape[2]}"
            print(
                f"| {model} | {each} | {estimated:,.0f} | {taken:,.0f} | {estimated / taken:.2f} |",
                flush=True,
            )


def _peak(
    config: Options, shape: tuple[int, int, int], words: Sequence[str], vocab: Path, scratch: Path
) -> float:
    """MB of memory of one update; of the workspace what is used: what is only reserved is not touched."""
    pairs, *sides = shape
    random = Random(2)
    lines = ["\t".join(" ".join(random.choices(words, k=side - 1)) for side in sides) for _ in range(pairs)]
    (scratch / "text.tsv").write_text("".join(f"{line}\n" for line in lines))
    options: Options = {
        **config,
        "train-sets": [str(scratch / "text.tsv")],
        "tsv": True,
        "vocabs": [str(vocab), str(vocab)],
        "model": str(scratch / "model.npz"),
        "mini-batch": pairs,
        "mini-batch-fit": False,
        "maxi-batch": 1,
        "max-length": 400,
        "cost-type": "ce-mean-words",
        "tied-embeddings-all": True,
        "sync-sgd": True,
        "workspace": 9000,
        "cpu-threads": 1,
        "overwrite": True,
        "after": "1u",
    }
    for file in scratch.glob("model.npz*"):
        file.unlink()
    write_options(scratch / "train.yml", options)
    command = [*marian_command(), "train", "--config", str(scratch / "train.yml"), "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"marian train failed (status {status}): {config} {shape}")
    return usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
