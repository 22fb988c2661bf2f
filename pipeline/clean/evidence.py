"""What of a line tells its language: its letters, of the script in question, and who writes in them.

Placeholders, markup and addresses tell nothing. Where a third of a line's letters are of the language's
script, words in others (names, terms, versions) tell nothing either, and only languages that are written in
what is left are in question: Thai is in Thai, whatever a program's name beside it looks like. Lists of
keywords tell half as much as sentences, for no grammar holds them together; in other scripts they tell
nothing, for English ones stand among those of all languages.
"""

from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import regex

from pipeline.clean.alphabet import JAPANESE, composition, other_letters, own_letters
from pipeline.clean.filtering.block import CODE_POINTS, Column, Mask, every_character
from pipeline.clean.filtering.strings import without_code
from pipeline.common.errors import InputError

Weights: TypeAlias = npt.NDArray[np.uint8]

# Halves of a letter: a character of Chinese or Japanese, nearly a word, weighs as much as 2.5 letters.
LETTER, CHARACTER = 2, 5
LEAST = 20 * LETTER  # below, a line is undecided

_KANA = regex.compile(r"[\p{Script=Hiragana}\p{Script=Katakana}]")
# https://debian.org/, www.debian.org, /usr/share, me@debian.org, --option
_ADDRESS = regex.compile(
    # the lookbehinds spare the search all places inside a word, so that its time grows with the length alone
    r"(?<![\p{L}\d+.-])\p{L}[\p{L}\d+.-]*+://\S+|(?<!\S)(?:www\.|~?/)\S+"
    r"|(?<![\w.+-])[\w.+-]++@[\w.-]+|(?<!\S)--\w[\w-]*"
)
_LIST = regex.compile(r"(?:[^;]*[^;\s];(?!\s)){2}")  # of a .desktop file: Keywords=mouse;trackball;

# Scripts of labels that do not name theirs (HeLI's, ISO 639-1), but for those in Latin letters alone.
_WRITTEN_IN = {
    "Cyrillic": "abk bak bel bul che kaz kbd kca kir koi kpv mdf mhr mkd mns mon mrj myv nio oss rus sjd tgk "
    "udm ukr uzn yrk av ba be bg bxr ce kk kv ky lez mk mn os ru rue tg tyv uk xal",
    "Cyrillic Latin": "chv krc sah tat hbs cv tt hbssrp sr sh uz",
    "Arabic": "ara ckb pbt pes pnb snd urd ar arz azb fa lrc mzn ps sd ug uig ur",
    "Hebrew": "heb yid he yi",
    "Devanagari": "hin mar nep gom bh dty hi mai mr ne new sa",
    "Bengali": "asm ben bpy as bn",
    "Ethiopic": "amh tir am",
    "Georgian": "kat xmf ka",
    "Myanmar": "mya shn my",
    "Tibetan": "bod bo",
    "Syriac": "aii",
    "Cherokee": "chr",
    "Thaana": "div dv",
    "Greek": "ell el",
    "Gujarati": "guj gu",
    "Armenian": "hye hy",
    "Canadian_Aboriginal": "iku",
    "Kannada": "kan kn",
    "Khmer": "khm km",
    "Lao": "lao lo",
    "Malayalam": "mal ml",
    "Oriya": "ori or",
    "Gurmukhi": "pan pa",
    "Ol_Chiki": "sat",
    "Sinhala": "sin si",
    "Tamil": "tam ta",
    "Telugu": "tel te",
    "Thai": "tha th",
    "Han": "cmn zh yue wuu",
    "Japanese": "jpn ja",
    "Korean": "kor ko",
}
_SCRIPT_OF = {label: script for script, labels in _WRITTEN_IN.items() for label in labels.split()}


@dataclass(frozen=True)
class Evidence:
    """What of a line tells its language.

    text    with what is judged, and no words in other scripts than the language's if it is `own`
    weight  that of its letters, in halves of one
    whole   that of all letters of the line
    own     whether a third of the line's letters are of the language's script
    """

    text: str
    weight: int
    whole: int
    own: bool

    @property
    def is_enough(self) -> bool:
        """Whether letters are enough to tell the language: 20, or 8 characters; a quarter of them judged."""
        return self.whole >= LEAST <= 4 * self.weight

    def allows(self, label: str) -> bool:
        """Whether the text may be in a language, by its label.

        One in the language's script must be all in the other's, too; of other text that one has a third. Any
        may be in a language whose script is not known.
        """
        return _may_be(_script_of(label), self)


class Script:
    """A script, by Unicode's name, as `pipeline.clean.alphabet` has it; raises InputError for an unknown one.

    Script("Han").evidence("打开 %s 的 Linux 文件").text.split()  # ["打开", "的", "文件"]
    """

    def __init__(self, name: str) -> None:
        self.name = name
        judged = composition(name)
        # Chinese is told from Japanese by kana.
        self._judged = JAPANESE if judged == "Han" else judged
        _weights(self._judged)

    def evidence(self, line: str) -> Evidence:
        """What of a line tells whether it is in a language of the script."""
        text = without_code(_ADDRESS.sub(" ", line))
        own, others = _weighed(self._judged, text)
        listed = ";" in text and bool(_LIST.match(text))
        whole = sum(_weighed(self._judged, line))
        if not _is_own(own, others):
            return Evidence(text, 0 if listed else own + others, whole, False)
        if self._judged == JAPANESE:  # characters among which letters of others count as they do
            whole += others * CHARACTER // LETTER - others
        return Evidence(other_letters(self._judged).sub(" ", text), own // (1 + listed), whole, True)

    def own_lines(self, column: Column, least: int = LEAST) -> Mask:
        """The lines of which a third of the letters are of the script, if these have that weight."""
        own, others = map(column.sum, _weights(self._judged))
        found: Mask = (own >= least) & (2 * own >= others)
        return found


def _is_own(own: int, others: int) -> bool:
    """Whether a script has a third of the letters, by their weights."""
    return own > 0 and 2 * own >= others


@cache
def _weights(script: str) -> tuple[Weights, Weights]:
    """For each code point its weight as a letter of the script, and as one of another."""
    weights = np.full(CODE_POINTS, LETTER, dtype=np.uint8)
    weights[_codes(own_letters(JAPANESE))] = CHARACTER
    own, others = np.zeros_like(weights), np.zeros_like(weights)
    for table, found in ((own, _codes(own_letters(script))), (others, _codes(other_letters(script)))):
        table[found] = weights[found]
    return own, others


def _codes(runs: "regex.Pattern[str]") -> npt.NDArray[np.uint32]:
    """The code points of which a pattern's runs consist."""
    text = "".join(runs.findall(every_character()))
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@cache
def _script_of(label: str) -> str:
    """The script of a language: the one that its label names (`srp_Cyrl`), else the one that is known."""
    return label.partition("_")[2] or _SCRIPT_OF.get(label, "Latin")


def _may_be(script: str, evidence: Evidence) -> bool:
    """Whether the text may be of a script; Japanese has kana."""
    try:
        own, others = _weighed(script, evidence.text)
    except InputError:  # a label's, of which Unicode knows nothing
        return True
    fits = not others if evidence.own else _is_own(own, others)
    return fits and (composition(script) != JAPANESE or bool(_KANA.search(evidence.text)))


def _weighed(script: str, text: str) -> tuple[int, int]:
    """The weight of a text's letters of a script, and of others."""
    own, others = _weights(composition(script))
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return int(own[codes].sum()), int(others[codes].sum())
