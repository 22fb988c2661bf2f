"""How Marian makes micro-batches of a text, and how many of them an update needs on a machine.

The batch of an update belongs to what is trained, the machine does not: `mini-batch-words` (source pieces)
or `mini-batch` (sentences) is the whole update's batch. Marian reads mini-batch × maxi-batch sentences, sorts
them by the length of the target, then of the source, and cuts off batches, the long ones first; with
--sync-sgd and without --mini-batch-fit it divides the sentences of a batch evenly, in their order, among
devices × optimizer-delay micro-batches. mini-batch-words counts no padding: among sentences with targets of
the same length one long source pads all of its micro-batch, which then is several times as large as others.

So this is done here with lengths like the text's, and optimizer-delay is such that the largest micro-batch
still fits. The largest, not most: training sees many times the text that is simulated, and one that does not
fit may cost all updates since the last save.
"""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor

from pipeline.common import resources
from pipeline.common.errors import InputError
from pipeline.common.marian_options import Options, Value, cpu_workspace_mb
from pipeline.train.pair_blocks import BLOCK, PairBlocks
from pipeline.train.pairs import END
from pipeline.train.piece_links import SPACE
from pipeline.train.workspace import Need, Numbers, estimate

SAMPLE = 100_000  # pairs of which lengths are taken
TIMES_DRAWN = 40  # each pair of the sample, on average: four million sentences are batched of a large text
MOST_READS = 100  # times that Marian reads ahead
SHARE = 0.9  # of the workspace that is planned with: the estimate is none to the byte

log = logging.getLogger(__name__)


def sample_lengths(folders: Sequence[Path], vocabs: Sequence[Path], tokenized: bool) -> Numbers:
    """The lengths of a sample of training pairs, in blocks from all over each folder; see `count_pieces`."""
    lines: list[str] = []
    for folder in folders:
        pairs = PairBlocks.open(folder)
        blocks = min(pairs.blocks, math.ceil(SAMPLE / BLOCK / len(folders)))
        for number in np.linspace(0, pairs.blocks - 1, blocks).astype(int).tolist():
            lines += pairs.read(number)
        pairs.close()
    if not lines:
        raise InputError(f"No pair is in {' and '.join(map(str, folders))}. Give the training some text.")
    return count_pieces(lines, vocabs, tokenized)


def count_pieces(lines: Sequence[str], vocabs: Sequence[Path], tokenized: bool) -> Numbers:
    """The lengths of pairs, shape (pairs, 2), in pieces, the end of the sentence included.

    lines  source and target, parted by a tab; further columns do not count
    tokenized  the text is tokens, with ▁ for spaces
    """
    sides: list[list[str]] = [[], []]
    for line in lines:
        for side, text in zip(sides, line.split("\t")[:2], strict=True):
            side.append(text.replace(" ", "").replace(SPACE, " ") if tokenized else text)
    counts = [
        [
            len(pieces) + END
            for pieces in SentencePieceProcessor(model_file=str(vocab)).encode(
                side, num_threads=resources.threads()
            )
        ]
        for vocab, side in zip(vocabs, sides, strict=True)
    ]
    return np.array(counts, dtype=np.int64).T


@dataclass(frozen=True)
class MicroBatches:
    """Micro-batches: their sentences, and the longest source and target in each, shape (micro-batches,)."""

    sentences: Numbers
    source: Numbers
    target: Numbers


@dataclass(frozen=True)
class Batches:
    """Batches that follow one another: the lengths of all sentences, and where each batch begins."""

    source: Numbers
    target: Numbers
    begins: Numbers

    def divide(self, parts: int) -> MicroBatches:
        """Each batch in so many micro-batches, or fewer where there are not as many sentences."""
        ends = np.append(self.begins[1:], len(self.source))
        sizes = -(-(ends - self.begins) // parts)
        starts = np.concatenate([np.arange(*each) for each in zip(self.begins, ends, sizes, strict=True)])
        return MicroBatches(
            np.diff(starts, append=len(self.source)),
            np.maximum.reduceat(self.source, starts),
            np.maximum.reduceat(self.target, starts),
        )


def simulate(lengths: Numbers, expanded: Mapping[str, Value]) -> Iterator[Batches]:
    """The batches that Marian makes of random draws from some lengths, for each time that it reads ahead."""
    batch, read, words = (
        int(str(expanded.get(name, 0))) for name in ("mini-batch", "maxi-batch", "mini-batch-words")
    )
    random = np.random.default_rng(1)
    for _ in range(min(MOST_READS, math.ceil(TIMES_DRAWN * len(lengths) / (batch * read)))):
        drawn = lengths[random.integers(0, len(lengths), batch * read)]
        source, target = _sorted(drawn, str(expanded["maxi-batch-sort"]))
        begins = _full(source, words) if words else np.arange(0, len(source), batch)
        yield Batches(source, target, begins)


def _sorted(lengths: Numbers, by: str) -> tuple[Numbers, Numbers]:
    source, target = lengths.T
    if by == "none":
        return source, target
    order = np.lexsort((target, source) if by == "src" else (source, target))[::-1]
    return source[order], target[order]


def _full(source: Numbers, words: int) -> Numbers:
    """Where batches begin that end with the sentence by which they have more than so many words."""
    total = np.cumsum(source)
    begins, before = [0], 0
    while True:
        begin = int(np.searchsorted(total, before + words, side="right")) + 1
        if begin >= len(source):
            return np.array(begins, dtype=np.int64)
        begins.append(begin)
        before = int(total[begin - 1])


def plan_batch(expanded: Mapping[str, Value], vocab_size: int, lengths: Numbers) -> Options:
    """Into how many micro-batches to divide the batch of an update, for the memory of these devices.

    lengths  of pairs like those of the text, as `count_pieces` gives them
    Returns optimizer-delay, unless the options give it, or let Marian fit the batch to a GPU's memory.
    """
    if expanded.get("mini-batch-fit") and resources.gpus():
        log.warning("mini-batch-fit: the batch of an update depends on this machine's memory")
        return {}
    devices = len(resources.gpus()) or resources.threads()
    megabytes = resources.workspace_mb() if resources.gpus() else cpu_workspace_mb()
    need = estimate(expanded, vocab_size)
    given = expanded.get("optimizer-delay")
    simulated = list(simulate(lengths, expanded))
    delay = math.ceil(float(str(given))) if given else _delay(simulated, devices, need, megabytes)
    _tell(simulated, devices, delay, need, megabytes)
    return {"mini-batch-fit": False, "optimizer-delay": given or delay}


def _delay(simulated: Sequence[Batches], devices: int, need: Need, megabytes: int) -> int:
    """The fewest micro-batches a device of which the largest fits, or those of one sentence each."""
    most = math.ceil(
        max(int(np.diff(each.begins, append=len(each.source)).max()) for each in simulated) / devices
    )
    delay = 1
    while delay < most and _largest(simulated, devices * delay, need)[0] > SHARE * megabytes * 1e6:
        delay += 1 + delay // 20  # more, where there are many: each takes a while to look at
    return min(delay, most)


def _largest(simulated: Sequence[Batches], parts: int, need: Need) -> tuple[float, int, int, int]:
    """What takes the most: its bytes, sentences, and longest source and target."""
    found = (0.0, 0, 0, 0)
    for batches in simulated:
        micro = batches.divide(parts)
        taken = need.of(micro.sentences, micro.source, micro.target)
        n = int(taken.argmax())
        shape = int(micro.sentences[n]), int(micro.source[n]), int(micro.target[n])
        found = max(found, (float(taken[n]), *shape))
    return found


def _tell(simulated: Sequence[Batches], devices: int, delay: int, need: Need, megabytes: int) -> None:
    taken, sentences, source, target = _largest(simulated, devices * delay, need)
    log.info(
        "The batch of an update: %d device(s) × %d micro-batch(es). The largest, of %d sentences of up to %d "
        "and %d pieces, takes about %d of %d MB of workspace",
        *(devices, delay, sentences, source, target, taken / 1e6, megabytes),
    )
    if taken > megabytes * 1e6:
        log.warning("Marian needs more than its workspace now and then, and may run out of memory")
