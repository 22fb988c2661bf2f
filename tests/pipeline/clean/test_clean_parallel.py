"""Tests of cleaning a parallel corpus, by the script's own command line."""

import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.clean.blocks import map_blocks
from pipeline.clean.clean_parallel import main
from pipeline.clean.cleaning import Cleaned, Cleaner
from pipeline.clean.rules import Language
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of

PAIRS = [
    ("The girl reads the book in the garden.", "Девочка читает книгу в саду."),
    ("<p>Tom &amp; Jerry  ran</p> ", "Том &amp; Джерри\u00a0бежали"),
    ("Hello.", "Да."),
    ("", "Да."),
    ("a" * 1_000_000, "Большая собака ест свежий хлеб."),
    ("The dog sleeps in the house.", "Der Hund schläft heute im Haus."),
    ("Das Mädchen liest das Buch im Garten.", "Девочка читает книгу в саду."),
    ("12 million in 2007", "40 миллионов в 2025 году"),
]
EN_RU = ("--src", "en", "--trg", "ru", "--src-script", "Latin", "--trg-script", "Cyrillic")


def arguments(folder: Path, pairs: list[tuple[str, str]], output: str = "out") -> list[str]:
    """The command line that cleans these English-Russian pairs."""
    src = corpus(folder / "in" / "c.en.zst", [src for src, _ in pairs])
    trg = corpus(folder / "in" / "c.ru.gz", [trg for _, trg in pairs])
    return [*EN_RU, "--corpus-src", str(src), "--corpus-trg", str(trg), "--output", str(folder / output)]


def test_good_pairs_stay_and_the_others_are_counted(tmp_path: Path) -> None:
    done = run_script("clean_parallel", *arguments(tmp_path, PAIRS))
    assert done.returncode == 0, done.stderr
    out = tmp_path / "out"
    assert read(out / "corpus.en.zst") == [
        "The girl reads the book in the garden.",
        "Tom & Jerry ran",
        "Hello.",
    ]
    assert read(out / "corpus.ru.zst") == ["Девочка читает книгу в саду.", "Том & Джерри бежали", "Да."]
    stats = stats_of(out)
    assert stats["lines"] == {
        "in": 8,
        "kept": 3,
        "dropped": {"empty": 1, "too_long": 1, "other_script": 1, "other_language": 1, "number_mismatch": 1},
    }
    assert stats["kept_short_for_language"] == 2
    assert "number_mismatch: 12 million in 2007 | 40 миллионов в 2025 году" in stats["samples"]
    assert sorted(files_of(out)) == ["corpus.en.zst", "corpus.ru.zst", "stats.json"]
    assert "kept 3; dropped: " in done.stderr


def test_the_number_of_threads_changes_no_byte(tmp_path: Path) -> None:
    pairs = [
        (f"Sentence {number} of the corpus.", f"Предложение {number} корпуса.") for number in range(6_000)
    ]
    for number in range(0, 6_000, 7):
        pairs[number] = PAIRS[number % 4]
    for threads in (1, 2):
        done = run_script("clean_parallel", *arguments(tmp_path, pairs, f"out{threads}"), threads=threads)
        assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "out1") == files_of(tmp_path / "out2")


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)) | st.sampled_from(PAIRS), max_size=12))
@settings(max_examples=40, deadline=None)
def test_any_text_is_kept_or_dropped_whole(pairs: list[tuple[str, str]]) -> None:
    cleaner = Cleaner((Language("en", "Latin", False), Language("ru", "Cyrillic", False)))
    whole = cleaner(pairs)
    assert whole.tally.total == len(pairs)
    assert len(whole.rows) == whole.tally.kept
    parts = Cleaned()
    for cleaned in map(cleaner, ([pair] for pair in pairs)):
        parts.rows += cleaned.rows
        parts.tally.add(cleaned.tally)
    assert parts.rows == whole.rows
    assert parts.tally.lines() == whole.tally.lines()


def test_chinese_counts_characters(tmp_path: Path) -> None:
    pairs = [
        ("The police said that the driver was not to blame.", "警方表示，駕駛人沒有責任，不會面臨刑事指控。")
    ]
    src = corpus(tmp_path / "c.en", [pairs[0][0]])
    trg = corpus(tmp_path / "c.zh", [pairs[0][1]])
    languages = ["--src", "en", "--trg", "zh_hant", "--src-script", "Latin", "--trg-script", "Hant"]
    files = ["--corpus-src", str(src), "--corpus-trg", str(trg), "--output", str(tmp_path / "out")]
    main([*languages, "--unspaced-trg", *files])
    assert read(tmp_path / "out" / "corpus.zh_hant.zst") == [pairs[0][1]]


def test_a_corpus_of_the_wrong_language_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of 2 lines.*other_script 2.*Check that the languages"):
        main(arguments(tmp_path, [("Guten Morgen", "Guten Morgen"), ("Der Hund", "Der Hund schläft")]))
    assert files_of(tmp_path / "out") == {}


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The corpus is empty"):
        main(arguments(tmp_path, []))


def test_invalid_utf8_leaves_nothing_behind(tmp_path: Path) -> None:
    command = arguments(tmp_path, PAIRS)
    broken = tmp_path / "broken.en"
    broken.write_bytes(b"fine\n\xff\xfe\n")
    command[command.index("--corpus-src") + 1] = str(broken)
    done = run_script("clean_parallel", *command)
    assert done.returncode == 1
    assert "broken.en, line 2" in done.stderr
    assert files_of(tmp_path / "out") == {}


def test_unequal_lengths_are_an_error(tmp_path: Path) -> None:
    command = arguments(tmp_path, PAIRS)
    command[command.index("--corpus-src") + 1] = str(corpus(tmp_path / "short.en", ["Only one line."]))
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        main(command)


def test_an_unknown_script_is_an_error_before_any_work(tmp_path: Path) -> None:
    command = [value.replace("Cyrillic", "Cyrilic") for value in arguments(tmp_path, PAIRS)]
    with pytest.raises(InputError, match="Cyrilic"):
        main(command)


def test_workers_share_no_state_with_the_caller() -> None:
    cleaner = Cleaner((Language("en", "Latin", False), Language("ru", "Cyrillic", False)))
    rows = PAIRS[:4] * 3_000
    alone = [cleaned.tally.lines() for cleaned in map_blocks(cleaner, rows, 1)]
    together = [cleaned.tally.lines() for cleaned in map_blocks(cleaner, rows, 2)]
    assert alone == together


def test_languages_without_identification_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    command = [value if value != "en" else "tlh" for value in arguments(tmp_path, PAIRS)]
    with caplog.at_level(logging.INFO):
        main(command)
    assert "py3langid does not know tlh" in caplog.text
    assert "Das Mädchen liest das Buch im Garten." in read(tmp_path / "out" / "corpus.tlh.zst")
