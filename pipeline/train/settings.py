"""The options of a Marian training: configs and marian-args merged, completed, and fitted to the machine."""

import logging
import math
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from pipeline.common import resources
from pipeline.common.errors import InputError
from pipeline.common.marian_options import (
    SHAPING,
    Options,
    Value,
    fit_to_machine,
    write_options,
)
from pipeline.common.marian_process import marian_error

METRICS = ("chrf", "ce-mean-words", "bleu-detok")

TIED = ("tied-embeddings-all", "tied-embeddings")  # as the vocabularies are
# What the script decides: marian-args must not set it.
OWN = {
    *TIED,
    *("model", "pretrained-model", "train-sets", "valid-sets", "vocabs", "tsv", "tsv-fields", "seed"),
    *("shuffle", "tempdir", "devices", "cpu-threads", "workspace", "sync-sgd", "overwrite", "keep-best"),
    *("no-restore-corpus", "valid-metrics", "valid-log", "valid-reset-stalled", "log", "quiet"),
    *("valid-translation-output", "relative-paths", "after-epochs"),
}
NO_END = "0e"
SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
FREQUENCY = "10000u"  # Marian's default for saves and validations
MARIAN_DEFAULTS: Options = {
    "dim-emb": 512,
    "dim-rnn": 1024,
    "enc-depth": 1,
    "dec-depth": 1,
    "transformer-dim-ffn": 2048,
    "transformer-heads": 8,
    "transformer-decoder-autoreg": "self-attention",
    "max-length": 50,
    "mini-batch": 64,
    "maxi-batch": 100,
    "maxi-batch-sort": "trg",
}

log = logging.getLogger(__name__)


def merge(model: Options, training: Options, marian_args: Options) -> Options:
    """One mapping of a model config, a training config and marian-args, which override one another.

    A batch that marian-args give in sentences replaces one that a config gives in words. Raises InputError
    for what the script itself sets, and for an end in epochs: Marian sees one endless stream.
    """
    taken = OWN & set(marian_args)
    if taken:
        raise InputError(f"marian-args must not set {', '.join(sorted(taken))}: the training script does")
    ends = {end.strip() for end in str(marian_args.get("after", NO_END)).split(",")} - {NO_END}
    if any(end.endswith("e") for end in ends):
        raise InputError(
            f"marian-args: after {marian_args['after']} counts epochs, which Marian cannot see while "
            "a curriculum feeds it. Give updates (after: 5000u) or labels (1Gt), or epochs in the curriculum"
        )
    merged: Options = {"mini-batch-fit": False, **model, **training, **marian_args}  # `task` would turn it on
    if "mini-batch" in marian_args and "mini-batch-words" not in marian_args:
        merged["mini-batch-words"] = 0
    return merged


def inherit(earlier: Options, given: Options) -> Options:
    """The marian-args of a model's earlier training, overridden by those of the one that goes on.

    Without what is this training's own; a batch in sentences replaces one in words.
    """
    replaced = "mini-batch" in given and "mini-batch-words" not in given
    own = {*TIED, "max-length", *(["mini-batch-words"] if replaced else [])}
    return {**{name: value for name, value in earlier.items() if name not in own}, **given}


def shape(options: Options) -> Options:
    """The options that shape a model; `task` does so, too, and gives way to options of a training config."""
    return {
        name: value
        for name, value in options.items()
        if name in ("task", "right-left")
        or (name.startswith(SHAPING) and not name.startswith("transformer-dropout"))
    }


def tied_embeddings(source_vocab: Path, target_vocab: Path) -> Options:
    """One matrix for all embeddings when both sides share a vocabulary, else for the target side's two."""
    joint = source_vocab.read_bytes() == target_vocab.read_bytes()
    return {"tied-embeddings-all": joint, "tied-embeddings": not joint}


def validation_metrics(best: str) -> list[str]:
    """The metrics of each validation; training stops early, and is judged, by the first."""
    return [best, *(metric for metric in METRICS if metric != best)]


def expand(options: Options, scratch: Path) -> Options:
    """The options with what `task` stands for, as Marian itself resolves it.

    Raises InputError when Marian does not know an option or a value.
    """
    config = scratch / "expand.yml"
    needed: Options = {"train-sets": ["stdin"], "vocabs": ["source.spm", "target.spm"], "sync-sgd": True}
    write_options(config, {**options, **needed})
    command = [*resources.marian_command(), "train", "--config", str(config), "--dump-config", "expand"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise marian_error("train --dump-config", done.returncode, done.stderr)
    return {**MARIAN_DEFAULTS, **yaml.safe_load(done.stdout)}


def plan_frequencies(expanded: Mapping[str, Value]) -> Options:
    """When to validate, as given, and when to save: not at the updates at which Marian validates.

    Marian saves before it validates at the same update, so that what goes on from that save would lack the
    validation: its scores, its patience, its best model. Two numbers without a common factor meet too rarely
    to matter; such a save is passed over.
    """
    validating, saving = expanded.get("valid-freq", FREQUENCY), expanded.get("save-freq", FREQUENCY)
    valid, save = updates_in(validating), updates_in(saving)
    if valid and save and valid > 1:
        while math.gcd(valid, save) > 1:
            save += 1
        saving = f"{save}u"
    return {"valid-freq": validating, "save-freq": saving}


def updates_in(frequency: Value) -> int | None:
    """The updates of a frequency as Marian reads it (5000, 5000u, 5ku), None when it counts other things."""
    found = re.fullmatch(r"(\d+)([kKMG]?)u?", str(frequency))
    return int(found[1]) * SCALES[found[2]] if found else None


def training_options(
    merged: Options, expanded: Options, vocabs: Sequence[Path], seed: int, batch: Options
) -> Options:
    """All options of a training but its files and the stage's: synchronous, on this machine.

    batch  what pipeline.train.batches.plan_batch says
    """
    options: Options = {
        **merged,
        **plan_frequencies(expanded),
        **batch,
        "train-sets": ["stdin"],
        "vocabs": [str(vocab) for vocab in vocabs],
        "tsv": True,
        "shuffle": "batches",  # the order is the feed's; without it Marian refuses standard input
        "no-restore-corpus": True,
        "sync-sgd": True,  # resuming, exponential smoothing and quantize-bits need it, on a CPU too
        "seed": seed,
        "overwrite": True,
        "keep-best": True,
        "lr-report": True,
        "quiet-translation": True,
    }
    if resources.gpus():
        options["sharding"] = "local"
    return fit_to_machine(options)
