"""Tests of filter files for text of one language, by the script's own command line."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.clean.apply_mono_filters import main
from pipeline.clean.filtering import registry
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import filter_file
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of

LINES = [
    "La granda  hundo manĝas .",
    "",
    "Mi vidas la koloron .",
    "Legu pli ĉi tie",
    "Unu du tri kvar kvin ses sep ok .",
    "x" * 1_000_000,
]


def entry(name: str, language: str | None = "<lang>", **parameters: object) -> Mapping[str, Any]:
    """A filter as a filter file has it."""
    return {"filter": name, "parameters": parameters, "language": language}


EVERY = (
    entry("normalize_whitespace"),
    entry("remove_empty_lines", None),
    entry("max_length", None, MAXLENGTH=8, MINLENGTH=1),
    entry("max_word_length", None),
    entry("deescape-special-chars"),
    entry("detokenizer", LANG1="<lang>"),
    entry("desegment"),
    entry("sed", PATTERN="koloron", REPLACEMENT="farbon"),
    entry("regexp", PATTERN="s/granda/eta/"),
    entry("opus.RegExpSub", None, patterns=[["eta", "malgranda", 0, []]]),
    entry("opus.RegExpFilter", None, regexps=["^Legu pli"]),
)


def arguments(folder: Path, *filters: Mapping[str, Any]) -> list[str]:
    """The command line that filters these lines."""
    text = corpus(folder / "text.eo.zst", LINES)
    path = filter_file(folder, *filters)
    return ["--lang", "eo", "--text", str(text), "--filters", str(path), "--output", str(folder / "out")]


@pytest.mark.parametrize("threads", [1, 2])
def test_each_fast_filter_of_one_language(threads: int, tmp_path: Path) -> None:
    done = run_script("apply_mono_filters", *arguments(tmp_path, *EVERY), threads=threads)
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out" / "mono.eo.zst") == ["La malgranda hundo manĝas.", "Mi vidas la farbon."]
    stats = stats_of(tmp_path / "out")
    assert stats["lines"]["dropped"] == {
        "too_long": 1,
        "remove_empty_lines": 1,
        "max_length": 1,
        "opus.RegExpFilter": 1,
    }
    assert "opus.RegExpFilter: Legu pli ĉi tie" in stats["samples"]


def test_every_filter_of_one_language_is_tried_here() -> None:
    assert {*registry.OF_ONE_SIDE, *registry.OF_EVERY_SIDE} == {one["filter"] for one in EVERY}
    assert registry.FILTERS.issuperset((*registry.OF_ONE_SIDE, *registry.OF_EVERY_SIDE))


def test_the_code_of_the_language_is_that_of_the_file(tmp_path: Path) -> None:
    options = arguments(tmp_path, entry("sed", "zh_Hant", PATTERN="hundo", REPLACEMENT="<lang>"))
    main([*options, "--code", "zh_Hant"])
    assert read(tmp_path / "out" / "mono.eo.zst")[0] == "La granda  zh_Hant manĝas ."


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (entry("num_mismatch", None), r"filter 1 \(num_mismatch\) compares two languages. Remove it"),
        (entry("sed", None, PATTERN="a"), r'\(sed\) works on one language, and names none. Write "<lang>"'),
        (entry("sed", "<src>", PATTERN="a"), "for the language '<src>', but the corpus has eo. .*\"<lang>\""),
        (entry("opus.RegExpFilter", None, regexps=["a", "b"]), "regexps must have one expression"),
        (entry("strip_suffix"), "strip_suffix"),
    ],
)
def test_what_is_no_filter_of_one_language(wrong: Mapping[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        main(arguments(tmp_path, wrong))
    assert files_of(tmp_path / "out") == {}


def test_other_filters_are_run_by_opuscleaner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is taken by a program that answers as it would, to the command for one column."""
    modules = tmp_path / "modules" / "opuscleaner"
    modules.mkdir(parents=True)
    (modules / "__init__.py").touch()
    (modules / "clean.py").write_text(
        "import json, sys\n"
        "step = json.load(open(sys.argv[3]))['filters'][0]\n"
        "assert (step['language'], sys.argv[4:]) == ('eo', ['eo'])\n"
        "for line in sys.stdin:\n"
        "    print(step['filter'], line, end='')\n"
    )
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path / "modules"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr("pipeline.clean.apply_mono_filters.interpreter", lambda lock: python)
    main([*arguments(tmp_path, entry("strip_suffix")), "--opuscleaner-lock", os.devnull])
    assert read(tmp_path / "out" / "mono.eo.zst")[2] == f"strip_suffix {LINES[2]}"
