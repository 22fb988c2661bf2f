"""Learn the SentencePiece vocabulary of a language pair: one for both sides, or one for each.

    python -m pipeline.train.vocab --src en --trg ru --corpus-src corpus.en.zst --corpus-trg corpus.ru.zst \\
        --src-letters abc…xyz --trg-letters абв…эюя --vocab-size 32000 --sample-size 10000000 \\
        --curriculum pipeline/train/configs/curriculum/teacher.one-stage.yml --bicameral \\
        --norm-rule nmt_nfkc --seed 1 --output vocab

A unigram model (Kudo 2018) with byte fallback and split digits, on a uniform sample of the corpus: of single
lines of both sides for one joint vocabulary, of pairs for two. The sample is held in memory. As many of its
lines are in upper and title case as in training, so that words in upper case are not spelled in letters.
SentencePiece leaves the rarest characters to bytes (1 in 2,000 of the text), but not the letters that are
given, nor their capitals: each that occurs a few times is a piece. The output is vocab.{src}.spm and
vocab.{trg}.spm, with identical bytes when they are joint, and stats.json.
"""

import argparse
import contextlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from pipeline.common.case import with_capitals
from pipeline.common.errors import InputError
from pipeline.common.lines import zip_lines
from pipeline.common.sampling import Reservoir
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.train.curriculum import add_curriculum_arguments, given_curriculum
from pipeline.train.normalization import BUILT_IN, RULES, normalize, rule_table
from pipeline.train.reading import CASE, Modifier, as_read, as_read_alone, modifiers_of

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

_TOO_LARGE = re.compile(r"Vocabulary size too high .* value <= (\d+)")
_TOO_SMALL = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")


def main(argv: Sequence[str] | None = None) -> None:
    """Write the vocabularies and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, _):
        texts, unused = sample_texts(args)
        sides = [with_capitals(args.src_letters, args.src), with_capitals(args.trg_letters, args.trg)]
        alphabets = sides if args.split else ["".join(sides)]
        letters = [
            occurring(alphabet, text, args.norm_rule) for alphabet, text in zip(alphabets, texts, strict=True)
        ]
        models = [
            learn(text, args.vocab_size, args.norm_rule, required)
            for text, required in zip(texts, letters, strict=True)
        ]
        for lang, model in zip((args.src, args.trg), (models[0], models[-1]), strict=True):
            (output / f"vocab.{lang}.spm").write_bytes(model)
        write_json(output / "stats.json", stats(texts, unused, models))


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


def sample_texts(args: argparse.Namespace) -> tuple[list[list[str]], int]:
    """The texts to learn from, one joint or one a side, and how many lines (pairs) are not in the sample."""
    src, trg = args.src, args.trg
    reservoir: Reservoir[tuple[str, ...]] = Reservoir(args.sample_size, args.seed)
    for pair in zip_lines(args.corpus_src, args.corpus_trg):
        for item in [pair] if args.split else zip(pair, (src, trg), strict=True):
            reservoir.add(item)
    if args.split:
        chosen = list(as_read(reservoir.items(), case_modifiers(args, src, trg), args.seed))
    else:
        modifiers = {lang: case_modifiers(args, lang, lang) for lang in (src, trg)}
        chosen = list(as_read_alone(reservoir.items(), modifiers, args.seed))
    return [list(text) for text in zip(*chosen, strict=True)] or [[]], reservoir.seen - len(chosen)


def case_modifiers(args: argparse.Namespace, src: str, trg: str) -> list[Modifier]:
    """Those of the curriculum's modifiers that change the case of a line, for columns in these languages."""
    return modifiers_of(given_curriculum(args, {"src": src, "trg": trg}), CASE)


def occurring(letters: str, text: Sequence[str], norm_rule: str) -> str:
    """The letters, as the rule writes them, that occur at least MIN_OCCURRENCES times in a text."""
    seen = dict.fromkeys(sorted({part for letter in letters for part in normalize(norm_rule, letter)}), 0)
    rare = set(seen)
    for start in range(0, len(text), BLOCK_LINES):
        block = normalize(norm_rule, "\n".join(text[start : start + BLOCK_LINES]))
        for letter in rare:
            seen[letter] += block.count(letter)
        rare = {letter for letter in rare if seen[letter] < MIN_OCCURRENCES}
        if not rare:
            break
    return "".join(letter for letter in seen if letter not in rare)


def learn(text: Sequence[str], size: int, norm_rule: str, required: str = "") -> bytes:
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
    if rule in BUILT_IN:
        yield {"normalization_rule_name": rule}
        return
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path(f"{rule}.tsv").write_text(rule_table(rule), encoding="utf-8")
            yield {"normalization_rule_tsv": f"{rule}.tsv"}
        finally:
            os.chdir(before)


def stats(texts: list[list[str]], unused: int, models: list[bytes]) -> dict[str, object]:
    """What stats.json holds: lines (pairs when the vocabularies are split), and some of the pieces."""
    kept = len(texts[0])
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
