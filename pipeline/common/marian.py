"""Decoding and scoring with Marian: a model's folder, and commands that cannot lose lines unnoticed.

A model's folder (MODEL_DIR) holds model.npz, source.spm, target.spm and decoder.yml; a quantised one has
model.intgemm8.bin and lex.bin in place of model.npz. The vocabularies stand in the order in which the model
was trained: Marian accepts them in the wrong order without a word and translates nonsense.
"""

import logging
import math
import re
import subprocess
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from pipeline.common.decoding_options import check_decoding
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.finished import rows_of_a_block
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

LOG = "marian.log"

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
_CRASH = re.compile(
    r"Segmentation fault|(?:free|malloc|calloc|realloc|malloc_consolidate|munmap_chunk)\(\): |double free"
    "|corrupted |De-allocated child"
)
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
    with TemporaryDirectory(prefix=".decode.", dir=output.parent) as name:
        whole = Path(name, f"whole{output.suffix}")
        blocks = decode_blocks(models, text, Path(name), settings, nbest)
        written = write_lines(whole, chain.from_iterable(blocks))
        whole.rename(output)
        return written


def decode_blocks(
    models: Sequence[Path],
    text: Path,
    scratch: Path,
    settings: Mapping[str, Value] | None = None,
    nbest: bool = False,
    done: int = 0,
) -> Generator[list[str], None, None]:
    """Yield what `decode` writes, in blocks, as soon as Marian has it; without the first `done` lines.

    These must be whole blocks, in which Marian sorts sentences into batches: then what follows is the same
    whether or not it has translated them, but for `output-sampling`, which draws anew. `scratch` is a folder.
    """
    options = _decoding_options([load_model(folder) for folder in models], settings or {}, nbest)
    beam = _entries(options) if nbest else 1
    return _answers("decode", {"input": [text]}, options, scratch, done // beam, beam)


def entries_of_nbest(models: Sequence[Path], settings: Mapping[str, Value]) -> int:
    """How many lines `decode` writes with `nbest` for each line of a text."""
    return _entries(_decoding_options([load_model(folder) for folder in models], settings, nbest=True))


def _entries(options: Options) -> int:
    return int(str(options["beam-size"]))


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


def score_blocks(
    model: Path, source: Path, target: Path, scratch: Path, done: int = 0
) -> Generator[list[str], None, None]:
    """Score a corpus with a model: the log-probability per token of each target given its source.

    `source` and `target` are in the model's own direction. Yields a number a line (at most 0, higher is
    better), without the first `done`, in blocks as `decode_blocks` does; raises InputError as it does.
    """
    loaded = load_model(model)
    options: Options = {**SCORING, "model": str(loaded.weights)}
    options = fit_to_machine(options | _vocabularies(loaded) | _always())
    return _answers("score", {"train-sets": [source, target]}, options, scratch, done)


def run_marian(command: str, options: Options, scratch: Path) -> None:
    """Run one of Marian's commands to its end, with its options in a file in `scratch`.

    A crash is tried again, at last on one thread. Raises TemporaryError when the machine's GPU failed, the
    process was killed, or crashed every time; InputError otherwise.
    """
    for attempt in range(1, ATTEMPTS + 1):
        with _running(command, options, scratch, attempt, output=None) as process:
            process.wait()
        if _has_ended_well(command, process.returncode, scratch, attempt):
            return


@contextmanager
def _running(
    command: str, options: Options, scratch: Path, attempt: int, output: int | None = subprocess.PIPE
) -> "Iterator[subprocess.Popen[bytes]]":
    """One of Marian's commands, which is ended with the block."""
    # A thread takes that copy of the model which its first batch's number names: where batches are short and
    # the machine is busy, two threads take the same one, and crash. A thread alone cannot.
    alone = {"cpu-threads": 1} if attempt == ATTEMPTS and options.get("cpu-threads") else {}
    config = scratch / "marian.yml"
    write_options(config, {**options, **alone})
    with (
        (scratch / LOG).open("wb") as errors,
        subprocess.Popen(
            [*marian_command(), command, "--config", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            preexec_fn=die_with_parent,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def _has_ended_well(command: str, status: int, scratch: Path, attempt: int) -> bool:
    """Whether Marian's status is 0; raises its error unless it crashed and may try again."""
    if not status:
        return True
    said = (scratch / LOG).read_text(encoding="utf-8", errors="replace")
    if attempt == ATTEMPTS or not _crashed(status, said):
        raise marian_error(command, status, said)
    log.warning("marian %s crashed (status %d); trying again", command, status)
    return False


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


def _answers(
    command: str,
    texts: Mapping[str, Sequence[Path]],
    options: Options,
    scratch: Path,
    done: int,
    lines_a_row: int = 1,
) -> Generator[list[str], None, None]:
    """Blocks of the lines that Marian writes for the rows of texts after the first `done`.

    `texts` are named by the option that gives them to Marian. After a crash it goes on with the next block.
    """
    ((given, files),) = texts.items()
    inputs = [scratch / f"text.{number}" for number in range(len(files))]
    options = {**options, given: [*map(str, inputs)], "output": "/dev/stdout"}
    rows = rows_of_a_block(math.prod(int(str(options.get(name, 1))) for name in ("mini-batch", "maxi-batch")))
    for attempt in range(1, ATTEMPTS + 1):
        number = _write_rest(files, inputs, options, done)
        if not number:
            return
        with _running(command, options, scratch, attempt) as process:
            assert process.stdout
            lines = _numbered_from(
                done, _lines_of(process.stdout, first=not done), bool(options.get("n-best"))
            )
            while len(block := [*islice(lines, rows * lines_a_row)]) == rows * lines_a_row:
                yield block
                done, number = done + rows, number - rows
        if _has_ended_well(command, process.returncode, scratch, attempt):
            break
    if len(block) != number * lines_a_row:
        before = done * lines_a_row
        raise InputError(
            f"Marian wrote {before + len(block):,} lines instead of {before + number * lines_a_row:,}; "
            "the result is not kept"
        )
    if block:
        yield block


def _write_rest(files: Sequence[Path], inputs: Sequence[Path], options: Options, done: int) -> int:
    """Write Marian's input, without the first `done` rows; returns how many there are."""
    pairs = zip(files, inputs, strict=True)
    rows = [write_lines(to, islice(_cropped(text, options), done, None)) for text, to in pairs]
    if len({*rows}) > 1:
        sizes = " and ".join(
            f"{text} has {done + number:,}" for text, number in zip(files, rows, strict=True)
        )
        raise InputError(f"The texts must be parallel: of lines {sizes}.")
    return rows[0]


def _lines_of(stream: "IO[bytes]", first: bool) -> Iterator[str]:
    """Lines as `read_lines` reads them, but the end of one that is cut short."""
    for raw in stream:
        if raw.endswith(b"\n"):
            line = raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
            yield line.removeprefix("\ufeff") if first else line
        first = False


def _numbered_from(done: int, lines: Iterator[str], nbest: bool) -> Iterator[str]:
    """Entries of n-best lists, whose sentences Marian numbers from 0, numbered from `done`."""
    if not nbest or not done:
        return lines
    entries = (line.split(" ", 1) for line in lines)
    return (f"{int(number) + done} {rest}" for number, rest in entries)
