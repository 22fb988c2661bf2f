"""fxtranslate, Firefox's engine in native code: an exported model, loaded from its files.

It decodes greedily, one sentence at a time, as users of a browser meet a model.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from fxtranslate import Translator

from pipeline.common.errors import InputError


class Engine:
    """A loaded model. Sentences that are longer than its context are cut."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator

    def translate(self, sentence: str) -> str:
        """Translate one sentence; raises InputError when the model lacks something that is needed for it."""
        return self._checked(self._translator.translate, sentence)

    def translate_text(self, text: str) -> str:
        """Translate a text of any length, whose sentences the engine finds; raises as `translate`."""
        return self._checked(self._translator.translate_long, text)

    def _checked(self, translate: Callable[[str], str], text: str) -> str:
        try:
            return str(translate(text))
        except BaseException as error:
            raise _refusal(error) from error


def load_engine(files: Sequence[Path]) -> Engine:
    """Load what pipeline.quantize.export wrote; raises InputError when a file is missing or damaged."""
    model = find_file(files, "model.", ".intgemm.alphas.bin")
    shortlists = [file for file in files if file.name.startswith("lex.") and file.suffix == ".bin"]
    vocabularies = [find_file(files, name, ".spm") for name in _vocabularies(files)]
    try:
        return Engine(
            Translator(
                model.read_bytes(),
                vocabularies[0].read_bytes(),
                vocabularies[-1].read_bytes(),
                shortlists[0].read_bytes() if shortlists else None,
            )
        )
    except BaseException as error:
        raise _refusal(error) from error


def find_file(files: Sequence[Path], start: str, end: str) -> Path:
    """The file of an export whose name begins and ends so; raises InputError when there is none."""
    for file in files:
        if file.name.startswith(start) and file.name.endswith(end):
            return file
    raise InputError(f"No file of the export is called {start}*{end}.")


def _vocabularies(files: Sequence[Path]) -> tuple[str, ...]:
    joint = any(file.name.startswith("vocab.") for file in files)
    return ("vocab.",) if joint else ("srcvocab.", "trgvocab.")


def _refusal(error: BaseException) -> BaseException:
    """What to raise: the engine, which is written in Rust, also panics, which is no Exception of Python's."""
    if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
        return InputError(f"fxtranslate cannot use the model: {error}")
    return error
