"""Decoding with CTranslate2 so that, but for a few lines, what comes out is what Marian would give.

Sentences are cut into pieces, cropped, sorted by length and scored as Marian does it. The search differs:
when a translation is finished, Marian goes on with a narrower beam, CTranslate2 with the whole one. What is
never written (the unknown piece, control characters) takes its share of the probability in Marian only. And
the sentence with which a batch would have too many words begins the next one here, and ends this one in
Marian; the longest sentence of a batch limits the length of translations that never end.
"""

import ctypes
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import ctranslate2
from sentencepiece import SentencePieceProcessor

from pipeline.common import resources
from pipeline.common.environments import interpreter
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import read_lines
from pipeline.common.marian import SOURCE_VOCAB, TARGET_VOCAB
from pipeline.common.marian_answers import CHARACTERS_PER_PIECE
from pipeline.common.vocabulary import load_vocabulary
from pipeline.translate.ctranslate2_options import POSITIONS, Settings

TOKENS = "tokens.json"  # of a model of others: what stands before sentences and translations
SPACE = "▁"  # with which a piece begins a word
SEED = 42  # of sampling
_MACHINE = re.compile("cuda|cublas|memory|bad_alloc", re.IGNORECASE)  # what another one may do better
LESS = "lower marian-args.decoding-teacher.mini-batch-words"
# Bytes that would end a line, or that no text has; Marian does not write them either.
_CONTROL = [f"<0x{byte:02X}>" for byte in range(0x20)]


@dataclass(frozen=True)
class Translation:
    """A translation, its log-probability, and its score: the former less the word penalty, by its length."""

    text: str
    path_score: float
    score: float


NOTHING = Translation("", 0.0, 0.0)  # of a line without text


@dataclass(frozen=True)
class _Batch:
    """Sentences that are being translated: their places among those that were read together."""

    places: Sequence[int]
    results: "Sequence[ctranslate2.AsyncTranslationResult]"


class Decoder:
    """A converted model in memory, on all GPUs that the worker grants, else on its CPU threads."""

    def __init__(self, model: Path, settings: Settings, cuda_lock: Path | None = None) -> None:
        self._settings = settings
        self._source = load_vocabulary(model / SOURCE_VOCAB)
        self._target = load_vocabulary(model / TARGET_VOCAB)
        self._pieces = [self._source.id_to_piece(i) for i in range(self._source.get_piece_size())]
        self._numbers = {self._target.id_to_piece(i): i for i in range(self._target.get_piece_size())}
        self._end = self._target.id_to_piece(self._target.eos_id())
        others = (model / TOKENS).is_file()
        told = json.loads((model / TOKENS).read_bytes()) if others else {}
        self._before: list[str] = told.get("source-prefix", [])
        self._begin: list[str] = told.get("target-prefix", [])
        self._texts = {*_texts(self._source), *_texts(self._target)} if others else None
        # without the tokens before a sentence, and its end, which CTranslate2 adds
        self._kept = settings.max_length - 1 - len(self._before)
        if others and self._kept < 1:
            raise InputError(
                f"max-length {settings.max_length} leaves no room for a sentence beside the tokens that "
                f"{model} wants: {' '.join(self._before)}. Raise it."
            )
        ctranslate2.set_random_seed(SEED)
        self._translator = load_translator(model, settings.half_precision, cuda_lock)

    def translate(self, text: Path, done: int = 0) -> Iterator[list[Translation]]:
        """Yield the translations of each line of a text, best first, as many as the beam is wide.

        The first `done` lines are left out. Raises TemporaryError when a GPU failed, InputError when
        CTranslate2 did otherwise.
        """
        lines = islice(read_lines(text), done, None)
        waiting: tuple[int, list[_Batch]] = (0, [])
        while read := list(islice(lines, self._settings.read_ahead)):
            started = len(read), self._start(read)
            yield from self._finish(*waiting)  # while the next lines are being translated
            waiting = started
        yield from self._finish(*waiting)

    def _start(self, lines: Sequence[str]) -> list[_Batch]:
        limit = CHARACTERS_PER_PIECE * self._settings.max_length  # a line of millions would take minutes
        short = [line if len(line) <= limit else " ".join(line.split())[:limit] for line in lines]
        numbers = self._source.encode(short, num_threads=resources.threads())
        sentences = [[self._pieces[number] for number in sentence[: self._kept]] for sentence in numbers]
        return [
            _Batch(places, self._translate([sentences[place] for place in places]))
            for places in make_batches([len(sentence) for sentence in sentences], self._settings)
        ]

    def _translate(self, sentences: list[list[str]]) -> "list[ctranslate2.AsyncTranslationResult]":
        settings = self._settings
        longest = max(map(len, sentences)) + 1
        if self._before:
            sentences = [self._before + sentence for sentence in sentences]
        with explained(LESS):
            results: list[ctranslate2.AsyncTranslationResult] = self._translator.translate_batch(
                sentences,
                target_prefix=[self._begin] * len(sentences) if self._begin else None,
                asynchronous=True,
                beam_size=settings.beam,
                num_hypotheses=settings.beam,
                length_penalty=0,  # scores of all are needed as they are, see _ranked
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=min(
                    math.ceil(settings.max_length_factor * longest) + len(self._begin), POSITIONS
                ),
                disable_unk=not settings.allow_unknown,
                suppress_sequences=[[piece] for piece in _CONTROL if piece in self._numbers],
                sampling_topk=1 if settings.sampled is None else settings.sampled,
                sampling_temperature=settings.temperature,
                return_scores=True,
                return_end_token=True,
            )
        return results

    def _finish(self, lines: int, batches: Sequence[_Batch]) -> Iterator[list[Translation]]:
        found = [[NOTHING] * self._settings.beam] * lines
        for batch in batches:
            for place, result in zip(batch.places, batch.results, strict=True):
                with explained(LESS):
                    done = result.result()
                found[place] = self._ranked(done)
        yield from found

    def _ranked(self, result: "ctranslate2.TranslationResult") -> list[Translation]:
        if len(result.hypotheses) != self._settings.beam:
            raise InputError(
                f"CTranslate2 gave {len(result.hypotheses)} translations of a sentence instead of "
                f"{self._settings.beam}; nothing is kept"
            )
        begin = len(self._begin)
        translations = [
            Translation(self._text(pieces[begin:]), score, self._score(score, len(pieces) - begin))
            for pieces, score in zip(result.hypotheses, result.scores, strict=True)
        ]
        return sorted(translations, key=lambda translation: -translation.score)

    def _text(self, pieces: Sequence[str]) -> str:
        if self._texts is None:
            return str(self._target.decode([self._numbers[piece] for piece in pieces if piece != self._end]))
        # By name: a vocabulary of both languages has pieces that the target's SentencePiece model has not. Of
        # those it does not make spaces.
        text = str(self._target.decode([piece for piece in pieces if piece in self._texts]))
        return text.replace(SPACE, " ").strip()

    def _score(self, path_score: float, length: int) -> float:
        """The length counts the end of sentence, if it came to that."""
        penalised = path_score - self._settings.word_penalty * length
        return float(penalised / max(length, 1) ** self._settings.normalize)


def _texts(vocabulary: SentencePieceProcessor) -> Iterator[str]:
    """The pieces that stand for a text: all but the unknown piece and marks such as the end of sentence."""
    for number in range(vocabulary.get_piece_size()):
        if not vocabulary.is_unknown(number) and not vocabulary.is_control(number):
            yield vocabulary.id_to_piece(number)


def make_batches(lengths: Sequence[int], settings: Settings) -> list[list[int]]:
    """The places of sentences that are translated together, longest first; without those that are empty.

    `lengths` are in pieces, without the end of sentence, which counts as one, too.
    """
    batches: list[list[int]] = []
    words = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if not lengths[place]:
            break
        words += lengths[place] + 1
        if batches and _fits(words, len(batches[-1]) + 1, settings):
            batches[-1].append(place)
        else:
            batches.append([place])
            words = lengths[place] + 1
    return batches


def _fits(words: int, sentences: int, settings: Settings) -> bool:
    return words <= settings.batch_words if settings.batch_words else sentences <= settings.batch_sentences


def load_translator(model: Path, half_precision: bool, cuda_lock: Path | None) -> ctranslate2.Translator:
    """Load a converted model. Raises TemporaryError when GPUs were granted and do not work."""
    if not (model / "model.bin").is_file():
        raise InputError(
            f"{model} is no converted model: it has no model.bin. Run pipeline.translate.convert."
        )
    devices = resources.gpus()
    with explained():
        if not devices:
            return ctranslate2.Translator(
                str(model), compute_type="float32", inter_threads=resources.threads(), intra_threads=1
            )
        found = ctranslate2.get_cuda_device_count()
        if max(devices) >= found:
            raise TemporaryError(
                f"GPUs {devices} were granted (TRANSLATIONS_GPUS), but there are {found} here"
            )
        load_cublas(cuda_lock)
        return ctranslate2.Translator(
            str(model),
            device="cuda",
            device_index=devices,
            compute_type="float16" if half_precision else "float32",
        )


def load_cublas(lock: Path | None) -> None:
    """Load NVIDIA's library for matrices, which CTranslate2's wheel lacks, from the environment of a lock.

    Without a lock CTranslate2 looks for the system's.
    """
    if lock:
        (folder,) = interpreter(lock).parent.parent.glob("lib/python*/site-packages/nvidia/cublas/lib")
        for name in ("libcublasLt.so.12", "libcublas.so.12"):  # the second needs the first
            ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)


@contextmanager
def explained(less: str = "") -> Iterator[None]:
    """Raise TemporaryError for what CTranslate2 raises of a GPU or the memory, InputError for the rest.

    `less` is what a person may do where no machine has the memory.
    """
    try:
        yield
    except (RuntimeError, ValueError, MemoryError) as error:
        message = f"CTranslate2 failed: {error}"
        if less and "memory" in str(error):
            message += f". If that happens on every machine, {less}."
        if _MACHINE.search(str(error)):
            raise TemporaryError(message) from error
        raise InputError(message) from error
