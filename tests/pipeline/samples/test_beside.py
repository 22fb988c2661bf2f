"""Lines of steps whose rules are not known: what went in beside what came out."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.samples.beside import is_text
from tests.pipeline.clean.helpers import corpus
from tests.pipeline.samples.drawing import draw, texts

SCRIPT = "pipeline.translate.collect"


def test_a_line_stands_beside_what_it_became(tmp_path: Path) -> None:
    text = corpus(tmp_path / "mono.de.zst", [f"Satz {n}" for n in range(50)])
    corpus(tmp_path / "out" / "mono.ru.zst", [f"Предложение {n}" for n in range(50)])
    corpus(tmp_path / "out" / "scores.zst", [str(-n) for n in range(50)])
    part = corpus(tmp_path / "part.zst", ["a part", "of it"])
    found = draw(SCRIPT, tmp_path / "out", (), "--read", f"text={text}", f"parts={part}", number=4)
    assert len(found["kept"]) == 4
    for row in found["kept"]:
        number = row["line"] - 1
        assert (row["text"], row["result"]) == ([f"Satz {number}"], [f"Предложение {number}"])
        assert row["beside"] == {"score": str(-number)}


def test_alignments_stand_beside_pairs(tmp_path: Path) -> None:
    src, trg = corpus(tmp_path / "c.de.zst", ["Guten Tag"]), corpus(tmp_path / "c.ru.zst", ["Добрый день"])
    corpus(tmp_path / "out" / "corpus.tok-icu.de.zst", ["Guten▁Tag"])
    corpus(tmp_path / "out" / "corpus.tok-icu.ru.zst", ["Добрый▁день"])
    corpus(tmp_path / "out" / "corpus.aln.zst", ["0-0 1-1"])
    (row,) = draw(SCRIPT, tmp_path / "out", (), "--read", f"src={src}", f"trg={trg}")["kept"]
    assert row["text"] == ["Guten Tag", "Добрый день"]
    assert row["result"] == ["Guten▁Tag", "Добрый▁день"]
    assert row["beside"] == {"alignments": "0-0 1-1"}


def test_scores_alone_stand_beside_what_was_scored(tmp_path: Path) -> None:
    text = corpus(tmp_path / "c.de.zst", ["Guten Tag"])
    corpus(tmp_path / "out" / "scores.zst", ["0.5"])
    (row,) = draw(SCRIPT, tmp_path / "out", (), "--read", f"text={text}")["kept"]
    assert (row["text"], row["result"], row["beside"]) == (["Guten Tag"], ["Guten Tag"], {"score": "0.5"})


def test_an_import_has_only_what_came_out(tmp_path: Path) -> None:
    corpus(tmp_path / "out" / "corpus.de.zst", ["Eins", "Zwei"])
    corpus(tmp_path / "out" / "corpus.ru.zst", ["Один", "Два"])
    (tmp_path / "out" / "stats.json").write_text("{}")
    found = draw(SCRIPT, tmp_path / "out", ())
    assert (found["rows"], found["read"], len(found["kept"])) == (2, [], 2)
    assert found["kept"][0]["result"] == ["Eins", "Один"]


def test_of_a_step_that_drops_it_is_told_what_came_out(tmp_path: Path) -> None:
    text = corpus(tmp_path / "c.zh.zst", ["简体", "繁體"])
    corpus(tmp_path / "out" / "mono.zh.zst", ["简体"])
    found = draw(SCRIPT, tmp_path / "out", (), "--read", f"text={text}")
    assert [(row["text"], row["is_known"]) for row in found["read"]] == [(["简体"], True), (["繁體"], False)]
    assert texts(found["kept"]) == [("简体",)]


def test_sides_stand_in_the_order_of_the_direction_whatever_their_names(tmp_path: Path) -> None:
    """Results of `de` come before those of `ru` among files, and after them from Russian to German."""
    pairs = [(f"Предложение {n}", f"Satz {n}") for n in range(20)]
    src = corpus(tmp_path / "c.ru.zst", [pair[0] for pair in pairs])
    trg = corpus(tmp_path / "c.de.zst", [pair[1] for pair in pairs])
    options = ("--read", f"src={src}", f"trg={trg}", "--langs", "ru", "de")
    for folder, made in (("all", pairs), ("some", pairs[::2])):
        corpus(tmp_path / folder / "corpus.ru.zst", [pair[0] for pair in made])
        corpus(tmp_path / folder / "corpus.de.zst", [pair[1] for pair in made])
        corpus(tmp_path / folder / "corpus.aln.zst", ["0-0 1-1" for _ in made])
        found = draw(SCRIPT, tmp_path / folder, (), *options, number=20)
        assert [row["result"] for row in found["kept"]] == [list(pair) for pair in made]
    known = [row["is_known"] for row in found["read"]]
    assert known == [pair in pairs[::2] for pair in pairs]


def test_files_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    binary, plain = tmp_path / "pairs.zst", tmp_path / "model.bin"
    corpus(binary, ["\0\1\2"])
    plain.write_bytes(b"text\n")
    assert not is_text(binary)
    assert not is_text(plain)
    (tmp_path / "damaged.zst").write_bytes(b"no zstd")
    assert not is_text(tmp_path / "damaged.zst")
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="no text of lines"):
        draw(SCRIPT, tmp_path / "out", (), "--read", f"pairs={binary}")
