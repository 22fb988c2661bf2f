"""OpusTrainer's modifiers of case, with each side in the case of its language.

OpusTrainer writes capitals as `str.upper` does, which knows no language, and begins with a capital whatever
white space parts: of tokens, which single spaces part, `well - known` becomes `Well - Known`, but of text
`well-known` becomes `Well-known`.
"""

import random
from collections.abc import Iterable, Iterator

from opustrainer import trainer
from opustrainer.modifiers import Modifier

from pipeline.common.case import title, title_words, upper
from pipeline.train.piece_links import SPACE


class CaseModifier(Modifier):  # type: ignore[misc]  # OpusTrainer has no types
    """Changes the case of both sides of a share of the lines.

    src, trg  ICU's locales of the sides; Unicode's rules where there is none
    tokens    whether the sides are tokens with `▁` for a space
    """

    def __init__(self, probability: float, src: str = "", trg: str = "", tokens: bool = False) -> None:
        super().__init__(probability)
        self._locales = (src, trg)
        self._tokens = tokens

    def __call__(self, batch: Iterable[str]) -> Iterator[str]:
        """The lines, columns parted by tabs; those whose turn it is in another case."""
        for line in batch:
            yield self._changed(line) if random.random() < self.probability else line

    def _changed(self, line: str) -> str:
        columns = line.split("\t")
        columns[:2] = [
            self.cased(column, locale) for column, locale in zip(columns, self._locales, strict=False)
        ]
        return "\t".join(columns)

    def cased(self, text: str, locale: str) -> str:
        """A side in the modifier's case, with as many tokens as before."""
        raise NotImplementedError


class UpperCase(CaseModifier):
    """Upper case."""

    def cased(self, text: str, locale: str) -> str:
        """All letters."""
        return upper(text, locale)


class TitleCase(CaseModifier):
    """Title case: words begin with a capital."""

    def cased(self, text: str, locale: str) -> str:
        """The first letter of each word; words are what white space parts in text, and `▁` among tokens."""
        return title_tokens(text, locale) if self._tokens else title_words(text, locale)


MODIFIERS = {"UpperCase": UpperCase, "TitleCase": TitleCase}


def install() -> None:
    """Have OpusTrainer take these modifiers for its own of the same names in this process."""
    trainer.MODIFIERS.update(MODIFIERS)


def title_tokens(text: str, locale: str) -> str:
    """Tokens such that the text that they make is as `title_words` would write it."""
    return SPACE.join([_title_word(word, locale) for word in text.split(SPACE)])


def _title_word(word: str, locale: str) -> str:
    """The tokens of a word, after the space that parts them from `▁`."""
    return f" {title(word[1:], locale)}" if word[:1] == " " else title(word, locale)
