"""Faults by which an answer of a language model is no translation of its sentence."""

import math
import re
from collections.abc import Iterable
from statistics import median

from pipeline.clean.evidence import Script

# In the language of the prompt; in another one they are told by their language.
REFUSAL = re.compile(
    r"\bas an ai\b|\b(ai|large) language model\b"
    r"|\bi(['’]m| am) (not able|unable) to\b.{0,40}\b(translat|assist|help)"
    r"|\bi (can('|no|’)?t|won['’]t|will not)\b.{0,30}\b(translat|assist|help with|comply|fulfil)",
    re.IGNORECASE,
)
CHATTER = re.compile(
    r"^(sure|certainly|of course|okay|ok)\b[^.!:]{0,40}[.!:].{0,60}\btranslat"
    r"|^(here(['’]s| is| are)|below is|this is)\b.{0,60}\btranslat"
    r"|^(the )?(\w+ )?translation( of .{0,80}| into \w+| is)?\s*:"
    r"|^note\s*:.{0,200}\btranslat|\((translator['’]s )?note\s*:|```|</?think>",
    re.IGNORECASE,
)
_TAG = re.compile(r"```|</?think>", re.IGNORECASE)  # of no language
_END = re.compile(r"[.!?:]+(?!\w)|[。！？：।۔؟]+")
RATIO, SLACK = 2.5, 15  # times the usual length of a translation, and characters beyond it
TELLING = 20  # characters of sentences by which the usual length is known


def fault(source: str, answer: str, script: Script, in_english: bool) -> str:
    """The fault that one sentence and its answer show, or nothing. `script` is that of the source.

    in_english  the answer should be in the language of REFUSAL and CHATTER, so that it may say such a thing
                because its sentence does

    empty          no text
    several_lines  a line break, where the sentence has none
    chatter        words about the translation, or the sentence before it
    refusal        the model says that it does not translate
    copied         the sentence itself, where it has the letters of a whole one
    """
    if not answer.strip():
        return "empty"
    if "\n" in answer.strip() or "\r" in answer.strip():
        return "several_lines"
    translated = in_english and not _TAG.search(answer) and _ends(answer) == _ends(source)
    if CHATTER.search(answer) and not CHATTER.search(source) and not translated:
        return "chatter"
    if may_refuse(source, answer) and not translated:
        return "refusal"
    own, given = _alike(source), _alike(answer)
    if own in given and script.evidence(source).is_enough:
        return "copied" if own == given else "chatter"
    return ""


def may_refuse(source: str, answer: str) -> bool:
    """True if an answer says what a model says that does not translate, and its sentence does not say it."""
    return bool(REFUSAL.search(answer)) and not REFUSAL.search(source)


def _ends(text: str) -> int:
    """The ends of sentences, and colons. What is said beside a translation adds some."""
    return len(_END.findall(text))


def _alike(text: str) -> str:
    return " ".join(text.casefold().split())


class Lengths:
    """What lengths translations have, by those of a text: `ratio` characters for one of the source."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        sizes = [(len(source), len(target)) for source, target in pairs]
        logs = [math.log(target / source) for source, target in sizes if min(source, target) >= TELLING]
        self.ratio = math.exp(median(logs)) if logs else 1.0

    def is_off(self, source: str, target: str) -> bool:
        """Whether a translation is much longer or shorter than usual."""
        usual = len(source) * self.ratio
        return not usual / RATIO - SLACK <= len(target) <= usual * RATIO + SLACK
