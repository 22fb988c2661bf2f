"""How well SentencePiece vocabularies cover the texts of a language pair.

    python -m pipeline.checks.vocabulary --langs en ru --vocabs vocab.en.spm vocab.ru.spm \\
        --corpus corpus.en.zst corpus.ru.zst --held-out-first dev.en.zst test.en.zst \\
        --held-out-second dev.ru.zst test.ru.zst --letters-first abc…xyz --letters-second абв…эюя \\
        --cases upper title --locale-first en --locale-second ru --seed 1 --output numbers

writes numbers.json: for each language and for its corpus (a sample of 20,000 lines; it may be left out) and
its held-out lines (all) the numbers of pieces, of unknown ones, and of characters that only bytes spell, and
which of the language's letters and their capitals are among these; with --cases also the pieces a word of the
held-out lines as they are and in each case, as the language writes it, of languages with a --locale.
Vocabularies with byte fallback know no unknown piece: a character that no piece holds is spelt by its bytes,
two to four pieces in place of one or less. The corpus streams; the held-out files are held in memory.
"""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sentencepiece import SentencePieceProcessor

from pipeline.common.case import title_words, upper, with_capitals
from pipeline.common.lines import read_lines
from pipeline.common.sampling import sample
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.vocabulary import load_vocabulary

logger = logging.getLogger(__name__)

CORPUS_SAMPLE = 20_000
MAX_CHARACTERS = 2_000  # of a line: more would be cropped in training
SAMPLES = 20
WHITE_SPACE = "\u2581"  # SentencePiece's mark
AS_IT_IS = "as_it_is"
CASES: Mapping[str, Callable[[str, str], str]] = MappingProxyType({"upper": upper, "title": title_words})
_BYTE = re.compile("<0x([0-9A-F]{2})>")


def coverage(lines: Sequence[str], vocabulary: SentencePieceProcessor, letters: str) -> dict[str, Any]:
    """Counts over lines: pieces, unknown pieces, characters, and those (letters, too) that no piece holds."""
    counts: Counter[str] = Counter()
    spelt: Counter[str] = Counter()
    for line in lines:
        line = line[:MAX_CHARACTERS]
        numbers = vocabulary.encode(line)
        missing = any(vocabulary.is_byte(number) or vocabulary.is_unknown(number) for number in numbers)
        counts["pieces"] += len(numbers)
        counts["words"] += len(line.split())
        if not missing:
            counts["characters"] += len(line)
            continue
        counts["lines_not_covered"] += 1
        counts["unknown"] += sum(map(vocabulary.is_unknown, numbers))
        pieces = vocabulary.encode(line, out_type=str)
        missed = not_covered(pieces, vocabulary)
        spelt.update(missed)
        counts["characters"] += sum(_length(piece) for piece in pieces) + len(missed)
    return _summary(len(lines), counts, spelt) | {"letters_in_bytes": _letters(letters, vocabulary, spelt)}


def _letters(letters: str, vocabulary: SentencePieceProcessor, spelt: Counter[str]) -> dict[str, int]:
    """How often each letter is spelt by bytes, as the vocabulary's normalisation writes it."""
    written = {part for letter in letters for part in not_covered(vocabulary.encode(letter, str), vocabulary)}
    return {part: spelt[part] for part in sorted(written) if spelt[part]}


def not_covered(pieces: Sequence[str], vocabulary: SentencePieceProcessor) -> list[str]:
    """The characters that bytes spell, and those of unknown pieces."""
    characters, spelt = list[str](), bytearray()
    for piece in [*pieces, ""]:
        byte = _BYTE.fullmatch(piece)
        if byte:
            spelt.append(int(byte[1], 16))
            continue
        characters += spelt.decode("utf-8", errors="replace")
        spelt.clear()
        if piece and vocabulary.is_unknown(vocabulary.piece_to_id(piece)):
            characters += piece.replace(WHITE_SPACE, "")
    return characters


def _length(piece: str) -> int:
    return 0 if _BYTE.fullmatch(piece) else len(piece)


def _summary(lines: int, counts: Counter[str], spelt: Counter[str]) -> dict[str, Any]:
    return {
        "lines": lines,
        "lines_not_covered": counts["lines_not_covered"],
        "characters": counts["characters"],
        "characters_not_covered": spelt.total(),
        "coverage": _share(counts["characters"] - spelt.total(), counts["characters"], 1.0),
        "pieces": counts["pieces"],
        "unknown_pieces": counts["unknown"],
        "unknown_rate": _share(counts["unknown"], counts["pieces"], 0.0),
        "pieces_per_word": round(counts["pieces"] / max(1, counts["words"]), 3),
        "samples": dict(sorted(spelt.items(), key=lambda item: (-item[1], item[0]))[:SAMPLES]),
    }


def pieces_per_word(
    lines: Sequence[str], vocabulary: SentencePieceProcessor, cases: Sequence[str], locale: str
) -> dict[str, float]:
    """Pieces of a word, on average, in lines as they are and in each of the cases."""
    lines = [line[:MAX_CHARACTERS] for line in lines]
    words = max(1, sum(len(line.split()) for line in lines))
    texts = {AS_IT_IS: lines} | {case: [CASES[case](line, locale) for line in lines] for case in cases}
    return {case: round(sum(map(len, vocabulary.encode(text))) / words, 3) for case, text in texts.items()}


def _share(part: int, whole: int, otherwise: float) -> float:
    return round(part / whole, 6) if whole else otherwise


def main(argv: Sequence[str] | None = None) -> None:
    """Write numbers.json."""
    args = parse_arguments(argv)
    sides: list[dict[str, Any]] = []
    with staged(args.output) as (output, _):
        held_out = (args.held_out_first, args.held_out_second)
        corpora = args.corpus or (None, None)
        alphabets = (args.letters_first, args.letters_second)
        locales = (args.locale_first, args.locale_second)
        for lang, model, alphabet, locale, corpus, files in zip(
            args.langs, args.vocabs, alphabets, locales, corpora, held_out, strict=True
        ):
            vocabulary, letters = load_vocabulary(model), with_capitals(alphabet, lang)
            lines = [line for file in files for line in read_lines(file)]
            texts = {"held_out": coverage(lines, vocabulary, letters)}
            if corpus:
                chosen = sample(read_lines(corpus), CORPUS_SAMPLE, f"vocabulary {args.seed}")
                texts = {"corpus": coverage(chosen, vocabulary, letters), **texts}
            sides.append({"lang": lang, "pieces": vocabulary.get_piece_size(), "texts": texts})
            if args.cases and locale and lines:
                sides[-1]["pieces_per_word"] = pieces_per_word(lines, vocabulary, args.cases, locale)
            logger.info("%s: %s", lang, {name: text["coverage"] for name, text in texts.items()})
        write_json(output / "numbers.json", {"sides": sides})


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--langs", required=True, nargs=2, help="the two languages")
    add("--vocabs", required=True, nargs=2, type=Path, help="the vocabulary of each")
    add("--letters-first", default="", help="the letters of the first language, small ones")
    add("--letters-second", default="", help="those of the second")
    add("--corpus", nargs=2, type=Path, help="text of each that is trained on")
    add("--held-out-first", nargs="*", type=Path, default=[], help="dev and test text in the first language")
    add("--held-out-second", nargs="*", type=Path, default=[], help="the same in the second")
    add("--cases", nargs="*", choices=CASES, default=[], help="in which models will read lines, too")
    add("--locale-first", default="", help="ICU's locale of the first language, if its script has two cases")
    add("--locale-second", default="", help="that of the second")
    add("--seed", required=True, type=int, help="seed of the sample of the corpus")
    add("--output", required=True, type=Path, help="new folder for numbers.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
