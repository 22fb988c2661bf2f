"""Tests of the letters that a vocabulary knows, as the playground finds out, beside SentencePiece itself."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sentencepiece as spm

SCRIPT = Path(__file__).with_name("letters.mjs")
LINES = ["The big dog sees a cat.", "Ŝi vidas la katon, ĉu ne?", "42 hundoj kuras al µm-oj."] * 40


def vocabulary(path: Path, **options: Any) -> Path:
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_prefix=str(path),
        hard_vocab_limit=False,
        minloglevel=2,
        user_defined_symbols=["Ж"],
        **options,
    )
    return path.with_suffix(".model")


def found(file: Path, *texts: str) -> dict[str, Any]:
    if not (node := shutil.which("node")):
        pytest.skip("needs node: make ci-environments")
    done = subprocess.run(
        [node, str(SCRIPT), str(file)], input=json.dumps(texts), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_letters_are_those_that_sentencepiece_names(tmp_path: Path) -> None:
    file = vocabulary(tmp_path / "v", vocab_size=400, byte_fallback=True)
    model = spm.SentencePieceProcessor(model_file=str(file))
    pieces = [
        model.id_to_piece(number)
        for number in range(model.vocab_size())
        if not (model.is_byte(number) or model.is_control(number) or model.is_unknown(number))
    ]
    letters = {letter for piece in pieces for letter in piece.lower() if letter.isalpha()}
    assert {"ŝ", "ĉ", "ж", "z"} & letters == {"ŝ", "ĉ", "ж"}
    assert {*found(file)["known"]} == letters


def test_what_a_word_and_a_sentence_are_is_decided_by_most_letters(tmp_path: Path) -> None:
    file = vocabulary(tmp_path / "v", vocab_size=400, byte_fallback=True)
    texts = {
        "The cat sees Жж.": ([], False),
        "THE CAT": ([], False),
        "42 🐱 — ?!": ([], False),
        "Mihăilești": ([], False),  # a few letters of a name
        "собака": (["собака"], True),
        "The dog sees the собака.": (["собака"], False),
        "The собака собака 犬.": (["собака", "犬"], True),
        "ＴＨＥ": ([], False),  # wide letters, which every rule of vocabularies makes plain ones
        "c\u0302": ([], False),  # ĉ in two characters
    }
    for text, answer in zip(texts, found(file, *texts)["texts"], strict=True):
        assert (answer["unknown"], answer["foreign"]) == texts[text], text
        assert "".join(passage["text"] for passage in answer["passages"]) == text

    (answer,) = found(file, "A cat. A dog. Собака. Кошка.\nA cat.")["texts"]
    assert [(one["text"], one["foreign"]) for one in answer["passages"]] == [
        ("A cat. A dog. ", False),
        ("Собака. Кошка.\n", True),
        ("A cat.", False),
    ]


def test_a_vocabulary_without_letters_knows_all(tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(b"")
    (answer,) = found(tmp_path / "none", "собака")["texts"]
    assert answer == {
        "unknown": [],
        "foreign": False,
        "passages": [{"text": "собака", "foreign": False}],
    }
