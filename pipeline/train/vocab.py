"""Learn the SentencePiece vocabulary of a language pair: one for both sides, or one for each.

    python -m pipeline.train.vocab --src en --trg ru --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst \\
        --src-letters abc…xyz --trg-letters абв…эюя --vocab-size 32000 --sample-size 10000000 \\
        --curriculum pipeline/train/configs/curriculum/teacher.one-stage.yml --bicameral \\
        --norm-rule nmt_nfkc --seed 1 --output vocab

A unigram model (Kudo 2018) with byte fallback and split digits, on a uniform sample of the corpus: of single
lines of both sides for one joint vocabulary, of pairs for two. As many of its lines are in upper and title
case as in training, so that words in upper case are not spelled in letters. The sample lies in the scratch
folder; SentencePiece holds one vocabulary's text in memory, with a suffix array of it: 24 bytes a character,
2.4 GB for a million lines of a hundred. Where TRANSLATIONS_MEMORY is less, it says how large a sample may be.
SentencePiece leaves the rarest characters to bytes (1 in 2,000 of the text), but not the letters that are
given, nor their capitals: each that occurs a few times is a piece. The output is vocab.{src}.spm and
vocab.{trg}.spm, with identical bytes when they are joint, and stats.json.
"""

import argparse
import contextlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from pipeline.common.case import with_capitals
from pipeline.common.errors import InputError
from pipeline.common.lines import count_lines, read_lines, write_lines, zip_lines
from pipeline.common.resources import memory_mb
from pipeline.common.script import run, write_json
from pipeline.common.selection import STRETCH, Selection
from pipeline.common.staging import staged
from pipeline.train.curriculum import add_curriculum_arguments, given_curriculum
from pipeline.train.normalization import RULES, normalize, rule_table
from pipeline.train.reading import CASE, Modifier, Texts, as_read, as_read_alone, modifiers_of

SYMBOLS = [
    *("__source__", "__target__", "__done__", "__start__", "__end__", "__sep__"),
    *(f"__misc{number}__" for number in range(10)),
]
# The number of threads changes the order of floating-point sums, and stands in the model: it is fixed.
# Beyond the machine's cores it costs nothing.
THREADS = 16
SIZE_STEP = 8  # training configs give sizes in multiples of this
MIN_OCCURRENCES = 5  # of a letter in the sample that is to be a piece: fewer are slips and foreign names
BLOCK_LINES = 10_000
# What learning takes, by benchmarks.vocabulary_memory; see docs/deployment.md.
PROCESS_MB = 150
BYTES_A_CHARACTER = 24
BYTES_A_LINE = 150

T = TypeVar("T")

_TOO_LARGE = re.compile(r"Vocabulary size too high .* value <= (\d+)")
_TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the vocabularies and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        texts, unused = sample_texts(args, scratch / "sample.zst")
        for text in texts:
            check_memory(text)
        sides = [with_capitals(args.src_letters, args.src), with_capitals(args.trg_letters, args.trg)]
        alphabets = sides if args.split else ["".join(sides)]
        models = [
            learn(text, args.vocab_size, args.norm_rule, occurring(alphabet, text, args.norm_rule))
            for alphabet, text in zip(alphabets, texts, strict=True)
        ]
        for lang, model in zip((args.src, args.trg), (models[0], models[-1]), strict=True):
            (output / f"vocab.{lang}.spm").write_bytes(model)
        write_json(output / "stats.json", stats(len(texts[0]), unused, models))


class Text(Protocol):
    """Lines that can be read again and again, such as a list."""

    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class SampledText:
    """A column of the sample's file, the text of one vocabulary; `characters` are those of all its lines."""

    file: Path
    column: int
    lines: int
    characters: int

    def __iter__(self) -> Iterator[str]:
        return (line.split("\t")[self.column] for line in read_lines(self.file))

    def __len__(self) -> int:
        return self.lines


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, for the file name")
    parser.add_argument("--trg", required=True, help="target language, for the file name")
    letters = "letters of the {} language that bytes may not spell, and their capitals neither"
    parser.add_argument("--src-letters", default="", help=letters.format("source"))
    parser.add_argument("--trg-letters", default="", help=letters.format("target"))
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side of the corpus")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target side of the corpus")
    parser.add_argument("--vocab-size", required=True, type=int, help="number of pieces")
    parser.add_argument("--sample-size", required=True, type=int, help="sentences to learn from, at most")
    parser.add_argument("--split", action="store_true", help="a vocabulary of its own for each side")
    add_curriculum_arguments(parser)
    parser.add_argument("--norm-rule", required=True, choices=RULES, help="Unicode normalisation")
    parser.add_argument("--seed", required=True, type=int, help="of the sample")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def sample_texts(args: argparse.Namespace, file: Path) -> tuple[list[SampledText], int]:
    """Write the sample; its texts, one joint or one a side, and how many lines (pairs) are not in it."""
    total = count_lines(args.corpus_src) * (1 if args.split else 2)
    columns = range(2 if args.split else 1)
    lines, characters = 0, [0 for _ in columns]

    def counted() -> Iterator[str]:
        nonlocal lines
        for texts in _as_read(args, total):
            lines += 1
            for column in columns:
                characters[column] += len(texts[column])
            yield "\t".join(texts)

    write_lines(file, counted())
    found = file.absolute()  # SentencePiece reads it while another folder is the current one
    return [SampledText(found, column, lines, characters[column]) for column in columns], total - lines


def _as_read(args: argparse.Namespace, total: int) -> Iterator[Texts]:
    """The chosen pairs or single lines, in the order of the corpus and in the case that training reads."""
    sides = args.src, args.trg
    pairs = zip_lines(args.corpus_src, args.corpus_trg)
    if args.split:
        return as_read(_sampled(pairs, args, total), case_modifiers(args, *sides), args.seed)
    modifiers = {lang: case_modifiers(args, lang, lang) for lang in sides}
    single = (item for pair in pairs for item in zip(pair, sides, strict=True))
    return as_read_alone(_sampled(single, args, total), modifiers, args.seed)


def _sampled(items: Iterable[T], args: argparse.Namespace, total: int) -> Iterator[T]:
    """Those of so many items that are chosen, in their order."""
    selection = Selection(total, args.sample_size, str(args.seed))
    remaining = iter(items)
    for first in range(0, total, STRETCH):
        block = islice(remaining, STRETCH)
        chosen = selection.chosen(first, min(STRETCH, total - first))
        yield from (item for item, wanted in zip(block, chosen.tolist(), strict=True) if wanted)
    yield from remaining  # none, or it is told that one side is longer


def check_memory(text: SampledText) -> None:
    """Raise InputError where learning from a text would need more memory than there is for it."""
    need = PROCESS_MB + (text.characters * BYTES_A_CHARACTER + text.lines * BYTES_A_LINE) // 1_000_000
    given = memory_mb()
    if need > given:
        most = int(text.lines * max(0, given - PROCESS_MB) / (need - PROCESS_MB))
        raise InputError(
            f"A vocabulary of {text.lines:,} lines with {text.characters:,} characters takes {need:,} MB of "
            f"memory to learn, and this step may use {given:,}. Set spm-sample-size to at most {most:,}, or "
            "stages.train_vocab.worker-class to a class with more memory (by hand: TRANSLATIONS_MEMORY)."
        )


def case_modifiers(args: argparse.Namespace, src: str, trg: str) -> list[Modifier]:
    """Those of the curriculum's modifiers that change the case of a line, for columns in these languages."""
    return modifiers_of(given_curriculum(args, {"src": src, "trg": trg}), CASE)


def occurring(letters: str, text: Text, norm_rule: str) -> str:
    """The letters, as the rule writes them, that occur at least MIN_OCCURRENCES times in a text."""
    seen = dict.fromkeys(sorted({part for letter in letters for part in normalize(norm_rule, letter)}), 0)
    rare, lines = set(seen), iter(text)
    while rare and (block := normalize(norm_rule, "\n".join(islice(lines, BLOCK_LINES)))):
        for letter in rare:
            seen[letter] += block.count(letter)
        rare = {letter for letter in rare if seen[letter] < MIN_OCCURRENCES}
    return "".join(letter for letter in seen if letter not in rare)


def learn(text: Text, size: int, norm_rule: str, required: str = "") -> bytes:
    """Learn a SentencePiece model with exactly `size` pieces; returns the file's bytes.

    `required` are characters that are pieces, however rare they are.

    Raises InputError that names the size possible when the text does not support this one.
    """
    if not any(text):
        raise InputError("There is no text to learn a vocabulary from. Is the corpus empty after cleaning?")
    model = io.BytesIO()
    with normalization(norm_rule) as rule:
        try:
            SentencePieceTrainer.train(
                sentence_iterator=iter(text),
                model_writer=model,
                vocab_size=size,
                bos_id=-1,
                eos_id=0,
                unk_id=1,
                user_defined_symbols=SYMBOLS,
                required_chars=required,
                byte_fallback=True,
                split_digits=True,
                num_threads=THREADS,
                minloglevel=1,
                **rule,
            )
        except RuntimeError as error:
            raise _explained(error, size, len(text)) from error
    return model.getvalue()


@contextlib.contextmanager
def normalization(rule: str) -> Iterator[dict[str, str]]:
    """SentencePiece's options for a rule. A table's path stands in the model: it is read as ./{rule}.tsv."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path(f"{rule}.tsv").write_text(rule_table(rule), encoding="utf-8")
            yield {"normalization_rule_tsv": f"{rule}.tsv"}
        finally:
            os.chdir(before)


def stats(kept: int, unused: int, models: list[bytes]) -> dict[str, object]:
    """What stats.json holds: lines (pairs when the vocabularies are split), and some of the pieces."""
    pieces = SentencePieceProcessor(model_proto=models[0])
    learned = range(len(SYMBOLS) + 2 + 256, pieces.get_piece_size())
    return {
        "lines": {"in": kept + unused, "kept": kept, "dropped": {"not sampled": unused} if unused else {}},
        "vocabularies": len(models),
        "size": pieces.get_piece_size(),
        "samples": [pieces.id_to_piece(number) for number in learned[:10]],
    }


def _explained(error: RuntimeError, size: int, lines: int) -> InputError:
    too_large, too_small = _TOO_LARGE.search(str(error)), _TOO_SMALL.search(str(error))
    if too_large:
        most = int(too_large[1])
        hint = f"too large for the text ({lines:,} lines): the largest size possible is {most}"
        advice = f"at most {most // SIZE_STEP * SIZE_STEP}"
    elif too_small:
        least = int(too_small[1])
        hint = f"too small for the text's characters: the smallest size possible is {least}"
        advice = f"at least {-(-least // SIZE_STEP) * SIZE_STEP}"
    else:
        return InputError(f"SentencePiece failed: {error}")
    hint = f"{hint}. Set spm-vocab-size to {advice}, a multiple of {SIZE_STEP}."
    return InputError(f"A vocabulary of {size:,} pieces is {hint}")


if __name__ == "__main__":
    run(main)
