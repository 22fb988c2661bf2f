"""Tests of reading filter files, and of those that the project has."""

import json
from pathlib import Path

import pytest

from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.registry import make_filters
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import FILTERS, resources

FILES = sorted(FILTERS.rglob("*.filters.json"))


def codes_of(path: Path) -> tuple[str, str]:
    """The languages of a file that is for one pair, or one language; English and another for the rest."""
    src, dash, trg = path.parent.name.partition("-")
    if dash:
        return src.replace("_hant", "_Hant"), trg.replace("_hant", "_Hant")
    languages = {entry["language"] for entry in json.loads(path.read_text(encoding="utf-8"))["filters"]}
    other = [language for language in languages - {None, "en"} if "<" not in language]
    return "en", other[0] if other else "ru"


def test_a_file_as_the_interface_saves_it(tmp_path: Path) -> None:
    saved = {
        "version": 1,
        "files": ["ada83.en-ru.en.gz", "ada83.en-ru.ru.gz"],
        "filters": [
            {"filter": "normalize_whitespace", "parameters": {"COLLAPSE": True}, "language": "ru"},
            {"filter": "max_length", "parameters": {"MAXLENGTH": 99}, "language": None},
            {
                "filter": "sed",
                "parameters": {"PATTERN": "<src>", "REPLACEMENT": ""},
                "language": "<src>,<trg>",
            },
        ],
    }
    path = tmp_path / "opus_ada83-v1.filters.json"
    path.write_text(json.dumps(saved))
    steps = read_filter_file(path, ("en", "ru"))
    assert [(step.name, step.sides) for step in steps] == [
        ("normalize_whitespace", (1,)),
        ("max_length", ()),
        ("sed", (0, 1)),
    ]
    assert steps[1].number_of("MAXLENGTH", 150) == 99
    assert steps[2].text("PATTERN", "") == "en"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "x.filters.json is not JSON"),
        ("[]", "x.filters.json is no filter file"),
        ('{"filters": [{"filter": "max_length"}]}', "is no filter file"),
        ('{"filters": [{"filter": "max_length", "parameters": {}, "language": 5}]}', "is no filter file"),
    ],
)
def test_what_is_no_filter_file(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "x.filters.json").write_text(text)
    with pytest.raises(InputError, match=told):
        read_filter_file(tmp_path / "x.filters.json", ("en", "ru"))


def test_there_are_files() -> None:
    assert {path.relative_to(FILTERS).as_posix() for path in FILES} >= {
        "default.filters.json",
        "upstream/default.filters.json",
        "legacy/rules.filters.json",
        "en-zh/default.filters.json",
        "zh_hant-en/opus_WikiMatrix-v1.filters.json",
        "opus_UNPC-v1.0.filters.json",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(FILTERS).as_posix())
def test_every_file_of_the_project_has_filters_that_are_built(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert make_filters(read_filter_file(path, codes_of(path)), resources())
    assert "is not known" not in caplog.text
