"""Language identifiers: the choices, and the default for a language.

HeLI-OTS comes in a wheel, fastText's models are fetched; `identifiers.yml` has them, and their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from translations_assets.config.languages import Language, languages
from translations_assets.config.text import table

AUTO, HELIPORT, FASTTEXT = "auto", "heliport", "fasttext"


@dataclass(frozen=True)
class Model:
    """A model of fastText: where it is, what it must be, how large it is, and its licence (SPDX)."""

    url: str
    sha256: str
    size: str
    licence: str


GLOTLID, NLLB, OPENLID_2, OPENLID_3 = "glotlid", "nllb", "openlid-v2", "openlid-v3"
_TABLES = table(__file__, "identifiers.yml")
MODELS = {name: Model(**model) for name, model in _TABLES["models"].items()}
NON_COMMERCIAL = frozenset(name for name, model in MODELS.items() if "-NC-" in model.licence)


def identifier_of(choice: str, spoken: Language) -> str:
    """The identifier that is meant for a language by a config's `language-identification`: its name.

    `auto` is HeLI-OTS, and GlotLID for languages that HeLI lacks or has together with others.
    """
    if choice != AUTO:
        return choice
    return GLOTLID if _heli_lacks(spoken) or spoken.code in _TABLES["heli-takes"] else HELIPORT


def weakness(choice: str, spoken: Language) -> str:
    """Describe the limits of an identifier, named in a config, for a language; empty when it has none."""
    if choice == HELIPORT and _heli_lacks(spoken):
        return f"heliport does not know {spoken.name}, so no line is dropped for its language; glotlid does"
    if choice == HELIPORT and spoken.code in (takes := _TABLES["heli-takes"]):
        return f"heliport takes {takes[spoken.code]} for {spoken.name}; glotlid distinguishes them"
    return ""


def heli_labels(spoken: Language) -> Sequence[str]:
    """HeLI's labels of a language; none when it lacks it."""
    if _heli_lacks(spoken):
        return []
    return list(spoken.labels) or list(_TABLES["heli-labels"].get(spoken.code, _individual(spoken)))


def labels(spoken: Language, model: str = "") -> Sequence[str]:
    """The labels of a language in a model of fastText, whatever its script."""
    if spoken.labels:
        return list(spoken.labels)
    others = _TABLES["other-labels"].get(spoken.code, ())
    if spoken.code == "sr_latn":
        serbian = _TABLES["serbian-in-latin"]
        others = serbian["labels" if model in serbian["known-by"] else "as-croatian"]
    named = (*_individual(spoken), spoken.iso639_1, *others)
    return list(dict.fromkeys(filter(None, named)))


def whole_labels(spoken: Language) -> Sequence[str]:
    """The labels of a language in a model of fastText, in its script alone."""
    if spoken.labels:
        return list(spoken.labels)
    named = (spoken.flores, spoken.hplt, *_TABLES["other-whole-labels"].get(spoken.code, ()))
    return list(dict.fromkeys(filter(None, named)))


def _heli_lacks(spoken: Language) -> bool:
    """True if HeLI-OTS does not know a language; of those beyond our own table it knows some."""
    if spoken.code in languages() and not spoken.labels:
        return spoken.code in _TABLES["heli-lacks"]
    own = {label for known in languages().values() for label in _individual(known)}
    return not {*(spoken.labels or _individual(spoken))} & {*_TABLES["heli-also"].split(), *own}


def _individual(spoken: Language) -> Iterator[str]:
    names = (spoken.flores.partition("_")[0], spoken.hplt.partition("_")[0], spoken.iso639_3)
    yield from dict.fromkeys(filter(None, names))
