"""Lines of steps that clean by filters: each is judged as the step judged it."""

import json
from pathlib import Path

import pytest

from pipeline.clean import apply_mono_filters, clean_mono, clean_parallel
from pipeline.common.lines import write_lines
from tests.pipeline.clean.filtering.opuscleaner import FILTERS
from tests.pipeline.clean.helpers import corpus, read, stats_of
from tests.pipeline.clean.test_clean_parallel import TABLES
from tests.pipeline.samples.drawing import draw, ran, texts

SCRIPT = "pipeline.clean.clean_parallel"
GOOD = [(f"Das ist der Satz {n} im Text.", f"Bu metindeki cümle {n} budur.") for n in range(200)]
PLANTED = {
    "remove_empty_lines": ("", "Boş satır burada duruyor."),
    "max_length": ("Hund " * 200, "köpek " * 200),
    "number_mismatch": ("Wir haben 25 Katzen gesehen.", "52 kedi gördük."),
    "too_long": ("a" * 30_000, "Bu çok uzun."),
}
UNTIDY = ("Das  ist\u00a0gut  &amp; schön.", "Bu iyi &amp; güzel.")
FILTERED = [
    ("remove_empty_lines", {}, None),
    ("normalize_whitespace", {"COLLAPSE": True}, "<src>"),
    ("deescape-special-chars", {"LANG1": "other"}, "<src>"),
    ("deescape-special-chars", {"LANG1": "other"}, "<trg>"),
    ("max_length", {"MAXLENGTH": 150, "MINLENGTH": 1}, None),
    ("number_mismatch", {}, None),
]


def filter_file(path: Path, *more: str) -> Path:
    entries = [
        {"filter": name, "parameters": parameters, "language": language}
        for name, parameters, language in (*FILTERED, *((name, {}, None) for name in more))
    ]
    path.write_text(json.dumps({"version": 1, "files": [], "filters": entries}))
    return path


def cleaned(folder: Path, pairs: list[tuple[str, str]]) -> list[str]:
    src = corpus(folder / "c.de.zst", [src for src, _ in pairs])
    trg = corpus(folder / "c.tr.zst", [trg for _, trg in pairs])
    languages = ("--src", "de", "--trg", "tr", "--src-script", "Latin", "--trg-script", "Latin")
    files = ("--corpus-src", str(src), "--corpus-trg", str(trg))
    filters = filter_file(folder / "own.filters.json")
    options = [*languages, *files, *TABLES, "--filters", str(filters)]
    return ran(clean_parallel.main, options, folder / "out")


def test_each_planted_pair_has_its_reason(tmp_path: Path) -> None:
    options = cleaned(tmp_path, [*GOOD, *PLANTED.values(), UNTIDY])
    found = draw(SCRIPT, tmp_path / "out", options)
    assert {reason: texts(rows) for reason, rows in found["dropped"].items()} == {
        reason: [pair] for reason, pair in PLANTED.items()
    }
    assert {reason: len(rows) for reason, rows in found["dropped"].items()} == stats_of(tmp_path / "out")[
        "lines"
    ]["dropped"]
    assert found["dropped"]["number_mismatch"][0]["line"] == len(GOOD) + 3
    assert (found["rows"], found["judged"], found["unknown"], found["notes"]) == (205, 205, [], [])


def test_an_edited_pair_is_shown_as_it_came_out(tmp_path: Path) -> None:
    options = cleaned(tmp_path, [*GOOD[:5], UNTIDY])
    kept = draw(SCRIPT, tmp_path / "out", options, number=6)["kept"]
    (edited,) = [row for row in kept if row["text"] == list(UNTIDY)]
    assert edited["result"] == ["Das ist gut & schön.", "Bu iyi & güzel."]
    assert texts(kept) == [*GOOD[:5], UNTIDY]
    assert [row["result"] for row in kept] == [
        list(pair)
        for pair in zip(
            read(tmp_path / "out/corpus.de.zst"), read(tmp_path / "out/corpus.tr.zst"), strict=True
        )
    ]


def test_a_seldom_reason_is_found_when_it_is_asked_for(tmp_path: Path) -> None:
    options = cleaned(tmp_path, [*GOOD * 20, PLANTED["number_mismatch"], *GOOD * 20])
    few = draw(SCRIPT, tmp_path / "out", options, "--most=10")
    assert few["judged"] == 10
    asked = ("--most=10", "--reason=number_mismatch", "--dropped=1")
    found = draw(SCRIPT, tmp_path / "out", options, *asked)
    assert texts(found["dropped"]["number_mismatch"]) == [PLANTED["number_mismatch"]]
    assert (found["read"], found["kept"], found["judged"]) == ([], [], 8_001)


def test_pairs_of_other_filters_are_not_explained(tmp_path: Path) -> None:
    options = cleaned(tmp_path, GOOD[:3])
    write_lines(tmp_path / "out/corpus.tr.zst", ["Bu başka bir satır."] * 3)
    found = draw(SCRIPT, tmp_path / "out", options)
    assert (found["kept"], texts(found["unknown"])) == ([], GOOD[:3])
    assert not any(row["is_known"] for row in found["read"])


def test_filters_of_whole_blocks_do_not_tell_which_pair_they_drop(tmp_path: Path) -> None:
    options = cleaned(tmp_path, [*GOOD[:4], PLANTED["number_mismatch"]])
    filter_file(tmp_path / "own.filters.json", "bifixer_dedupe")  # as if it had dropped the last two
    for lang in ("de", "tr"):
        kept = read(tmp_path / f"out/corpus.{lang}.zst")[:2]
        write_lines(tmp_path / f"out/corpus.{lang}.zst", kept)
    found = draw(SCRIPT, tmp_path / "out", options, number=9)
    assert texts(found["kept"]) == GOOD[:2]
    assert texts(found["unknown"]) == GOOD[2:4]
    assert list(found["dropped"]) == ["number_mismatch"]
    assert "bifixer_dedupe" in found["notes"][0]


def test_lines_of_one_language(tmp_path: Path) -> None:
    good = [f"Вот предложение номер {n} для нашего теста." for n in range(50)]
    planted = {
        "empty": " ",
        "too_short": "Да",
        "too_long": "слово " * 300,
        "ratio_alpha": "12 34 56 78 да",
        "other_language": "This is a sentence in English, and it is long enough to be told apart.",
    }
    planted["ratio_alpha"] = "1 2 3 4 5 6 да"
    text = corpus(tmp_path / "mono.ru.zst", [*good, *planted.values()])
    options = ["--lang", "ru", "--script", "Cyrillic", "--text", str(text), "--max-tokens", "200"]
    options += ["--alphabets", f"{FILTERS}/alphabets.json", "--labels", "rus"]
    options = ran(clean_mono.main, options, tmp_path / "out")
    found = draw("pipeline.clean.clean_mono", tmp_path / "out", options)
    dropped = stats_of(tmp_path / "out")["lines"]["dropped"]
    assert {reason: len(rows) for reason, rows in found["dropped"].items()} == dropped
    assert texts(found["dropped"]["too_short"]) == [("Да",)]
    assert texts(found["dropped"]["too_long"]) == [(planted["too_long"],)]


@pytest.mark.parametrize("seed", range(3))
def test_more_lines_have_the_fewer_among_them(seed: int, tmp_path: Path) -> None:
    text = corpus(tmp_path / "mono.zh.zst", [f"第{n}句话在这里。" for n in range(300)])
    entry = {"filter": "max_length", "parameters": {"MAXLENGTH": 9, "MINLENGTH": 1}, "language": None}
    filters = tmp_path / "zh.filters.json"
    filters.write_text(json.dumps({"version": 1, "files": [], "filters": [entry]}))
    options = ["--lang", "zh", "--text", str(text), "--filters", str(filters)]
    options = ran(apply_mono_filters.main, options, tmp_path / "out")
    script = "pipeline.clean.apply_mono_filters"
    few, many = (draw(script, tmp_path / "out", options, number=n, seed=seed)["kept"] for n in (4, 40))
    assert len(few) == 4
    assert len(many) == 40
    assert {row["line"] for row in few} < {row["line"] for row in many}
