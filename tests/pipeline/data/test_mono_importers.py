"""The monolingual importers of OPUS, News Crawl and URLs."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.data import mono_news_crawl, mono_opus, mono_url
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]
NEWS = "http://data.statmt.org/news-crawl/ru/news.2021.ru.shuffled.deduped.gz"
OPUS = "https://object.pouta.csc.fi/OPUS-Tiny/v1/mono/ru.txt.gz"
TEXT = "Один.\nДва\tс табуляцией.\n\nЧетыре.\n"


@pytest.mark.parametrize(
    ("main", "dataset", "url"),
    [
        (mono_news_crawl.main, "news.2021", NEWS),
        (mono_opus.main, "Tiny/v1", OPUS),
        (mono_url.main, "https://example.org/[LANG].txt.gz", "https://example.org/ru.txt.gz"),
        (mono_url.main, "https://example.org/text", "https://example.org/text"),
    ],
    ids=["news-crawl", "opus", "url", "url without [LANG]"],
)
def test_a_text(
    main: Callable[[list[str]], None], dataset: str, url: str, mirror: Mirror, import_lines: Import
) -> None:
    mirror.put(url, gzip.compress(TEXT.encode()))
    written = import_lines(main, dataset, "ru")
    assert written.files == ["mono.ru.zst", "stats.json"]
    assert written.lines("mono.ru.zst") == ["Один.", "Два с табуляцией.", "", "Четыре."]
    assert written.stats["lines"] == {"in": 4, "kept": 4, "dropped": {}}
    assert [source["url"] for source in written.stats["source"]] == [url]


def test_a_long_text_is_sampled_from_all_of_it(mirror: Mirror, import_lines: Import) -> None:
    mirror.put("https://example.org/text", "".join(f"{number}\n" for number in range(10_000)))
    written = import_lines(mono_url.main, "https://example.org/text", "ru", size=1_000)
    numbers = [int(line) for line in written.lines("mono.ru.zst")]
    assert len(numbers) == 1_000
    assert numbers == sorted(set(numbers))
    assert 400 < sum(number < 5_000 for number in numbers) < 600
    assert written.stats["lines"] == {"in": 10_000, "kept": 1_000, "dropped": {"not in the sample": 9_000}}


def test_the_sample_is_the_same_each_time_and_another_for_another_dataset(
    mirror: Mirror, import_lines: Import
) -> None:
    for name in ("a", "b"):
        mirror.put(f"https://example.org/{name}", "".join(f"{number}\n" for number in range(1_000)))
    runs = [
        import_lines(mono_url.main, f"https://example.org/{dataset}", "ru", 50, name).lines("mono.ru.zst")
        for name, dataset in (("1", "a"), ("2", "a"), ("3", "b"))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_an_empty_text(mirror: Mirror, import_lines: Import) -> None:
    mirror.put(NEWS, gzip.compress(b""))
    with pytest.raises(InputError, match=r"Dataset news\.2021: It is empty \(http://data\.statmt\.org"):
        import_lines(mono_news_crawl.main, "news.2021", "ru")


@pytest.mark.parametrize(
    ("main", "dataset", "says"),
    [
        (mono_news_crawl.main, "news.1066", r"Dataset news\.1066: .*news\.1066\.ru\.shuffled"),
        (mono_news_crawl.main, "../etc", "no News Crawl dataset"),
        (mono_opus.main, "Tiny/v2", r"Dataset Tiny/v2: .*OPUS-Tiny/v2/mono/ru\.txt\.gz"),
        (mono_opus.main, "Tiny", "Give corpus and version"),
        (mono_url.main, "https://example.org/none", r"https://example\.org/none"),
    ],
)
def test_a_dataset_that_does_not_exist(
    main: Callable[[list[str]], None], dataset: str, says: str, mirror: Mirror, import_lines: Import
) -> None:
    with pytest.raises(InputError, match=says):
        import_lines(main, dataset, "ru")


def test_invalid_utf8(mirror: Mirror, import_lines: Import, tmp_path: Path) -> None:
    mirror.put("https://example.org/text", b"good\n\xff\n")
    with pytest.raises(InputError, match=r"Invalid UTF-8 in text\.txt, line 2"):
        import_lines(mono_url.main, "https://example.org/text", "ru")
    assert list((tmp_path / "work").rglob("*")) == [tmp_path / "work" / "out"]


def test_a_sample_of_nothing_is_refused(
    mirror: Mirror, import_lines: Import, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        import_lines(mono_url.main, "https://example.org/text", "ru", size=0)
    assert "--max-sentences must be at least 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("main", "dataset", "count"),
    [(mono_opus.main, "ELRC_2922/v1", 4072), (mono_news_crawl.main, "news.2021", 8)],
)
def test_real_data(
    main: Callable[[list[str]], None], dataset: str, count: int, real_mirror: Path, import_lines: Import
) -> None:
    written = import_lines(main, dataset, "ru", size=10_000)
    assert written.stats["lines"] == {"in": count, "kept": count, "dropped": {}}
    assert any("и" in line for line in written.lines("mono.ru.zst"))
