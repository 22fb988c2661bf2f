"""Variants that add noise or mix modifiers, and the short strings."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data.augment import main
from pipeline.data.modifiers import ALIGNED, Languages, modify
from pipeline.data.short_pairs import words
from pipeline.data.word_links import word_links
from tests.pipeline.data.conftest import Written

PAIRS = [
    (f"The quick fox number {n} jumps over it.", f"La rapida vulpo numero {n} saltas ĝin.")
    for n in range(300)
]
ENGLISH = Languages("en", "eo")
LINKS = " ".join(f"{n}-{n}" for n in range(7))  # between words
TOKEN_LINKS = " ".join(f"{n}-{n}" for n in range(0, 14, 2))  # between tokens, every other one a space
Augment = Callable[..., Written]


def tokens(line: str) -> str:
    return " ".join(line.removesuffix(".").replace(" ", " ▁ ").split(" ")) + " ."


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    for side, lines in zip(("src", "trg"), zip(*PAIRS, strict=True), strict=True):
        write_lines(tmp_path / f"{side}.zst", lines)
        write_lines(tmp_path / f"{side}.tok.zst", [tokens(line) for line in lines])
    write_lines(tmp_path / "links.zst", [TOKEN_LINKS] * len(PAIRS))
    files = {
        "--corpus-src": "src.zst",
        "--corpus-trg": "trg.zst",
        "--tokens-src": "src.tok.zst",
        "--tokens-trg": "trg.tok.zst",
        "--alignments": "links.zst",
    }
    paths = [part for option, name in files.items() for part in (option, str(tmp_path / name))]
    return ["--src", "en", "--trg", "eo", *paths]


@pytest.fixture
def augment(tmp_path: Path, options: list[str]) -> Augment:
    def run(modifier: str, *more: str, name: str = "out") -> Written:
        output = tmp_path / "work" / name
        main(["--modifier", modifier, *more, *options, "--output", str(output)])
        return Written(output)

    return run


def sides(written: Written) -> list[tuple[str, str]]:
    return list(zip(written.lines("corpus.en.zst"), written.lines("corpus.eo.zst"), strict=True))


def test_noise_adds_a_pair_before_each(augment: Augment) -> None:
    written = augment("noise")
    found = sides(written)
    assert found[1::2] == PAIRS
    assert all(src == trg for src, trg in found[::2])
    assert len(set(found[::2])) > 290
    assert written.stats["noise pairs added"] == 300
    assert (written.stats["lines"]["kept"], written.stats["changed"]) == (600, 0)


def test_inline_noise_puts_the_same_words_into_both_sides(augment: Augment) -> None:
    written = augment("inline-noise")
    found = sides(written)
    assert len(found) == 300
    changed = [(new, old) for new, old in zip(found, PAIRS, strict=True) if new != old]
    assert 40 < len(changed) < 130  # six words differ, at 5 % each
    assert written.stats["changed"] == len(changed)
    for (new_src, new_trg), (old_src, old_trg) in changed:
        assert [word for word in new_src.split() if word in old_src.split()] == old_src.split()
        extra = [word for word in new_src.split() if word not in old_src.split()]
        assert extra
        assert set(extra) <= {word for word in new_trg.split() if word not in old_trg.split()}


def test_the_mix_changes_some_lines_in_each_way(augment: Augment) -> None:
    found = sides(augment("mix", "--bicameral", "--phonemic"))
    assert 300 < len(found) < 340  # a twentieth of them noise
    kept = [pair for pair in found if pair[0] != pair[1]]
    assert 8 <= sum(src.isupper() and trg.isupper() for src, trg in kept) <= 30
    assert 8 <= sum(src.istitle() for src, _ in kept) <= 30
    assert 8 <= sum(not src.endswith(".") and not trg.endswith(".") for src, trg in kept) <= 40
    assert sum(pair in PAIRS for pair in found) > 200


@pytest.mark.parametrize(("modifier", "flags"), [("mix-cjk", ("--bicameral", "--phonemic")), ("mix", ())])
def test_the_mix_of_scripts_without_case_or_spelling(
    modifier: str, flags: tuple[str, ...], augment: Augment
) -> None:
    added = [(src, trg) for src, trg in sides(augment(modifier, *flags)) if (src, trg) not in PAIRS]
    assert 20 < len(added) < 80
    assert not any(src.isupper() and trg == trg.upper() and "quick" in src.lower() for src, trg in added)
    assert all(src == trg or not src.endswith(".") or len(src.split()) > 8 for src, trg in added)


def test_the_mix_without_case_keeps_typing_errors(augment: Augment) -> None:
    """Of the mix for a script with two cases that spells sounds it lacks title and upper case alone."""
    found = sides(augment("mix-nocase", "--bicameral", "--phonemic"))
    cased = [pair for pair in found if pair[0].isupper() or (pair[0].istitle() and len(pair[0].split()) > 1)]
    assert not [pair for pair in cased if pair[0] != pair[1] and pair not in PAIRS]
    originals = {trg: src for src, trg in PAIRS}
    assert any(src.lower() != originals.get(trg, src).lower() for src, trg in found)
    assert found != sides(augment("mix-cjk", name="cjk"))


@pytest.mark.parametrize("modifier", ["noise", "inline-noise", "mix", "mix-cjk", "short"])
def test_variants_do_not_depend_on_the_hash_seed(modifier: str, options: list[str], tmp_path: Path) -> None:
    if modifier == "short":
        for name in ("src.zst", "trg.zst"):
            write_lines(tmp_path / name, [f"Go {n}" for n in range(1000)])
    command = [sys.executable, "-m", "pipeline.data.augment", "--modifier", modifier, "--phonemic", *options]
    found = []
    for seed in ("1", "42"):  # in processes of their own, as other tests change OpusTrainer in this one
        output = tmp_path / seed / "out"
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([*command, "--output", str(output)], check=True, timeout=120, env=environment)
        found.append(sides(Written(output)))
    assert found[0] == found[1]


def test_alignments_of_another_corpus(augment: Augment, tmp_path: Path) -> None:
    write_lines(tmp_path / "src.zst", ["Short."] * 300)
    with pytest.raises(
        InputError, match="The alignments do not belong to the corpus; they do not fit 'Short"
    ):
        augment("inline-noise")


def test_a_pair_without_links_gets_no_inline_noise() -> None:
    for number in range(100):
        pair = ("one two three.", "unu du tri.")
        assert modify(pair, "inline-noise", number, ENGLISH) == [pair]
        assert modify(pair, "mix", number, ENGLISH)[-1][1] in (pair[1], pair[1].removesuffix("."))


ODD_SPACES = [
    ("Tu vas où\u00a0?", "А\u00a0куда ты едешь?", "0-1 1-3 2-0 3-3"),
    ("Hello  world .", "Hola  mundo .", "0-0 1-1 2-2"),
    ("Tu vas où ?", "Where do you go ?", "0-2 1-3 2-0 3-4"),
    ("Là.  Où\u00a0?", "Vi\u3000kie ▁ estas ?", "0-0 1-1 2-3"),
]


@pytest.mark.parametrize(("src", "trg", "links"), ODD_SPACES)
@pytest.mark.parametrize("modifier", ["mix", "mix-nocase", "mix-cjk"])
def test_lines_with_white_space_of_all_kinds_get_the_mix(
    src: str, trg: str, links: str, modifier: str
) -> None:
    """The modifiers before inline noise leave links behind the end of such lines."""
    languages = Languages("fr", "ru", bicameral=True, phonemic=True)
    found = [modify((src, trg), modifier, number, languages, links)[-1] for number in range(2000)]
    assert 1200 < found.count((src, trg)) < 1950


def test_lines_without_inline_noise_keep_their_white_space() -> None:
    pair = ("Où\u00a0va-t-il ?  Là.", " Where  does he go?\u3000There.")
    found = [modify(pair, "inline-noise", number, ENGLISH, "0-0 1-3 3-4")[-1] for number in range(100)]
    assert 70 < found.count(pair) < 95


@pytest.mark.parametrize("pair", [("", "text"), ("text", " "), ("", "")])
def test_a_pair_with_an_empty_side_stays(pair: tuple[str, str]) -> None:
    for modifier in ("noise", *ALIGNED):
        assert modify(pair, modifier, 1, ENGLISH, links="0-0") == [pair]


@pytest.mark.parametrize("modifier", ALIGNED)
def test_noise_inside_lines_needs_alignments(
    modifier: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--corpus-src", "a", "--corpus-trg", "b", "--output", str(tmp_path / "out")]
    with pytest.raises(SystemExit):
        main(["--modifier", modifier, "--src", "en", "--trg", "eo", *files])
    assert f"{modifier} needs --tokens-src, --tokens-trg and --alignments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("src", "trg", "links", "expected"),
    [
        ("a ▁ b", "x ▁ y", "0-0 2-2", "0-0 1-1"),
        ("a ▁ b .", "x ▁ y !", "0-2 2-0 3-3", "0-1 1-0 1-1"),
        ("▁ a ▁ ▁ b", "x", "1-0 4-0", "0-0 1-0"),
        ("我 爱 你", "I ▁ love ▁ you", "0-0 1-2 2-4", "0-0 0-1 0-2"),
        ("a", "b", "", ""),
    ],
)
def test_links_between_tokens_become_links_between_words(
    src: str, trg: str, links: str, expected: str
) -> None:
    assert word_links(src, trg, links) == expected


def run_short(folder: Path, pairs: list[tuple[str, str]]) -> Written:
    write_lines(folder / "a", [src for src, _ in pairs])
    write_lines(folder / "b", [trg for _, trg in pairs])
    files = ["--corpus-src", str(folder / "a"), "--corpus-trg", str(folder / "b")]
    output = folder / "work" / "out"
    main(["--modifier", "short", "--src", "en", "--trg", "eo", *files, "--output", str(output)])
    return Written(output)


def test_short_strings(tmp_path: Path) -> None:
    good = [("Save", "Konservi"), ("Open file", "Malfermi"), ("Quit…", "Eliri…")]
    long = [("Save as PDF", "Konservi"), ("Save", "Konservi kiel PDF"), ("", "Nenio"), (" ", "Nenio")]
    written = run_short(tmp_path, [good[0], long[0], good[1], *long[1:], good[0], good[2]])
    assert sides(written) == good
    dropped = {"not 1 or 2 words": 4, "duplicate": 1}
    assert written.stats["lines"] == {"in": 8, "kept": 3, "dropped": dropped}


def test_at_most_four_hundred_short_strings_from_the_whole_corpus(tmp_path: Path) -> None:
    written = run_short(tmp_path, [(f"Item {n}", f"Ero {n}") for n in range(2000)])
    numbers = [int(line.split()[1]) for line in written.lines("corpus.en.zst")]
    assert len(set(numbers)) == 400
    assert 140 < sum(number < 1000 for number in numbers) < 260
    assert written.stats["lines"]["dropped"] == {"not in the sample": 1600}


def test_no_short_string_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="It is empty; all lines were left out: not 1 or 2 words 300"):
        run_short(tmp_path, PAIRS)


@pytest.mark.parametrize(
    ("text", "locale", "count"),
    [("", "en", 0), ("one, two", "en", 3), ("软件更新。", "zh", 3), ("สวัสดี ชาวโลก", "th", 3)],
)
def test_words_are_counted_as_icu_sees_them(text: str, locale: str, count: int) -> None:
    assert words(text, locale) == count
