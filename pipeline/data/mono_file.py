"""Import a file of text in one language, .zst, .gz or plain.

python -m pipeline.data.mono_file --lang ru --text news.ru.gz --max-sentences 100000 --output mono
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.script import new_folder, run
from pipeline.data.files import recognised
from pipeline.data.imports import (
    SEED,
    Origin,
    import_stats,
    one_line,
    publish,
    refuse_empty,
    scratch_folder,
    shown,
)
from pipeline.data.limited import write_limited
from pipeline.data.texts import file_lines


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst, in the order of the file, and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lang", required=True, help="language, as it stands in file names")
    parser.add_argument("--text", required=True, type=Path, help="the file, a sentence a line")
    parser.add_argument("--max-sentences", required=True, type=int, help="sample this many lines of more")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the text")
    args = parser.parse_args(argv)
    if args.max_sentences < 1:
        parser.error(f"--max-sentences must be at least 1, not {args.max_sentences}")
    output, origin = new_folder(args.output), Origin()
    with scratch_folder(output, args.lang) as scratch:
        lines = map(one_line, file_lines(recognised(args.text, args.lang, scratch)))
        file = scratch / f"mono.{args.lang}.zst"
        limited = write_limited(lines, args.max_sentences, str(SEED), file, scratch)
        refuse_empty(limited.lines, origin)
        dropped = {"not in the sample": limited.lines - limited.written}
        samples: list[object] = [shown(line) for line in limited.few]
        publish([file], import_stats(limited.written, dropped, samples, origin), output)


if __name__ == "__main__":
    run(main)
