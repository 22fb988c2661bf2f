"""Which language a line is in, by py3langid, offline; made for dropping lines only when it is sure.

py3langid takes "Hello." for Breton and "Да." for Serbian, so a line counts as foreign only when it has enough
letters and a language outside the expected one's confusable group is clearly ahead of the whole group.
"""

import logging
import re
from functools import cache

import numpy as np
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from pipeline.clean.alphabet import letters

logger = logging.getLogger(__name__)

MIN_LETTERS = 20
MARGIN = 0.7  # of probability; sentences of foreign languages reach 0.84 and more, names in English 0.54
PREFIX = 60  # characters; when they are in the expected language, the rest is not looked at

# What often is in another language within a good sentence: "(Deutscher Hochschulverband)", quotations.
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|\"[^\"]*\"")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The model's names for languages that it knows under another code.
ALIASES = {"nb": "no", "ff": "fuv", "gn": "gug"}
# Seldom met languages, often guessed for names and tables of the others.
IGNORED = _words("an br dz fo ha ht ig jv la lg ln mg om qu rw sa se sn so vo wa yo")

# Languages that the model confuses with each other, so that none of a group is evidence against another.
GROUPS = [
    _words("bs hr sr sl mk bg"),
    _words("ru uk be bg mk sr"),
    _words("da no nn sv"),
    _words("cs sk"),
    _words("pl cs sk"),
    _words("id ms"),
    _words("pt gl es"),
    _words("es gl ca"),
    _words("ca oc"),
    _words("fr oc"),
    _words("nl af fy"),
    _words("de lb"),
    _words("tr az tk"),
    _words("kk ky tt"),
    _words("fa ps ur ku"),
    _words("hi mr ne"),
    _words("bn as"),
    _words("fi et"),
    _words("lt lv"),
    _words("xh zu"),
    _words("ga gd"),
]
# Esperanto is taken for a Romance language at times, these never for Esperanto.
ONE_WAY = {"eo": _words("es pt gl ca it")}


@cache
def identifier() -> LanguageIdentifier:
    """The shared identifier; loading takes a second and 60 MB."""
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    used = [code for code in model.labels if len(code) == 2 or code in ALIASES.values()]
    model.set_languages([code for code in used if code not in IGNORED])
    # Rows side by side in float32: a third of the time of float16 columns.
    model.nb_ptc = np.ascontiguousarray(model.nb_ptc, dtype=np.float32)
    return model


@cache
def known_code(lang: str) -> str | None:
    """The identifier's code for a pipeline language (zh_hant → zh, nb → no), None when it has none."""
    base = lang.split("_")[0]
    code = ALIASES.get(base, base)
    return code if code in identifier().labels else None


@cache
def confusable(code: str) -> frozenset[str]:
    """The code itself and every language that the identifier may take for it."""
    groups = [group for group in GROUPS if code in group]
    return frozenset({code}).union(ONE_WAY.get(code, ()), *groups)


def is_foreign(text: str, code: str) -> bool:
    """Whether a text of at least MIN_LETTERS letters is clearly in none of the languages like `code`.

    Asides in brackets and quotation marks are not asked; a text that has little else is not foreign.
    """
    expected = confusable(code)
    if identifier().classify(text[:PREFIX])[0] in expected:
        return False
    sentence = _ASIDE.sub(" ", _ASIDE.sub(" ", text))  # twice, as brackets are nested
    if letters(sentence) < MIN_LETTERS:
        return False
    shares = dict(identifier().rank(sentence))
    best = max(shares.keys() - expected, key=lambda label: (shares[label], label))
    # The runner-up's own group counts with it: "Veo la casa" is es 0.46, ca 0.22 and surely no English.
    others = sum(shares.get(label, 0.0) for label in confusable(best) - expected)
    return bool(others - sum(shares.get(label, 0.0) for label in expected) >= MARGIN)


def log_coverage(lang: str) -> None:
    """Say in the log how a language is identified, or that its lines are not."""
    code = known_code(lang)
    if code is None:
        logger.warning("py3langid does not know %s: no line is dropped for its language", lang)
    else:
        logger.info("language %s: identified as %s", lang, " ".join(sorted(confusable(code))))
