"""Evaluation by paragraphs: joined translations, and whole paragraphs in Firefox's engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.engine import load_engine
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.eval.metrics import evaluation_scores
from pipeline.eval.paragraphs import main, paragraph_lines, paragraphs
from pipeline.quantize.export import main as export
from tests.pipeline.quantize.tiny_model import Tiny


def evaluate(folder: Path, *system: str) -> dict[str, Any]:
    files = [f"--{name}={folder / name}.zst" for name in ("documents", "corpus-src", "corpus-trg")]
    about = ["--trg", "eo", "--dataset", "url_test (paragraphs)", "--output", str(folder / "out")]
    main([*system, *files, *about])
    metrics: dict[str, Any] = json.loads((folder / "out" / "metrics.json").read_text())
    return metrics


def test_a_paragraph_is_at_most_five_sentences_of_one_document() -> None:
    found = paragraphs(["a"] * 7 + ["b", "b", "a"], 10)
    assert found == [range(5), range(5, 7), range(7, 9), range(9, 10)]
    with pytest.raises(InputError, match="The test set has 3 lines, and documents are known of 2"):
        paragraphs(["a", "b"], 3)


def test_sentences_are_joined_as_their_language_writes() -> None:
    sentences = ["One.", " Two. ", "", "一。", "二。", "세.", "넷."]
    assert paragraph_lines(sentences, [range(3), range(3, 5), range(5, 7)]) == [
        "One. Two.",
        "一。二。",
        "세. 넷.",
    ]


@pytest.mark.parametrize(
    ("sentences", "paragraph"),
    [
        (["서울의 봄 날씨", "오늘은 맑습니다"], "서울의 봄 날씨 오늘은 맑습니다"),
        (["I like it 😀", "So do I 👍🏽", "And I ❤️"], "I like it 😀 So do I 👍🏽 And I ❤️"),
        (["我喜欢😀", "我也是"], "我喜欢😀我也是"),
        (["“你好。”", "“再见……”", "她走了"], "“你好。”“再见……”她走了"),
        (["He said “yes”…", "I did not."], "He said “yes”… I did not."),
        (["Это «да»", "Ναι;"], "Это «да» Ναι;"),
        (["終わり", "データ", "ＡＢＣ～", "次"], "終わりデータＡＢＣ～次"),
        (["😀", "😀"], "😀 😀"),
    ],
)
def test_a_space_stands_where_the_script_has_spaces(sentences: list[str], paragraph: str) -> None:
    assert paragraph_lines(sentences, [range(len(sentences))]) == [paragraph]


def test_translations_of_sentences_are_scored_as_paragraphs(tmp_path: Path) -> None:
    write_lines(tmp_path / "documents.zst", ["a", "a", "b"])
    write_lines(tmp_path / "corpus-src.zst", ["One.", "Two.", "Three."])
    write_lines(tmp_path / "corpus-trg.zst", ["Unu estas.", "Du estas.", "Tri."])
    write_lines(tmp_path / "translations.zst", ["Unu estas.", "Du.", "Tri."])
    metrics = evaluate(tmp_path, f"--translations={tmp_path / 'translations.zst'}")
    joined = ["Unu estas. Du.", "Tri."]
    assert [*read_lines(tmp_path / "out" / "translations.zst")] == joined
    assert (metrics["dataset"], metrics["lines"]) == ("url_test (paragraphs)", 2)
    assert metrics["chrf"] == evaluation_scores(joined, ["Unu estas. Du estas.", "Tri."], "eo")["chrf"]
    assert metrics["samples"][0]["source"] == "One. Two."


@pytest.mark.parametrize("number", [2, 4])
def test_translations_of_another_text_are_refused(tmp_path: Path, number: int) -> None:
    for name in ("documents", "corpus-src", "corpus-trg"):
        write_lines(tmp_path / f"{name}.zst", ["a", "b", "c"])
    write_lines(tmp_path / "translations.zst", ["a"] * number)
    with pytest.raises(InputError, match=f"has {number} translations of the 3 lines of url_test"):
        evaluate(tmp_path, f"--translations={tmp_path / 'translations.zst'}")


@pytest.mark.marian
@pytest.mark.slow
def test_the_engine_finds_the_sentences_itself(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(tmp_path / "exported")])
    files = sorted((tmp_path / "exported").iterdir())
    pairs = tiny.test_pairs[:6]
    write_lines(tmp_path / "documents.zst", ["a"] * 3 + ["b"] * 3)
    write_lines(tmp_path / "corpus-src.zst", [f"{source.capitalize().rstrip('.')}." for source, _ in pairs])
    write_lines(tmp_path / "corpus-trg.zst", [target for _, target in pairs])
    evaluate(tmp_path, "--exported", *map(str, files))
    engine = load_engine(files)
    sentences = [engine.translate(source) for source in read_lines(tmp_path / "corpus-src.zst")]
    found = [*read_lines(tmp_path / "out" / "translations.zst")]
    assert found == [" ".join(sentences[:3]), " ".join(sentences[3:])]
