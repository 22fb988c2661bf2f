"""Tests of what answers of a service are faulty by their words, and of English ones, which may say them."""

import json
from pathlib import Path

import pytest

from pipeline.clean import check_answers
from pipeline.clean.evidence import Script
from pipeline.clean.faults import fault
from pipeline.common.lines import read_lines, write_lines

LATIN = Script("Latin")


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("Je ne me plierai pas à vos exigences.", "I will not comply with your demands."),
        ("Als KI-Forscher hat er viel erreicht.", "As an AI researcher he has achieved much."),
        ("Traduction : Jean Dupont", "Translation: Jean Dupont"),
        ("Voici la traduction du manuel.", "Here is the translation of the manual."),
        ("D'accord. La traduction est prête.", "Okay. The translation is ready."),
        ("Le mot (remarque : du grec) est ancien.", "The word (note: from Greek) is old."),
        ("翻译：张三。", "Translation: Zhang San."),
    ],
)
def test_what_a_sentence_says_its_english_translation_says(source: str, answer: str) -> None:
    script = Script("Han") if "。" in source else LATIN
    assert fault(source, answer, script, in_english=True) == ""
    assert fault(source, answer, script, in_english=False) in ("chatter", "refusal")


@pytest.mark.parametrize(
    ("kind", "source", "answer"),
    [
        ("chatter", "J'aime les chiens.", "Here is the translation: I like dogs."),
        ("chatter", "J'aime les chiens.", "Sure! The translation is: I like dogs."),
        ("chatter", "J'aime les chiens.", "```I like dogs.```"),
        ("chatter", "J'aime les chiens.", "I like dogs. (Note: the original is informal)"),
        ("chatter", "Chiens", "Translation: dogs"),
        ("refusal", "Un mot. Deux mots.", "I'm sorry, but I can't translate this text."),
        ("refusal", "Un mot", "I can't assist with that."),
        ("refusal", "Un mot.", "I can't assist with that. Please give me another text."),
    ],
)
def test_what_english_answers_add(kind: str, source: str, answer: str) -> None:
    assert fault(source, answer, LATIN, in_english=True) == kind
    assert fault(source, answer, LATIN, in_english=False) == kind


def test_a_refusal_of_several_lines_is_no_translation(tmp_path: Path) -> None:
    refused = "I cannot translate this offensive sentence."
    pairs = {
        "Le chat noir dort.": refused,
        "Le chien blanc dort.": refused,
        "Je ne peux pas traduire cette phrase offensante.": "I cannot translate this abusive sentence.",
        "La table est mise.": "The table is laid.",
    }
    write_lines(tmp_path / "text.zst", pairs)
    answers = [json.dumps({"candidates": [answer]}) for answer in pairs.values()]
    write_lines(tmp_path / "answers.zst", answers)
    files = ["--answers", str(tmp_path / "answers.zst"), "--text", str(tmp_path / "text.zst")]
    scripts = ["--src-script", "Latin", "--trg-script", "Latin", "--trg-labels", "eng"]
    check_answers.main([*files, *scripts, "--output", str(tmp_path / "checked")])
    translations = list(read_lines(tmp_path / "checked" / "translations.zst"))
    assert translations == ["" if answer == refused else answer for answer in pairs.values()]
    stats = json.loads((tmp_path / "checked" / "stats.json").read_text())
    assert stats["lines"]["dropped"] == {"refusal": 2}
