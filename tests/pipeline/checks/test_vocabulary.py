"""Coverage of texts by vocabularies."""

from pathlib import Path

import pytest
import sentencepiece

from pipeline.checks.vocabulary import main
from tests.pipeline.checks.helpers import numbers, text

CORPUS = [f"the {animal} sees a {other}" for animal in ("cat", "dog") for other in ("horse", "mouse")] * 5


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One with byte fallback, as the pipeline makes them, and one without."""
    folder = tmp_path_factory.mktemp("vocabularies")
    paths = folder / "bytes.spm", folder / "unknown.spm"
    for path, fallback, size in zip(paths, (True, False), (300, 40), strict=True):
        with path.open("wb") as writer:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(CORPUS),
                model_writer=writer,
                vocab_size=size,
                byte_fallback=fallback,
                hard_vocab_limit=False,
                minloglevel=2,
            )
    return paths


def test_characters_that_no_piece_holds(vocabularies: tuple[Path, Path], tmp_path: Path) -> None:
    corpus = text(tmp_path / "corpus", CORPUS)
    held_out = text(tmp_path / "test", ["the cat 漢é", "a dog", "漢"])
    found = numbers(
        main,
        tmp_path / "out",
        *("--langs", "en", "eo", "--vocabs", *vocabularies, "--corpus", corpus, corpus, "--seed", "1"),
        *("--held-out-first", held_out, "--held-out-second", held_out),
    )
    for side, unknown in zip(found["sides"], (0, 2), strict=True):
        whole, held = side["texts"]["corpus"], side["texts"]["held_out"]
        assert (whole["lines"], whole["coverage"], whole["unknown_rate"]) == (20, 1.0, 0.0)
        assert whole["pieces_per_word"] >= 1
        assert (held["lines"], held["lines_not_covered"], held["characters_not_covered"]) == (3, 2, 3)
        assert held["coverage"] == pytest.approx(1 - 3 / held["characters"], abs=1e-6)
        assert held["samples"] == {"漢": 2, "é": 1}
        assert held["unknown_pieces"] == unknown
    assert [side["lang"] for side in found["sides"]] == ["en", "eo"]


def test_without_held_out_files(vocabularies: tuple[Path, Path], tmp_path: Path) -> None:
    corpus = text(tmp_path / "corpus", CORPUS)
    arguments = ("--langs", "en", "eo", "--vocabs", *vocabularies, "--corpus", corpus, corpus, "--seed", "1")
    (side, _) = numbers(main, tmp_path / "out", *arguments)["sides"]
    assert (side["texts"]["held_out"]["lines"], side["texts"]["held_out"]["coverage"]) == (0, 1.0)


def test_without_a_corpus(vocabularies: tuple[Path, Path], tmp_path: Path) -> None:
    """As where an earlier run's distilled corpus is all that there is."""
    test = text(tmp_path / "test", ["the cat 漢"])
    arguments = ("--langs", "en", "eo", "--vocabs", *vocabularies, "--seed", "1")
    held_out = ("--held-out-first", test, "--held-out-second", test)
    for side in numbers(main, tmp_path / "out", *arguments, *held_out)["sides"]:
        assert list(side["texts"]) == ["held_out"]
        assert side["texts"]["held_out"]["characters_not_covered"] == 1


def test_letters_of_the_language_that_bytes_spell(vocabularies: tuple[Path, Path], tmp_path: Path) -> None:
    corpus = text(tmp_path / "corpus", ["the cat 漢é", "e\u0301 é à", "a dog"])
    arguments = ("--langs", "en", "fr", "--vocabs", *vocabularies, "--corpus", corpus, corpus, "--seed", "1")
    found = numbers(main, tmp_path / "out", *arguments, "--letters-first", "aàbÀé")["sides"]
    assert found[0]["texts"]["corpus"]["letters_in_bytes"] == {"à": 1, "é": 3}
    assert found[0]["texts"]["held_out"]["letters_in_bytes"] == {}
    assert found[1]["texts"]["corpus"]["letters_in_bytes"] == {}  # no letters are given


def test_capitals_are_the_languages(vocabularies: tuple[Path, Path], tmp_path: Path) -> None:
    corpus = text(tmp_path / "corpus", ["İ é"])
    arguments = ("--vocabs", *vocabularies, "--corpus", corpus, corpus, "--seed", "1")
    given = ("--langs", "tr", "fr", *arguments, "--letters-first", "i", "--letters-second", "i")
    found = numbers(main, tmp_path / "out", *given)["sides"]
    assert [side["texts"]["corpus"]["letters_in_bytes"] for side in found] == [{"İ": 1}, {}]


def test_pieces_a_word_in_each_case_as_the_language_writes_it(
    vocabularies: tuple[Path, Path], tmp_path: Path
) -> None:
    lines = ["the iris sees", "a dog"]
    held_out = text(tmp_path / "dev", lines)
    arguments = ("--langs", "en", "tr", "--vocabs", *vocabularies, "--seed", "1")
    files = ("--held-out-first", held_out, "--held-out-second", held_out, "--cases", "upper", "title")
    locales = ("--locale-first", "en", "--locale-second", "tr")
    english, turkish = numbers(main, tmp_path / "out", *arguments, *files, *locales)["sides"]
    written = {
        "en": [lines, ["THE IRIS SEES", "A DOG"], ["The Iris Sees", "A Dog"]],
        "tr": [lines, ["THE İRİS SEES", "A DOG"], ["The İris Sees", "A Dog"]],
    }
    for side, vocabulary in zip((english, turkish), vocabularies, strict=True):
        model = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary))
        pieces = [sum(len(model.encode(line)) for line in text) / 5 for text in written[side["lang"]]]
        assert side["pieces_per_word"] == {
            "as_it_is": round(pieces[0], 3),
            "upper": round(pieces[1], 3),
            "title": round(pieces[2], 3),
        }
    assert english["pieces_per_word"]["upper"] > english["pieces_per_word"]["as_it_is"]


def test_languages_without_case_have_no_pieces_in_upper_case(
    vocabularies: tuple[Path, Path], tmp_path: Path
) -> None:
    held_out = text(tmp_path / "dev", ["a dog"])
    arguments = ("--langs", "en", "zh", "--vocabs", *vocabularies, "--seed", "1", "--cases", "upper")
    files = ("--held-out-first", held_out, "--held-out-second", held_out, "--locale-first", "en")
    english, chinese = numbers(main, tmp_path / "out", *arguments, *files)["sides"]
    assert list(english["pieces_per_word"]) == ["as_it_is", "upper"]
    assert "pieces_per_word" not in chinese
