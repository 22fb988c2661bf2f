"""The table of languages."""

import json
import re
import unicodedata

import pytest
import regex
from icu4py.breakers import WordBreaker
from mtdata.iso import iso3_code

from pipeline.clean.alphabet import other_letters, own_letters
from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import TABLE, language, languages

# Codes with a script or a region, besides those that configs of 2026 have
VARIANTS = {"pt_br", "pt_pt", "sr_cyrl", "sr_latn", "zh_hans"}


def test_all_languages_of_the_2026_generation_are_there() -> None:
    codes = (
        "af ar as az be bg bn bs ca cs cy da de el en eo es et eu fa ff fi fr ga gd gl gn gu he hi hr hu hy "
        "id is it ja ka kk km kn ko lt lv mk ml mr ms my nb ne nl nn no oc or pa pl pt ro ru si sk sl sq sr "
        "sv ta te th tl tr uk ur uz vi xh zh zh_hant"
    )
    assert [code for code in languages() if code not in VARIANTS] == codes.split()
    assert set(languages()) >= VARIANTS


def test_providers_codes() -> None:
    russian, traditional, serbian = language("ru"), language("zh_hant"), language("sr")
    assert (russian.flores, russian.ntrex, russian.iso639_3, russian.iso639_1) == (
        "rus_Cyrl",
        "rus",
        "rus",
        "ru",
    )
    assert (traditional.flores, traditional.hplt, traditional.ntrex) == ("zho_Hant", "cmn_Hant", "zho-TW")
    assert (traditional.iso639_1, traditional.iso639_3) == ("zh", "zho")
    assert serbian.ntrex == "srp-Cyrl"
    assert language("lv").flores == "lvs_Latn"
    assert (language("et").hplt, language("et").hplt2, language("ar").hplt2) == (
        "ekk_Latn",
        "est_Latn",
        "ara_Arab",
    )
    pontoon = {code: language(code).pontoon for code in ("ru", "sv", "es", "zh", "zh_hant", "pt_pt")}
    assert list(pontoon.values()) == ["ru", "sv-SE", "es-ES", "zh-CN", "zh-TW", "pt-PT"]


def test_variants_have_the_codes_of_their_language_and_of_their_own() -> None:
    for variant, of in {"pt_br": "pt", "pt_pt": "pt", "sr_cyrl": "sr", "zh_hans": "zh"}.items():
        assert language(variant).iso639_1 == language(of).iso639_1
        assert language(variant).flores == language(of).flores
    assert (language("pt_br").ntrex, language("pt_pt").ntrex) == ("por-BR", "por")
    chinese = {code: language(code).chinese for code in languages() if language(code).chinese}
    assert chinese == {"zh": "simplified", "zh_hans": "simplified", "zh_hant": "traditional"}
    assert language("eo").ntrex == ""


def test_bleu_knows_chinese_languages_in_their_own_characters() -> None:
    codes = {"zh": "zh", "zh_hant": "zh_hant", "yue": "zh-yue", "lzh": "zh-lzh", "nan": "zh-nan"}
    assert {code: language(code).bleu for code in codes} == codes
    assert [language(code).bleu for code in ("nan_latn", "ja", "sr_latn")] == ["nan_latn", "ja", "sr_latn"]


def test_serbian_in_latin_letters_is_not_given_text_in_cyrillic_ones() -> None:
    latin = language("sr_latn")
    assert (latin.iso639_1, latin.iso639_3, latin.ntrex, latin.icu) == ("sr", "srp", "srp-Latn", "sr_Latn")
    assert (latin.flores, latin.hplt, latin.hplt2, latin.pontoon) == ("", "", "", "")
    assert {code for code in languages() if not language(code).flores} == {"sr_latn"}


def test_sets_of_the_hub_have_one_variant_of_a_language() -> None:
    wmt24pp = {
        code: language(code).wmt24pp for code in ("en", "ar", "es", "pt", "pt_pt", "nb", "nn", "zh_hant")
    }
    assert list(wmt24pp.values()) == ["en", "ar_SA", "es_MX", "pt_BR", "pt_PT", "no_NO", "", "zh_TW"]
    bouquet = {code: language(code).bouquet for code in ("ar", "de", "ko", "pt_br", "pt_pt", "tl", "zh_hant")}
    assert list(bouquet.values()) == [
        *("arz_Arab", "deu_Latn", "kor_Kore", "por_Latn_braz1246", "", "tgl_Latn", "cmn_Hant"),
    ]
    assert [language(code).flores_plus for code in ("et", "tl", "zh")] == ["ekk_Latn", "fil_Latn", "cmn_Hans"]
    latin = language("sr_latn")
    assert (latin.wmt24pp, latin.bouquet, latin.flores_plus) == ("", "", "")
    for known in languages().values():
        assert known.wmt24pp in ("", "en") or known.wmt24pp[:-3] in (known.iso639_1, "fil", "no"), known


@pytest.mark.parametrize("code", languages())
def test_a_row_agrees_with_itself_and_with_mtdata(code: str) -> None:
    known = language(code)
    assert known.iso639_3 == iso3_code(known.iso639_1)
    for name in filter(None, (known.flores, known.hplt)):
        assert re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", name)
    # Korean's script of its own, without the Han characters that Kore includes, is what FLORES names
    assert known.flores[4:] in ("", {"Kore": "Hang"}.get(known.script_code, known.script_code))


def test_scripts_decide_case_and_spelling_by_sound() -> None:
    facts = {code: (language(code).bicameral, language(code).phonemic) for code in languages()}
    assert facts["en"] == facts["ru"] == facts["el"] == facts["hy"] == (True, True)
    assert facts["ka"] == facts["ar"] == facts["hi"] == facts["th"] == (False, True)
    assert facts["zh"] == facts["ja"] == facts["ko"] == (False, False)


WIDER = {"Japanese": "Han Hiragana Katakana", "Korean": "Hangul Han"}
IN_USE = {
    "Latin": "·ʼ",
    "Cyrillic": "ʼ",
    "Greek": "·",
    "Georgian": "·",
}  # Unicode has more of scholars' alone


def test_marks_of_a_script_are_those_that_unicode_says_are_used_with_it() -> None:
    """By the library regex, whose Unicode is newer than the table may be."""
    for script, known in {known.script: known for known in languages().values()}.items():
        classes = "".join(rf"\p{{scx={part}}}" for part in WIDER.get(script, script).split())
        pattern = regex.compile(rf"(?V1)[[{classes}]&&[\p{{Nd}}\p{{P}}\p{{Sc}}\p{{Lm}}]]")
        used = {chr(code) for code in range(0x80, 0x10000) if pattern.match(chr(code))}
        settled = {
            mark
            for mark in used
            if unicodedata.normalize("NFKC", mark) == mark and unicodedata.category(mark) != "Cn"
        }
        assert set(known.marks) - {*"\u200c\u200d"} == set(IN_USE.get(script, settled)), script


def test_languages_whose_lengths_are_counted_in_characters() -> None:
    unspaced = [code for code in languages() if not language(code).spaced]
    assert unspaced == ["ja", "km", "ko", "my", "th", "zh", "zh_hans", "zh_hant"]


@pytest.mark.parametrize("code", languages())
def test_cleaning_and_icu_know_the_script_and_the_locale(code: str) -> None:
    known = language(code)
    own_letters(known.script)
    assert "".join(map(str, WordBreaker("a b", known.icu))) == "a b"


def test_letters_belong_to_the_script_of_their_language() -> None:
    for code, word in {"ru": "мир", "ja": "平和へ", "ko": "평화", "my": "ငြိမ်း", "or": "ଶାନ୍ତି"}.items():
        script = language(code).script
        assert own_letters(script).findall(word) == [word]
        assert not other_letters(script).search(word)


def test_the_table_stays_readable_one_language_a_line() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert sum('"name"' in line for line in lines) == len(languages())
    assert json.loads("\n".join(lines))["scripts"].keys() == {known.script for known in languages().values()}


def test_an_unknown_language_is_answered_with_the_one_that_may_be_meant() -> None:
    for code, meant in {"EN": "en", "nob": "nb", "russian": "ru", "zho_hans": "zh", "esperant": "eo"}.items():
        with pytest.raises(ConfigError, match=f"Did you mean '{meant}'"):
            language(code)
    with pytest.raises(ConfigError, match="'qqqq' is not a known language. Write an ISO 639 code such as"):
        language("qqqq")
