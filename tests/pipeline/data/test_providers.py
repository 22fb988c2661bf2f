"""Every importer against answers in the form of its provider's: on a good day, and on each bad one."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from pipeline.common.errors import InputError, TemporaryError
from pipeline.data import (
    mono_url,
    parallel_flores,
    parallel_ntrex,
    parallel_opus,
)
from tests.pipeline.data.conftest import Written
from tests.pipeline.data.provider_cases import (
    CASES,
    EN,
    OPUS,
    RU,
    Case,
    every_case,
    tarred,
    text,
    zipped,
)
from tests.pipeline.data.provider_server import Providers, serving
from translations_assets.config.languages import language
from translations_assets.config.providers import MONO, PARALLEL


@every_case
def test_config_names_the_addresses_that_the_script_fetches(case: Case) -> None:
    """`config check --online` asks there, from the orchestrator's own list."""
    kind, _, name = case.main.__module__.rpartition(".")[2].partition("_")
    provider = (MONO if kind == "mono" else PARALLEL)[name.replace("_", "-")]
    sides = [language(code) for code in (["ru"] if kind == "mono" else ["en", "ru"])]
    asked = provider.addresses(case.options[1], *sides)
    assert asked
    for alternatives in asked:
        assert any(url.startswith(address) for address in alternatives for url in case.files)


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Providers]:
    monkeypatch.setattr(parallel_flores, "SHA256", "")  # the archives here are made up
    with serving(monkeypatch) as providers:
        yield providers


@pytest.fixture
def run(tmp_path: Path, providers: Providers) -> Callable[[Case], Written]:
    def run(case: Case) -> Written:
        for url, content in case.files.items():
            providers.put(url, content)
        output = tmp_path / "work" / "out"
        case.main([*case.options, "--output", str(output)])
        return Written(output)

    return run


def nothing_is_left(folder: Path) -> bool:
    return [path.name for path in (folder / "work").rglob("*")] == ["out"]


@every_case
def test_a_good_day(case: Case, run: Callable[[Case], Written]) -> None:
    written = run(case)
    if case.mono:
        assert written.lines("mono.ru.zst") == RU
    else:
        assert written.lines("corpus.en.zst") == [EN[0], "A tab here.", EN[2]]
        assert written.lines("corpus.ru.zst") == RU
    stats = written.stats
    assert stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}
    assert (stats["revision"], stats["licence"]) == (case.revision, case.licence)
    sizes = {source["url"]: source["bytes"] for source in stats["source"]}
    files = {
        url: len(content if isinstance(content, bytes) else content.encode())
        for url, content in case.files.items()
    }
    assert sizes.items() <= files.items()
    assert case.data in sizes


@every_case
def test_a_file_is_redirected(case: Case, run: Callable[[Case], Written], providers: Providers) -> None:
    providers.day = "redirected"
    assert run(case).stats["lines"]["kept"] == 3
    assert any(url.endswith("moved=1") for url in providers.asked)


@every_case
@pytest.mark.parametrize(
    ("day", "error", "says"),
    [
        ("missing", InputError, "the server answered 404"),
        ("page", InputError, r"is a web page \('Moved away'\)"),
        ("cut", TemporaryError, "cut off|connection broke"),
        ("busy", TemporaryError, "the server answered 503"),
    ],
)
def test_a_bad_day(
    case: Case,
    day: str,
    error: type[Exception],
    says: str,
    run: Callable[[Case], Written],
    providers: Providers,
    tmp_path: Path,
) -> None:
    providers.day, providers.where = day, case.data
    with pytest.raises(error, match=says):
        run(case)
    assert nothing_is_left(tmp_path)


def changed(case: Case, change: Callable[[bytes], bytes]) -> Case:
    """The case with other bytes in the last file."""
    content = case.files[case.data]
    other = change(content if isinstance(content, bytes) else content.encode())
    return Case(case.main, case.options, {**case.files, case.data: other})


# Plain text has no end that could be missing
PACKED = {name: case for name, case in CASES.items() if case.main not in (parallel_ntrex.main, mono_url.main)}


@pytest.mark.parametrize("case", PACKED.values(), ids=PACKED)
def test_a_file_that_was_cut_off_before_it_was_published(
    case: Case, run: Callable[[Case], Written], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="damaged|cannot be read|no well-formed|no zip or tar|is no JSON"):
        run(changed(case, lambda content: content[: len(content) * 2 // 3]))
    assert nothing_is_left(tmp_path)


def packed(name: str, text: bytes) -> bytes:
    """A text as the last file of a case holds it, on both sides of an archive."""
    if name == "opus":
        return zipped({"Tiny.en-ru.en": text, "Tiny.en-ru.ru": text})
    if name == "flores":
        return tarred({f"flores200_dataset/dev/{code}.dev": text for code in ("eng_Latn", "rus_Cyrl")})
    if name == "url":
        return zstandard.compress(text)
    return gzip.compress(text) if name in ("news-crawl", "mono opus") else text


@pytest.mark.parametrize("name", ["opus", "flores", "ntrex", "url", "news-crawl", "mono opus", "mono url"])
@pytest.mark.parametrize(
    ("encoding", "says"),
    [("utf-16", "in UTF-16. Convert"), ("cp1251", "Invalid UTF-8 .*, line 1: byte 0xca")],
)
def test_text_in_another_encoding(
    name: str, encoding: str, says: str, run: Callable[[Case], Written], tmp_path: Path
) -> None:
    encoded = packed(name, "\n".join(RU).encode(encoding))
    with pytest.raises(InputError, match=says):
        run(changed(CASES[name], lambda _: encoded))
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"Tiny.en-ru.en": b"a\n", "../Tiny.en-ru.ru": b"b\n"}, r"holds no Tiny\.en-ru\.ru"),
        ({"Tiny.en-ru.en": b"a\n", "/Tiny.en-ru.ru": b"b\n"}, r"holds no Tiny\.en-ru\.ru"),
        ({"Tiny.en-ru.en": b"a\nb\n", "Tiny.en-ru.ru": b"1\n"}, "Unequal numbers of lines"),
    ],
    ids=["out of the folder", "absolute", "unequal sides"],
)
def test_a_hostile_archive(
    files: dict[str, bytes], says: str, run: Callable[[Case], Written], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        run(changed(CASES["opus"], lambda _: zipped(files)))
    assert nothing_is_left(tmp_path)


def test_a_pair_that_opus_has_the_other_way_round(run: Callable[[Case], Written]) -> None:
    packed = zipped({"Tiny.en-ru.en": text(EN), "Tiny.en-ru.ru": text(RU)})
    options = ["--dataset", "Tiny/v1", "--src", "ru", "--trg", "en", "--src-code", "ru", "--trg-code", "en"]
    written = run(Case(parallel_opus.main, options, {f"{OPUS}/moses/en-ru.txt.zip": packed}))
    assert written.lines("corpus.ru.zst") == RU
    assert written.lines("corpus.en.zst")[0] == EN[0]
    assert written.stats["direction"] == "en-ru"
