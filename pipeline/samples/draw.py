"""Draw random lines of what a step read and left, with the reasons for which it dropped some.

    python -m pipeline.samples.draw --script pipeline.clean.filter_parallel --made out --number 5 --seed 1 \\
        --output sample -- --src en --trg ru --corpus-src in/corpus.en.zst --corpus-trg in/corpus.ru.zst \\
        --scores in/scores.zst --threshold 0.5 --output out

Behind `--` stand the options with which the step's script was run, and the files that it read must stand
where these say; --made is the folder that it left. Writes sample/sample.json:

    rows     lines, or pairs, that it read
    judged   those of them of which it is known what became of them
    read     some of what went in, and what became of it
    kept     some of what came out
    dropped  for each reason some of what was dropped for it
    unknown  some of which it is not known why they did not come out as they were
    notes    what else people should know

Each choice is uniform among the lines of its kind, and fixed by the seed. Filters are asked of --most lines,
or of more where --reason is seldom, of which --dropped says how often it occurred; merges and thresholds are
asked of all. The text is streamed; memory does not grow with it.

Of a script that is not known here, --read names the files that it read, by its options: --read text=in/a.zst,
and --langs the languages of the sides, source first, which are in the names of the files that it left.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pipeline.clean.arguments import positive
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.samples import beside, merges, rules, scored
from pipeline.samples.drawn import Drawn, Wanted

Judge = Callable[[Sequence[str], Path, Wanted, Path], Drawn]
JUDGES: Mapping[str, Judge] = {
    "pipeline.cefilter.filter": scored.of_worst,
    "pipeline.clean.apply_mono_filters": rules.of_filtered_lines,
    "pipeline.clean.clean_mono": rules.of_lines,
    "pipeline.clean.clean_parallel": rules.of_pairs,
    "pipeline.clean.filter_mono": scored.of_lines,
    "pipeline.clean.filter_parallel": scored.of_pairs,
    "pipeline.clean.merge_mono": merges.of_lines,
    "pipeline.clean.merge_parallel": merges.of_pairs,
    "pipeline.clean.merge_translated": merges.of_translated,
}


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--script", required=True, help="module of the step's script")
    add("--made", required=True, type=Path, help="folder that the step left")
    add("--read", nargs="*", default=[], help="files that it read, each as option=path")
    add("--langs", nargs="*", default=[], help="languages of the sides that it left, source first")
    add("--number", required=True, type=positive, help="lines of each kind")
    add("--most", type=positive, default=20_000, help="lines that filters are asked of")
    add("--seed", required=True, type=int, help="seed of every random choice")
    add("--reason", default="", help="only lines that were dropped for this reason")
    add("--dropped", type=int, default=0, help="how many lines were dropped for it")
    add("--dataset", default="", help="only lines of this data set of a merge")
    add("--output", required=True, type=Path, help="new folder for sample.json")
    add("options", nargs="*", help="behind `--`: the options with which the step's script was run")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Write sample.json; see the module's text."""
    args = parse_arguments(argv)
    wanted = Wanted(args.number, args.most, args.seed, args.reason, args.dropped, args.dataset)
    with staged(args.output) as (folder, scratch):
        if args.script in JUDGES:
            found = JUDGES[args.script](args.options, args.made, wanted, scratch)
        else:
            read = {name: Path(path) for name, _, path in (each.partition("=") for each in args.read)}
            found = beside.draw(read, args.made, args.langs, wanted)
        write_json(folder / "sample.json", found.to_json())


if __name__ == "__main__":
    run(main)
