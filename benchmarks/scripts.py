"""Share of text in scripts other than Latin that is spelt in bytes, which engines may write by name.

    python -m benchmarks.scripts --work /tmp/debian-scripts [--langs ar fa hi bn ja zh] [--now]

Text is that of `benchmarks.debian_text`, of more packages (150 MB to fetch). For each language a joint
vocabulary with English is learned from as many lines of each, twice: with SentencePiece's own rule and the
letters of the alphabets, as before, and as the pipeline does it. Prints for both the byte pieces in its
lines, for all pieces; the same without those of rare ideographs, which stand outside the language's list or
occur fewer than five times; the characters that bytes spell most; and how many ideographs (and Hangul's
syllables) need bytes.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from string import digits
from unittest import mock

from sentencepiece import SentencePieceProcessor

from benchmarks.debian_text import PACKAGES, read_texts
from pipeline.checks.vocabulary import not_covered
from pipeline.train import vocab
from translations_assets.config.languages import language
from translations_assets.stages.languages import alphabet, letters

MORE = (
    *("brasero-common", "budgie-control-center-data", "caja-common", "cinnamon-l10n", "eog"),
    *("evolution-data-server-common", "gnome-disk-utility", "gnome-panel-data"),
    *("gnome-settings-daemon-common", "gnome-software-common", "gnome-terminal-data", "gucharmap"),
    *("iso-codes", "kmail", "konqueror", "libgtk-3-common", "libgtk-4-common", "libgtk2.0-common"),
    *("libgweather-4-common", "libkf5kdelibs4support-data", "libreoffice-l10n-ar", "libreoffice-l10n-bn"),
    *("libreoffice-l10n-fa", "libreoffice-l10n-hi", "mate-control-center-common", "mate-panel-common"),
    *("pidgin-data", "plasma-workspace-data", "pluma-common", "python3-django", "seahorse"),
    "system-config-printer-common",
)
LOGOGRAPH = re.compile("[\u3400-\u9fff가-힣]|[\U00020000-\U0003ffff]")
RULE = "nmt_nfkc"
MOST_LETTERS = 200  # of an alphabet that was given before


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    texts = {
        lang: [line for lines in kinds.values() for line in lines][: args.lines]
        for lang, kinds in read_texts(
            args.work, ["en", *args.langs], args.lines, packages=(*PACKAGES, *MORE)
        ).items()
    }
    for lang in args.langs:
        print(f"{lang}, {len(texts[lang]):,} lines:")
        both = texts["en"] + texts[lang]
        if not args.now:
            with own_rule():
                _report("before", lang, texts[lang], both, args.vocab_size, _alphabets("en", lang))
        _report(
            "now", lang, texts[lang], both, args.vocab_size, letters(language("en")) + letters(language(lang))
        )


@contextmanager
def own_rule() -> Iterator[None]:
    """SentencePiece's own rule in place of its table with what all rules drop."""
    options = {"normalization_rule_name": RULE}
    with mock.patch.object(vocab, "normalization", return_value=nullcontext(options)):
        yield


def _alphabets(*langs: str) -> str:
    """Return the characters given before: digits and the alphabets, but large ones."""
    alphabets = [alphabet(language(lang)) for lang in langs]
    small = {letter for known in alphabets if len(known) <= MOST_LETTERS for letter in known}
    capitals = {capital for capital in map(str.upper, small) if len(capital) == 1}
    return "".join(sorted({*digits} | small | capitals))


def _report(
    name: str, lang: str, lines: Sequence[str], both: Sequence[str], size: int, required: str
) -> None:
    model = vocab.learn(both, size, RULE, vocab.occurring(required, both, RULE))
    vocabulary = SentencePieceProcessor(model_proto=model)
    numbers = vocabulary.encode(list(lines))
    pieces = sum(map(len, numbers))
    in_bytes = sum(vocabulary.is_byte(number) for of_line in numbers for number in of_line)
    spelt = Counter[str]()
    for of_line in numbers:
        if any(map(vocabulary.is_byte, of_line)):
            spelt.update(not_covered(vocabulary.id_to_piece(of_line), vocabulary))
    logographs = set(filter(LOGOGRAPH.match, spelt))
    listed = set(alphabet(language(lang)))
    rare = {one for one in logographs if one not in listed or spelt[one] < vocab.MIN_OCCURRENCES}
    others = in_bytes - sum(len(character.encode()) * spelt[character] for character in rare)
    occurring = {character for line in lines for character in LOGOGRAPH.findall(line)}
    print(
        f"  {name}: {in_bytes:,} of {pieces:,} pieces are bytes: {in_bytes / pieces:.3%}, "
        f"without rare ideographs {others / pieces:.3%}"
    )
    most = [character for character, _ in spelt.most_common() if character not in logographs][:12]
    print(f"    most: {', '.join(f'{character!a} × {spelt[character]}' for character in most)}")
    if occurring:
        times = sum(spelt[character] for character in logographs)
        print(
            f"    ideographs: {len(occurring):,}; in bytes {len(logographs):,}, {times:,} times", flush=True
        )


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder of apt's files, used again")
    parser.add_argument("--langs", nargs="+", default=["ar", "fa", "hi", "bn", "ja", "zh"], help="languages")
    parser.add_argument("--lines", type=int, default=60_000, help="of each language, at most")
    parser.add_argument("--now", action="store_true", help="only as the pipeline does it")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="number of pieces")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
