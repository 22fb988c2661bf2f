"""Secrets reach the steps that name them, and nothing that is shown or stored."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.memory_store import MemoryStore
from tests.runners.pod import pods
from tests.runners.scripts import COPY, job, output, run
from tests.running.conftest import FILES, demo_config, graph_of
from translations_assets.common.errors import StepFailed
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import Stage, step
from translations_assets.keys.key import KeyMaker
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.publisher import Redaction, StepLog
from translations_assets.running.engine import Engine
from translations_assets.running.events import Progress, StepEvent
from translations_assets.running.session import Session
from translations_assets.store.local import LocalStore
from translations_assets.why.explain import Explainer
from translations_assets.why.history import History

SECRET = 'hf_planted/"in quotes"'
LABELS = ("named", "unnamed")

# Shows what it knows in every way that it has; its output tells of it without telling it.
TELL = """\
import argparse
import json
import os
import pathlib
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--word", default="")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    secret = os.environ.get("HF_TOKEN", "")
    print("the token is", secret, repr(secret), json.dumps(secret), flush=True)
    for half in (secret[:7], secret[7:]):
        print(end=half, flush=True)
        time.sleep(0.6)
    with open(os.environ["TRANSLATIONS_PROGRESS"], "a") as live:
        print(json.dumps({"update": 1, "token": secret}), file=live)
    print((secret + "|") * 100_000)
    lines = [path.read_bytes() for path in pathlib.Path("/proc").glob("self/cmdline")]
    lines += [pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_bytes()]
    seen = bool(secret) and any(secret.encode() in line for line in lines)
    options.output.mkdir()
    (options.output / "text.txt").write_text(f"{len(secret)} characters, on a command line: {seen}")
    if options.word == "fail":
        sys.exit(f"refused: {secret}")


if __name__ == "__main__":
    main()
"""
TOLD = f"{len(SECRET)} characters, on a command line: False"
NOT_TOLD = "0 characters, on a command line: False"


def assert_hidden(text: bytes | str | Path) -> None:
    """Check that the secret stands in no text, or in no file of a folder, plainly or as in JSON."""
    texts = (
        [path.read_bytes() for path in text.rglob("*") if path.is_file()] if isinstance(text, Path) else []
    )
    texts += [text.encode() if isinstance(text, str) else text] if not isinstance(text, Path) else []
    assert texts
    for form in (SECRET.encode(), json.dumps(SECRET)[1:-1].encode(), b"planted/"):
        assert not [found for found in texts if form in found]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a script that tells its secret."""
    for name, text in {**FILES, "pipeline/demo/write.py": TELL}.items():
        path = tmp_path / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "repository"


def telling(word: str) -> Graph:
    """A graph of two steps, of which one names the secret."""

    def texts(config: object) -> None:
        for label in LABELS:
            secrets = ["HF_TOKEN"] if label == "named" else []
            args = {"word": word} if label == "named" else {"word": f"{word}less"}
            step("pipeline.demo.write", label=label, args=args, outputs=["text.txt"], secrets=secrets)

    return graph_of({"texts": Stage("texts", "demo", texts, ())})


def test_a_secret_stands_in_nothing_that_a_run_leaves(
    repository: Path, store: LocalStore, runner: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    events: list[StepEvent] = []

    def run_all(name: str, word: str) -> Session:
        session = Session(name, "en-ru", "ann", demo_config, telling(word), store, KeyMaker(repository))
        steps = session.graph.stages["texts"]
        try:
            Engine(store, runner).run(session, steps, threading.Event(), events.append)
        finally:
            session.end()
        return session

    session = run_all("run-1", "tell")
    named, unnamed = (session.results.result(session.graph.step(label)) for label in LABELS)
    assert named is not None
    assert unnamed is not None
    assert store.read_blob(named.outputs["text.txt"]).decode() == TOLD
    assert store.read_blob(unnamed.outputs["text.txt"]).decode() == NOT_TOLD
    log = b"".join(store.read_log(named.key, 1, 1)).decode()
    assert "the token is *** " in log
    assert log.count("***|") == 100_000

    with pytest.raises(StepFailed, match=r"refused: \*\*\*") as caught:
        run_all("run-2", "fail")
    assert_hidden(str(caught.value))
    assert_hidden(repr(events))
    assert Progress({"update": 1, "token": "***"}) in [event.what for event in events]
    assert_hidden(store.root)

    changed = telling("other")
    keys = KeyMaker(repository)
    explainer = Explainer(demo_config(), keys, History(store, "ann", "en-ru"), lambda config: changed)
    parts = keys.parts(changed.step("named"), {})
    assert_hidden(repr((parts, parts.to_dict(), explainer.explain(changed.step("named"), parts))))
    monkeypatch.setenv("HF_TOKEN", "another")
    assert KeyMaker(repository).parts(changed.step("named"), {}).digest == parts.digest


def test_a_secret_stands_in_nothing_that_a_pod_leaves(store: LocalStore, tmp_path: Path) -> None:
    outputs = ("text.txt",)
    jobs = (
        job(store, TELL, outputs=outputs, secrets=("HF_TOKEN",)),
        job(store, TELL, outputs=outputs, key="cd" * 32),
        job(store, TELL, key="ef" * 32, command=("--word=fail", "--output=out"), secrets=("HF_TOKEN",)),
    )
    words = pods.command(store, *jobs)
    assert_hidden(" ".join(words))
    pod = pods.ended(pods.start(words, tmp_path, {"HF_TOKEN": SECRET}))
    named, unnamed, failing = pod.outcomes
    assert output(store, named, "text.txt") == TOLD
    assert output(store, unnamed, "text.txt") == NOT_TOLD
    assert failing.log_tail.endswith("refused: ***")
    assert pod.log.count("***|") == 200_000
    assert_hidden(pod.log)
    assert_hidden(repr(pod.replies))
    assert_hidden(store.root)


def test_a_variable_that_the_worker_lacks_is_no_error(
    runner: LocalRunner, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert run(runner, store, job(store, COPY, secrets=("HF_TOKEN",))).kind == "done"


def test_credentials_of_the_store_reach_no_script(
    runner: LocalRunner, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/somewhere/key.json")
    script = """
    import os, pathlib
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(" ".join(os.environ))
    """
    assert "GOOGLE" not in output(store, run(runner, store, job(store, script)))


@given(
    some.lists(some.text("ab*\n", min_size=4, max_size=6), min_size=1, max_size=3),
    some.lists(some.text("ab\n", max_size=12)),
)
def test_a_secret_is_hidden_wherever_the_log_is_cut(secrets: list[str], pieces: list[str]) -> None:
    """Text that is passed on piece by piece is masked like the whole text."""
    redaction = Redaction(secrets)
    written, shown = b"", b""
    held = b""
    for piece in pieces:
        written += piece.encode()
        text, size = redaction.hide_part(held + piece.encode())
        held = (held + piece.encode())[size:]
        shown += text
        assert len(held) < max(redaction.longest, 1)
    shown += redaction.hide(held)
    for secret in secrets:
        if len(secret.strip()) >= 4 and "*" not in secret:
            assert secret.strip().encode() not in shown
    if len(secrets) == 1:
        assert shown == redaction.hide(written)


def test_what_is_no_secret_is_handed_on_at_once(tmp_path: Path) -> None:
    path, shown, redaction = tmp_path / "log", list[bytes](), Redaction(["line of a secret", ""])
    log = StepLog(path, MemoryStore(), job(MemoryStore(), COPY), redaction, show=shown.append)
    path.write_bytes(b"a line\nhalf a li")
    log.show()
    assert shown == [b"a line\nhalf a "]
    with path.open("ab") as file:
        file.write(b"ne\nline of a sec")
    log.show()
    assert shown[1:] == [b"line\n"]
    with path.open("ab") as file:
        file.write(b"ret, and so on")
    log.show(ended=True)
    assert shown[2:] == [b"***, and so on"]


@pytest.mark.parametrize("secrets", [[], ["", "abc"]], ids=["none", "too short for one"])
def test_without_secrets_nothing_is_held_back(secrets: list[str]) -> None:
    redaction = Redaction(secrets)
    assert redaction.longest == 0
    assert redaction.hide(b"abc") == b"abc"
    assert redaction.hide_part(b"ab") == (b"ab", 2)
