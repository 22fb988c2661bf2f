"""Decoding and scoring with Marian: a model's folder, and commands that cannot lose lines unnoticed.

A model's folder (MODEL_DIR) holds model.npz, source.spm, target.spm and decoder.yml; a quantised one has
model.intgemm8.bin and lex.bin in place of model.npz. The vocabularies stand in the order in which the model
was trained: Marian accepts them in the wrong order without a word and translates nonsense.
"""

import logging
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.common.decoding_options import check_decoding
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian_options import Options, Value, fit_to_machine, read_options, write_options
from pipeline.common.processes import die_with_parent
from pipeline.common.resources import marian_command

SOURCE_VOCAB = "source.spm"
TARGET_VOCAB = "target.spm"
DECODER_CONFIG = "decoder.yml"

MAX_LENGTH = 200  # SentencePiece pieces of a sentence that are read; the rest is cropped
# A piece covers at most 16 characters, and normalisation makes one character of at most three or four
# (conjoining jamo), so a line longer than this is cropped by --max-length in any case.
CHARACTERS_PER_PIECE = 64

# The bytes of an int8 translation depend a little on which sentences share a batch: batches are fixed, and
# belong to what evaluates and exports the model.
QUANTISED: Options = {
    "beam-size": 1,
    "skip-cost": True,
    "mini-batch": 32,
    "mini-batch-words": 0,
    "maxi-batch": 100,
    "maxi-batch-sort": "src",
    "cpu-threads": 1,
    "workspace": 128,
}
SCORING: Options = {
    "normalize": True,
    "mini-batch": 32,
    "maxi-batch": 1000,
    "maxi-batch-sort": "src",
    "max-length": 250,
}

log = logging.getLogger(__name__)

_GPU_FAILED = re.compile("CUDA|[Cc]urand|cublas|NCCL")
# CUDA's words for a GPU, or a driver, that the build has nothing for
_NO_KERNELS = re.compile(
    "no kernel image is available|unsupported toolchain|PTX JIT compiler library was not found|ARCH_MISMATCH"
)
_GPUS = (
    "Marian is built with CUDA 12.1, for GPUs of compute capability 6.0 to 9.0 (P100, V100, T4, A100, L4, "
    "H100, H200), whose driver must be as new. Take another machine, or update its driver."
)

KILLED = (-15, -9, 137, 143)

# Decoding on several CPU threads crashes now and then (seen above all with SSRU models and small batches): by
# a signal, or by an abort, as which Marian's own errors end, too. That it finds a tensor freed is one.
CRASHED = (-11, 139)
_CRASH = re.compile(r"Segmentation fault|free\(\): |double free|malloc\(\): |corrupted |De-allocated child")
ATTEMPTS = 3


@dataclass(frozen=True)
class Model:
    """The files of a MODEL_DIR, and its decoder.yml without the paths."""

    weights: Path
    source_vocab: Path
    target_vocab: Path
    shortlist: Path | None
    settings: Options

    @property
    def quantised(self) -> bool:
        """Whether its weights are 8-bit integers, which are decoded on a CPU with fixed settings."""
        return self.weights.suffix == ".bin"


def load_model(folder: Path) -> Model:
    """Look at a MODEL_DIR. Raises InputError when a file is missing that its decoder.yml names."""
    if not (folder / DECODER_CONFIG).is_file():
        raise InputError(f"{folder} is not a model's folder: it has no {DECODER_CONFIG}")
    config = read_options(folder / DECODER_CONFIG)
    models, shortlist = config.pop("models", None), config.pop("shortlist", None)
    for name in ("vocabs", "relative-paths"):
        config.pop(name, None)
    if not isinstance(models, list) or len(models) != 1:
        raise InputError(f"{folder / DECODER_CONFIG} must name one model, not {models!r}")
    model = Model(
        weights=folder / str(models[0]),
        source_vocab=folder / SOURCE_VOCAB,
        target_vocab=folder / TARGET_VOCAB,
        shortlist=folder / str(shortlist[0]) if isinstance(shortlist, list) else None,
        settings=config,
    )
    for file in (model.weights, model.source_vocab, model.target_vocab, model.shortlist):
        if file and not file.is_file():
            raise InputError(f"{file} is missing. {folder} is not a whole model's folder")
    return model


def decoder_config(weights: str, settings: Mapping[str, Value], shortlist: str | None = None) -> Options:
    """The decoder.yml of a MODEL_DIR, with paths relative to it, so that the folder can move.

    `weights` and `shortlist` (binary) are file names in the folder, `settings` decoding options such as
    beam-size. `marian decode -c decoder.yml` works with it as it is.
    """
    config: Options = {
        "relative-paths": True,
        "models": [weights],
        "vocabs": [SOURCE_VOCAB, TARGET_VOCAB],
        "max-length": MAX_LENGTH,
        "max-length-crop": True,
        **settings,
    }
    return {**config, "shortlist": [shortlist, False]} if shortlist else config


def decode(
    models: Sequence[Path],
    text: Path,
    output: Path,
    settings: Mapping[str, Value] | None = None,
    nbest: bool = False,
) -> int:
    """Translate a text with one model, or with an ensemble of models that share their vocabularies.

    `models` are MODEL_DIRs; `settings` are Marian's decoding options (a decoding config merged with
    marian-args), which override those of the first model's decoder.yml. A quantised model is decoded on one
    CPU thread with its shortlist, beam 1 and fixed batches, whatever the settings say.
    `text` and `output` are files as pipeline.common.lines reads and writes them, one sentence a line. Lines
    longer than max-length pieces are cropped. Returns the number of lines written: one for each line of the
    text; with `nbest`, beam-size lines `number ||| translation ||| F0= score ||| score` for each.
    Raises InputError when a model is not whole, Marian refuses the settings, or lines are missing.
    """
    options = _decoding_options([load_model(folder) for folder in models], settings or {}, nbest)
    beam = int(str(options["beam-size"])) if nbest else 1
    with TemporaryDirectory(prefix=".decode.", dir=output.parent) as name:
        scratch = Path(name)
        lines = write_lines(scratch / "text", _cropped(text, options))
        if not lines:
            return write_lines(output, [])
        options |= {"input": [str(scratch / "text")], "output": str(scratch / "out")}
        run_marian("decode", options, scratch)
        return _move_lines(scratch / "out", output, lines * beam)


def decode_each(models: Sequence[Path], lines: Iterable[str]) -> Iterator[str]:
    """Translate lines as they come: each by itself and at once, with one process of Marian that stays open.

    Models and errors are those of `decode`; no crash is tried again.
    """
    options = _decoding_options([load_model(folder) for folder in models], {}, nbest=False)
    options |= {"mini-batch": 1, "maxi-batch": 1, "maxi-batch-sort": "none"}
    if "cpu-threads" in options:
        options["cpu-threads"] = 1  # a line is work for one
    with TemporaryDirectory(prefix="decode-") as name:
        config, errors = Path(name, "marian.yml"), Path(name, "marian.log")
        write_options(config, options)
        with (
            errors.open("wb") as log_file,
            subprocess.Popen(
                [*marian_command(), "decode", "--config", str(config)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                preexec_fn=die_with_parent,
            ) as process,
        ):
            assert process.stdin
            assert process.stdout
            for line in lines:
                words = " ".join(line.split())[: CHARACTERS_PER_PIECE * int(str(options["max-length"]))]
                try:
                    process.stdin.write(words.encode() + b"\n")
                    process.stdin.flush()
                except BrokenPipeError:
                    pass  # what Marian has said tells why
                answer = process.stdout.readline()
                if not answer.endswith(b"\n"):
                    said = errors.read_text(encoding="utf-8", errors="replace")
                    raise marian_error("decode", process.wait(), said)
                yield answer.decode().removesuffix("\n")


def score(
    model: Path, source: Path, target: Path, output: Path, settings: Mapping[str, Value] | None = None
) -> int:
    """Score a corpus with a model: the log-probability per token of each target given its source.

    `source` and `target` are in the model's own direction. Writes one number a line (at most 0, higher is
    better) and returns how many. Raises InputError as `decode` does.
    """
    loaded = load_model(model)
    options: Options = {**SCORING, **(settings or {}), "model": str(loaded.weights)}
    options = fit_to_machine(options | _vocabularies(loaded) | _always())
    with TemporaryDirectory(prefix=".score.", dir=output.parent) as name:
        scratch = Path(name)
        sides = [scratch / "source", scratch / "target"]
        lines = [
            write_lines(to, _cropped(text, options)) for text, to in zip((source, target), sides, strict=True)
        ]
        if lines[0] != lines[1]:
            raise InputError(
                f"{source} has {lines[0]:,} lines and {target} has {lines[1]:,}. They must be parallel."
            )
        if not lines[0]:
            return write_lines(output, [])
        options |= {"train-sets": [str(side) for side in sides], "output": str(scratch / "out")}
        run_marian("score", options, scratch)
        return _move_lines(scratch / "out", output, lines[0])


def run_marian(command: str, options: Options, scratch: Path) -> None:
    """Run one of Marian's commands to its end, with its options in a file in `scratch`.

    A crash is tried again, at last on one thread. Raises TemporaryError when the machine's GPU failed, the
    process was killed, or crashed every time; InputError otherwise.
    """
    config, errors = scratch / "marian.yml", scratch / "marian.log"
    for attempt in range(1, ATTEMPTS + 1):
        # A thread takes that copy of the model which its first batch's number names: where batches are short
        # and the machine is busy, two threads take the same one, and crash. A thread alone cannot.
        alone = {"cpu-threads": 1} if attempt == ATTEMPTS and options.get("cpu-threads") else {}
        write_options(config, {**options, **alone})
        with errors.open("wb") as stream:
            process = subprocess.run(
                [*marian_command(), command, "--config", str(config)],
                stdin=subprocess.DEVNULL,
                stderr=stream,
                preexec_fn=die_with_parent,
                check=False,
            )
        if not process.returncode:
            return
        said = errors.read_text(encoding="utf-8", errors="replace")
        if attempt == ATTEMPTS or not _crashed(process.returncode, said):
            raise marian_error(command, process.returncode, said)
        log.warning("marian %s crashed (status %d); trying again", command, process.returncode)


def marian_error(command: str, status: int, output: str) -> Exception:
    """What to raise when Marian ended with a status other than 0, from the end of its log."""
    said = [line for line in output.splitlines() if "Error" in line] or output.splitlines()[-10:]
    message = f"marian {command} failed (status {status}): " + "\n".join(said)
    if _NO_KERNELS.search(message):
        return InputError(f"{message}\n{_GPUS}")
    if status in KILLED or _crashed(status, output) or _GPU_FAILED.search(message):
        return TemporaryError(message)
    return InputError(message)


def _crashed(status: int, output: str) -> bool:
    return status in CRASHED or _CRASH.search(output) is not None


def _decoding_options(models: Sequence[Model], settings: Mapping[str, Value], nbest: bool) -> Options:
    first = models[0]
    for other in models[1:]:
        if _vocabulary_bytes(other) != _vocabulary_bytes(first):
            raise InputError(
                f"{other.weights} and {first.weights} have different vocabularies and cannot decode together"
            )
    own = {} if first.quantised else first.settings  # a quantised model's are fixed
    check_decoding({**own, **settings})
    options: Options = {"beam-size": 1, "max-length": MAX_LENGTH, **first.settings, **settings}
    options |= {"models": [str(model.weights) for model in models], "n-best": nbest}
    options = fit_to_machine(options | _vocabularies(first) | _always())
    if first.quantised:
        options.pop("devices", None)
        options |= QUANTISED
    if first.shortlist:
        options["shortlist"] = [str(first.shortlist), False]
    return options


def _vocabularies(model: Model) -> Options:
    return {"vocabs": [str(model.source_vocab), str(model.target_vocab)]}


def _vocabulary_bytes(model: Model) -> tuple[bytes, bytes]:
    return model.source_vocab.read_bytes(), model.target_vocab.read_bytes()


def _always() -> Options:
    # Without the crop Marian ends, with status 0, at the first line that is too long.
    # `quiet` would hide the reason of a failure.
    return {"max-length-crop": True, "quiet": False, "log-level": "warn", "quiet-translation": True}


def _cropped(text: Path, options: Options) -> Iterator[str]:
    """The lines of a text, none so long that encoding it takes minutes; Marian crops them by pieces."""
    limit = CHARACTERS_PER_PIECE * int(str(options["max-length"]))
    for line in read_lines(text):
        yield line if len(line) <= limit else " ".join(line.split())[:limit]


def _move_lines(produced: Path, output: Path, expected: int) -> int:
    """Copy Marian's output to where it belongs when it is whole."""
    whole = produced.with_name(f"whole{output.suffix}")
    lines = write_lines(whole, read_lines(produced))
    if lines != expected:
        raise InputError(f"Marian wrote {lines:,} lines instead of {expected:,}; nothing is kept")
    whole.rename(output)
    return lines
