"""The playground's server: which files it gives, whom it answers, and the teacher that it keeps open."""

from __future__ import annotations

import asyncio
import json
import shlex
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from starlette.testclient import TestClient

from pipeline.common.marian import decoder_config
from pipeline.common.marian_options import write_options
from translations_assets.common.errors import TranslationsError
from translations_assets.ui.playground import server, teacher
from translations_assets.ui.playground.models import read_exported
from translations_assets.ui.playground.server import Playground, application
from translations_assets.ui.playground.teacher import MOST_CHARACTERS, MOST_WAITING, Teacher

# Answers a line in capitals; `crash`, `hang` and `slow` do so
MARIAN = """import sys, time
for line in sys.stdin:
    if line == "crash\\n":
        sys.exit("Error: a <b>bad</b> model")
    if line == "hang\\n":
        time.sleep(600)
    if line == "slow\\n":
        time.sleep(0.5)
    print(line.upper(), end="", flush=True)
"""
MODEL = "model.eneo.intgemm.alphas.bin"
Children = Callable[[], set[psutil.Process]]


def record(name: str, kind: str) -> Mapping[str, object]:
    languages = {"sourceLanguage": "en", "targetLanguage": "eo", "architecture": "tiny"}
    return {"name": name, "fileType": kind, **languages, "decompressedSize": 9, "attachment": {"size": 5}}


def write_export(folder: Path, records: Sequence[Mapping[str, object]]) -> Path:
    folder.mkdir()
    for name in (MODEL, "vocab.eneo.spm", "secret.txt"):
        (folder / name).write_text(f"the {name}")
    (folder / "records.json").write_text(json.dumps(records))
    return folder


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return write_export(tmp_path / "exported", [record(MODEL, "model"), record("vocab.eneo.spm", "vocab")])


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    (tmp_path / "engine" / "worker").mkdir(parents=True)
    for name in ("translator.js", "worker/bergamot-translator-worker.wasm", "package.json"):
        (tmp_path / "engine" / name).write_text("…")
    return tmp_path / "engine"


@pytest.fixture
def shown(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Playground:
    """A model, and a teacher that is no Marian, but is started as Marian is."""
    program, model = tmp_path / "marian.py", tmp_path / "teacher"
    program.write_text(MARIAN)
    monkeypatch.setenv("TRANSLATIONS_MARIAN", shlex.join([sys.executable, str(program)]))
    model.mkdir()
    write_options(model / "decoder.yml", decoder_config("model.npz", {}))
    for name in ("model.npz", "source.spm", "target.spm"):
        (model / name).touch()
    (tmp_path / "work").mkdir()
    behind = Teacher("teacher-1", 1, lambda: [model], tmp_path / "work")
    return Playground([read_exported(exported, "en-eo.<b>")], behind, ["A dog."])


@pytest.fixture
def client(shown: Playground, engine: Path) -> Iterator[TestClient]:
    with TestClient(application(shown, engine), "http://127.0.0.1:8000") as client:
        yield client


@pytest.fixture
def children() -> Children:
    """The processes that the test has started, and that run."""
    before = {*psutil.Process().children(recursive=True)}
    return lambda: {*psutil.Process().children(recursive=True)} - before


def ask(client: TestClient, *sentences: str) -> tuple[int, object]:
    """The status, and the translations or the error."""
    answer = client.post("/teacher", json={"sentences": sentences})
    value = answer.json()
    return answer.status_code, value.get("translations") or value["error"]


def test_known_files_are_given_and_no_others(client: TestClient) -> None:
    types = {"/": "text/html", "/page.mjs": "text/javascript", "/engine/translator.js": "text/javascript"}
    types |= {"/engine/worker/bergamot-translator-worker.wasm": "application/wasm"}
    types |= {f"/models/0/{MODEL}": "application/octet-stream", "/models/0/records.json": "application/json"}
    for path, expected in types.items():
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, expected)
        assert "default-src 'self'" in answer.headers["content-security-policy"]
    others = ["/models/0/secret.txt", "/models/1/records.json", "/engine/package.json", "/server.py"]
    for path in (*others, "/models/0/../secret.txt", "/models/0/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd"):
        assert client.get(path).status_code == 404, path
    assert client.post("/records.json").status_code == 405
    about = client.get("/about.json").json()
    assert (about["models"][0]["name"], about["examples"]) == ("en-eo.<b>", ["A dog."])
    assert (about["models"][0]["bytes"], about["models"][0]["packedBytes"]) == (9, 10)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),  # another server of this machine
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Host": "evil.example:8000"}, 400),  # a name that is made to mean this machine
        ({"Content-Type": "text/plain"}, 415),  # what a page may send without asking
    ],
    ids=str,
)
def test_another_page_cannot_use_the_teacher(
    client: TestClient, children: Children, headers: dict[str, str], status: int
) -> None:
    body = '{"sentences": ["a dog"]}'
    sent = {"Content-Type": "application/json", **headers}
    assert client.post("/teacher", content=body, headers=sent).status_code == status
    assert not children()
    if status != 415:
        assert client.get(f"/models/0/{MODEL}", headers=headers).status_code == status


def test_the_teacher_stays_open_and_ends_with_the_server(
    shown: Playground, engine: Path, children: Children
) -> None:
    with TestClient(application(shown, engine), "http://127.0.0.1:8000") as client:
        assert ask(client, "a dog\nsees ", "", "a cat") == (200, ["A DOG SEES", "", "A CAT"])
        before = children()
        assert ask(client, "ĉu ne?") == (200, ["ĈU NE?"])
        assert children() == before
    assert before
    assert not children()


@pytest.mark.parametrize("body", ["", "[]", '{"sentences": "a"}', '{"sentences": [1]}', "[" * 9999, "\xff"])
def test_what_is_no_request_is_refused(client: TestClient, body: str) -> None:
    answer = client.post("/teacher", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, "looks like" in answer.json()["error"]) == (400, True)


def test_a_text_has_a_longest_length(client: TestClient) -> None:
    assert ask(client, "a" * MOST_CHARACTERS)[0] == 200
    assert ask(client, *["一。"] * (MOST_CHARACTERS // 2))[0] == 200  # without spaces between them
    for long in (["a" * (MOST_CHARACTERS + 1)], ["a"] * (MOST_CHARACTERS + 1), ["a" * 9_999_999]):
        status, why = ask(client, *long)
        assert (status, "2,000 characters" in str(why)) == (413, True)


def test_a_failure_is_told_and_the_next_request_answered(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, why = ask(client, "a", "crash", "b")
    assert (status, "a <b>bad</b> model" in str(why)) == (500, True)
    assert ask(client, "a dog") == (200, ["A DOG"])
    monkeypatch.setattr(teacher, "SECONDS", 0.3)
    status, why = ask(client, "hang")
    assert (status, "shorter" in str(why)) == (503, True)


def test_a_request_that_is_cancelled_leaves_its_answer_to_nobody(shown: Playground) -> None:
    """A browser that goes away amid a text: what Marian still writes of it is not the next one's."""
    asked = shown.teacher
    assert asked

    async def go_away() -> tuple[list[str], list[str]]:
        before, _ = await asked.translate(["first"])
        gone = asyncio.create_task(asked.translate(["slow", "never read"]))
        await asyncio.sleep(0.2)
        gone.cancel()
        with suppress(asyncio.CancelledError):
            await gone
        try:
            after, _ = await asked.translate(["second"])
        finally:
            await asked.end()
        return before, after

    assert asyncio.run(go_away()) == (["FIRST"], ["SECOND"])


def test_few_requests_wait(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "SECONDS", 1.0)
    with ThreadPoolExecutor(MOST_WAITING + 1) as pool:
        found = [*pool.map(lambda _: ask(client, "hang"), range(MOST_WAITING + 1))]
    assert sorted("too many" in str(why) for _, why in found) == [False] * MOST_WAITING + [True]


def test_without_a_teacher(exported: Path, engine: Path) -> None:
    shown = Playground([read_exported(exported, "x")])
    with TestClient(application(shown, engine), "http://127.0.0.1:8000") as client:
        assert client.get("/about.json").json()["teacher"] is None
        assert ask(client, "a")[0] == 404


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([record(MODEL, "model"), record("../engine/package.json", "lex")], "leads out"),
        ([record(MODEL, "model"), record("lex.eneo.bin", "lex")], "lacks lex.eneo.bin"),
        ([record(MODEL, "lex")], "cannot be read"),
        ([{"name": MODEL}], "cannot be read"),
    ],
)
def test_records_that_are_wrong_are_told(
    tmp_path: Path, records: Sequence[Mapping[str, object]], told: str
) -> None:
    with pytest.raises(TranslationsError, match=told):
        read_exported(write_export(tmp_path / "exported", records), "x")


def test_what_is_missing_is_told(exported: Path, engine: Path, tmp_path: Path) -> None:
    with pytest.raises(TranslationsError, match="translations artifacts"):
        read_exported(engine, "x")
    with pytest.raises(TranslationsError, match="npm ci --prefix .*browser"):
        application(Playground([read_exported(exported, "x")]), tmp_path)


def test_a_port_that_is_taken_is_told(exported: Path, engine: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(TranslationsError, match=f"Port {port} cannot be used.*--port 0"):
            server.serve(Playground([read_exported(exported, "x")]), engine, port)
