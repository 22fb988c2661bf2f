"""Case is each language's, in lines of training, in the sample of vocabularies and in test sets alike.

The texts in other case are written by hand, from Unicode's SpecialCasing.txt and CLDR's rules.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opustrainer.modifiers.surface import TitleCaseModifier, UpperCaseModifier

from pipeline.alignments import shortlist
from pipeline.alignments.icu_tokens import detokenize, tokenize
from pipeline.common.case import title_words, upper
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.augment import main as augment
from pipeline.train import vocab
from pipeline.train.casing import CaseModifier, TitleCase, UpperCase, title_tokens
from pipeline.train.curriculum import read_curriculum
from pipeline.train.modifying import Modifying
from pipeline.train.reading import as_read
from tests.pipeline.train import tiny

CASES = ("UpperCase", "TitleCase")


class Text(NamedTuple):
    plain: str
    upper: str
    title: str

    def cased(self, case: str) -> str:
        return self.upper if case == "UpperCase" else self.title


TEXTS = {
    "tr": Text(
        "iğne ile kuyu-içi kazmak, ışıkta 'ilk' iş",
        "İĞNE İLE KUYU-İÇİ KAZMAK, IŞIKTA 'İLK' İŞ",
        "İğne İle Kuyu-içi Kazmak, Işıkta 'İlk' İş",
    ),
    "az": Text("ilk işıq (istilik)", "İLK İŞIQ (İSTİLİK)", "İlk İşıq (İstilik)"),
    "el": Text(
        "άλλη ώρα ή «πρωί», γαϊδούρα στο ρολόι",
        "ΑΛΛΗ ΩΡΑ Ή «ΠΡΩΙ», ΓΑΪΔΟΥΡΑ ΣΤΟ ΡΟΛΟΪ",
        "Άλλη Ώρα Ή «Πρωί», Γαϊδούρα Στο Ρολόι",
    ),
    "lt": Text(  # in upper case the dot under an accent goes; in title case Unicode changes the letter alone
        "įdavė jų li\u0307\u0303kti i\u0307\u0300",
        "ĮDAVĖ JŲ LI\u0303KTI I\u0300",
        "Įdavė Jų Li\u0307\u0303kti I\u0307\u0300",
    ),
    "nl": Text(
        "het ijs, 'ijsland' en bijna-ijs",
        "HET IJS, 'IJSLAND' EN BIJNA-IJS",
        "Het IJs, 'IJsland' En Bijna-ijs",
    ),
    "de": Text("straße über ölfaß", "STRASSE ÜBER ÖLFASS", "Straße Über Ölfaß"),
    "en": Text(
        'it\'s an "in-depth" idea, i say',
        'IT\'S AN "IN-DEPTH" IDEA, I SAY',
        'It\'s An "In-depth" Idea, I Say',
    ),
}
PAIRS = list(zip(TEXTS, [*list(TEXTS)[1:], "tr"], strict=True))
Sides: TypeAlias = tuple[str, str]
parametrized = pytest.mark.parametrize(("case", "langs"), [(case, pair) for case in CASES for pair in PAIRS])


def options(case: str, langs: Sides) -> list[str]:
    """Arguments by which all lines are in one case."""
    shares = f'{{"UpperCase": {int(case == "UpperCase")}, "TitleCase": {int(case == "TitleCase")}}}'
    path = str(tiny.CONFIGS / "curriculum/teacher.one-stage.yml")
    given = ["--src", langs[0], "--trg", langs[1], "--curriculum", path]
    return [*given, "--bicameral", "--modifiers", shares]


def corpus(folder: Path, langs: Sides) -> list[str]:
    """The two texts as files, and the options that name them."""
    for side, lang in zip(("src", "trg"), langs, strict=True):
        write_lines(folder / side, [TEXTS[lang].plain])
    return ["--corpus-src", str(folder / "src"), "--corpus-trg", str(folder / "trg")]


@parametrized
@pytest.mark.parametrize("curriculum", ["student", "teacher.one-stage"])
def test_lines_of_training(case: str, langs: Sides, curriculum: str) -> None:
    """Tokens with links, whose text is put together again."""
    vocabs = dict(zip(("source-vocab", "target-vocab"), map(str, tiny.corpus().vocabs), strict=True))
    names = {"src": langs[0], "trg": langs[1], **vocabs}
    path = tiny.CONFIGS / f"curriculum/{curriculum}.yml"
    read = read_curriculum(path, {"bicameral": True, "phonemic": True}, names, {case: 1.0, "Typos": 0.0})
    of_case = next(modifier for modifier in read.modifiers if case in modifier)
    config = read.stage_config(0, {name: Path() for name in read.datasets}, aligned=True, seed=1)
    config["modifiers"] = [
        {**modifier, "Tags": 0.0} if "Tags" in modifier else modifier
        for modifier in config["modifiers"]
        if "Tags" in modifier or next(iter(modifier)) in of_case
    ]
    sides = [" ".join(tokenize(TEXTS[lang].plain, lang)) for lang in langs]
    (line,) = Modifying(config).batch(["\t".join((*sides, "0-0"))], "1")
    assert line.split("\t")[:2] == [TEXTS[lang].cased(case) for lang in langs]


@parametrized
def test_lines_that_are_not_aligned(case: str, langs: Sides) -> None:
    read = read_curriculum(
        tiny.CONFIGS / "curriculum/teacher.one-stage.yml",
        {"bicameral": True, "phonemic": False},
        dict(zip(("src", "trg"), langs, strict=True)),
        {case: 1.0},
    )
    of_case = [modifier for modifier in read.modifiers if case in modifier]
    files = {name: Path() for name in read.datasets}
    config = read.stage_config(0, files, aligned=False, seed=1)
    config["modifiers"] = [made for made in config["modifiers"] if next(iter(made)) in of_case[0]]
    (line,) = Modifying(config).batch(["\t".join(TEXTS[lang].plain for lang in langs)], "1")
    assert line.split("\t") == [TEXTS[lang].cased(case) for lang in langs]


@parametrized
@pytest.mark.parametrize("split", [(), ("--split",)])
def test_the_sample_of_vocabularies(case: str, langs: Sides, split: tuple[str, ...], tmp_path: Path) -> None:
    given = [
        *options(case, langs),
        *corpus(tmp_path, langs),
        *split,
        "--vocab-size",
        "1",
        "--sample-size",
        "9",
    ]
    args = vocab.parse_arguments([*given, "--norm-rule", "nfkc", "--seed", "1", "--output", "x"])
    texts, unused = vocab.sample_texts(args, tmp_path / "sample.zst")
    assert [line for text in texts for line in text] == [TEXTS[lang].cased(case) for lang in langs]
    assert unused == 0


@parametrized
def test_test_sets(case: str, langs: Sides, tmp_path: Path) -> None:
    modifier = {"UpperCase": "upper", "TitleCase": "title"}[case]
    output = tmp_path / "work" / "out"
    given = [*corpus(tmp_path, langs), "--src", langs[0], "--trg", langs[1], "--output", str(output)]
    augment(["--modifier", modifier, *given])
    for lang in langs:
        assert list(read_lines(output / f"corpus.{lang}.zst")) == [TEXTS[lang].cased(case)]


@parametrized
def test_the_text_of_shortlists(case: str, langs: Sides, tmp_path: Path) -> None:
    files = ["--source-vocab", "x", "--target-vocab", "x", *corpus(tmp_path, langs)]
    args = shortlist._parser().parse_args([*files, *options(case, langs), "--output", "x"])
    modifiers = [made for made in shortlist.read_modifiers(args) if isinstance(made, CaseModifier)]
    (line,) = as_read([tuple(TEXTS[lang].plain for lang in langs)], modifiers, 1)
    assert list(line) == [TEXTS[lang].cased(case) for lang in langs]


def test_lines_are_drawn_and_english_is_written_as_by_opustrainer() -> None:
    """But where words begin with marks or hold some: text and tokens differ in OpusTrainer."""
    lines = [f"{source}\t{target}\t0-0" for source, target in tiny.pairs(300, seed=1)]
    lines += [" ".join(tokenize(line.split("\t")[0], "en")) + "\tx ▁ y\t0-0" for line in lines[:100]]
    tests: list[tuple[type[CaseModifier], Callable[[float], Callable[[list[str]], list[str]]]]] = [
        (UpperCase, UpperCaseModifier),
        (TitleCase, TitleCaseModifier),
    ]
    for ours, theirs in tests:
        random.seed(1)
        expected = list(theirs(0.3)(lines))
        for tokens in (False, True) if ours is UpperCase else (False,):
            random.seed(1)
            assert list(ours(0.3, "en", "eo", tokens)(lines)) == expected
        assert 80 < sum(one != other for one, other in zip(expected, lines, strict=True)) < 160


LOCALES = ("tr", "az", "el", "lt", "nl", "de", "hy", "zh", "")
some_text = st.text("iIıİjJ\u0307\u0301ßŉﬃήάΐ'’\"«(-%.:_ \t1第ʰ\u00a0ǆ$ა", max_size=12) | st.text(max_size=12)


@given(some_text, st.sampled_from(LOCALES))
@example("“l'union” well-known -- (ﬃ %s", "fr")
def test_tokens_and_text_are_titled_alike(text: str, locale: str) -> None:
    tokens = tokenize(text, locale)
    titled = title_tokens(" ".join(tokens), locale).split(" ")
    assert len(titled) == max(1, len(tokens))
    assert detokenize(titled) == title_words(detokenize(tokens), locale)


@given(some_text, some_text, st.sampled_from(LOCALES), st.booleans())
def test_no_token_is_lost_or_added(source: str, target: str, locale: str, tokens: bool) -> None:
    """Links stay right."""
    sides = [" ".join(tokenize(text, locale)) for text in (source, target)]
    for modifier in (UpperCase(1.0, locale, "", tokens), TitleCase(1.0, locale, "", tokens)):
        (line,) = modifier(["\t".join((*sides, "0-0 1-2"))])
        *cased, links = line.split("\t")
        assert [len(side.split()) for side in cased] == [len(side.split()) for side in sides]
        assert links == "0-0 1-2"


@given(some_text, st.sampled_from([locale for locale in LOCALES if locale != "el"]))
def test_tokens_and_text_are_in_upper_case_alike(text: str, locale: str) -> None:
    """In Greek all but `ή` between marks, which is a word of its own among tokens."""
    tokens = tokenize(text, locale)
    assert detokenize(upper(" ".join(tokens), locale).split(" ")) == upper(detokenize(tokens), locale)
