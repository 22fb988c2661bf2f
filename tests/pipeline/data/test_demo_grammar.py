"""The demo's grammar: correct in both languages, and one translation each way."""

import re
from random import Random

import pytest

from pipeline.data.demo_grammar import Text, sentence
from pipeline.data.demo_lexicon import ADJECTIVES, NOUNS, VERBS


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    rng = Random(7)
    return [sentence(rng) for _ in range(30_000)]


def _esperanto(texts: list[Text], english: str) -> str:
    return next(text.eo for text in texts if text.en == english)


def test_sentences_look_like_text(texts: list[Text]) -> None:
    for en, eo in texts:
        assert re.fullmatch(r"[A-Z1-9][a-zA-Z0-9, ]*[.?!]", en), en
        assert re.fullmatch(r"[A-ZĈĜĤĴŜŬ1-9][a-zA-ZĉĝĥĵŝŭĈĜĤĴŜŬ0-9, ]*[.?!]", eo), eo
        assert "  " not in en + eo
        assert en[-1] == eo[-1]


def test_each_sentence_has_one_translation_in_either_direction(texts: list[Text]) -> None:
    distinct = set(texts)
    assert len({text.en for text in distinct}) == len(distinct)
    assert len({text.eo for text in distinct}) == len(distinct)


def test_numbers_agree(texts: list[Text]) -> None:
    for en, eo in texts:
        assert re.findall(r"\d+", en) == re.findall(r"\d+", eo)


def test_every_word_occurs(texts: list[Text]) -> None:
    words = {word for text in texts for word in re.findall(r"\w+", text.en.lower())}
    vocabulary = {word.en for word in (*NOUNS, *ADJECTIVES, *VERBS)} | {noun.plural for noun in NOUNS}
    assert vocabulary - words == set()


def test_objects_are_accusative_with_their_adjectives(texts: list[Text]) -> None:
    adjectives = "|".join(adjective.en for adjective in ADJECTIVES)
    found = 0
    for en, eo in texts:
        if re.fullmatch(rf"(I|You|We) [a-z]+ (the|my|our|your|[1-9]\d) ({adjectives}) \w+\.", en):
            determiner, adjective, noun = eo.removesuffix(".").split()[2:]
            assert determiner == "la" or determiner.isdigit() or determiner.endswith("n"), (en, eo)
            assert (adjective[-1], noun[-1]) == ("n", "n"), (en, eo)
            assert adjective.endswith("ajn") == noun.endswith("ojn"), (en, eo)
            found += 1
    assert found > 20


@pytest.mark.parametrize(
    ("english", "esperanto"),
    [
        (r"The (\w+) was (\w+)\.", r"La (\w+[^j]) estis (\w+a)\."),
        (r"They are (tired|happy|rich)\.", r"Ili estas (\w+aj)\."),
        (r"You are (tired|happy|rich)\.", r"Vi estas (\w+a)\."),
        (r"(He|She) (\w+s)\.", r"(Li|Ŝi) (\w+as)\."),
        (r"(Will|Did|Do|Does) .+\?", r"Ĉu .+ (\w+(os|is|as))\b.*\?"),
        (r".* (did|do|does|will|is|are|was|were|am) not .*\.", r".* ne .*\."),
        (r"Who .+\?", r"Kiu .+\?"),
        (r"What (do|does|did|will) .+\?", r"Kion .+\?"),
        (r"How many (\w+) .+\?", r"Kiom da (\w+oj) .+\?"),
        (r"There (is|was) an? .+\.", r"(Estas|Estis) \w+o? .+\."),
        (r"Do not (\w+).*!", r"Ne (\w+u).*!"),
        (r"(\w+ )+cannot \w+.*\.", r".* ne povas \w+i\b.*\."),
        (r".* thinks? that .*", r".* pensas, ke .*"),
        (r".*, because .*", r".*, ĉar .*"),
        (r"(I|We) \w+ \d\d \w+s\.", r"(Mi|Ni) \w+ \d\d \w+ojn\."),
    ],
)
def test_constructions(english: str, esperanto: str, texts: list[Text]) -> None:
    matching = [text for text in texts if re.fullmatch(english, text.en)]
    assert len(matching) >= 2
    for en, eo in matching:
        assert re.fullmatch(esperanto, eo), (en, eo)


def test_third_person_possessives_never_need_a_reflexive(texts: list[Text]) -> None:
    """ "He loves his dog" would be lia or sia in Esperanto."""
    for en, eo in texts:
        for clause in re.split(r", (?:kaj|sed|ĉar|ke) ", eo):
            owner = re.search(r"\b(lia|ŝia|ilia)(jn|n|j)?\b", clause.lower())
            if owner and owner[2] in ("n", "jn"):
                assert re.match(r"(\w+ )?(ĉu )?(kion )?(mi|vi|ni)\b|ne |\w+u\b", clause.lower()), (en, eo)


def test_english_articles(texts: list[Text]) -> None:
    for en, _ in texts:
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", en.lower()), en


def test_the_same_seed_gives_the_same_sentences() -> None:
    assert [sentence(Random(3)) for _ in range(5)] == [sentence(Random(3)) for _ in range(5)]
    assert sentence(Random(3)) != sentence(Random(4))
