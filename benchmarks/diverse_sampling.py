"""What `experiment.merging.mono-sampling: diverse` keeps of monolingual text, beside a uniform choice.

    python -m benchmarks.diverse_sampling [--share 0.1] [--seeds 3] [--debian DIR] [--langs en fr ru zh]

Texts are the demo's, with twenty planted domains of half a percent of the lines each, whose words are made
up, and with --debian that of Debian's translators (see `benchmarks.debian_text`; 130 MB by apt-get, kept in
DIR): help pages, descriptions of packages and messages of programs, as many as there are, of two words and
more.
pipeline.clean.merge_mono chooses --share of the lines.

Prints for each text and choice, as means over seeds: the share of each kind of text, distinct words, distinct
runs of four characters, characters, and seconds of the merge. `by size` is what shares by the root of a
cluster's size would keep.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path
from unittest import mock

from benchmarks.debian_text import read_texts
from benchmarks.generated_words import words_of
from pipeline.clean import diverse
from pipeline.clean.merge_mono import main as merge
from pipeline.clean.quotas import quotas
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.demo_corpus import mono_part

Kinds = Mapping[str, Sequence[str]]  # kind of text → its lines
MOST = 1_000_000  # lines of a kind of Debian's text
DOMAINS, DOMAIN_LINES, DOMAIN_WORDS = 20, 0.005, 200
ZIPF = [1 / rank for rank in range(1, DOMAIN_WORDS + 1)]  # how frequent its words are
HEAD = "| text | choice | lines | kinds | words | runs of four | characters | seconds |\n" + "|---" * 8 + "|"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    print(HEAD)
    _print("demo, en", _planted(list(mono_part("mono", "en")[0])), args)
    if args.debian:
        texts = read_texts(args.debian, args.langs, MOST)
        for lang in args.langs:
            _print(f"Debian, {lang}", {kind: _sentences(lines) for kind, lines in texts[lang].items()}, args)


def _sentences(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if " " in line or len(line) > 20]


def _planted(lines: Sequence[str]) -> Kinds:
    """The lines, and those of domains that each have words of their own."""
    draw, words = random.Random(1), words_of("en")
    domains = [draw.sample(words, DOMAIN_WORDS) for _ in range(DOMAINS)]
    planted = [
        " ".join(draw.choices(domain, ZIPF, k=draw.randint(5, 15))).capitalize() + "."
        for domain in domains
        for _ in range(int(DOMAIN_LINES * len(lines)))
    ]
    return {"demo": lines, "planted": planted}


def _print(name: str, kinds: Kinds, args: argparse.Namespace) -> None:
    kind_of = {" ".join(line.split()): kind for kind, lines in kinds.items() for line in lines}
    lines = list(kind_of)
    random.Random(1).shuffle(lines)
    _row(name, "all", [(lines, 0.0)], kind_of)
    seeds = range(1, args.seeds + 1)
    for choice, options in (("uniform", []), ("diverse", ["--diverse"])):
        _row(name, choice, [_merged(lines, args.share, seed, options) for seed in seeds], kind_of)
    with mock.patch.object(diverse, "_parts", _by_size):
        _row(name, "by size", [_merged(lines, args.share, seed, ["--diverse"]) for seed in seeds], kind_of)


def _by_size(_: Sequence[int], sizes: list[int], size: int) -> list[tuple[int, int]]:
    roots = [Fraction(isqrt(rows << 32), max(rows, 1)) for rows in sizes]
    return list(zip(sizes, quotas(sizes, roots, size), strict=True))


def _merged(lines: Sequence[str], share: float, seed: int, options: Sequence[str]) -> tuple[list[str], float]:
    """The lines that the merge chooses, and the seconds that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        text, parallel, output = (Path(folder) / name for name in ("text.zst", "parallel.zst", "out"))
        write_lines(text, lines)
        write_lines(parallel, [])
        limit = ("--max-sentences", str(int(share * len(lines))), "--seed", str(seed))
        files = ("--text", str(text), "--parallel", str(parallel), "--output", str(output))
        begin = time.perf_counter()
        merge(["--lang", "en", "--datasets", "all", *files, *limit, *options])
        return list(read_lines(output / "mono.en.zst")), time.perf_counter() - begin


def _row(
    name: str, choice: str, merged: Sequence[tuple[Sequence[str], float]], kind_of: Mapping[str, str]
) -> None:
    number = len(merged)
    kinds = Counter(kind_of[line] for lines, _ in merged for line in lines)
    shares = ", ".join(
        f"{kind} {kinds[kind] / kinds.total():.1%}" for kind in dict.fromkeys(kind_of.values())
    )
    words = sum(len({word for line in lines for word in line.lower().split()}) for lines, _ in merged)
    runs = sum(
        len({line[at : at + 4] for line in lines for at in range(len(line) - 3)}) for lines, _ in merged
    )
    figures = (kinds.total(), words, runs, sum(len(line) for lines, _ in merged for line in lines))
    lines, *others = (f"{figure // number:,}" for figure in figures)
    seconds = sum(seconds for _, seconds in merged) / number
    print(f"| {name} | {choice} | {lines} | {shares} | {' | '.join(others)} | {seconds:.1f} |", flush=True)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--share", type=float, default=0.1, help="of the lines, that is kept")
    parser.add_argument("--seeds", type=int, default=3, help="choices of which the mean is taken")
    parser.add_argument("--debian", type=Path, metavar="DIR", help="work folder of Debian's text")
    parser.add_argument("--langs", nargs="+", default=["en", "fr", "ru", "zh"], help="languages of that text")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
