"""FLORES-200: two languages out of the archive of all."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.data.parallel_flores import URL, main
from tests.pipeline.data.conftest import Mirror, Written

Import = Callable[..., Written]


@pytest.fixture
def flores(mirror: Mirror) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for set_name in ("dev", "devtest"):
            for code in ("eng_Latn", "rus_Cyrl", "deu_Latn"):
                text = f"{code} {set_name}\n".encode()
                info = tarfile.TarInfo(f"flores200_dataset/{set_name}/{code}.{set_name}")
                info.size = len(text)
                file.addfile(info, io.BytesIO(text))
    mirror.put(URL, packed.getvalue())


@pytest.mark.parametrize("name", ["dev", "devtest"])
def test_a_set(name: str, flores: None, import_pairs: Import) -> None:
    written = import_pairs(main, name, "eng_Latn", "rus_Cyrl")
    assert written.lines("corpus.en.zst") == [f"eng_Latn {name}"]
    assert written.lines("corpus.ru.zst") == [f"rus_Cyrl {name}"]


def test_a_language_that_is_not_there(flores: None, import_pairs: Import) -> None:
    with pytest.raises(InputError, match=r"holds no flores200_dataset/dev/rus\.dev\. It holds .*rus_Cyrl"):
        import_pairs(main, "dev", "eng_Latn", "rus")


def test_another_set(flores: None, import_pairs: Import) -> None:
    with pytest.raises(InputError, match="Dataset test: FLORES-200 has the sets dev and devtest only"):
        import_pairs(main, "test", "eng_Latn", "rus_Cyrl")


@pytest.mark.parametrize(("name", "count"), [("dev", 997), ("devtest", 1012)])
def test_real_data(name: str, count: int, real_mirror: Path, import_pairs: Import) -> None:
    written = import_pairs(main, name, "eng_Latn", "rus_Cyrl")
    assert written.stats["lines"] == {"in": count, "kept": count, "dropped": {}}
    assert all(line.isascii() or any(map(str.isalpha, line)) for line in written.lines("corpus.en.zst"))
    assert sum("и" in line for line in written.lines("corpus.ru.zst")) > 0.9 * count
