"""Tests of pipeline.train.pairs and pipeline.train.training_pairs: what training reads."""

import json
import random
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.train import pairs
from pipeline.train.pair_blocks import BLOCK, PairBlocks
from pipeline.train.pairs import PairMaker, write_dev_pairs
from pipeline.train.training_pairs import main
from tests.pipeline.train import tiny
from tests.pipeline.train.training import tokenised

LIMITS = (20, 21, 22)  # that drop some of the tiny pair's lines
Row = tuple[str, ...]


def maker(limit: int = 50, aligned: bool = False) -> PairMaker:
    return PairMaker(tiny.corpus().vocabs, limit, aligned, link_pieces=False)


def fits(limit: int, source: str, aligned: bool = False) -> bool:
    row = (source, "LA", "0-0") if aligned else (source, "LA")
    return bool(maker(limit, aligned)([row])[0])


def build(folder: Path, rows: Iterable[Row], *more: str, limit: int = 50) -> Path:
    """Write the columns to files and make pairs of them; a third column is that of alignments."""
    files = []
    for number, column in enumerate(zip(*rows, strict=True)):
        files.append(folder / f"{number}.zst")
        write_lines(files[-1], column)
    options = ["--alignments", str(files[2])] if len(files) == 3 else []
    output = folder / "pairs"
    return tiny.training_pairs(
        output, tiny.corpus().vocabs, files[0], files[1], *options, *more, length=limit
    )


def lines_of(folder: Path) -> list[str]:
    blocks = PairBlocks.open(folder)
    return [line for number in range(blocks.blocks) for line in blocks.read(number)]


def stats(folder: Path) -> Any:
    return json.loads((folder / "stats.json").read_text())


def test_columns_are_parted_by_tabs_without_spaces_before_them(tmp_path: Path) -> None:
    made = build(tmp_path, [("the cat ", " TAC\u00a0LA"), ("a\tdog", "GOD")])
    assert lines_of(made) == ["the cat\tTAC LA", "a dog\tGOD"]


def test_a_carriage_return_inside_a_line_ends_no_line(tmp_path: Path) -> None:
    assert lines_of(build(tmp_path, [("the\rcat", "LA TAC")])) == ["the cat\tLA TAC"]


def test_what_is_dropped_is_counted(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("the cat", "LA TAC", "0-0 1-1"),
        ("the dog", "LA GOD", ""),
        ("", "LA", "0-0"),
        ("cat " * 60, "TAC", "0-0"),
        ("x" * 1_000_000, "TAC", "0-0"),
    ]
    made = build(tmp_path, rows)
    assert lines_of(made) == ["the cat\tLA TAC\t0-0 1-1"]
    dropped = {"empty": 1, "no alignment": 1, "too long": 2}
    assert stats(made)["lines"] == {"in": 5, "kept": 1, "dropped": dropped}


@pytest.mark.parametrize("text", ["the old dog eats the small house.", "жизнь"])
def test_length_counts_the_end_of_the_sentence(text: str) -> None:
    """A letter that is not in the vocabulary has a piece for each of its bytes."""
    pieces = len(SentencePieceProcessor(model_file=str(tiny.corpus().vocabs[0])).encode(text))
    assert 8 < pieces < 30
    for limit in range(6, 30):
        assert fits(limit, text) == (limit >= pieces + 1)


def test_tokenised_text_is_as_long_as_the_text_it_stands_for() -> None:
    plain = "the old dog eats the small house."
    tokens = "the ▁ old ▁ dog ▁ eats ▁ the ▁ small ▁ house ."
    for limit in range(8, 30):
        assert fits(limit, tokens, aligned=True) == fits(limit, plain)


def test_pairs_for_guided_alignment_are_as_long_as_others(tmp_path: Path) -> None:
    source, target, links = tokenised(tmp_path)
    vocabs, options = tiny.corpus().vocabs, ("--alignments", str(links))
    for limit in LIMITS:
        folders = tmp_path / f"{limit}", tmp_path / f"{limit}.linked"
        plain = tiny.training_pairs(folders[0], vocabs, source, target, *options, length=limit)
        options_of_linked = (*options, "--link-pieces")
        linked = tiny.training_pairs(folders[1], vocabs, source, target, *options_of_linked, length=limit)
        assert stats(plain)["lines"] == stats(linked)["lines"]
        assert stats(plain)["lines"]["dropped"]["too long"] > 1
        assert lines_of(plain) == ["\t".join(line.split("\t")[:3]) for line in lines_of(linked)]


@pytest.mark.parametrize("alignment", ["99-99", "0-99", "2-0", "0-2", "0-0 1-1 5-0"])
def test_an_alignment_outside_the_sentence_is_an_error(tmp_path: Path, alignment: str) -> None:
    with pytest.raises(InputError, match=r"line 2: .* points outside a pair of 2 and 2 tokens"):
        build(tmp_path, [("the cat", "LA TAC", "0-0"), ("the cat", "LA TAC", alignment)])


@pytest.mark.parametrize("alignment", ["0:0", "0-0,1-1", "a-b", "-1-0", "0-", "0-0 1"])
def test_an_alignment_of_another_form_is_an_error(tmp_path: Path, alignment: str) -> None:
    with pytest.raises(InputError, match="line 1: not an alignment"):
        build(tmp_path, [("the cat", "LA TAC", alignment)])


def test_an_error_names_the_line_of_the_file_in_a_later_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", "2")
    rows: list[Row] = [("the cat", "LA TAC", "0-0")] * 12_344
    with pytest.raises(InputError, match=r"2\.zst, line 12345: 2-0 points outside"):
        build(tmp_path, [*rows, ("the cat", "LA TAC", "2-0")])


def test_text_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"the cat\nthe \xff dog\n")
    (tmp_path / "b").write_bytes(b"LA TAC\nLA GOD\n")
    with pytest.raises(InputError, match=r"Invalid UTF-8 in .*a, line 2"):
        tiny.training_pairs(tmp_path / "pairs", tiny.corpus().vocabs, tmp_path / "a", tmp_path / "b")


def test_files_of_unequal_length_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("one\n")
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        tiny.training_pairs(tmp_path / "pairs", tiny.corpus().vocabs, tmp_path / "a", tmp_path / "b")
    assert list((tmp_path / "pairs").iterdir()) == []


def test_a_corpus_of_which_nothing_is_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No pair"):
        build(tmp_path, [("", "")])


def test_links_of_pieces_need_links_of_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build(tmp_path, [("the cat", "LA TAC")], "--link-pieces")
    assert "--link-pieces goes with --alignments" in capsys.readouterr().err


def many(number: int) -> list[Row]:
    """Rows of many lengths, some of which are dropped, in more than one block."""
    rng = random.Random(1)
    rows: list[Row] = []
    for _ in range(number):
        source = [rng.choice(tiny.NOUNS) for _ in range(rng.randrange(0, 30))]
        links = " ".join(f"{i}-{i}" for i in range(0, len(source), 2))
        rows.append((" ▁ ".join(source), " ▁ ".join(word.upper() for word in source), links))
    return rows


@pytest.mark.parametrize("more", [(), ("--link-pieces",)])
def test_the_same_bytes_in_another_folder_with_another_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: Sequence[str]
) -> None:
    rows = many(11_000)
    made = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
        (tmp_path / threads).mkdir()
        made.append(build(tmp_path / threads, rows, *more))
    names = {"pairs.zst", "blocks.npy", "stats.json"}
    for folder in made:
        assert {path.name for path in folder.iterdir()} == names
    for name in names:
        assert (made[0] / name).read_bytes() == (made[1] / name).read_bytes(), name
    lines = stats(made[0])["lines"]
    assert lines["in"] == 11_000 == lines["kept"] + sum(lines["dropped"].values())
    assert set(lines["dropped"]) == {"empty", "too long"}
    assert [line.split("\t")[0] for line in lines_of(made[0])] == [
        row[0] for row in rows if row[0] and fits_all(row)
    ]
    assert max(PairBlocks.open(made[0]).sizes) == BLOCK


def fits_all(row: Row, limit: int = 50) -> bool:
    """True if a row is short enough, as SentencePiece counts."""
    texts = [side.replace(" ", "").replace("▁", " ") for side in row[:2]]
    pieces = [vocabulary(side).encode(text) for side, text in zip(tiny.corpus().vocabs, texts, strict=True)]
    return all(len(each) < limit for each in pieces)


@cache
def vocabulary(path: Path) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_file=str(path))


def test_what_is_remembered_of_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = many(300)
    expected = maker(aligned=True)(rows)
    monkeypatch.setattr(pairs, "KNOWN", 3)
    monkeypatch.setattr(pairs, "LONG_WORD", 4)
    assert maker(aligned=True)(rows) == expected


def test_pieces_that_reach_over_spaces_are_counted_in_whole_lines(tmp_path: Path) -> None:
    text, model = [source for source, _ in tiny.pairs(600, seed=1)], tmp_path / "phrases.spm"
    with model.open("wb") as file:
        SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=file, vocab_size=130, split_by_whitespace=False
        )
    counts = [len(vocabulary(model).encode(line)) for line in text]
    limit = sorted(counts)[300] + 1
    lines, _ = PairMaker([model, model], limit, aligned=False, link_pieces=False)(
        [(line, line) for line in text]
    )
    assert [line.split("\t")[0] for line in lines] == [
        line for line, count in zip(text, counts, strict=True) if count < limit
    ]
    assert len(lines) < len(text)


def test_the_development_set_has_two_fields(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["the cat ", "", "dog"])
    write_lines(tmp_path / "b", ["LA TAC", "x", "GOD"])
    tally = write_dev_pairs(tmp_path / "a", tmp_path / "b", tmp_path / "dev.tsv")
    assert (tmp_path / "dev.tsv").read_text() == "the cat\tLA TAC\ndog\tGOD\n"
    assert tally.to_dict() == {"in": 3, "kept": 2, "dropped": {"empty": 1}}


def test_the_help_tells_what_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "pairs.zst and blocks.npy" in capsys.readouterr().out
