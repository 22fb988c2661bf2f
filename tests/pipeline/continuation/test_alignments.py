"""Fetching the tokens and alignments of a corpus of an earlier run."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.alignments.icu_tokens import tokenize
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.continuation.alignments import main

ENGLISH = ["The dog sees.", "A\u00a0cat.", ""]
ESPERANTO = ["La hundo vidas.", "Kato.", ""]
LINKS = ["0-0 2-2 4-4 5-5", "2-0", ""]


def tokens(lines: Sequence[str], lang: str) -> list[str]:
    return [" ".join(tokenize(line, lang)) for line in lines]


def fetch(
    folder: Path,
    links: Sequence[str] = LINKS,
    src: Sequence[str] = (),
    trg: Sequence[str] = (),
) -> Path:
    """Fetch the files of a corpus, or others in their place."""
    files = {
        "tok.en.zst": src or tokens(ENGLISH, "en"),
        "tok.eo.zst": trg or tokens(ESPERANTO, "eo"),
        "aln.gz": links,
        "corpus.en.zst": ENGLISH,
        "corpus.eo.zst": ESPERANTO,
    }
    for name, lines in files.items():
        write_lines(folder / name, lines)
    urls = [(folder / name).as_uri() for name in ("tok.en.zst", "tok.eo.zst", "aln.gz")]
    options = [
        f"{name}={url}"
        for name, url in zip(("--tok-src-url", "--tok-trg-url", "--alignments-url"), urls, strict=True)
    ]
    corpus = ["--corpus-src", str(folder / "corpus.en.zst"), "--corpus-trg", str(folder / "corpus.eo.zst")]
    main(["--src", "en", "--trg", "eo", *options, *corpus, "--output", str(folder / "out")])
    return folder / "out"


def test_tokens_and_links_are_fetched(tmp_path: Path) -> None:
    out = fetch(tmp_path)
    assert sorted(path.name for path in out.iterdir()) == [
        *("corpus.aln.zst", "corpus.tok-icu.en.zst", "corpus.tok-icu.eo.zst", "stats.json")
    ]
    assert list(read_lines(out / "corpus.aln.zst")) == LINKS
    assert list(read_lines(out / "corpus.tok-icu.eo.zst")) == tokens(ESPERANTO, "eo")
    stats = json.loads((out / "stats.json").read_text())
    assert stats["lines"] == {"in": 3, "kept": 3, "dropped": {}}
    assert stats["tokens_of_other_text"] == {"en": 0, "eo": 0}
    assert [source["url"].rpartition("/")[2] for source in stats["source"]] == [
        *("tok.en.zst", "tok.eo.zst", "aln.gz")
    ]


def test_white_space_in_other_places_changes_nothing(tmp_path: Path) -> None:
    out = fetch(tmp_path, links=[" 0-0  2-2 ", "2-0", ""])
    assert list(read_lines(out / "corpus.aln.zst")) == ["0-0 2-2", "2-0", ""]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        (["0-0", "2-9", ""], r"aln\.gz: 1 of 3 lines have links beyond the last token: A ▁ cat \. \|\|\| K"),
        (["0-0", "2_0", ""], r"aln\.gz: 1 of 3 lines have no links"),
        (["0-0", "2-0"], r"Unequal numbers of lines \(corpus\.tok-icu\.en\.zst: 3"),
    ],
)
def test_links_of_other_tokens_are_refused(tmp_path: Path, links: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fetch(tmp_path, links)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("src", "trg", "lang"),
    [
        (["The dog sees .", "A cat .", ""], (), "en"),  # without ▁, as Moses' tokeniser leaves it
        ((), tokens(["Alia hundo aŭdas ĝin.", "Birdo flugas.", "Jen."], "eo"), "eo"),
    ],
    ids=["other tokens", "another corpus"],
)
def test_tokens_of_another_text_are_refused(
    tmp_path: Path, src: Sequence[str], trg: Sequence[str], lang: str
) -> None:
    message = rf"the tokens of [23] of 3 lines \({lang}\) do not come to the corpus' lines.*tok-icu"
    with pytest.raises(InputError, match=message):
        fetch(tmp_path, ["0-0", "", ""], src, trg)
