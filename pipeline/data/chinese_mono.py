"""Bring a Chinese text into one variant: convert it (source language), or filter it (target language).

    python -m pipeline.data.chinese_mono --lang zh_hant --convert traditional \\
        --text mono.zh_hant.zst --output traditional
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pipeline.common.lines import LineWriter, read_lines
from pipeline.common.sampling import Reservoir
from pipeline.common.script import new_folder, run
from pipeline.data.chinese import VARIANTS, Variant
from pipeline.data.imports import SAMPLES, SEED, Origin, publish, refuse_empty, scratch_folder, shown

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json with the numbers of converted and dropped lines."""
    args = _arguments(argv)
    output = new_folder(args.output)
    variant = Variant(args.convert or args.filter)
    dropped: Counter[str] = Counter()
    samples: Reservoir[str] = Reservoir(SAMPLES, SEED)
    with scratch_folder(output, args.text.name) as scratch:
        file = scratch / f"mono.{args.lang}.zst"
        lines = read_lines(args.text)
        with LineWriter(file) as writer:
            for line in map(variant.convert, lines) if args.convert else _filtered(lines, variant, dropped):
                writer.write(line)
                samples.add(line)
        refuse_empty(writer.lines, Origin(dropped=dropped))
        stats: dict[str, object] = {
            "lines": {"in": writer.lines + dropped.total(), "kept": writer.lines, "dropped": dict(dropped)},
            "converted": variant.converted,
            "samples": [shown(line) for line in samples.items()],
        }
        publish([file], stats, output)
    log.info("Converted %s, dropped %s", f"{variant.converted:,}", f"{dropped.total():,}")


def _filtered(lines: Iterable[str], variant: Variant, dropped: Counter[str]) -> Iterator[str]:
    for line in lines:
        reason = variant.why_not(line)
        if reason:
            dropped[reason] += 1
        else:
            yield line


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--lang", required=True, help="language, as it stands in file names")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--convert", choices=VARIANTS, help="variant that the lines are converted to")
    kind.add_argument("--filter", choices=VARIANTS, help="variant that the lines must be in")
    add("--text", required=True, type=Path, help="Chinese text (.zst, .gz or plain)")
    add("--output", required=True, type=Path, help="new folder for the text")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
