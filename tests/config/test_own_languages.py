"""The config section `languages`."""

from __future__ import annotations

import pytest

from tests.config.texts import SMALL, problem_of
from translations_assets.config.load import config_notes, parse_config
from translations_assets.configs.training_configs import graph_of

KAB = SMALL.replace("trg: ru", "trg: kab").replace("opus_ParaCrawl/v9", "opus_NLLB/v1")
OWN = """languages:
  kab:
    name: Taqbaylit
    script: Tifinagh
    labels: [kab, kab_Tfng]
    sources: {opus: kab_Tfng, flores: "", hplt: kab_Tfng}
"""
TESTED = KAB.replace("flores_devtest", "url_https://example.org/test.[LANG]").replace(
    "flores_dev", "url_https://example.org/dev.[LANG]"
)


def test_a_config_says_otherwise_of_a_language_that_is_known() -> None:
    config = parse_config(TESTED + OWN, "en-kab.yml")
    spoken = config.target
    assert (spoken.code, spoken.name, spoken.script, spoken.bicameral) == (
        "kab", "Taqbaylit", "Tifinagh", False
    )  # fmt: skip
    assert (spoken.iso639_1, spoken.iso639_3, spoken.hplt, spoken.hplt2) == (
        "kab_Tfng", "kab", "kab_Tfng", "kab_Tfng"
    )  # fmt: skip
    assert spoken.labels == ("kab", "kab_Tfng")
    assert config.source.name == "English"
    args = {step.label: step.args for step in graph_of(config).steps}
    assert args["dataset-train-opus_NLLB_v1-en-kab"]["trg_code"] == "kab_Tfng"
    assert args["clean-corpus-opus_NLLB_v1-en-kab"]["trg_script"] == "Tifinagh"
    assert args["clean-corpus-opus_NLLB_v1-en-kab"]["trg_labels"] == ["kab", "kab_Tfng"]


def test_a_provider_that_lacks_it_by_the_config_is_told() -> None:
    text = TESTED.replace("https://example.org/test.[LANG]", "x").replace("url_x", "flores_devtest")
    assert "FLORES-200 has no Taqbaylit" in problem_of(text + OWN)


def test_a_language_that_nobody_knows_is_described() -> None:
    text = TESTED.replace("trg: kab", "trg: qaa").replace("opus_NLLB/v1", "url_https://a.org/b.[LANG]")
    own = "languages: {qaa: {name: Quenya, script: Latn}}\n"
    spoken = parse_config(text + own, "en-qaa.yml").target
    assert (spoken.name, spoken.script, spoken.bicameral, spoken.spaced) == ("Quenya", "Latin", True, True)
    assert (spoken.iso639_1, spoken.flores, spoken.hplt, spoken.icu) == ("", "", "", "qaa")
    assert "describe 'qaa' in `languages`" in problem_of(text)
    assert "needs a name and a script" in problem_of(text + "languages: {qaa: {name: Quenya}}\n")


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ("{kab: {script: Elvish}}", "'Elvish' is no script; write Unicode's name or the code of ISO 15924"),
        ("{kab: {scripts: Latn}}", "unknown key. Did you mean 'script'?"),
        ("{kab: {sources: {opsu: kab}}}", "Did you mean 'opus'?"),
        ("{ug: {spaced: true}}", "is no language of this config"),
    ],
)
def test_a_wrong_description(own: str, says: str) -> None:
    assert says in problem_of(f"{KAB}languages: {own}\n")


def test_spaces_are_the_scripts_unless_the_config_says_otherwise() -> None:
    script = "languages: {kab: {script: Lao}}\n"
    assert not parse_config(TESTED + script, "en-kab.yml").target.spaced
    both = "languages: {kab: {script: Lao, spaced: true}}\n"
    assert parse_config(TESTED + both, "en-kab.yml").target.spaced


def test_a_note_tells_what_is_taken_for_granted() -> None:
    notes = [note.message for note in config_notes(KAB, "en-kab.yml")]
    assert (
        "Kabyle: taken to be written in Latin letters, words parted by spaces; identified by glotlid, if "
        "that knows it; known test sets: flores, pontoon. Say otherwise in languages.kab" in notes
    )
    assert not [note for note in config_notes(SMALL, "en-ru.yml") if "taken to be" in note.message]
