"""Synthetic sentences, English and Esperanto, from a small grammar: the demo's language pair.

Each call of `sentence` draws one meaning and says it in both languages. Esperanto shows what a translation
model has to learn: adjectives agree with their noun in number (-j) and case (-n), objects stand in the
accusative, tense is an ending (-as, -is, -os), yes-no questions begin with "Ĉu" and need no auxiliary verb.

An English sentence has one Esperanto translation and the other way round. So third-person possessives ("his")
stand only beside subjects that are not of the third person, or in subjects: elsewhere Esperanto would have to
choose between "lia" and "sia", which English does not tell apart.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

from pipeline.data.demo_lexicon import (
    ADJECTIVES,
    ADVERBS,
    CONJUNCTIONS,
    LOCATIONS,
    NOUNS,
    NUMBERS,
    PREPOSITIONS,
    PRONOUNS,
    REPORTS,
    VERBS,
    Adjective,
    Noun,
    Verb,
)

Word = TypeVar("Word", Noun, Adjective)

ENDINGS = {"present": "as", "past": "is", "future": "os"}
TENSES = tuple(ENDINGS)
FIRST_AND_SECOND = ("I", "you", "we")
EVERYBODY = tuple(row[0] for row in PRONOUNS)
ALIVE = frozenset({"person", "animal"})
STATES = ("want", "have")  # nobody wants to want


class Text(NamedTuple):
    """The same words in English and in Esperanto."""

    en: str
    eo: str


NOTHING = Text("", "")
YES_OR_NO = Text("", "Ĉu")


def join(*parts: Text) -> Text:
    """The parts one after the other, in both languages."""
    return Text(*(" ".join(filter(None, side)) for side in zip(*parts, strict=True)))


@dataclass(frozen=True)
class Nominal:
    """A noun phrase or pronoun: as a subject, as an object, and what agrees with it."""

    subject: Text
    object: Text
    be: str  # am, is, are
    plural: bool  # of adjectives that agree with it in Esperanto
    kinds: frozenset[str]
    pronoun: str = ""


class Finite(NamedTuple):
    """A finite verb: in English as a statement has it, and apart for questions and denials; in Esperanto."""

    plain: str
    auxiliary: str
    rest: str
    eo: str


@dataclass(frozen=True)
class Clause:
    """Who does what; to be stated, denied or asked."""

    subject: Nominal
    verb: Finite
    complement: Text

    def statement(self) -> Text:
        return join(self.subject.subject, Text(self.verb.plain, self.verb.eo), self.complement)

    def denial(self) -> Text:
        english = f"{self.verb.auxiliary} not {self.verb.rest}".replace("can not", "cannot").strip()
        return join(self.subject.subject, Text(english, f"ne {self.verb.eo}"), self.complement)

    def question(self, word: Text = YES_OR_NO) -> Text:
        inverted = join(word, Text(self.verb.auxiliary, ""), self.subject.subject)
        return join(inverted, Text(self.verb.rest, self.verb.eo), self.complement)


def sentence(rng: Random) -> Text:
    """One sentence with a capital letter and final punctuation, in both languages."""
    kinds, weights = zip(*SENTENCES, strict=True)
    text = rng.choices(kinds, weights)[0](rng)
    return Text(*(side[0].upper() + side[1:] for side in text))


def _statement(rng: Random) -> Text:
    return _stop(_timed(rng, lambda clause: clause.statement()))


def _denial(rng: Random) -> Text:
    return _stop(_timed(rng, lambda clause: clause.denial()))


def _question(rng: Random) -> Text:
    return _stop(_timed(rng, lambda clause: clause.question(), front=False), "?")


def _timed(rng: Random, say: Callable[[Clause], Text], front: bool = True) -> Text:
    """A clause, sometimes with an adverb of time at its end or its front."""
    tense = rng.choice(TENSES)
    text = say(_clause(rng, tense))
    if rng.random() < 0.7:
        return text
    adverb = Text(*rng.choice(ADVERBS[tense]))
    return join(adverb, text) if front and rng.random() < 0.4 else join(text, adverb)


def _compound(rng: Random) -> Text:
    conjunction = Text(*rng.choice(CONJUNCTIONS))
    first, second = (_clause(rng, rng.choice(TENSES), brief=True).statement() for _ in range(2))
    return _stop(join(_stop(first, ","), conjunction, second))


def _report(rng: Random) -> Text:
    """ "The boy thinks that …": the first verb stands in the present, where English shifts no tenses."""
    en, eo = rng.choice(REPORTS)
    who = _subject(rng, frozenset({"person"}))
    said = _clause(rng, rng.choice(TENSES), brief=True).statement()
    verb = Text(_third(en) if who.be == "is" else en, f"{eo}as,")
    return _stop(join(who.subject, verb, Text("that", "ke"), said))


def _who(rng: Random) -> Text:
    tense = rng.choice(TENSES)
    verb = rng.choice(VERBS)
    who = Nominal(Text("who", "kiu"), NOTHING, "is", False, frozenset({"person"}))
    return _stop(Clause(who, _action(verb, tense, who), _complement(rng, verb, who)).statement(), "?")


def _what(rng: Random) -> Text:
    verb = rng.choice([verb for verb in VERBS if "thing" in verb.objects])
    subject = _subject(rng, verb.subjects)
    asked = Clause(subject, _action(verb, rng.choice(TENSES), subject), NOTHING)
    return _stop(asked.question(Text("what", "kion")), "?")


def _where_why(rng: Random) -> Text:
    verb = rng.choice([verb for verb in VERBS if not verb.objects])
    subject = _subject(rng, verb.subjects)
    word = Text(*rng.choice((("where", "kie"), ("why", "kial"))))
    return _stop(Clause(subject, _action(verb, rng.choice(TENSES), subject), NOTHING).question(word), "?")


def _how_many(rng: Random) -> Text:
    verb = rng.choice([verb for verb in VERBS if verb.objects])
    subject = _subject(rng, verb.subjects)
    noun = _choose(rng, NOUNS, verb.objects)
    word = Text(f"how many {noun.plural}", f"kiom da {_declined(noun.eo, True)}")
    return _stop(Clause(subject, _action(verb, rng.choice(TENSES), subject), NOTHING).question(word), "?")


def _there_is(rng: Random) -> Text:
    what = _noun_phrase(rng, frozenset({"person", "animal", "thing", "food"}), definite=False)
    english, ending = ("is", "as") if rng.random() < 0.6 else ("was", "is")
    if what.be == "are":
        english = {"is": "are", "was": "were"}[english]
    return _stop(join(Text(f"there {english}", f"est{ending}"), what.subject, _place(rng)))


def _command(rng: Random) -> Text:
    verb = rng.choice([verb for verb in VERBS if "person" in verb.subjects])
    you = _pronoun("you")
    say = Text("do not", "ne") if rng.random() < 0.3 else NOTHING
    return _stop(join(say, Text(verb.en, f"{verb.eo}u"), _complement(rng, verb, you)), "!")


SENTENCES: tuple[tuple[Callable[[Random], Text], float], ...] = (
    (_statement, 37),
    (_denial, 12),
    (_question, 16),
    (_compound, 5),
    (_report, 4),
    (_who, 4),
    (_what, 3),
    (_where_why, 3),
    (_how_many, 4),
    (_there_is, 5),
    (_command, 6),
)


def _clause(rng: Random, tense: str, brief: bool = False) -> Clause:
    """A clause; in a brief one nouns have no adjectives and numbers, and place and company are not told."""
    if rng.random() < 0.3:
        return _being_clause(rng, tense, brief)
    verb = rng.choice(VERBS)
    subject = _subject(rng, verb.subjects, brief)
    finite = _action(verb, tense, subject)
    if rng.random() < 0.15 and verb.en not in STATES:
        can = tense == "present" and rng.random() < 0.7
        finite = _ability(verb) if can else _wanting(verb, tense, subject)
    return Clause(subject, finite, _complement(rng, verb, subject, brief))


def _being_clause(rng: Random, tense: str, brief: bool) -> Clause:
    """Somebody or something is big, is in the garden, is a teacher."""
    subject = _subject(rng, rng.choice((ALIVE, ALIVE, frozenset({"thing", "food"}))), brief)
    be = _being(subject.be, tense)
    draw = rng.random()
    if draw < 0.5 or brief:
        adjective = _choose(rng, ADJECTIVES, subject.kinds)
        return Clause(subject, be, Text(adjective.en, _declined(adjective.eo, subject.plural)))
    if draw < 0.8 or "person" not in subject.kinds:
        return Clause(subject, be, _place(rng))
    job = _choose(rng, NOUNS, frozenset({"job"}))
    english = job.plural if subject.plural else f"{_article(job.en)} {job.en}"
    return Clause(subject, be, Text(english, _declined(job.eo, subject.plural)))


def _action(verb: Verb, tense: str, subject: Nominal) -> Finite:
    third = subject.be == "is"
    forms = {
        "present": (_third(verb.en) if third else verb.en, "does" if third else "do"),
        "past": (verb.past, "did"),
        "future": (f"will {verb.en}", "will"),
    }
    return Finite(*forms[tense], verb.en, verb.eo + ENDINGS[tense])


def _wanting(verb: Verb, tense: str, subject: Nominal) -> Finite:
    want = _action(next(verb for verb in VERBS if verb.en == "want"), tense, subject)
    to = f" to {verb.en}"
    return Finite(want.plain + to, want.auxiliary, want.rest + to, f"{want.eo} {verb.eo}i")


def _ability(verb: Verb) -> Finite:
    return Finite(f"can {verb.en}", "can", verb.en, f"povas {verb.eo}i")


def _being(be: str, tense: str) -> Finite:
    if tense == "future":
        return Finite("will be", "will", "be", "estos")
    english = be if tense == "present" else "were" if be == "are" else "was"
    return Finite(english, english, "", "est" + ENDINGS[tense])


def _complement(rng: Random, verb: Verb, subject: Nominal, brief: bool = False) -> Text:
    """The verb's object, if it takes one, and sometimes where or with whom."""
    found = _object(rng, verb.objects, subject, brief) if verb.objects else NOTHING
    if not brief and rng.random() < (0.12 if verb.objects else 0.5):
        return join(found, _prepositional(rng, subject))
    return found


def _prepositional(rng: Random, subject: Nominal) -> Text:
    en, eo, kind = rng.choice(PREPOSITIONS)
    return join(Text(en, eo), _noun_phrase(rng, frozenset({kind}), _owners(subject)).subject)


def _place(rng: Random) -> Text:
    en, eo, kind = rng.choice(LOCATIONS)
    return join(Text(en, eo), _noun_phrase(rng, frozenset({kind}), FIRST_AND_SECOND).subject)


def _owners(subject: Nominal) -> Collection[str]:
    """Whose things may be named beside this subject."""
    return EVERYBODY if subject.pronoun in FIRST_AND_SECOND else FIRST_AND_SECOND


def _object(rng: Random, kinds: frozenset[str], subject: Nominal, brief: bool) -> Text:
    if "person" in kinds and rng.random() < 0.25:
        others = [name for name in EVERYBODY if not _same_person(name, subject)]
        return _pronoun(rng.choice(others)).object
    return _noun_phrase(rng, kinds, _owners(subject), brief=brief).object


def _same_person(name: str, subject: Nominal) -> bool:
    """ "I … me", "we … me": reflexive or odd, so they are left out."""
    first = ("I", "we")
    return name == subject.pronoun or (name in first and subject.pronoun in first)


def _subject(rng: Random, kinds: frozenset[str], brief: bool = False) -> Nominal:
    if "person" in kinds and rng.random() < 0.45:
        return _pronoun(rng.choice(EVERYBODY))
    return _noun_phrase(rng, kinds, EVERYBODY, brief=brief)


def _pronoun(name: str) -> Nominal:
    en, en_object, eo, _, _, be, plural = next(row for row in PRONOUNS if row[0] == name)
    return Nominal(Text(en, eo), Text(en_object, f"{eo}n"), be, plural, frozenset({"person"}), en)


def _noun_phrase(
    rng: Random,
    kinds: frozenset[str],
    owners: Collection[str] = FIRST_AND_SECOND,
    definite: bool = True,
    brief: bool = False,
) -> Nominal:
    noun = _choose(rng, NOUNS, kinds)
    adjective = _choose(rng, ADJECTIVES, noun.kinds) if not brief and rng.random() < 0.3 else None
    draw = rng.random()
    if definite and (brief or draw < 0.6):
        return (_the if draw < 0.4 else _owner)(rng, noun, adjective, owners)
    return _article_or_number(rng, noun, adjective)


def _the(rng: Random, noun: Noun, adjective: Adjective | None, _: Collection[str]) -> Nominal:
    return _built(Text("the", "la"), "la", noun, adjective, rng.random() < 0.35)


def _owner(rng: Random, noun: Noun, adjective: Adjective | None, owners: Collection[str]) -> Nominal:
    name = rng.choice(sorted(owners))
    en, eo = next((row[3], row[4]) for row in PRONOUNS if row[0] == name)
    plural = rng.random() < 0.35
    return _built(Text(en, _declined(eo, plural)), _declined(eo, plural, True), noun, adjective, plural)


def _article_or_number(rng: Random, noun: Noun, adjective: Adjective | None) -> Nominal:
    draw = rng.random()
    if draw < 0.45:
        return _built(Text(_article(adjective.en if adjective else noun.en), ""), "", noun, adjective, False)
    if draw < 0.65:
        return _built(NOTHING, "", noun, adjective, True)
    digits = str(rng.randrange(11, 100))
    number = Text(*rng.choice(NUMBERS)) if draw < 0.85 else Text(digits, digits)
    return _built(number, number.eo, noun, adjective, True)


def _built(
    determiner: Text, accusative: str, noun: Noun, adjective: Adjective | None, plural: bool
) -> Nominal:
    """Determiner, adjective and noun; `accusative` is the determiner's Esperanto form in that case."""
    english = Text(adjective.en if adjective else "", "")
    subject = join(determiner, english, Text(noun.plural if plural else noun.en, ""))
    words = [adjective.eo, noun.eo] if adjective else [noun.eo]
    nominative = " ".join([determiner.eo] * bool(determiner.eo) + [_declined(word, plural) for word in words])
    objective = " ".join([accusative] * bool(accusative) + [_declined(word, plural, True) for word in words])
    be = "are" if plural else "is"
    return Nominal(Text(subject.en, nominative), Text(subject.en, objective), be, plural, noun.kinds)


def _declined(word: str, plural: bool, accusative: bool = False) -> str:
    return word + "j" * plural + "n" * accusative


def _article(next_word: str) -> str:
    return "an" if next_word[0] in "aeiou" else "a"


def _third(verb: str) -> str:
    """The third person singular of a verb of the lexicon."""
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x")) else f"{verb}s"


def _stop(text: Text, mark: str = ".") -> Text:
    return Text(text.en + mark, text.eo + mark)


def _choose(rng: Random, words: tuple[Word, ...], kinds: frozenset[str]) -> Word:
    return rng.choice([word for word in words if word.kinds & kinds])
