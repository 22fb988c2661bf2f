"""Tests of cleaning a parallel corpus, by the script's own command line."""

import json
import logging
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.clean.clean_parallel import main
from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.registry import make_filters
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import FILTERS, resources
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of
from tests.pipeline.clean.test_identification import DOUBTFUL, GALICIAN, PORTUGUESE

PAIRS = [
    ("The girl reads the book in the garden.", "Девочка читает книгу в саду."),
    ("Tom &amp; Jerry  ran ", "Том &amp; Джерри\u00a0бежали"),
    ("Hello.", "Да."),
    ("", "Да."),
    ("a" * 1_000_000, "Большая собака ест свежий хлеб."),
    ("The dog sleeps in the house.", "Der Hund schläft heute im Haus."),
    ("Das Mädchen liest das Buch im Garten.", "Девочка читает книгу в саду."),
    ("12 million in 2007", "40 миллионов в 2025 году"),
]
LABELS = ("--src-labels", "eng", "--trg-labels", "rus")
EN_RU = ("--src", "en", "--trg", "ru", "--src-script", "Latin", "--trg-script", "Cyrillic", *LABELS)
TABLES = tuple(
    part for name in ("alphabets", "words", "currencies") for part in (f"--{name}", f"{FILTERS}/{name}.json")
)
DEFAULT = FILTERS / "default.filters.json"
PATTERNS = ("--patterns", f"{FILTERS}/remove_frequent_patterns.txt")


def arguments(folder: Path, pairs: list[tuple[str, str]], output: str = "out") -> list[str]:
    """The command line that cleans these English-Russian pairs."""
    src = corpus(folder / "in" / "c.en.zst", [src for src, _ in pairs])
    trg = corpus(folder / "in" / "c.ru.gz", [trg for _, trg in pairs])
    files = ("--corpus-src", str(src), "--corpus-trg", str(trg), "--output", str(folder / output))
    return [*EN_RU, "--filters", str(DEFAULT), *PATTERNS, *TABLES, *files]


@pytest.mark.parametrize("neighbours", [0, 60])
def test_longer_lines_decide_what_a_short_one_does_not(neighbours: int, tmp_path: Path) -> None:
    own = ["When all the files are copied, press the button to close the window and go back."] * 120
    text = [*GALICIAN * 60, *PORTUGUESE * neighbours, DOUBTFUL]
    src = corpus(tmp_path / "c.en.zst", [*own, *own[: 2 * neighbours], "Show the shutdown dialog"])
    languages = ("--src", "en", "--trg", "gl", "--src-script", "Latin", "--trg-script", "Latin")
    files = ("--corpus-src", str(src), "--corpus-trg", str(corpus(tmp_path / "c.gl.zst", text)))
    labels = ("--src-labels", "eng", "--trg-labels", "glg", "--output", str(tmp_path / "out"))
    main([*languages, *files, *labels, "--filters", str(DEFAULT), *PATTERNS, *TABLES])
    assert (DOUBTFUL in read(tmp_path / "out" / "corpus.gl.zst")) is not bool(neighbours)
    shares = [side["shares"] for side in stats_of(tmp_path / "out")["identified"]]
    assert shares == [{}, {"por": 0.5} if neighbours else {}]


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
        "dropped": {
            "too_long": 1,
            "remove_empty_lines": 1,
            "alphabet_ratio": 1,
            "number_mismatch": 1,
            "fasttext_filter": 1,
        },
    }
    assert "number_mismatch: 12 million in 2007 | 40 миллионов в 2025 году" in stats["samples"]
    german = "Das Mädchen liest das Buch im Garten."
    assert stats["identified"] == [
        {
            "lang": "en",
            "script": "Latin",
            "lines": 2,  # those of twenty letters that came so far
            "other": 1,
            "guesses": {"deu": 1},
            "samples": [f"deu: {german}"],
        },
        {"lang": "ru", "script": "Cyrillic", "lines": 1, "other": 0, "guesses": {}, "samples": []},
    ]
    assert sorted(files_of(out)) == ["corpus.en.zst", "corpus.ru.zst", "stats.json"]
    assert "kept 3; dropped: " in done.stderr


@pytest.mark.slow
def test_the_number_of_threads_changes_no_byte(tmp_path: Path) -> None:
    pairs = [
        (f"Sentence {number} of the corpus.", f"Предложение {number} корпуса.") for number in range(11_000)
    ]
    for number in range(0, 11_000, 7):
        pairs[number] = PAIRS[number % 4]
    for threads in (1, 2):
        done = run_script("clean_parallel", *arguments(tmp_path, pairs, f"out{threads}"), threads=threads)
        assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "out1") == files_of(tmp_path / "out2")


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20)


@given(st.lists(st.tuples(LINES, LINES) | st.sampled_from(PAIRS), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_what_becomes_of_a_pair_depends_on_it_alone(pairs: list[tuple[str, str]]) -> None:
    cleaner = FilterCleaner(make_filters(read_filter_file(DEFAULT, ("en", "ru")), resources()))
    whole = cleaner([list(side) for side in zip(*pairs, strict=True)])
    assert whole.tally.total == len(pairs)
    assert [len(side) for side in whole.sides] == [whole.tally.kept] * 2
    alone = [cleaner([[source], [target]]) for source, target in pairs]
    assert whole.sides == [[line for part in alone for line in part.sides[side]] for side in (0, 1)]
    assert whole.tally.dropped == sum((part.tally.dropped for part in alone), start=Counter())


def test_codes_of_the_filter_file_may_be_others(tmp_path: Path) -> None:
    english, chinese = "The police said that the driver was not to blame.", "警方表示,駕駛人沒有責任."
    files = ["--corpus-src", str(corpus(tmp_path / "c.en", [english]))]
    files += ["--corpus-trg", str(corpus(tmp_path / "c.zh", [chinese])), "--output", str(tmp_path / "out")]
    languages = ("--src", "en", "--trg", "zh_hant", "--src-script", "Latin", "--trg-script", "Hant")
    filters = ("--filters", f"{FILTERS}/en-zh_hant/default.filters.json", "--trg-code", "zh_Hant")
    main([*languages, *filters, *TABLES, *files])
    assert read(tmp_path / "out" / "corpus.zh_hant.zst") == ["警方表示,駕駛人沒有責任｡"]


def test_currencies_are_fixed_on_demand(tmp_path: Path) -> None:
    command = arguments(tmp_path, [("It was €5 then.", "Было $5 тогда.")])
    main([*command, "--fix-currencies"])
    assert read(tmp_path / "out" / "corpus.ru.zst") == ["Было €5 тогда."]


def test_separators_of_lines_and_columns_are_spaces(tmp_path: Path) -> None:
    main(arguments(tmp_path, [("One\ttwo\rthree four", "Один\tдва\rтри четыре")]))
    assert read(tmp_path / "out" / "corpus.en.zst") == ["One two three four"]


def test_a_corpus_of_the_wrong_language_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none of 2 lines.*alphabet_ratio 2.*Check that the languages"):
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


def test_a_filter_that_is_not_built_is_an_error_before_any_work(tmp_path: Path) -> None:
    mine = tmp_path / "mine.filters.json"
    mine.write_text(json.dumps({"filters": [{"filter": "bifixer", "parameters": {}, "language": "en"}]}))
    with pytest.raises(InputError, match=r"mine.filters.json, filter 1 \(bifixer\)"):
        main([*arguments(tmp_path, PAIRS), "--filters", str(mine)])
    assert not (tmp_path / "out").exists()


def test_languages_without_identification_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    command = [{"en": "tlh", "eng": "tlh"}.get(value, value) for value in arguments(tmp_path, PAIRS)]
    with caplog.at_level(logging.INFO):
        main(command)
    assert "HeLI-OTS does not know this language (tlh)" in caplog.text
    assert "Das Mädchen liest das Buch im Garten." in read(tmp_path / "out" / "corpus.tlh.zst")
