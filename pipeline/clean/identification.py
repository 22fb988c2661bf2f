"""What tells lines of another language: fastText's models, or py3langid, offline.

fastText's models are those that OpusCleaner names: lid.176 (`small`, `large`), NLLB's (`nllb`) and OpenLID's
(`openlid-v2`). They label a line as in `__label__eng_Latn` or `__label__en`.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from pipeline.clean.alphabet import check_script, letters_of
from pipeline.clean.language import MIN_LETTERS, is_foreign, known_code, log_coverage
from pipeline.common.errors import InputError

_LABEL = "__label__"


class Identifier(Protocol):
    """Tells lines of another language; sides are numbered from 0, in the order of the corpus."""

    def others(self, lines: Sequence[str], side: int) -> list[bool]:
        """For each line whether it is in another language than that of the side."""


class Offline:
    """py3langid, which is asked about lines of 20 letters and more, and believed when it is sure.

    languages  code and script of each side. Raises InputError for an unknown script.
    """

    def __init__(self, languages: Sequence[tuple[str, str]]) -> None:
        for code, script in languages:
            check_script(script)
            log_coverage(code)
        self._languages = languages

    def others(self, lines: Sequence[str], side: int) -> list[bool]:
        """For each line whether it clearly is in another language than that of the side."""
        lang, script = self._languages[side]
        code = known_code(lang)
        if code is None:
            return [False] * len(lines)
        return [letters_of(script, line) >= MIN_LETTERS and is_foreign(line, code) for line in lines]


class FastText:
    """A model of fastText, believed always.

    labels  for each side the labels that are its language: whole ones (`eng_Latn`), or their part before the
            script (`eng`), which then may be any
    """

    def __init__(self, model: Path, labels: Sequence[Collection[str]]) -> None:
        import fasttext  # only where a model is used

        fasttext.FastText.eprint = lambda text: None  # it warns of a change of its interface
        try:
            self._model = fasttext.load_model(str(model))
        except ValueError as error:
            raise InputError(f"{model} is no model of fastText ({error}). Fetch it again.") from error
        self._labels = [frozenset(known) for known in labels]

    def others(self, lines: Sequence[str], side: int) -> list[bool]:
        """For each line whether its likeliest language is not that of the side."""
        found, _ = self._model.predict(list(lines)) if lines else ([], [])
        return [not self._is_of(label.removeprefix(_LABEL), side) for (label,) in found]

    def _is_of(self, label: str, side: int) -> bool:
        return not self._labels[side].isdisjoint((label, label.partition("_")[0]))
