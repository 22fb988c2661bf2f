"""Chinese in one variant."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data import chinese_mono, chinese_parallel
from pipeline.data.chinese import Variant
from tests.pipeline.data.conftest import Written

SIMPLIFIED = "这里的软件很好。"
TRADITIONAL = "這裡的軟件很好。"
BOTH = "你好。"
MIXED = "这裡。"
NO_CHINESE = "OK 2024"


@pytest.mark.parametrize(
    ("line", "simplified", "traditional"),
    [
        (SIMPLIFIED, "", "other variant of Chinese"),
        (TRADITIONAL, "other variant of Chinese", ""),
        (BOTH, "", ""),
        (MIXED, "mixed variants of Chinese", "mixed variants of Chinese"),
        (NO_CHINESE, "no Chinese", "no Chinese"),
        ("", "no Chinese", "no Chinese"),
    ],
)
def test_which_lines_are_good_in_a_variant(line: str, simplified: str, traditional: str) -> None:
    assert Variant("simplified").why_not(line) == simplified
    assert Variant("traditional").why_not(line) == traditional


def test_conversion() -> None:
    variant = Variant("simplified")
    lines = [SIMPLIFIED, TRADITIONAL, BOTH, MIXED, NO_CHINESE]
    assert [variant.convert(line) for line in lines] == [SIMPLIFIED, SIMPLIFIED, BOTH, "这里。", NO_CHINESE]
    assert variant.converted == 2
    assert Variant("traditional").convert("头发 发现") == "頭髮 發現"


def run_parallel(folder: Path, src: list[str], trg: list[str], *options: str) -> Written:
    write_lines(folder / "src.zst", src)
    write_lines(folder / "trg.zst", trg)
    sides = ["--corpus-src", str(folder / "src.zst"), "--corpus-trg", str(folder / "trg.zst")]
    output = folder / "work" / "out"
    chinese_parallel.main([*options, *sides, "--output", str(output)])
    return Written(output)


def test_a_chinese_source_is_converted_and_no_pair_is_lost(tmp_path: Path) -> None:
    languages = ["--src", "zh", "--trg", "en", "--convert-src", "simplified"]
    written = run_parallel(tmp_path, [SIMPLIFIED, TRADITIONAL, NO_CHINESE], ["a", "b", "c"], *languages)
    assert written.lines("corpus.zh.zst") == [SIMPLIFIED, SIMPLIFIED, NO_CHINESE]
    assert written.lines("corpus.en.zst") == ["a", "b", "c"]
    assert written.stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}
    assert written.stats["converted"] == 1


def test_pairs_are_filtered_by_a_chinese_target(tmp_path: Path) -> None:
    languages = ["--src", "en", "--trg", "zh_hant", "--filter-trg", "traditional"]
    lines = [SIMPLIFIED, TRADITIONAL, BOTH, MIXED, NO_CHINESE]
    written = run_parallel(tmp_path, list("abcde"), lines, *languages)
    assert written.lines("corpus.zh_hant.zst") == [TRADITIONAL, BOTH]
    assert written.lines("corpus.en.zst") == ["b", "c"]
    assert written.stats["lines"]["dropped"] == {
        "other variant of Chinese": 1,
        "mixed variants of Chinese": 1,
        "no Chinese": 1,
    }


def test_from_one_variant_into_the_other(tmp_path: Path) -> None:
    options = [
        "--src",
        "zh",
        "--trg",
        "zh_hant",
        "--convert-src",
        "simplified",
        "--filter-trg",
        "traditional",
    ]
    written = run_parallel(tmp_path, [TRADITIONAL, SIMPLIFIED], [TRADITIONAL, SIMPLIFIED], *options)
    assert written.lines("corpus.zh.zst") == [SIMPLIFIED]
    assert written.lines("corpus.zh_hant.zst") == [TRADITIONAL]


def test_a_target_without_a_good_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="It is empty; all lines were left out: other variant of Chinese 1"):
        run_parallel(
            tmp_path, ["a"], [SIMPLIFIED], "--src", "en", "--trg", "zh", "--filter-trg", "traditional"
        )
    assert list((tmp_path / "work" / "out").iterdir()) == []


def test_sides_of_unequal_length(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unequal numbers of lines"):
        run_parallel(
            tmp_path, ["a", "b"], [SIMPLIFIED], "--src", "en", "--trg", "zh", "--filter-trg", "simplified"
        )


def test_nothing_to_do_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run_parallel(tmp_path, ["a"], ["b"], "--src", "en", "--trg", "ru")
    assert "give --convert-src, --filter-trg or both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "expected", "dropped"),
    [("--convert", [SIMPLIFIED, SIMPLIFIED, NO_CHINESE], 0), ("--filter", [SIMPLIFIED], 2)],
)
def test_a_text(option: str, expected: list[str], dropped: int, tmp_path: Path) -> None:
    write_lines(tmp_path / "a.zst", [SIMPLIFIED, TRADITIONAL, NO_CHINESE])
    output = tmp_path / "work" / "out"
    options = ["--lang", "zh", option, "simplified", "--text", str(tmp_path / "a.zst")]
    chinese_mono.main([*options, "--output", str(output)])
    written = Written(output)
    assert written.lines("mono.zh.zst") == expected
    assert written.stats["lines"]["in"] == 3
    assert sum(written.stats["lines"]["dropped"].values()) == dropped
