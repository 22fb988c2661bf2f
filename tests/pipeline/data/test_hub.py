"""Datasets of the Hugging Face hub: names, splits, formats."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pipeline.common.errors import InputError
from pipeline.data import mono_hf, parallel_hfp, tables
from pipeline.data.hub import Commit, Name, find_files, parse_name
from pipeline.data.tables import read_rows
from tests.pipeline.data.conftest import Mirror, Written

HUB = "https://huggingface.co"
SHA = "0123456789abcdef0123456789abcdef01234567"
OTHER_SHA = "f" * 40
Import = Callable[..., Written]
ROWS = [{"en": "A cat.", "ru": "Кот."}, {"en": "Two\nlines.", "ru": " Две. "}, {"en": "Alone.", "ru": ""}]


def put_commit(
    mirror: Mirror, files: Mapping[str, bytes], revision: str = "main", sha: str = SHA, **card: Any
) -> None:
    answer = {"sha": sha, "siblings": [{"rfilename": name} for name in files], "cardData": card}
    mirror.put(f"{HUB}/api/datasets/a/b/revision/{revision}", json.dumps(answer))
    for name, content in files.items():
        mirror.put(f"{HUB}/datasets/a/b/resolve/{sha}/{name}", content)


def parquet(rows: list[dict[str, Any]]) -> bytes:
    packed = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), packed)
    return packed.getvalue()


def json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def separated(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows({name: value.replace("\n", " ") for name, value in row.items()} for row in rows)
    return text.getvalue().encode()


@pytest.mark.parametrize(
    ("name", "fields", "expected"),
    [
        ("a/b:train:text", 1, Name("a/b", "default", "train", ("text",), "main")),
        ("a/b:ru:test:text@v1.0", 1, Name("a/b", "ru", "test", ("text",), "v1.0")),
        ("opus100:en-ru:test:en:ru", 2, Name("opus100", "en-ru", "test", ("en", "ru"), "main")),
        ("a/b:train:en:ru@refs/pr/1", 2, Name("a/b", "default", "train", ("en", "ru"), "refs/pr/1")),
    ],
)
def test_names(name: str, fields: int, expected: Name) -> None:
    assert parse_name(name, fields) == expected


@pytest.mark.parametrize(
    "name", ["a/b", "a/b:train", "a/b:x:y:z:text", ":train:text", "a/b::text", "a/b:train:text@x y"]
)
def test_no_names(name: str) -> None:
    with pytest.raises(InputError, match=r"Give repository\[:subset\]:split:field\[@revision\]"):
        parse_name(name, 1)


@pytest.mark.parametrize("repository", ["../x", "a/../b", "a/b/c", "a b"])
def test_no_repositories(repository: str) -> None:
    with pytest.raises(InputError, match="no repository of the hub"):
        parse_name(f"{repository}:train:text", 1)


CONFIGS = [
    {"config_name": "en-ru", "data_files": [{"split": "train", "path": "en-ru/train-*"}]},
    {"config_name": "de-en", "data_files": [{"split": "test", "path": ["de/**/t.csv", "x/t?.csv"]}]},
    {"config_name": "all", "data_files": "**/*.csv"},
    {"config_name": "folder", "data_dir": "deep"},
]


@pytest.mark.parametrize(
    ("subset", "split", "card", "expected"),
    [
        ("en-ru", "train", {"configs": CONFIGS}, ["en-ru/train-1.parquet", "en-ru/train-2.parquet"]),
        ("de-en", "test", {"configs": CONFIGS}, ["de/t.csv", "de/x/y/t.csv", "x/t1.csv"]),
        ("all", "train", {"configs": CONFIGS}, ["de/t.csv", "de/x/y/t.csv", "x/t1.csv"]),
        ("folder", "validation", {"configs": CONFIGS}, ["deep/dev.jsonl"]),
        ("en-ru", "train", {}, ["en-ru/train-1.parquet", "en-ru/train-2.parquet"]),
        ("en-ru", "test", {}, ["en-ru/test.parquet"]),
        ("default", "validation", {}, ["deep/dev.jsonl"]),
    ],
)
def test_files_of_a_split(
    subset: str, split: str, card: dict[str, Any], expected: list[str], mirror: Mirror, tmp_path: Path
) -> None:
    files = (
        "README.md de/t.csv de/x/y/t.csv deep/dev.jsonl en-ru/test.parquet en-ru/train-1.parquet "
        "en-ru/train-2.parquet script.py x/t1.csv"
    )
    put_commit(mirror, dict.fromkeys(files.split(), b""), **card)
    commit, found = find_files(Name("a/b", subset, split, ("text",), "main"), tmp_path)
    assert (commit.sha, found) == (SHA, expected)


def of_languages(**default: bool) -> list[dict[str, Any]]:
    """A card's subsets of three languages, of which some may be said to be the default one."""
    return [
        {"config_name": lang, "data_files": f"data/{lang}/train*"}
        | ({"default": default[lang]} if lang in default else {})
        for lang in ("de", "fr", "ru")
    ]


LANGUAGE_FILES = [f"data/{lang}/train-0.parquet" for lang in ("de", "fr", "ru")]


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        (of_languages(fr=True, de=False), LANGUAGE_FILES[1:2]),
        (of_languages()[2:], LANGUAGE_FILES[2:]),
        ([*of_languages(), {"data_files": "data/ru/*"}], LANGUAGE_FILES[2:]),
        ([], LANGUAGE_FILES),
    ],
)
def test_a_name_without_a_subset_means_the_default_one_or_the_only_one(
    configs: list[dict[str, Any]], expected: list[str], mirror: Mirror, tmp_path: Path
) -> None:
    put_commit(mirror, dict.fromkeys(LANGUAGE_FILES, b""), configs=configs)
    _, found = find_files(parse_name("a/b:train:text", 1), tmp_path)
    assert found == expected


@pytest.mark.parametrize("default", [{}, {"de": True, "ru": True}])
def test_a_name_without_a_subset_is_refused_where_there_are_several(
    default: dict[str, bool], mirror: Mirror, tmp_path: Path
) -> None:
    put_commit(mirror, dict.fromkeys(LANGUAGE_FILES, b""), configs=of_languages(**default))
    with pytest.raises(InputError, match="has the subsets de, fr, ru, and .* the split: a/b:de:train:x"):
        find_files(parse_name("a/b:train:x", 1), tmp_path)


def test_a_split_that_the_default_subset_lacks_is_not_taken_from_another(
    mirror: Mirror, tmp_path: Path
) -> None:
    files = dict.fromkeys([*LANGUAGE_FILES, "data/fr/test-0.parquet"], b"")
    put_commit(mirror, files, configs=of_languages(de=True))
    with pytest.raises(InputError, match="the split 'test' of 'de'"):
        find_files(parse_name("a/b:test:text", 1), tmp_path)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("data/train-[0-9].jsonl", ["data/train-0.jsonl", "data/train-5.jsonl"]),
        ("data/train-[!05].jsonl", ["data/train-x.jsonl"]),
        ("*/train-[5x].jsonl", ["data/train-5.jsonl", "data/train-x.jsonl"]),
        ("**/train-0*", ["data/train-0.jsonl", "more/train-0.jsonl"]),
        ("**[", []),
        ("text/*", ["text/train.en"]),
        ("README.md", ["README.md"]),
        (
            "**",
            [f"{path}.jsonl" for path in ("data/train-0", "data/train-5", "data/train-x", "more/train-0")],
        ),
    ],
)
def test_patterns_of_a_card(pattern: str, expected: list[str], mirror: Mirror, tmp_path: Path) -> None:
    files = (
        ".gitattributes .hidden/train-0.jsonl LICENSE README.md data/train-0.jsonl data/train-5.jsonl "
        "data/train-x.jsonl dataset_infos.json more/train-0.jsonl text/train.en"
    )
    configs = [{"config_name": "x", "data_files": pattern}]
    put_commit(mirror, dict.fromkeys(files.split(), b""), configs=configs)
    if expected:
        _, found = find_files(parse_name("a/b:x:train:text", 1), tmp_path)
        assert found == expected
        return
    with pytest.raises(InputError, match="No file of a/b is known to hold the split 'train' of 'x'"):
        find_files(parse_name("a/b:x:train:text", 1), tmp_path)


def test_a_pattern_that_is_none(mirror: Mirror, tmp_path: Path) -> None:
    put_commit(mirror, {"a.jsonl": b""}, configs=[{"config_name": "x", "data_files": "[z-a].jsonl"}])
    with pytest.raises(InputError, match=r"pattern '\[z-a\]\.jsonl' cannot be understood"):
        find_files(parse_name("a/b:x:train:text", 1), tmp_path)


def test_all_files_are_train_when_no_name_says_otherwise(mirror: Mirror, tmp_path: Path) -> None:
    put_commit(mirror, {"a.jsonl.zst": b"", "b.jsonl.zst": b"", "notes.md": b""})
    _, found = find_files(parse_name("a/b:train:text", 1), tmp_path)
    assert found == ["a.jsonl.zst", "b.jsonl.zst"]
    with pytest.raises(InputError, match=r"the split 'test' of 'default'. Its data files: a\.jsonl\.zst, b"):
        find_files(parse_name("a/b:test:text", 1), tmp_path)


def test_what_a_program_makes_is_taken_from_the_converted_branch(
    mirror: Mirror, import_pairs: Import
) -> None:
    put_commit(mirror, {"make.py": b""}, license=["mit", "cc0-1.0"])
    converted = {"en-ru/train/0000.parquet": parquet([{"translation": ROWS[0]}])}
    put_commit(mirror, converted, "refs%2Fconvert%2Fparquet", OTHER_SHA)
    written = import_pairs(parallel_hfp.main, "a/b:en-ru:train:en:ru", "en", "ru")
    assert written.lines("corpus.ru.zst") == ["Кот."]
    assert (written.stats["revision"], written.stats["licence"]) == (OTHER_SHA, "mit, cc0-1.0")


def test_an_earlier_revision_is_not_taken_from_the_converted_branch(mirror: Mirror, tmp_path: Path) -> None:
    """The hub converts the newest one, and no other."""
    put_commit(mirror, {"make.py": b""}, sha="e" * 40)
    put_commit(mirror, {"default/train/0000.parquet": b""}, "refs%2Fconvert%2Fparquet", OTHER_SHA)
    for revision, sha in (("v1.0", SHA), ("e" * 40, "e" * 40)):
        put_commit(mirror, {"make.py": b""}, revision, sha)
    commit, _ = find_files(parse_name(f"a/b:train:text@{'e' * 40}", 1), tmp_path)
    assert commit.sha == OTHER_SHA
    with pytest.raises(InputError, match=r"converts the newest revision alone\. Leave out @v1\.0\."):
        find_files(parse_name("a/b:train:text@v1.0", 1), tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.parquet", parquet(ROWS)),
        ("train.jsonl", json_lines(ROWS)),
        ("train.json", json_lines(ROWS)),
        ("train.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0)),
        ("train.csv", separated(ROWS, ",")),
        ("train.tsv.gz", gzip.compress(separated(ROWS, "\t"), mtime=0)),
    ],
)
def test_formats(name: str, content: bytes, mirror: Mirror, import_pairs: Import) -> None:
    put_commit(mirror, {name: content})
    written = import_pairs(parallel_hfp.main, "a/b:train:en:ru", "en", "ru")
    assert written.lines("corpus.en.zst") == ["A cat.", "Two lines."]
    assert written.lines("corpus.ru.zst") == ["Кот.", "Две."]
    assert written.stats["lines"] == {"in": 3, "kept": 2, "dropped": {"empty side": 1}}


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("train.parquet", parquet([{"de": "x"}]), "has no column en or ru or translation, only de"),
        ("train.parquet", b"PAR1 and nothing", "cannot be read as Parquet"),
        ("train.jsonl", b'{"en": 1, "ru": "x"}\n', "The field 'en' of train.jsonl is no text: '1'"),
        ("train.jsonl", b'{"en": "x"}\n', "train.jsonl has no field 'ru', only en"),
        ("train.jsonl", b'{"en": "x"\n', "Line 1 of train.jsonl is no JSON"),
        ("train.jsonl", b"[1]\n", "in the place of a row"),
        ("train.csv", b"en,ru\n" + b"x" * (2 << 20) + b",y\n", "cannot be read as a table"),
        ("train.txt", b"x\n", "train.txt has no field 'en', only text"),
    ],
)
def test_files_that_do_not_hold_what_was_asked_for(
    name: str, content: bytes, says: str, mirror: Mirror, import_pairs: Import
) -> None:
    put_commit(mirror, {name: content})
    with pytest.raises(InputError, match=says):
        import_pairs(parallel_hfp.main, "a/b:train:en:ru", "en", "ru")


def test_a_file_without_a_suffix_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("One.\n")
    assert list(read_rows(tmp_path / "LICENSE", ("text",))) == [{"text": "One."}]


def test_a_json_array_too_large_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST_ARRAY", 10)
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    with pytest.raises(InputError, match="a row a line"):
        list(read_rows(tmp_path / "a.json", ("en",)))


def test_a_column_of_parquet_that_is_no_utf8(tmp_path: Path) -> None:
    column = pyarrow.array([b"caf\xff"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"en": column}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet cannot be read as Parquet: 'utf-8' codec can't decode"):
        list(read_rows(tmp_path / "a.parquet", ("en",)))


@pytest.mark.parametrize("answer", ["<", "{}", '{"sha": "x", "siblings": []}', '{"sha": 1}', "[]"])
def test_an_answer_that_cannot_be_understood(answer: str, mirror: Mirror, tmp_path: Path) -> None:
    mirror.put(f"{HUB}/api/datasets/a/b/revision/main", answer)
    with pytest.raises(InputError, match="cannot be understood"):
        find_files(parse_name("a/b:train:text", 1), tmp_path)


def test_documents_become_lines_and_files_are_read_until_there_are_enough(
    mirror: Mirror, import_lines: Import, tmp_path: Path
) -> None:
    files = {f"data/{n}.jsonl": json_lines([{"text": f"{n} one\n\n {n} two "}] * 5) for n in range(6)}
    put_commit(mirror, files)
    written = import_lines(mono_hf.main, "a/b:train:text", "ru", size=15)
    assert len(written.lines("mono.ru.zst")) == 15
    assert written.stats["lines"] == {"in": 20, "kept": 15, "dropped": {"not in the sample": 5}}
    assert written.stats["files"] == {"of the split": 6, "read": 2}
    assert len(written.stats["source"]) == 2
    again = import_lines(mono_hf.main, "a/b:train:text", "ru", size=15, name="again")
    assert again.lines("mono.ru.zst") == written.lines("mono.ru.zst")


def test_a_missing_value_is_no_text(mirror: Mirror, import_lines: Import) -> None:
    put_commit(mirror, {"train.parquet": parquet([{"text": "Да."}, {"text": None}])})
    assert import_lines(mono_hf.main, "a/b:train:text", "ru").lines("mono.ru.zst") == ["Да."]


def test_half_a_character_is_none(mirror: Mirror, import_lines: Import, import_pairs: Import) -> None:
    """JSON may hold a surrogate alone: half of an emoji that a program has cut."""
    put_commit(mirror, {"train.jsonl": b'{"text": "Cut \\ud83d, whole \\ud83d\\ude00", "ru": "\\udc00."}\n'})
    written = import_lines(mono_hf.main, "a/b:train:text", "ru")
    assert written.lines("mono.ru.zst") == ["Cut \ufffd, whole \U0001f600"]
    pairs = import_pairs(parallel_hfp.main, "a/b:train:text:ru", "en", "ru", name="pairs")
    assert pairs.lines("corpus.ru.zst") == ["\ufffd."]


def test_a_file_name_with_odd_characters_is_quoted(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put(f"{HUB}/datasets/a/b/resolve/{SHA}/data/a%20%23b.txt", "x\n")
    source = Commit("a/b", SHA, (), {}).fetch("data/a #b.txt", tmp_path / "x")
    assert source.bytes == 2
