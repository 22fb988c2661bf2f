"""The shortlist: pieces of the right vocabularies, likeliest first."""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor

from pipeline.alignments import shortlist
from pipeline.alignments.shortlist import LONGEST_WORD, main, spread, words
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus
from tests.pipeline.quantize.tiny_model import train_vocabulary

CURRICULUM = Path(__file__).resolve().parents[3] / "pipeline/train/configs/curriculum/student.yml"


def arguments(folder: Path, vocabularies: tuple[str, str], output: Path) -> list[str]:
    vocabs = ["--source-vocab", folder / vocabularies[0], "--target-vocab", folder / vocabularies[1]]
    files = ["--corpus-src", folder / "corpus.en.zst", "--corpus-trg", folder / "corpus.eo.zst"]
    options = ["--src", "en", "--trg", "eo", "--curriculum", CURRICULUM, "--bicameral", "--phonemic"]
    return [*map(str, [*vocabs, *files, *options, "--output", output])]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, two vocabularies of one size, and one for both sides."""
    folder = tmp_path_factory.mktemp("corpus")
    pairs = sentence_pairs(600)
    write_corpus(folder, [*pairs, ("", ""), ("word " * 3000, "vorto")])
    train_vocabulary([pair[0] for pair in pairs], folder / "en.spm")
    train_vocabulary([pair[1] for pair in pairs], folder / "eo.spm")
    train_vocabulary([text for pair in pairs for text in pair], folder / "joint.spm")
    return folder


@pytest.fixture(scope="module")
def split(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shortlist for the two vocabularies."""
    output = tmp_path_factory.mktemp("shortlist") / "split"
    main(arguments(folder, ("en.spm", "eo.spm"), output))
    return output


def entries(output: Path) -> list[tuple[str, str, float]]:
    fields = (line.split(" ") for line in read_lines(output / "lex.s2t.zst"))
    return [(target, source, float(probability)) for target, source, probability in fields]


def test_lines_are_target_source_and_probability(split: Path) -> None:
    for line in read_lines(split / "lex.s2t.zst"):
        assert re.fullmatch(r"\S+ \S+ [01]\.\d{8}", line)
        assert "NULL" not in line


def test_pieces_of_upper_case_have_their_translations(folder: Path, split: Path) -> None:
    """The corpus has none; the student also reads lines of capitals."""
    source, target = (SentencePieceProcessor(model_file=str(folder / name)) for name in ("en.spm", "eo.spm"))
    listed: dict[str, set[str]] = defaultdict(set)
    for translation, piece, _ in entries(split):
        listed[piece].add(translation)
    for piece in source.encode("GIRL", out_type=str):
        assert set(target.encode("KNABINO", out_type=str)) - {"▁"} <= listed[piece]


def test_a_link_of_pieces_links_all_pieces_of_their_words() -> None:
    begins = [False, True, False]  # piece 1 begins a word
    source, target = words([1, 2, 1, 2, 2], begins), words([2, 1, 2], begins)
    assert source == [range(2), range(2), *[range(2, 5)] * 3]
    assert target == [range(1), range(1, 3), range(1, 3)]
    assert spread([(0, 1), (1, 1)], source, target) == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_what_is_too_long_to_be_a_word_is_linked_piece_by_piece() -> None:
    clause = [1, *[2] * LONGEST_WORD]
    assert words(clause, [False, True, False]) == [range(at, at + 1) for at in range(len(clause))]
    assert words(clause[:-1], [False, True, False]) == [range(LONGEST_WORD)] * LONGEST_WORD


def test_pieces_are_those_of_their_own_vocabulary(folder: Path, split: Path) -> None:
    source, target = (SentencePieceProcessor(model_file=str(folder / name)) for name in ("en.spm", "eo.spm"))
    assert source.get_piece_size() == target.get_piece_size()
    for translation, piece, _ in entries(split):
        assert target.id_to_piece(target.piece_to_id(translation)) == translation
        assert source.id_to_piece(source.piece_to_id(piece)) == piece


@pytest.mark.parametrize("vocabularies", [("en.spm", "eo.spm"), ("joint.spm", "joint.spm")])
def test_the_likeliest_piece_is_the_translation(
    folder: Path, tmp_path: Path, vocabularies: tuple[str, str]
) -> None:
    main(arguments(folder, vocabularies, tmp_path / "output"))
    likeliest: dict[str, str] = {}
    for target, source, _ in entries(tmp_path / "output"):
        likeliest.setdefault(source, target)
    assert [likeliest[piece] for piece in ("▁girl", "▁bread", "▁book")] == ["▁knabino", "▁pano", "▁libro"]


def test_probabilities_of_a_piece_fall_and_add_up_to_one_at_most(split: Path) -> None:
    before: dict[str, float] = {}
    sums: Counter[str] = Counter()
    for _, source, probability in entries(split):
        assert probability <= before.get(source, 1.0)
        before[source] = probability
        sums[source] += probability  # type: ignore[assignment]
    assert max(sums.values()) <= 1 + 1e-6


def test_source_pieces_stand_in_the_order_of_the_vocabulary_each_once(folder: Path, split: Path) -> None:
    vocabulary = SentencePieceProcessor(model_file=str(folder / "en.spm"))
    ids = [vocabulary.piece_to_id(source) for _, source, _ in entries(split)]
    assert ids == sorted(ids)
    assert len({(target, source) for target, source, _ in entries(split)}) == len(ids)


def test_a_piece_has_only_its_likeliest_targets(
    folder: Path, split: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortlist, "BEST", 2)
    main(arguments(folder, ("en.spm", "eo.spm"), tmp_path / "output"))
    counts = Counter(source for _, source, _ in entries(tmp_path / "output"))
    assert max(counts.values()) == 2 < max(Counter(source for _, source, _ in entries(split)).values()) <= 200


def test_lines_are_counted(split: Path) -> None:
    stats = json.loads((split / "stats.json").read_text())
    assert stats["lines"] == {"in": 602, "kept": 600, "dropped": {"not_aligned_or_not_sampled": 2}}
    assert stats["entries"] == len(entries(split))


def test_a_long_corpus_is_sampled(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortlist, "MAX_PAIRS", 100)
    main(arguments(folder, ("en.spm", "eo.spm"), tmp_path / "output"))
    stats = json.loads((tmp_path / "output" / "stats.json").read_text())
    assert stats["lines"]["in"] == 602
    assert 98 <= stats["lines"]["kept"] <= 100


def test_a_corpus_without_text_is_an_error(folder: Path, tmp_path: Path) -> None:
    for name in ("corpus.en.zst", "corpus.eo.zst"):
        write_lines(tmp_path / name, ["", ""])
    for name in ("en.spm", "eo.spm"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(InputError, match="could be aligned"):
        main(arguments(tmp_path, ("en.spm", "eo.spm"), tmp_path / "output"))
    assert not any((tmp_path / "output").iterdir())


@pytest.mark.parametrize("name", ["missing.spm", "corpus.en.zst"])
def test_a_file_that_is_no_vocabulary_is_an_error(folder: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a SentencePiece model"):
        main(arguments(folder, (name, "eo.spm"), tmp_path / "output"))
