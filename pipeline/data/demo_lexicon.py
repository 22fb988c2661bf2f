"""The words of the synthetic demo language pair, English and Esperanto.

Chosen so that a sentence has one translation each way: no verb whose past is spelled like its present, no
noun whose plural is spelled like its singular, no two words of one language for a word of the other.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: singular and plural in English, nominative singular in Esperanto, and its kinds."""

    en: str
    plural: str
    eo: str
    kinds: frozenset[str]


class Adjective(NamedTuple):
    """An adjective, with the kinds of nouns it goes with."""

    en: str
    eo: str
    kinds: frozenset[str]


class Verb(NamedTuple):
    """A verb: base form and past in English, root in Esperanto, kinds of its subjects and of its objects."""

    en: str
    past: str
    eo: str
    subjects: frozenset[str]
    objects: frozenset[str]


def _noun(en: str, eo: str, kinds: str, plural: str = "") -> Noun:
    return Noun(en, plural or f"{en}s", eo, frozenset(kinds.split()))


def _adjective(en: str, eo: str, kinds: str) -> Adjective:
    return Adjective(en, eo, frozenset(kinds.split()))


def _verb(en: str, past: str, eo: str, subjects: str, objects: str = "") -> Verb:
    return Verb(en, past, eo, frozenset(subjects.split()), frozenset(objects.split()))


NOUNS = (
    _noun("boy", "knabo", "person"),
    _noun("girl", "knabino", "person"),
    _noun("man", "viro", "person", "men"),
    _noun("woman", "virino", "person", "women"),
    _noun("child", "infano", "person", "children"),
    _noun("brother", "frato", "person"),
    _noun("sister", "fratino", "person"),
    _noun("friend", "amiko", "person"),
    _noun("neighbor", "najbaro", "person"),
    _noun("teacher", "instruisto", "person job"),
    _noun("doctor", "kuracisto", "person job"),
    _noun("student", "studento", "person job"),
    _noun("farmer", "farmisto", "person job"),
    _noun("cat", "kato", "animal"),
    _noun("dog", "hundo", "animal"),
    _noun("horse", "ĉevalo", "animal"),
    _noun("bird", "birdo", "animal singer"),
    _noun("mouse", "muso", "animal", "mice"),
    _noun("wolf", "lupo", "animal", "wolves"),
    _noun("book", "libro", "thing paper"),
    _noun("letter", "letero", "thing paper"),
    _noun("box", "skatolo", "thing base", "boxes"),
    _noun("table", "tablo", "thing base"),
    _noun("chair", "seĝo", "thing base"),
    _noun("car", "aŭto", "thing"),
    _noun("hat", "ĉapelo", "thing"),
    _noun("key", "ŝlosilo", "thing"),
    _noun("knife", "tranĉilo", "thing", "knives"),
    _noun("flower", "floro", "thing"),
    _noun("apple", "pomo", "food"),
    _noun("orange", "oranĝo", "food"),
    _noun("egg", "ovo", "food"),
    _noun("cake", "kuko", "food"),
    _noun("potato", "terpomo", "food", "potatoes"),
    _noun("house", "domo", "place"),
    _noun("garden", "ĝardeno", "place"),
    _noun("school", "lernejo", "place"),
    _noun("village", "vilaĝo", "place"),
    _noun("city", "urbo", "place", "cities"),
    _noun("forest", "arbaro", "place"),
)

ADJECTIVES = (
    _adjective("big", "granda", "animal thing food place"),
    _adjective("small", "malgranda", "person animal thing food place"),
    _adjective("good", "bona", "person animal food"),
    _adjective("beautiful", "bela", "person animal thing place"),
    _adjective("new", "nova", "person thing place"),
    _adjective("red", "ruĝa", "thing food"),
    _adjective("white", "blanka", "animal thing place"),
    _adjective("black", "nigra", "animal thing"),
    _adjective("green", "verda", "thing food place"),
    _adjective("expensive", "multekosta", "thing food"),
    _adjective("heavy", "peza", "thing"),
    _adjective("young", "juna", "person animal"),
    _adjective("tired", "laca", "person animal"),
    _adjective("angry", "kolera", "person animal"),
    _adjective("happy", "feliĉa", "person animal"),
    _adjective("rich", "riĉa", "person place"),
)

VERBS = (
    _verb("see", "saw", "vid", "person animal", "person animal thing food place"),
    _verb("love", "loved", "am", "person", "person animal"),
    _verb("help", "helped", "help", "person", "person animal"),
    _verb("find", "found", "trov", "person animal", "animal thing food"),
    _verb("hear", "heard", "aŭd", "person animal", "person animal"),
    _verb("follow", "followed", "sekv", "person animal", "person animal"),
    _verb("visit", "visited", "vizit", "person", "person place"),
    _verb("draw", "drew", "desegn", "person", "animal thing place"),
    _verb("buy", "bought", "aĉet", "person", "thing food"),
    _verb("sell", "sold", "vend", "person", "thing food"),
    _verb("want", "wanted", "vol", "person", "thing food"),
    _verb("have", "had", "hav", "person", "animal thing food"),
    _verb("carry", "carried", "port", "person", "thing food"),
    _verb("write", "wrote", "skrib", "person", "paper"),
    _verb("forget", "forgot", "forges", "person", "person thing"),
    _verb("eat", "ate", "manĝ", "person animal", "food"),
    _verb("sleep", "slept", "dorm", "person animal"),
    _verb("run", "ran", "kur", "person animal"),
    _verb("sing", "sang", "kant", "person singer"),
    _verb("dance", "danced", "danc", "person"),
    _verb("work", "worked", "labor", "person"),
    _verb("laugh", "laughed", "rid", "person"),
    _verb("rest", "rested", "ripoz", "person animal"),
)

# I, me, mi, my, mia, the English form of "to be", whether it is plural in Esperanto
PRONOUNS = (
    ("I", "me", "mi", "my", "mia", "am", False),
    ("you", "you", "vi", "your", "via", "are", False),
    ("he", "him", "li", "his", "lia", "is", False),
    ("she", "her", "ŝi", "her", "ŝia", "is", False),
    ("we", "us", "ni", "our", "nia", "are", True),
    ("they", "them", "ili", "their", "ilia", "are", True),
)

NUMBERS = (
    ("two", "du"),
    ("three", "tri"),
    ("four", "kvar"),
    ("five", "kvin"),
    ("six", "ses"),
    ("seven", "sep"),
    ("eight", "ok"),
    ("nine", "naŭ"),
    ("ten", "dek"),
    ("twenty", "dudek"),
    ("thirty", "tridek"),
)

# English, Esperanto, the kind of noun that follows
PREPOSITIONS = (
    ("in", "en", "place"),
    ("near", "apud", "place"),
    ("behind", "malantaŭ", "place"),
    ("on", "sur", "base"),
    ("under", "sub", "base"),
    ("with", "kun", "person"),
    ("without", "sen", "person"),
)
LOCATIONS = PREPOSITIONS[:5]

# a tense's adverbs
ADVERBS = {
    "present": (("now", "nun"), ("today", "hodiaŭ"), ("every day", "ĉiutage")),
    "past": (("yesterday", "hieraŭ"), ("last week", "pasintsemajne")),
    "future": (("tomorrow", "morgaŭ"), ("next week", "venontsemajne")),
}

# verbs of saying and thinking, followed by "that"
REPORTS = (("think", "pens"), ("know", "sci"), ("hope", "esper"), ("say", "dir"))
CONJUNCTIONS = (("and", "kaj"), ("but", "sed"), ("because", "ĉar"))
