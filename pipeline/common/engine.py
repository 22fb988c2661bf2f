"""fxtranslate, Firefox's engine in native code: an exported model, loaded from its files.

It decodes greedily, one sentence at a time, as users of a browser meet a model. What is too long for the
model is cut before it (docs/evaluation.md says what the engine itself does).
"""

from collections.abc import Sequence
from pathlib import Path

from fxtranslate import Translator
from sentencepiece import SentencePieceProcessor

from pipeline.common.errors import InputError
from pipeline.common.sentences import is_visible, parts
from pipeline.common.vocabulary import load_vocabulary

# Pieces of a source sentence, without its end: as many as browsers' engine takes (max-length-break: 128)
MOST_PIECES = 127


class Engine:
    """A loaded model, and the vocabulary of its source."""

    def __init__(self, translator: Translator, vocabulary: SentencePieceProcessor) -> None:
        self._translator = translator
        self._vocabulary = vocabulary

    def translate(self, line: str) -> str:
        """Translate a line as one sentence, or, where that is more than `MOST_PIECES`, as `translate_text`.

        Raises InputError when the model lacks something that is needed for it.
        """
        return self._part(line) if self._fits(line) else self.translate_text(line)

    def translate_text(self, text: str) -> str:
        """Translate a text of any length: its sentences, with the white space between them as it was.

        A sentence of more than `MOST_PIECES` is translated in parts; raises as `translate`.
        """
        return "".join(map(self._part, parts(text, self._fits)))

    def _part(self, text: str) -> str:
        """The translation, or the text itself where there is none to make: the engine makes words up then."""
        if not is_visible(text) or not self._pieces(text):
            return text
        try:
            return str(self._translator.translate(text))
        except BaseException as error:
            raise _refusal(error) from error

    def _fits(self, text: str) -> bool:
        return self._pieces(text) <= MOST_PIECES

    def _pieces(self, text: str) -> int:
        return len(self._vocabulary.encode(text))


def load_engine(files: Sequence[Path]) -> Engine:
    """Load what pipeline.quantize.export wrote; raises InputError when a file is missing or damaged."""
    model = find_file(files, "model.", ".intgemm.alphas.bin")
    shortlists = [file for file in files if file.name.startswith("lex.") and file.suffix == ".bin"]
    vocabularies = [find_file(files, name, ".spm") for name in _vocabularies(files)]
    try:
        translator = Translator(
            model.read_bytes(),
            vocabularies[0].read_bytes(),
            vocabularies[-1].read_bytes(),
            shortlists[0].read_bytes() if shortlists else None,
        )
    except BaseException as error:
        raise _refusal(error) from error
    return Engine(translator, load_vocabulary(vocabularies[0]))


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
