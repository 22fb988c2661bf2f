"""Tests of fetching the models that score text, from a mirror in the form of the hub and of GitHub."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from pipeline.clean import fetch_bicleaner_model, fetch_monocleaner_model
from pipeline.clean.fetch_bicleaner_model import FILES, repositories
from pipeline.common import downloads, web
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import files_of

SHA = "0123456789abcdef0123456789abcdef01234567"
METADATA = "source_lang: en\ntarget_lang: xx\nclassifier_settings: {}\n"
PACK = "github.com/bitextor/monocleaner-data/releases/latest/download/ru.tgz"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror, and a network in which nothing else exists."""
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))

    def nothing(url: str, progress: object) -> web.Chunks:
        raise web.NeedsLogin(f"{url} could not be fetched: the server answered 401 Unauthorized.")
        yield b""

    monkeypatch.setattr(downloads, "from_server", nothing)
    return tmp_path / "mirror"


def add_model(mirror: Path, name: str, metadata: str = METADATA, **told: object) -> dict[str, bytes]:
    """Put a model of the hub into a mirror; the contents of its files."""
    contents = {file: f"{name}/{file}".encode() for file in FILES} | {"metadata.yaml": metadata.encode()}
    hub = mirror / "huggingface.co"
    for file, content in contents.items():
        path = hub / name / "resolve" / SHA / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    answer = hub / "api" / "models" / name / "revision" / "main"
    answer.parent.mkdir(parents=True, exist_ok=True)
    answer.write_text(json.dumps({"sha": SHA, **told}))
    return contents


def fetch_model(folder: Path, src: str, trg: str) -> Path:
    fetch_bicleaner_model.main(["--src", src, "--trg", trg, "--output", str(folder / "out")])
    return folder / "out"


def test_the_model_of_the_pair_is_fetched_with_where_it_came_from(tmp_path: Path, mirror: Path) -> None:
    contents = add_model(mirror, "bitextor/bicleaner-ai-full-en-fr", cardData={"license": "gpl-3.0"})
    add_model(mirror, "bitextor/bicleaner-ai-full-large-en-xx")
    files = files_of(fetch_model(tmp_path, "fr", "en"))
    model = json.loads(files.pop("model.json"))
    assert files == contents
    assert model["repository"] == "bitextor/bicleaner-ai-full-en-fr"
    assert model["revision"] == SHA
    assert model["licence"] == "gpl-3.0"
    digest = hashlib.sha256(contents["config.json"]).hexdigest()
    assert model["files"]["config.json"]["sha256"] == digest
    assert model["files"]["config.json"]["url"].endswith(f"/resolve/{SHA}/config.json")


def test_the_order_in_which_models_are_looked_for() -> None:
    assert repositories("ru", "en") == [
        "bitextor/bicleaner-ai-full-ru-en",
        "bitextor/bicleaner-ai-full-en-ru",
        "bitextor/bicleaner-ai-full-large-en-xx",
    ]
    assert repositories("es", "de") == [
        "bitextor/bicleaner-ai-full-es-de",
        "bitextor/bicleaner-ai-full-de-es",
    ]


def test_a_pair_without_a_model_has_that_of_many_languages(tmp_path: Path, mirror: Path) -> None:
    add_model(
        mirror, "bitextor/bicleaner-ai-full-large-en-xx", cardData={"license": ["cc-by-sa-4.0", "other"]}
    )
    model = json.loads((fetch_model(tmp_path, "en", "ru") / "model.json").read_text())
    assert model["repository"] == "bitextor/bicleaner-ai-full-large-en-xx"
    assert model["licence"] == "cc-by-sa-4.0, other"


def test_a_pair_without_english_and_without_a_model(tmp_path: Path, mirror: Path) -> None:
    add_model(mirror, "bitextor/bicleaner-ai-full-large-en-xx")
    with pytest.raises(
        InputError, match=r"no model for fr and de; .*bicleaner-ai-full-de-fr\. Write `bicleaner"
    ):
        fetch_model(tmp_path, "fr", "de")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_proxy_that_cannot_be_used_is_not_taken_for_a_missing_model(
    tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first repository cannot be asked for; the large model, which is there, is not the pair's."""
    add_model(mirror, "bitextor/bicleaner-ai-full-large-en-xx")
    monkeypatch.setattr(fetch_bicleaner_model, "is_mirrored", lambda url: False)

    def by_proxy(url: str, progress: object) -> web.Chunks:
        raise InputError(f"The URL {url} cannot be fetched: Missing dependencies for SOCKS support.")
        yield b""

    monkeypatch.setattr(downloads, "from_server", by_proxy)
    with pytest.raises(InputError, match="Missing dependencies for SOCKS"):
        fetch_model(tmp_path, "en", "fr")


@pytest.mark.parametrize("metadata", ["", "source_lang: en", "[: not YAML"])
def test_what_is_no_model_of_bicleaner(tmp_path: Path, mirror: Path, metadata: str) -> None:
    add_model(mirror, "bitextor/bicleaner-ai-full-en-fr", metadata)
    with pytest.raises(InputError, match="does not say its languages"):
        fetch_model(tmp_path, "en", "fr")


def test_an_answer_that_cannot_be_understood(tmp_path: Path, mirror: Path) -> None:
    add_model(mirror, "bitextor/bicleaner-ai-full-en-fr", sha="../../etc")
    with pytest.raises(InputError, match="names no commit"):
        fetch_model(tmp_path, "en", "fr")


def fetch_pack(folder: Path, lang: str) -> Path:
    fetch_monocleaner_model.main(["--lang", lang, "--output", str(folder / "out")])
    return folder / "out"


def add_pack(mirror: Path, members: dict[str, bytes]) -> bytes:
    """Put a language pack into a mirror."""
    (mirror / PACK).parent.mkdir(parents=True)
    with tarfile.open(mirror / PACK, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return (mirror / PACK).read_bytes()


def test_a_language_pack_is_fetched_as_it_is(tmp_path: Path, mirror: Path) -> None:
    published = add_pack(mirror, {"ru/metadata.yaml": b"lm_file: ru.lm", "ru/ru.lm": b"model"})
    files = files_of(fetch_pack(tmp_path, "ru"))
    assert files["model.tgz"] == published
    assert json.loads(files["model.json"]) == {
        "url": f"https://{PACK}",
        "sha256": hashlib.sha256(published).hexdigest(),
        "bytes": len(published),
    }


def test_a_damaged_language_pack_leaves_nothing(tmp_path: Path, mirror: Path) -> None:
    published = add_pack(mirror, {"ru/metadata.yaml": b"lm_file: ru.lm", "ru/ru.lm": bytes(range(256)) * 50})
    (mirror / PACK).write_bytes(published[:-40])
    with pytest.raises(InputError, match="damaged"):
        fetch_pack(tmp_path, "ru")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_language_without_a_pack(tmp_path: Path, mirror: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(url: str, progress: object) -> web.Chunks:
        raise web.NotFound(f"No file can be read at {url}")
        yield b""

    monkeypatch.setattr(downloads, "from_server", missing)
    with pytest.raises(InputError, match="no model for the language eo .*Write thresholds of 0 under"):
        fetch_pack(tmp_path, "eo")
