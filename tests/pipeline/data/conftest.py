"""A mirror that a test fills, the real one when it is there, and a look at what a script wrote."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.common import downloads, web
from pipeline.common.lines import read_lines

REAL_MIRROR = Path(__file__).parents[4] / "shared" / "data" / "mirror"
Main = Callable[[list[str]], None]


class Mirror:
    """A folder of downloads; what it lacks is asked from a network that is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, url: str, content: bytes | str) -> None:
        path = self.folder / url.split("://", 1)[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def put_zip(self, url: str, files: dict[str, str]) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            for name, text in files.items():
                file.writestr(name, text)
        self.put(url, packed.getvalue())


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """An empty mirror; every request to the network is answered with "there is no such file"."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(folder))

    def nothing_there(url: str, progress: object) -> None:
        raise web.NotFound(f"No file can be read at {url}.")

    monkeypatch.setattr(downloads, "from_server", nothing_there)
    return Mirror(folder)


@pytest.fixture
def real_mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The mirror of real data beside the repository."""
    if not REAL_MIRROR.is_dir():
        pytest.skip("the mirror of real data, ../shared/data/mirror, is not there")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(REAL_MIRROR))
    monkeypatch.setattr(web, "PAUSE", 0.001)
    return REAL_MIRROR


class Written:
    """Files that a script wrote into its output folder, with nothing left beside it."""

    def __init__(self, output: Path) -> None:
        assert [path for path in output.parent.iterdir() if path.name.startswith(".")] == []
        self.output = output
        self.files = sorted(path.name for path in output.iterdir())

    def lines(self, name: str) -> list[str]:
        return list(read_lines(self.output / name))

    @property
    def stats(self) -> Any:
        stats = json.loads((self.output / "stats.json").read_text())
        lines = stats["lines"]
        assert lines["in"] == lines["kept"] + sum(lines["dropped"].values())
        assert len(stats["samples"]) <= 10
        return stats


@pytest.fixture
def import_pairs(tmp_path: Path) -> Callable[..., Written]:
    """Run a parallel importer for en-ru."""

    def run(main: Main, dataset: str, src_code: str, trg_code: str, name: str = "out") -> Written:
        output = tmp_path / "work" / name
        options = ["--dataset", dataset, "--src", "en", "--trg", "ru", "--src-code", src_code]
        main([*options, "--trg-code", trg_code, "--output", str(output)])
        return Written(output)

    return run


@pytest.fixture
def import_lines(tmp_path: Path) -> Callable[..., Written]:
    """Run a monolingual importer for ru."""

    def run(main: Main, dataset: str, code: str, size: int = 1_000, name: str = "out") -> Written:
        output = tmp_path / "work" / name
        options = ["--dataset", dataset, "--lang", "ru", "--code", code, "--max-sentences", str(size)]
        main([*options, "--output", str(output)])
        return Written(output)

    return run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder, in which a script must leave nothing."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    yield folder
    assert list(folder.rglob("*")) == []
