"""The rates of the model of scale: what a line costs each script. The one place where they stand.

A source is a command that measures the figure, or a public fact. Figures that are `assumed` were not measured
here: GPUs' above all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from translations_assets.why.training_work import PASSES

GB, MB = 1e9, 1e6

REAL = "python -m benchmarks.scale --scale 100"  # prints CPU, memory and bytes a line of every script

# Bytes a line of the files that hold text, compressed, by a part of their name; `REAL`
TEXT = 45.0
BYTES = {
    "nbest": 135.0,  # of eight translations
    "tok-icu": 50.0,
    "aln": 40.0,  # of generated text 9, as its links are alike: assumed
    "scores": 3.0,
    "pairs": 333.0,  # docs/decisions/0036-the-feed.md
}
# Bytes of a training's files: 32-bit floats, of 209, 100 and 40 million weights; Adam keeps two more for each
_WEIGHTS = {"teacher": 0.84 * GB, "backwards": 0.4 * GB, "student": 0.16 * GB}
MODELS = {
    (kind, name): size * times
    for kind, size in _WEIGHTS.items()
    for name, times in (("model.npz", 1), ("last.npz", 1), ("last.optimizer.npz", 2))
}


# Of a training's disk, times its weights: a save has a model and Adam's two; the best models by three metrics
# are others in each of three saves at the most, as two are kept while one is written.
SAVE, BEST = 3.0, 9.0


@dataclass(frozen=True)
class Rate:
    """Cost of a script.

    cpu      µs of a core for each line
    cores    that it keeps busy at most
    most     lines that it works on at most: of the others it draws a sample, at `drawing` µs each
    memory   MB, besides what each of its processes takes
    each     MB that a process takes; a pod runs as many as its memory and half its cores allow
    grows    bytes of memory for each line that is worked on
    scratch  bytes on the disk for each line, besides inputs and outputs
    source   of these figures
    """

    cpu: float
    cores: float = math.inf
    most: float = math.inf
    drawing: float = 0.0
    memory: float = 200.0
    each: float = 0.0
    grows: float = 0.0
    scratch: float = 0.0
    source: str = REAL


@dataclass(frozen=True)
class GpuRate:
    """Speed and memory of a script on GPUs.

    words    source words a second, on one
    memory   MB of the machine's memory
    scratch  bytes on the disk for each line, besides inputs and outputs
    source   of these figures
    """

    words: float
    memory: float = 8_000.0
    scratch: float = 0.0
    source: str = "assumed"


@dataclass(frozen=True)
class Training:
    """A kind of training.

    words    source words a second that a GPU can learn from
    passes   over its text until it stops, of 160 million pairs; of other text the square root as many
    saved    seconds between two saves
    source   of these figures
    """

    words: float
    passes: float
    saved: float = 1800.0
    source: str = "assumed"


@dataclass(frozen=True)
class Feed:
    """The feed of text to a training.

    words      source words a second that one core makes ready
    most       source words a second that all cores make ready
    preparing  µs a pair in each attempt, by one core, while the GPUs wait
    scratch    bytes on the disk for each pair
    source     of these figures
    """

    words: float
    source: str
    most: float = math.inf
    preparing: float = 0.0
    scratch: float = 0.0


@dataclass(frozen=True)
class Rates:
    """All rates of a version.

    scripts      by module
    parts        of each text, whatever its length; None for as many as `config generate` writes
    resumes      the scripts that go on from checkpoints; None for those whose steps say so
    saves        of a training, that stand on its disk at a time; None for all
    node_cores   of the machine, for which scripts start processes whatever their pod's memory; None where
                 they heed it
    old_example  the example's deployment as it was before
    """

    scripts: Mapping[str, Rate | GpuRate]
    trainings: Mapping[str, Training]
    feed: Feed
    parts: int | None = None
    resumes: frozenset[str] | None = None
    saves: int | None = 3
    node_cores: int | None = None
    old_example: bool = False
    network: float = 200 * MB  # bytes a second between bucket and pod: assumed
    more_gpus: float = 0.9  # of a training's speed is left by each doubling of its GPUs: assumed


# All sort their text, which the scratch holds: of one side, or of both
_MERGE = Rate(3.5, 4, memory=400, scratch=130, source="docs/decisions/0014-merging.md; " + REAL)
_TRANSLATE = (
    "assumed: transformer-big at beam 8 in 16 bits on an L4; public figures differ by a factor of two"
)
_ISSUE_733 = "https://github.com/mozilla/translations/issues/733: 9 days of 4 V100"

SCRIPTS: Mapping[str, Rate | GpuRate] = {
    "pipeline.data.parallel_url": Rate(10.0, 2),
    "pipeline.data.mono_url": Rate(7.0, 2),
    "pipeline.data.analyze": Rate(5.0, 1),
    "pipeline.clean.clean_parallel": Rate(100.0, memory=3_000),
    "pipeline.clean.clean_mono": Rate(40.0, memory=3_000),
    "pipeline.clean.score_monocleaner": Rate(100.0, each=1_000, source="assumed"),
    "pipeline.clean.filter_parallel": Rate(6.0, 2, source="as cefilter.filter"),
    "pipeline.clean.filter_mono": Rate(4.0, 2, source="as cefilter.filter"),
    "pipeline.clean.merge_parallel": replace(_MERGE, cpu=5.0, scratch=250),
    "pipeline.clean.merge_mono": _MERGE,
    "pipeline.clean.merge_translated": replace(_MERGE, cpu=5.5, scratch=250),
    "pipeline.train.vocab": Rate(80.0, 16, most=10e6, drawing=2.0, grows=1_500, source="assumed"),
    "pipeline.alignments.priors": Rate(525.0, 2, most=1e6, drawing=2.0, grows=4_000),
    "pipeline.alignments.align": Rate(
        575.0, each=4_000, source=f"{REAL}; memory: docs/decisions/0009-step-sizes.md"
    ),
    "pipeline.alignments.collect": Rate(6.0, 2),
    "pipeline.alignments.shortlist": Rate(1_830.0, 2, most=10e6, drawing=2.0, grows=4_000),
    "pipeline.translate.split": Rate(5.5, 2),
    "pipeline.translate.collect": Rate(2.5, 2),
    # 10 µs a character: of 129, as real lines have; those of a real run, of 78, take 810 µs
    "pipeline.translate.extract_best": Rate(1_260.0, source="python -m benchmarks.extract_best"),
    "pipeline.cefilter.filter": Rate(5.0, 2, grows=16),
    "pipeline.train.training_pairs": Rate(
        134.0, memory=2_700, source="docs/decisions/0037-training-pairs.md: a guided student; 90 MB a process"
    ),
    "pipeline.checks.text": Rate(4.0, 1, memory=1_000),
    "pipeline.checks.vocabulary": Rate(7.5, 1),
    "pipeline.checks.alignments": Rate(5.0, 1),
    "pipeline.clean.score_bicleaner": GpuRate(20_000.0, source="assumed"),
    "pipeline.translate.translate": GpuRate(2_500.0, scratch=150, source=_TRANSLATE),
    "pipeline.cefilter.score": GpuRate(20_000.0, scratch=250),
    "pipeline.eval.evaluate": GpuRate(500.0),
    "pipeline.checks.models": GpuRate(500.0),
}
OTHERS = Rate(100.0, 1)  # everything that reads no corpus
BACKWARDS_FASTER = 2.0  # times as fast as a teacher the backwards model translates: assumed
START_SECONDS = 15.0  # of a script: Python, libraries, models

NOW = Rates(
    scripts=SCRIPTS,
    trainings={
        "teacher": Training(7_700, PASSES["train_teacher"], source=_ISSUE_733 + ": 24 billion words"),
        "backwards": Training(15_000, PASSES["train_backwards"]),
        "student": Training(
            125_000, PASSES["train_student"], source="eight GPUs read a million words a second"
        ),
        "finetune": Training(60_000, PASSES["finetune_student"]),
    },
    feed=Feed(262_000, "docs/decisions/0036-the-feed.md: a student"),
)
# The version before: what was measured of it.
BEFORE = replace(
    NOW,
    scripts={
        **SCRIPTS,
        "pipeline.translate.extract_best": Rate(1_776.0, 1, source="7.4 hours for 15 million sentences"),
        "pipeline.train.training_pairs": Rate(
            0.0, memory=0.0, source="was a part of each training's attempts"
        ),
    },
    feed=Feed(
        50_700,
        "docs/decisions/0036-the-feed.md: OpusTrainer; "
        "users see 54,000 to 79,000 words a second, as one process mixes all; 166 µs and 657 bytes a pair "
        "as text, and two to four copies of them on the disk",
        most=66_500,
        preparing=166.0,
        scratch=657 * 3,
    ),
    parts=20,
    resumes=frozenset(("pipeline.clean.score_bicleaner", "pipeline.clean.score_monocleaner")),
    saves=None,
    node_cores=32,
    old_example=True,
)
