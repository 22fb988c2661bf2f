"""Tests of which identifier is meant for a language, and of the labels that it has there."""

from __future__ import annotations

import pytest
from heliport import Identifier

from tests.stages.configs import SMALL
from translations_assets.config.identification import (
    AUTO,
    GLOTLID,
    HELIPORT,
    MODELS,
    NLLB,
    NON_COMMERCIAL,
    OPENLID_2,
    OPENLID_3,
    heli_labels,
    identifier_of,
    labels,
    weakness,
    whole_labels,
)
from translations_assets.config.languages import language, languages
from translations_assets.config.load import config_notes

GLOTLID_LANGUAGES = {"bs", "ff", "hr", "id", "ms", "sr_latn", "uz", "xh"}


def test_heli_has_the_labels_of_every_language_but_those_that_are_named() -> None:
    known = set(Identifier().get_confidence_all())
    lacking = {code for code, spoken in languages().items() if not known & set(heli_labels(spoken))}
    assert lacking == {"ff", "uz", "xh"}


def test_languages_that_share_a_label_of_heli_and_a_script_are_glotlids() -> None:
    shared: dict[tuple[str, ...], set[str]] = {}
    for spoken in languages().values():
        shared.setdefault((spoken.script, *heli_labels(spoken)), set()).add(spoken.iso639_3)
    together = {key for key, names in shared.items() if len(names - {"nor", "nob"}) > 1 and key[1:]}
    assert together == {("Latin", "hbs"), ("Latin", "msa")}
    found = {code for code, spoken in languages().items() if identifier_of(AUTO, spoken) == GLOTLID}
    assert found == GLOTLID_LANGUAGES
    assert {identifier_of(NLLB, spoken) for spoken in languages().values()} == {NLLB}


def test_labels() -> None:
    assert labels(language("zh_hant")) == ["zho", "cmn", "zh"]
    assert labels(language("lv")) == ["lvs", "lav", "lv"]
    assert labels(language("nb")) == ["nob", "nb", "nor", "no"]
    assert labels(language("no")) == ["nob", "nor", "no", "nno", "nn"]
    assert labels(language("id")) == ["ind", "id", "msa"]
    for model in (GLOTLID, OPENLID_3):
        assert labels(language("sr_latn"), model) == ["srp", "sr", "hbs", "sh"]
    for model in (NLLB, OPENLID_2):
        assert {"hrv", "bos"} < set(labels(language("sr_latn"), model))
    assert heli_labels(language("sr")) == ["hbs"]
    assert {code: whole_labels(language(code)) for code in ("et", "sr", "sr_latn")} == {
        "et": ["est_Latn", "ekk_Latn"],
        "sr": ["srp_Cyrl"],
        "sr_latn": ["hrv_Latn", "bos_Latn", "srp_Latn"],
    }


def test_every_language_has_labels_in_models_of_fasttext() -> None:
    assert all(labels(spoken, model) for spoken in languages().values() for model in MODELS)


@pytest.mark.parametrize(
    ("choice", "code", "message"),
    [
        (AUTO, "hr", ""),
        (HELIPORT, "lt", ""),
        (GLOTLID, "hr", ""),
        (HELIPORT, "hr", "takes Bosnian and Serbian for Croatian; glotlid distinguishes them"),
        (HELIPORT, "xh", "does not know Xhosa, so no line is dropped for its language"),
    ],
)
def test_what_an_identifier_does_not_do(choice: str, code: str, message: str) -> None:
    found = weakness(choice, language(code))
    assert message in found if message else not found


@pytest.mark.parametrize(
    ("choice", "messages"),
    [
        ("heliport", ["heliport takes Malay for Indonesian; glotlid distinguishes them"]),
        ("nllb", ["'nllb' is a model whose licence is for non-commercial use only (CC BY-NC 4.0)"]),
        ("glotlid", []),
    ],
)
def test_a_weaker_choice_is_noted(choice: str, messages: list[str]) -> None:
    text = SMALL.replace("src: zh", f"src: id\n  language-identification: {choice}")
    notes = [note for note in config_notes(text, "c.yml") if note.key.endswith("language-identification")]
    assert [note.message for note in notes] == messages
    assert {"nllb"} == NON_COMMERCIAL
