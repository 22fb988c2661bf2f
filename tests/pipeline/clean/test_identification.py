"""Tests of what tells lines of another language, with a tiny model of fastText trained here."""

from pathlib import Path

import fasttext
import pytest

from pipeline.clean.identification import FastText, Offline
from pipeline.common.errors import InputError

ENGLISH = ["the girl reads the book in the garden", "a big dog sees a small cat", "we went home yesterday"]
RUSSIAN = ["девочка читает книгу в саду", "большая собака видит кошку", "мы пошли домой вчера вечером"]
SERBIAN = ["девојчица чита књигу у башти", "велики пас види малу мачку", "јуче смо отишли кући"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows English, Russian and Serbian by a few sentences."""
    folder = tmp_path_factory.mktemp("model")
    labelled = {"eng_Latn": ENGLISH, "rus_Cyrl": RUSSIAN, "srp_Cyrl": SERBIAN}
    lines = [f"__label__{label} {line}\n" for label, lines in labelled.items() for line in lines * 30]
    (folder / "train.txt").write_text("".join(lines), encoding="utf-8")
    trained = fasttext.train_supervised(
        str(folder / "train.txt"), dim=8, minn=2, maxn=3, bucket=5_000, epoch=30, verbose=0, thread=1
    )
    trained.save_model(str(folder / "model.bin"))
    return folder / "model.bin"


def test_a_model_of_fasttext(model: Path) -> None:
    identifier = FastText(model, [["eng"], ["rus_Cyrl", "ru"]])
    assert identifier.others([*ENGLISH, *RUSSIAN], 0) == [False] * 3 + [True] * 3
    assert identifier.others([*ENGLISH, *RUSSIAN, *SERBIAN], 1) == [True] * 3 + [False] * 3 + [True] * 3
    assert identifier.others([], 0) == []


def test_whole_labels_have_a_script(model: Path) -> None:
    assert FastText(model, [["srp"]]).others(SERBIAN, 0) == [False] * 3
    assert FastText(model, [["srp_Latn"]]).others(SERBIAN, 0) == [True] * 3


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"<html>not found</html>")
    with pytest.raises(InputError, match="is no model of fastText"):
        FastText(tmp_path / "model.bin", [["eng"]])


def test_offline_needs_twenty_letters() -> None:
    identifier = Offline([("en", "Latin"), ("ru", "Cyrillic")])
    german = "Das Mädchen liest das Buch im Garten."
    assert identifier.others([german, "Das Buch im Garten", "Hello.", "The girl reads the book."], 0) == [
        True,
        False,
        False,
        False,
    ]
    assert identifier.others(["Велики пас види малу мачку у башти."], 1) == [False]  # too like Russian


def test_short_lines_are_never_foreign() -> None:
    assert Offline([("en", "Latin")]).others(["Hello.", "No.", "OK, see you!"], 0) == [False] * 3
    assert Offline([("ru", "Cyrillic")]).others(["Да.", "Нет."], 0) == [False] * 2


def test_a_language_that_is_not_known_is_no_reason() -> None:
    assert Offline([("tlh", "Latin")]).others(["Das Mädchen liest das Buch im Garten."], 0) == [False]


def test_an_unknown_script_is_an_error() -> None:
    with pytest.raises(InputError, match="Cyrilic"):
        Offline([("ru", "Cyrilic")])
