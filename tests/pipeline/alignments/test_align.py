"""The alignment script: from two texts to tokens, links and priors."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pipeline.alignments import blocks, eflomal_runs, priors
from pipeline.alignments.align import main
from pipeline.alignments.blocks import Corpus, align_blocks, align_corpus, sample_pairs
from pipeline.alignments.symmetrize import parse_links
from pipeline.common.errors import InputError, Stopped, TemporaryError
from pipeline.common.lines import read_lines, write_lines
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus

ODD = [
    ("🤣 the red cat sees a dog", "🤣 la ruĝa kato vidas hundon"),
    ("", "la kato"),
    ("the\u00a0cat\u3000sees ▁ a dog", "la kato vidas hundon"),
    ("", ""),
    ("the cat " * 130_000, "la kato"),
    ("a ||| b\tc 1-1", "a ||| b\tc 1-1"),
]
NAMES = {"corpus.aln.zst", "corpus.tok-icu.en.zst", "corpus.tok-icu.eo.zst", "stats.json"}


def arguments(corpus: tuple[Path, Path], output: Path, *more: str | Path) -> list[str]:
    files = ("--corpus-src", corpus[0], "--corpus-trg", corpus[1], "--output", output)
    return ["--src", "en", "--trg", "eo", *map(str, (*files, *more))]


def results(output: Path) -> tuple[list[str], list[str], list[str], dict[str, Any]]:
    names = ["corpus.tok-icu.en.zst", "corpus.tok-icu.eo.zst", "corpus.aln.zst"]
    source, target, links = ([*read_lines(output / name)] for name in names)
    return source, target, links, json.loads((output / "stats.json").read_text())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """400 ordinary pairs and six odd ones."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), [*sentence_pairs(400), *ODD])


@pytest.fixture(scope="module")
def learned(corpus: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The priors that the corpus gives."""
    output = tmp_path_factory.mktemp("priors") / "output"
    priors.main(arguments(corpus, output, "--sample-size", "1000"))
    return output / "corpus.priors"


@pytest.fixture(scope="module")
def aligned(corpus: tuple[Path, Path], learned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus aligned, by the command that a person would type."""
    output = tmp_path_factory.mktemp("aligned") / "output"
    words = arguments(corpus, output, "--priors", learned)
    command = [sys.executable, "-m", "pipeline.alignments.align", *words]
    subprocess.run(command, check=True, capture_output=True)
    return output


def test_words_are_linked_to_their_translations(aligned: Path) -> None:
    source, target, links, _ = results(aligned)
    right = 0
    for english, esperanto, line in zip(source[:400], target, links, strict=False):
        # "the ▁ red ▁ cat ▁ sees ▁ a ▁ dog", "la ▁ ruĝa ▁ kato ▁ vidas ▁ hundon": the article has no word
        assert (len(english.split()), len(esperanto.split())) == (11, 9)
        right += {(0, 0), (2, 2), (4, 4), (6, 6), (10, 8)} <= set(parse_links(line))
    assert right >= 380


def test_links_stay_inside_the_sentence_and_never_touch_spaces(aligned: Path) -> None:
    source, target, links, _ = results(aligned)
    for english, esperanto, line in zip(source, target, links, strict=True):
        for first, second in parse_links(line):
            assert english.split()[first] != "▁" != esperanto.split()[second]


def test_an_emoji_shifts_nothing(aligned: Path) -> None:
    source, _, links, _ = results(aligned)
    assert source[400] == "🤣 ▁ the ▁ red ▁ cat ▁ sees ▁ a ▁ dog"
    assert {(0, 0), (2, 2), (4, 4), (6, 6)} <= set(parse_links(links[400]))


def test_text_comes_back_from_the_tokens(corpus: tuple[Path, Path], aligned: Path) -> None:
    source, target, _, _ = results(aligned)
    for path, tokens in zip(corpus, (source, target), strict=True):
        for text, line in zip(read_lines(path), tokens, strict=True):
            spaces = text.replace("\u00a0", " ").replace("\u3000", " ").replace("▁", " ").replace("\t", " ")
            assert "".join(line.split()).replace("▁", " ") == spaces


def test_empty_and_endless_lines_get_no_links_and_are_counted(aligned: Path) -> None:
    _, _, links, stats = results(aligned)
    assert [bool(line) for line in links[400:]] == [True, False, True, False, False, True]
    assert stats["lines"] == {"in": 406, "kept": 406, "dropped": {}}
    assert stats["empty_alignments"] == {"total": 3, "one_side_empty": 2, "too_long": 1, "no_links": 0}
    assert 0.8 < stats["linked_target_words"] <= 1
    assert 0.8 < stats["links_per_source_word"] < 1.5


def test_the_same_tokens_in_another_folder_with_another_number_of_threads(
    corpus: tuple[Path, Path],
    learned: Path,
    aligned: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", "1")
    main(arguments(corpus, tmp_path / "again", "--priors", learned))
    assert {file.name for file in aligned.iterdir()} == NAMES
    for name in NAMES - {"corpus.aln.zst", "stats.json"}:  # the links are sampled
        assert (tmp_path / "again" / name).read_bytes() == (aligned / name).read_bytes(), name


def test_a_few_pairs_are_aligned_by_what_is_known_of_their_words(learned: Path, tmp_path: Path) -> None:
    # Each word occurs in one pair only, and in another order than in the corpus: nothing but the priors tells
    # which belong together. eflomal samples: it may take a pair wrongly, but never most of 40.
    words = [
        [f"{chr(97 + number // 26)}{chr(97 + number % 26)}{end}" for end in "dlnrs"] for number in range(40)
    ]
    pairs = [(" ".join(line), " ".join(f"x{word}" for word in line[2:] + line[:2])) for line in words]
    pair = write_corpus(tmp_path, pairs)
    given = tmp_path / "given.priors"
    known = "".join(f"LEX\t{word}\tx{word}\t500\n" for line in words for word in line)
    given.write_text(learned.read_text(encoding="utf-8") + known, encoding="utf-8")
    assert share_of_right_links(pair, given, tmp_path / "known") > 0.9
    assert share_of_right_links(pair, learned, tmp_path / "unknown") < 0.3


def share_of_right_links(pair: tuple[Path, Path], known: Path, output: Path) -> float:
    """The share of right links where the last three of five words are translated first."""
    main(arguments(pair, output, "--priors", known))
    _, _, links, _ = results(output)
    right = {(4, 0), (6, 2), (8, 4), (0, 6), (2, 8)}
    return sum(len(right & set(parse_links(line))) for line in links) / (len(right) * len(links))


def test_a_corpus_longer_than_a_block_is_aligned_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write_corpus(tmp_path, sentence_pairs(130))
    written = []
    for threads in ("1", "4"):
        monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
        work = tmp_path / threads
        work.mkdir()
        align_corpus(Corpus(source, target, 130), work / "links", work, block_lines=40)
        assert {path.name for path in work.iterdir()} == {"corpus.priors", "links"}
        written.append([*read_lines(work / "links")])
    for links in written:
        assert len(links) == 130
        assert sum("0-0" in line.split() for line in links) > 100


@pytest.mark.parametrize("killed", ["$$", "$PPID"], ids=["eflomal", "the process that runs it"])
@pytest.mark.parametrize("always", [False, True])
def test_what_is_killed_is_aligned_again_one_block_at_a_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    killed: str,
    always: bool,
) -> None:
    """As the kernel does when memory is short: once, or always from the second run in a pool on."""
    patched = tmp_path / "patched"
    patched.mkdir()
    (patched / "eflomal").write_text(
        f"#!/bin/sh\nmkdir {patched}/begun || if mkdir {patched}/killed || {str(always).lower()}\n"
        f'then kill -9 {killed}; fi\nexec {eflomal_runs.PROGRAM} "$@"\n'
    )
    (patched / "eflomal").chmod(0o755)
    (patched / "sitecustomize.py").write_text(
        "from pathlib import Path\nfrom pipeline.alignments import eflomal_runs\n"
        f"eflomal_runs.PROGRAM = Path({str(patched / 'eflomal')!r})\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{patched}:{Path.cwd()}")  # of the processes of the pool alone
    monkeypatch.setenv("TRANSLATIONS_THREADS", "4")
    source, target = write_corpus(tmp_path, sentence_pairs(130))
    work = tmp_path / "work"
    work.mkdir()
    corpus = Corpus(source, target, 130)
    if always:
        with pytest.raises(TemporaryError, match="was killed.*was memory short"):
            align_corpus(corpus, work / "links", work, block_lines=40)
        return
    align_corpus(corpus, work / "links", work, block_lines=40)
    assert caplog.text.count("Going on with one block at a time") == 1
    assert {path.name for path in work.iterdir()} == {"corpus.priors", "links"}
    links = [*read_lines(work / "links")]
    assert len(links) == 130
    assert sum("0-0" in line.split() for line in links) > 100


def test_a_script_that_is_stopped_aligns_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def stop(blocks: object, workers: int, begun: object) -> NoReturn:
        asked.append(workers)
        raise Stopped

    monkeypatch.setattr("pipeline.alignments.blocks._align_side_by_side", stop)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "4")
    with pytest.raises(Stopped):
        [*align_blocks(iter([]), tmp_path, tmp_path / "priors", block_lines=40)]
    assert asked == [2]


def test_the_sample_is_uniform_ordered_and_whole_when_it_fits(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(1000)]
    source, target = write_corpus(tmp_path, [(number, number) for number in numbers])
    sample = [int(pair[0]) for pair in sample_pairs(Corpus(source, target, 1000), 300)]
    assert len(sample) == 300
    assert sample == sorted(set(sample))
    assert all(60 < sum(part <= number < part + 250 for number in sample) < 90 for part in (0, 250, 500, 750))
    assert [pair[0] for pair in sample_pairs(Corpus(source, target, 1000), 1000)] == numbers


def test_sides_of_unequal_length_leave_nothing_behind(learned: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "two.zst", ["a", "b"])
    write_lines(tmp_path / "one.zst", ["a"])
    with pytest.raises(InputError, match=r"one\.zst ends after 1 lines"):
        main(
            arguments((tmp_path / "two.zst", tmp_path / "one.zst"), tmp_path / "output", "--priors", learned)
        )
    assert not any((tmp_path / "output").iterdir())


def test_a_wrong_priors_file_leaves_nothing_behind(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a priors file"):
        main(arguments(corpus, tmp_path / "output", "--priors", __file__))
    assert not any((tmp_path / "output").iterdir())


def test_an_empty_part_gives_empty_files(learned: Path, tmp_path: Path) -> None:
    main(arguments(write_corpus(tmp_path, []), tmp_path / "output", "--priors", learned))
    source, target, links, stats = results(tmp_path / "output")
    assert source == target == links == []
    assert stats["lines"]["in"] == 0


def test_a_first_word_that_is_a_byte_order_mark_stays(tmp_path: Path) -> None:
    """It is a word in any line of a block, the first one included."""
    pairs = [("\ufeff the cat", "la kato")] * 10 + [("the dog", "\ufeff la hundo")] * 10
    for number, lines in enumerate((pairs, pairs[::-1])):
        (tmp_path / str(number)).mkdir()
        block = blocks.align_sample(lines, tmp_path / str(number))
        assert list(zip(read_lines(block.source), read_lines(block.target), strict=True)) == lines


def test_words_are_counted_as_eflomal_counts_them() -> None:
    assert blocks.can_align("a b", " ".join("x" * 500))
    assert not blocks.can_align("a b", " ".join("x" * 501))
    assert not blocks.can_align("", "x")
