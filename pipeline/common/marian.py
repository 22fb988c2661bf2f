"""Decoding and scoring with Marian: a model's folder, and commands that cannot lose lines unnoticed.

A model's folder (MODEL_DIR) holds model.npz, source.spm, target.spm and decoder.yml; a quantised one has
model.intgemm8.bin and lex.bin in place of model.npz. The vocabularies stand in the order in which the model
was trained: Marian accepts them in the wrong order without a word and translates nonsense.
"""

import subprocess
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.common.decoding_options import check_decoding
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines, zip_lines
from pipeline.common.marian_answers import CHARACTERS_PER_PIECE, answers, shared_answers
from pipeline.common.marian_options import Options, Value, fit_to_machine, read_options, write_options
from pipeline.common.marian_process import marian_error
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import marian_command

SOURCE_VOCAB = "source.spm"
TARGET_VOCAB = "target.spm"
DECODER_CONFIG = "decoder.yml"

MAX_LENGTH = 200  # SentencePiece pieces of a sentence that are read; the rest is cropped

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
    loaded = [load_model(folder) for folder in models]
    options = _decoding_options(loaded, settings or {}, nbest)
    beam = _entries(options) if nbest else 1
    # A quantised model's batches are fixed, and its thread is one. Of GPUs, too, each has a thread, but there
    # the first batches take too long for two threads to take the same copy of the model.
    read = answers if loaded[0].quantised or "devices" in options else shared_answers
    return read("decode", {"input": [text]}, options, scratch, done // beam, beam)


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
                preexec_fn=dying_with_parent(),
            ) as process,
        ):
            assert process.stdin
            assert process.stdout
            for line in lines:
                words = " ".join(line.split())[: CHARACTERS_PER_PIECE * int(str(options["max-length"]))]
                try:
                    process.stdin.write(words.encode() + b"\n")
                    process.stdin.flush()
                except BrokenPipeError:  # what Marian has said tells why
                    with suppress(BrokenPipeError):
                        process.stdin.close()  # or the end of the block would send the line once more
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
    deque(zip_lines(source, target), maxlen=0)  # raises InputError before hours have passed
    read = answers if "devices" in options else shared_answers
    return read("score", {"train-sets": [source, target]}, options, scratch, done)


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
