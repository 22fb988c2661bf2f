"""Text that language identification drops of a language's own, with words of others and code in it.

    python -m benchmarks.own_text --work DIR [--lines 20000] [--langs zh ja zh_hant ko th nn sr gl pt]

Text is that of Debian's translators (see `benchmarks.debian_text`), here with its markup and placeholders,
without lines that stand in English as well. Prints for each language what share of all lines HeLI-OTS takes
for another language, and of three kinds: keywords with `;`, lines with markup or placeholders, and those with
Latin words in a language of another script; then which languages.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.debian_text import read_texts
from pipeline.clean.identification import Heli
from translations_assets.config.identification import heli_labels
from translations_assets.config.languages import Language, language

LANGS = ("zh", "ja", "zh_hant", "ko", "th", "nn", "sr", "gl", "pt")
KINDS = {
    "all": re.compile(""),
    "keywords": re.compile(r"\S;\S.*\S;"),
    "code": re.compile(r"[<>{}]|%[\w(]|&\w+;|://"),
    "Latin words": re.compile(r"[A-Za-z]{2}"),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder for what is fetched")
    parser.add_argument("--lines", type=int, default=20_000, help="lines of each language and kind of text")
    parser.add_argument("--langs", nargs="+", default=LANGS, help="the languages")
    args = parser.parse_args(argv)
    texts = read_texts(args.work, ["en", *args.langs], args.lines, code=True)
    print("dropped, %".ljust(12) + "".join(f"{kind:>22}" for kind in KINDS))
    for lang in args.langs:
        lines = [line for kind in sorted(texts[lang]) for line in texts[lang][kind]]
        _measure(language(lang), lines)


def _measure(spoken: Language, lines: Sequence[str]) -> None:
    identifier = Heli(heli_labels(spoken), spoken.script)
    identifier.learn(lines)
    others = identifier.others(lines)
    cells = []
    for kind, pattern in KINDS.items():
        found = [bool(other) for line, other in zip(lines, others, strict=True) if pattern.search(line)]
        share = f"{100 * sum(found) / max(1, len(found)):.2f} of {len(found):,}"
        cells.append("" if kind == "Latin words" and spoken.script == "Latin" else share)
    print(spoken.code.ljust(12) + "".join(f"{cell:>22}" for cell in cells))
    labels = Counter(filter(None, others)).most_common(6)
    print("  as " + ", ".join(f"{label} {count}" for label, count in labels))


if __name__ == "__main__":
    main()
