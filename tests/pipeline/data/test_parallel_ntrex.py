"""NTREX: English is the source, every other language a reference."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.data.parallel_ntrex import FOLDER, main
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]


def test_the_set(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put(f"{FOLDER}/newstest2019-src.eng.txt", "One.\r\nTwo.\r\n")
    mirror.put(f"{FOLDER}/newstest2019-ref.rus.txt", "\ufeffОдин.\nДва.\n")
    written = import_pairs(main, "test", "eng", "rus")
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]
    assert len(written.stats["source"]) == 2


def test_two_translations_are_parallel_to_each_other(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put(f"{FOLDER}/newstest2019-ref.deu.txt", "Eins.\n")
    mirror.put(f"{FOLDER}/newstest2019-ref.rus.txt", "Один.\n")
    assert import_pairs(main, "test", "deu", "rus").lines("corpus.en.zst") == ["Eins."]


def test_another_set(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match="Dataset dev: NTREX has the set test only"):
        import_pairs(main, "dev", "eng", "rus")


def test_a_web_page_in_the_place_of_the_text_is_told(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put(f"{FOLDER}/newstest2019-src.eng.txt", "\n<!DOCTYPE html>\n<title>Page not found</title>")
    with pytest.raises(InputError, match=r"Dataset test: .*newstest2019-src\.eng\.txt"):
        import_pairs(main, "test", "eng", "rus")


def test_real_data(real_mirror: Path, import_pairs: Import) -> None:
    english = real_mirror / FOLDER.removeprefix("https://") / "newstest2019-src.eng.txt"
    if not english.is_file() or b"<!DOCTYPE html>" in english.read_bytes()[:1_000]:
        pytest.skip("the mirror has a web page in the place of NTREX's English text")
    written = import_pairs(main, "test", "eng", "rus")
    assert written.stats["lines"] == {"in": 1997, "kept": 1997, "dropped": {}}
