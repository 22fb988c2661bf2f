"""Splitting files of one's own: what is trained on shares no line with the dev and test sets."""

import gzip
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.data.hold_out import letters_of, main

SIDES = ("en", "lt")


def pairs(number: int = 1200) -> list[tuple[str, str]]:
    """Pairs that have no letters in common; one in ten is too short for a set."""
    return [(f"Sentence number {n} is here.", f"Sakinys numeris {n} yra čia.") for n in range(number)] + [
        (f"No {n}", f"Ne {n}") for n in range(number // 10)
    ]


def put(folder: Path, text: list[tuple[str, str]], pack: Callable[[bytes], bytes] = bytes) -> list[str]:
    folder.mkdir(exist_ok=True)
    for side, lang in enumerate(SIDES):
        lines = "".join(f"{pair[side]}\n" for pair in text)
        (folder / f"a.{lang}").write_bytes(pack(lines.encode()))
    return ["--src=en", "--trg=lt", f"--corpus-src={folder}/a.en", f"--corpus-trg={folder}/a.lt"]


def split(folder: Path, *options: str) -> dict[str, list[tuple[str, ...]]]:
    """Results of the script, by set; the text in one language as rows of one line."""
    output = folder / "out"
    main([*options, f"--output={output}"])
    assert [path for path in output.iterdir() if path.name.startswith(".")] == []
    sets = {
        name: list(zip(*(read_lines(output / f"{name}.{lang}.zst") for lang in SIDES), strict=True))
        for name in ("train", "dev", "test")
    }
    mono = output / "mono.lt.zst"
    return sets | ({"mono": [(line,) for line in read_lines(mono)]} if mono.exists() else {})


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_nothing_is_lost_and_nothing_is_in_two_sets(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    text = pairs()
    made = split(tmp_path, *put(tmp_path / "given", text, pack))
    assert [len(made[name]) for name in ("train", "dev", "test")] == [1320 - 2 * 66, 66, 66]
    assert sorted(itertools.chain(*made.values())) == sorted(text)
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    characters = sum(len(pair[0]) for pair in made["train"])
    assert stats["train"] == {"lines": 1188, "characters": characters}
    assert stats["dev"]["lines"] == 66
    assert stats["left_out"] == {}


def test_the_same_pairs_give_the_same_sets_wherever_they_stand(tmp_path: Path) -> None:
    text = pairs()
    first = split(tmp_path / "given", *put(tmp_path / "given", text))
    random.Random(1).shuffle(text)
    second = split(tmp_path / "other", *put(tmp_path / "other", text))
    assert (first["dev"], first["test"]) == (second["dev"], second["test"])
    assert first["train"] != second["train"]


def test_the_sets_are_the_same_whichever_translation_of_a_source_comes_first(tmp_path: Path) -> None:
    text = [*pairs(), *((src.upper(), f"Kitas sakinys: {trg}") for src, trg in pairs())]
    first = split(tmp_path / "given", *put(tmp_path / "given", text))
    second = split(tmp_path / "other", *put(tmp_path / "other", text[::-1]))
    assert (first["dev"], first["test"]) == (second["dev"], second["test"])
    others = sum(pair[0].isupper() for pair in first["dev"])
    assert 0 < others < len(first["dev"])


def test_what_is_like_a_test_line_on_either_side_is_not_trained_on(tmp_path: Path) -> None:
    text = pairs()
    likes = [(f"SENTENCE NUMBER {n} - IS HERE", "Kitaip.") for n in range(1200)]
    likes += [("Another one.", f"„sakinys numeris {n} yra čia“!") for n in range(1200)]
    made = split(tmp_path, *put(tmp_path / "given", [*text, *likes]))
    known = [{letters_of(pair[side]) for pair in made["dev"] + made["test"]} for side in (0, 1)]
    assert not [pair for pair in made["train"] for side in (0, 1) if letters_of(pair[side]) in known[side]]
    assert len(made["dev"]) == len(made["test"]) == (1320 + 2400) // 20
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert stats["left_out"] == {"like dev or test": 3720 - sum(map(len, made.values()))}


def test_sets_of_ones_own_are_held_out_and_others_are_taken_from_the_rest(tmp_path: Path) -> None:
    text = pairs()
    files = put(tmp_path / "given", text)
    (tmp_path / "dev.en").write_text("".join(f"{pair[0]}\n" for pair in text[:70]))
    (tmp_path / "dev.lt").write_text("".join(f"{pair[1]}\n" for pair in text[:70]))
    (tmp_path / "more.lt").write_text("Sakinys numeris 5 yra čia.\n\nVisai kitas.\n")
    given = [f"--dev-src={tmp_path}/dev.en", f"--dev-trg={tmp_path}/dev.lt", f"--mono-trg={tmp_path}/more.lt"]
    made = split(tmp_path, *files, *given)
    assert made["dev"] == text[:70]
    assert len(made["test"]) == 66
    assert not {*made["test"], *made["train"]}.intersection(text[:70])
    assert made["mono"] == [("Visai kitas.",)]


def test_files_that_are_not_parallel_are_refused_with_both_numbers(tmp_path: Path) -> None:
    files = put(tmp_path / "given", pairs())
    with (tmp_path / "given" / "a.lt").open("a") as file:
        file.write("One more.\n")
    with pytest.raises(
        InputError, match=r"Unequal numbers of lines: a\.en\S* has 1,320, a\.lt\S* has 1,321\."
    ):
        main([*files, f"--output={tmp_path}/out"])
    assert list((tmp_path / "out").iterdir()) == []


def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    files = put(tmp_path / "given", pairs(300))
    with pytest.raises(InputError, match="Of 330 pairs 16 could be held out for each of test and dev"):
        main([*files, f"--output={tmp_path}/out"])


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    files = put(tmp_path / "given", pairs())
    (tmp_path / "given" / "a.lt").write_bytes("čia\n".encode("utf-16"))
    with pytest.raises(InputError, match="a.lt is in UTF-16. Convert it to UTF-8."):
        main([*files, f"--output={tmp_path}/out"])
    (tmp_path / "given" / "a.lt").unlink()
    with pytest.raises(InputError, match="There is no file .*a.lt. Check the name."):
        main([*files, f"--output={tmp_path}/again"])


@pytest.mark.parametrize(
    ("line", "other", "are_alike"),
    [
        ("वह अच्छा लड़का था।", "वह अच्छी लड़की थी।", False),  # a good boy, a good girl
        ("ಕಿ ಕು ಕೆ", "ಕ ಕಾ ಕೀ", False),
        ("วันนี้ดี", "วันนดี", False),
        ("İyi, İSTANBUL!", "iyi istanbul", True),
        ("Cafe\u0301 ❤\ufe0f", "CAFÉ ❤", True),
        ("كَتَبَ", "كتب", True),
        ("snake_case – 10²", "SNAKE CASE 102", True),
    ],
)
def test_lines_that_are_alike(line: str, other: str, are_alike: bool) -> None:
    assert (letters_of(line) == letters_of(other)) is are_alike
