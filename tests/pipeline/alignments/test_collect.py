"""Parts of a corpus, each aligned by itself, and put together again."""

import json
from pathlib import Path

import pytest

from pipeline.alignments import align, collect, priors
from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.translate import split
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus

FILES = ("corpus.tok-icu.en.zst", "corpus.tok-icu.eo.zst", "corpus.aln.zst")


def run(script: object, *arguments: object) -> None:
    script.main([str(argument) for argument in arguments])  # type: ignore[attr-defined]


def align_parts(folder: Path, pairs: list[tuple[str, str]], parts: int) -> list[Path]:
    """Learn from a corpus, split it, align the parts: the folders of the parts, in order."""
    source, target = write_corpus(folder, pairs)
    languages = ("--src", "en", "--trg", "eo")
    texts = ("--corpus-src", source, "--corpus-trg", target)
    run(priors, *languages, *texts, "--sample-size", 1000, "--output", folder / "priors")
    run(split, "--text", source, "--references", target, "--parts", parts, "--output", folder / "split")
    aligned = [folder / f"aligned-{number}" for number in range(1, parts + 1)]
    for number, output in enumerate(aligned, start=1):
        part = (folder / f"split/part.{number}.zst", folder / f"split/part.{number}.ref.zst")
        texts = ("--corpus-src", part[0], "--corpus-trg", part[1])
        run(align, *languages, *texts, "--priors", folder / "priors/corpus.priors", "--output", output)
    return aligned


def collect_parts(folder: Path, parts: list[Path]) -> list[list[str]]:
    """The lines of each collected file; the corpus is that of `align_parts`."""
    options = ("--tokens-src", "--tokens-trg", "--alignments")
    files = [(option, *(part / name for part in parts)) for option, name in zip(options, FILES, strict=True)]
    words = [word for option in files for word in option]
    output = ("--corpus-src", folder / "corpus.en.zst", "--output", folder / "collected")
    run(collect, "--src", "en", "--trg", "eo", *words, *output)
    return [[*read_lines(folder / "collected" / name)] for name in FILES]


def written_parts(folder: Path, sizes: list[tuple[int, int, int]]) -> list[Path]:
    """Parts whose three files have so many lines."""
    parts = [folder / f"part-{number}" for number in range(len(sizes))]
    for part, counts in zip(parts, sizes, strict=True):
        part.mkdir()
        for name, lines in zip(FILES, counts, strict=True):
            write_lines(part / name, [f"{part.name}-{number}" for number in range(lines)])
    return parts


def test_parts_are_aligned_and_stand_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    pairs = sentence_pairs(300)
    sources, targets, links = collect_parts(tmp_path, align_parts(tmp_path, pairs, 4))
    assert ["".join(line.split()).replace("▁", " ") for line in sources] == [pair[0] for pair in pairs]
    assert ["".join(line.split()).replace("▁", " ") for line in targets] == [pair[1] for pair in pairs]
    right = sum({(0, 0), (2, 2), (4, 4), (6, 6), (10, 8)} <= set(parse_links(line)) for line in links)
    assert right >= 285
    stats = json.loads((tmp_path / "collected/stats.json").read_text())
    assert stats == {"lines": {"in": 300, "kept": 300, "dropped": {}}, "parts": [75, 75, 75, 75]}


def test_more_parts_than_lines(tmp_path: Path) -> None:
    sources, targets, links = collect_parts(tmp_path, align_parts(tmp_path, sentence_pairs(3), 20))
    assert len(sources) == len(targets) == len(links) == 3
    assert all(links)


def test_a_part_that_is_missing_is_noticed(tmp_path: Path) -> None:
    write_corpus(tmp_path, sentence_pairs(5))
    parts = written_parts(tmp_path, [(2, 2, 2), (2, 2, 2)])
    with pytest.raises(InputError, match=r"2 parts have 4 lines together, .*corpus\.en\.zst has 5"):
        collect_parts(tmp_path, parts)
    assert not any((tmp_path / "collected").iterdir())


@pytest.mark.parametrize("sizes", [(2, 2, 1), (2, 3, 2), (1, 2, 2)])
def test_files_of_a_part_that_are_not_parallel_are_noticed(
    tmp_path: Path, sizes: tuple[int, int, int]
) -> None:
    """Also when they are as long as the corpus together."""
    write_corpus(tmp_path, sentence_pairs(4))
    missing = tuple(4 - size for size in sizes)
    parts = written_parts(tmp_path, [sizes, (missing[0], missing[1], missing[2])])
    with pytest.raises(InputError, match="Part 1 has unequal numbers of lines") as error:
        collect_parts(tmp_path, parts)
    assert f"{sizes[2]} for corpus.aln.zst" in str(error.value)
    assert not any((tmp_path / "collected").iterdir())


def test_as_many_parts_of_each_file_are_asked_for() -> None:
    with pytest.raises(InputError, match=r"Part 2 .* 0 for corpus\.aln\.zst"):
        collect.check_parallel({FILES[0]: [1, 1], FILES[1]: [1, 1], FILES[2]: [1]})
