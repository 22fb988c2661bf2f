"""Tests of pipeline.train.pairs."""

from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.train.pairs import Lengths, ParallelText, Tally, write_dev_pairs, write_training_pairs
from tests.pipeline.train import tiny


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def lengths(limit: int = 50, tokenized: bool = False) -> Lengths:
    return Lengths(*tiny.corpus().vocabs, limit, tokenized)


def build(
    tmp_path: Path, *rows: tuple[str, ...], limit: int = 50, tokenized: bool = False
) -> tuple[Tally, list[str]]:
    """Write the columns to files and make a TSV file of them."""
    files = [write(tmp_path / str(number), *column) for number, column in enumerate(zip(*rows, strict=True))]
    output = tmp_path / "out.tsv"
    tally = write_training_pairs("original", ParallelText(*files), output, lengths(limit, tokenized))
    return tally, tiny.lines_of(output)


def test_columns_are_parted_by_tabs_without_spaces_before_them(tmp_path: Path) -> None:
    _, lines = build(tmp_path, ("the cat ", " TAC\u00a0LA"), ("a\tdog", "GOD"))
    assert lines == ["the cat\tTAC LA", "a dog\tGOD"]


def test_a_carriage_return_inside_a_line_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"the\rcat\n")
    (tmp_path / "b").write_bytes(b"LA TAC\n")
    text = ParallelText(tmp_path / "a", tmp_path / "b")
    write_training_pairs("original", text, tmp_path / "out", lengths())
    assert (tmp_path / "out").read_bytes() == b"the cat\tLA TAC\n"


def test_what_is_dropped_is_counted(tmp_path: Path) -> None:
    tally, lines = build(
        tmp_path,
        ("the cat", "LA TAC", "0-0 1-1"),
        ("the dog", "LA GOD", ""),
        ("", "LA", "0-0"),
        ("cat " * 60, "TAC", "0-0"),
        ("x" * 1_000_000, "TAC", "0-0"),
    )
    assert lines == ["the cat\tLA TAC\t0-0 1-1"]
    assert tally.to_dict() == {"in": 5, "kept": 1, "dropped": {"no alignment": 1, "empty": 1, "too long": 2}}


def test_length_counts_the_end_of_the_sentence() -> None:
    text = "the old dog eats the small house."
    pieces = len(SentencePieceProcessor(model_file=str(tiny.corpus().vocabs[0])).encode(text))
    assert 8 < pieces < 30
    for limit in range(8, 30):
        assert lengths(limit).fit(text, "LA") == (limit >= pieces + 1)


def test_tokenised_text_is_as_long_as_the_text_it_stands_for() -> None:
    plain = "the old dog eats the small house."
    tokens = "the ▁ old ▁ dog ▁ eats ▁ the ▁ small ▁ house ."
    for limit in range(8, 30):
        assert lengths(limit, tokenized=True).fit(tokens, "LA") == lengths(limit).fit(plain, "LA")


@pytest.mark.parametrize("alignment", ["99-99", "0-99", "2-0", "0-2", "0-0 1-1 5-0"])
def test_an_alignment_outside_the_sentence_is_an_error(tmp_path: Path, alignment: str) -> None:
    with pytest.raises(InputError, match=r"line 2: .* points outside a pair of 2 and 2 tokens"):
        build(tmp_path, ("the cat", "LA TAC", "0-0"), ("the cat", "LA TAC", alignment))


@pytest.mark.parametrize("alignment", ["0:0", "0-0,1-1", "a-b", "-1-0", "0-"])
def test_an_alignment_of_another_form_is_an_error(tmp_path: Path, alignment: str) -> None:
    with pytest.raises(InputError, match="line 1: not an alignment"):
        build(tmp_path, ("the cat", "LA TAC", alignment))


def test_files_of_unequal_length_are_an_error(tmp_path: Path) -> None:
    files = write(tmp_path / "a", "one", "two"), write(tmp_path / "b", "one")
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        write_training_pairs("original", ParallelText(*files), tmp_path / "out", lengths())


def test_a_corpus_of_which_nothing_is_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No pair"):
        build(tmp_path, ("", ""), limit=50)


def test_the_development_set_has_two_fields(tmp_path: Path) -> None:
    src, trg = write(tmp_path / "a", "the cat ", "", "dog"), write(tmp_path / "b", "LA TAC", "x", "GOD")
    tally = write_dev_pairs(src, trg, tmp_path / "dev.tsv")
    assert (tmp_path / "dev.tsv").read_text() == "the cat\tLA TAC\ndog\tGOD\n"
    assert tally.to_dict() == {"in": 3, "kept": 2, "dropped": {"empty": 1}}
