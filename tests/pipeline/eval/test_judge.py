"""Tests of pipeline.eval.judge, with a service that fails as real ones."""

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.eval import judge, llm_ref, metrics
from pipeline.translate import pacing
from tests.chat_server import ANSWER_FAULTS, KEY, REQUEST_FAULTS, Chat, chat_server, sentences
from tests.patience import PATIENCE

Judged: TypeAlias = Callable[..., tuple[list[float | None], dict[str, Any], dict[str, Any]]]

PROMPT = Path("pipeline/translate/configs/prompts/judge.yml")
KNOWN = sentences(60)
LINES = [*KNOWN]
BAD = {line for number, line in enumerate(LINES) if number % 3 == 0}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(pacing, "PAUSE", 0.01)


def made(line: str) -> str:
    """The translation of a line that is judged."""
    return "Une phrase tout autre." if line in BAD else f"{KNOWN[line]} !"


def worth(asked: Mapping[str, str]) -> float:
    """Tells by all three texts what a translation is worth; another number for each line."""
    assert asked.keys() == {"source", "reference", "translation"}
    assert asked["reference"] == KNOWN[asked["source"]]
    if asked["translation"] != f"{asked['reference']} !":
        return 12.5
    return 50 + LINES.index(asked["source"]) / 2


EXPECTED = [12.5 if line in BAD else 50 + number / 2 for number, line in enumerate(LINES)]


def arguments(folder: Path, **options: object) -> list[str]:
    texts = {"corpus-src": LINES, "corpus-trg": [*KNOWN.values()], "translations": [*map(made, LINES)]}
    for name, lines in texts.items():
        write_lines(folder / f"{name}.zst", lines)
    given: dict[str, object] = {name: folder / f"{name}.zst" for name in texts}
    given |= {"service": "OPENAI", "model": "tiny", "src": "English", "trg": "French", "prompt": PROMPT}
    given |= {"dataset": "url_test", "output": folder / "scores"}
    return [word for name, value in (given | options).items() for word in (f"--{name}", str(value))]


def read(folder: Path) -> tuple[list[float | None], dict[str, Any], dict[str, Any]]:
    """The scores of the lines, scores.json and stats.json."""
    segments = [float(line) if line else None for line in read_lines(folder / "scores/segments.zst")]
    told = (json.loads((folder / "scores" / name).read_text()) for name in ("scores.json", "stats.json"))
    return segments, *told


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """Asks the service at an address to judge all lines."""

    def ask(url: str, **options: object) -> tuple[list[float | None], dict[str, Any], dict[str, Any]]:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        judge.main(arguments(tmp_path, **options))
        return read(tmp_path)

    return ask


def test_each_line_has_its_own_score(judged: Judged) -> None:
    with chat_server(chat := Chat(judge=worth)) as url:
        segments, scores, stats = judged(url, lines=7)
    assert segments == EXPECTED
    assert (scores["dataset"], scores["lines"]) == ("url_test", 60)
    mean = np.array(EXPECTED).mean()
    assert scores["judge"]["score"] == pytest.approx(mean, abs=1e-4)
    assert scores["judge"]["mean"] == pytest.approx(mean, abs=0.5)
    deviation = np.array(EXPECTED).std() / math.sqrt(60)  # of the mean, by the central limit theorem
    assert scores["judge"]["ci"] == pytest.approx(1.96 * deviation, rel=0.1)
    assert stats["lines"] == {"in": 60, "kept": 60, "dropped": {}}
    assert (stats["requests"], stats["tokens"]) == (9, {"read": 600, "written": 420})
    assert stats["samples"][0] == [LINES[0], "Une phrase tout autre.", "12.5"]
    assert sorted(map(len, chat.paid)) == [4, *[7] * 8]
    assert all(body["temperature"] == 0 and "n" not in body for body in chat.bodies)
    system, user = chat.bodies[0]["messages"]
    assert "translations from English to French" in system["content"]
    assert [*json.loads(user["content"])] == [str(number) for number in range(1, 8)]


def test_the_signature_tells_what_a_score_depends_on(judged: Judged, tmp_path: Path) -> None:
    other = tmp_path / "other.yml"
    other.write_text('{system: "What are these worth, from 0 to 100?", user: "{lines}"}')
    found = []
    with chat_server(Chat(judge=worth)) as url:
        for options in ({}, {"prompt": other}, {"options": '{"temperature": 0.5}'}, {"lines": 3}):
            found.append(judged(url, **options)[1]["judge"]["signature"])
            shutil.rmtree(tmp_path / "scores", ignore_errors=True)
    assert len({*found}) == 4
    digest = hashlib.sha256(PROMPT.read_bytes()).hexdigest()[:12]
    assert found[0] == (
        f"model:tiny|served:tiny-of-the-test|prompt:{digest}|lines:10|options:"
        f'{{"temperature":0}}|bs:1000|seed:{metrics.SEED}'
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, "malformed"),
        ("very good", "malformed"),
        ("87", "malformed"),
        (True, "malformed"),
        ([87], "malformed"),
        (100.5, "out_of_range"),
        (-1, "out_of_range"),
        (10**400, "out_of_range"),
        (math.nan, "out_of_range"),
        (math.inf, "out_of_range"),
    ],
)
def test_what_is_no_score_is_left_out_of_the_mean_by_name(judged: Judged, said: object, reason: str) -> None:
    bad = LINES[4]
    with chat_server(
        chat := Chat(judge=lambda asked: said if asked["source"] == bad else worth(asked))
    ) as url:
        segments, scores, stats = judged(url)
    assert segments == [*EXPECTED[:4], None, *EXPECTED[5:]]
    assert stats["lines"] == {"in": 60, "kept": 59, "dropped": {reason: 1}}
    others = EXPECTED[:4] + EXPECTED[5:]
    assert scores["judge"]["score"] == pytest.approx(sum(others) / 59, abs=1e-4)
    assert sorted(len(lines) for lines in chat.paid if bad in lines) == [1, 10]  # together, then alone


@pytest.mark.parametrize("least", [0, 100])
def test_the_ends_of_the_scale_are_scores(judged: Judged, least: int) -> None:
    with chat_server(Chat(judge=lambda asked: least)) as url:
        segments, scores, _ = judged(url)
    assert segments == [least] * 60
    assert (scores["judge"]["score"], scores["judge"]["ci"]) == (least, 0)


def test_a_rejected_line_does_not_take_others_with_it(judged: Judged) -> None:
    with chat_server(Chat(judge=worth, rejected=frozenset([LINES[13]]))) as url:
        segments, _, stats = judged(url)
    assert segments == [*EXPECTED[:13], None, *EXPECTED[14:]]
    assert stats["lines"]["dropped"] == {"rejected": 1}


def test_failures_of_every_kind_leave_each_line_with_its_score_or_a_reason(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each kind of failure one request has it, or answer; all is asked again."""
    faults = iter((*REQUEST_FAULTS, *ANSWER_FAULTS))
    chat = Chat(judge=worth, silence=0.5, retry_after="0")
    monkeypatch.setattr(chat, "next_fault", lambda: next(faults, ""))
    with chat_server(chat) as url:
        segments, _, stats = judged(url, timeout=0.3, lines=3)
    assert {*chat.failures} == {*REQUEST_FAULTS, *ANSWER_FAULTS}
    assert segments == EXPECTED
    assert stats["lines"]["dropped"] == {}


def test_a_judge_that_gives_no_score_is_told_with_its_reasons(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(judge=worth)
    monkeypatch.setattr(chat, "next_fault", lambda: "no JSON")
    with (
        chat_server(chat) as url,
        pytest.raises(InputError, match=r"no line a score from 0 to 100: {'malformed': 60}"),
    ):
        judged(url)


def test_in_mozillas_layout_scores_are_from_1_to_5(judged: Judged, tmp_path: Path) -> None:
    def score(asked: Mapping[str, str]) -> object:
        return {0: 0, 1: 100, 2: "?"}.get(LINES.index(asked["source"]), 50)

    with chat_server(Chat(judge=score)) as url:
        _, scores, _ = judged(url)
    made, folder = tmp_path / "scores", tmp_path / "results"
    files = ["--scores", str(made / "scores.json"), "--segments", str(made / "segments.zst")]
    llm_ref.main([*files, "--results", "x__latest", "--output", str(folder)])
    sentences = json.loads((folder / "x__latest__llm-ref.scores.json").read_text())
    assert sentences == [1.0, 5.0, None, *[3.0] * 57]
    told = json.loads((folder / "x__latest__llm-ref.metrics.json").read_text())
    assert scores["judge"]["score"] == 50
    assert told == {
        "score": 3.0,
        "details": {"signature": f"{scores['judge']['signature']}|scale:1-5"},
    }


def test_scores_of_another_metric_are_no_judges(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text('{"comet": {"score": 80}}')
    write_lines(tmp_path / "segments.zst", ["0.8"])
    files = ["--scores", str(tmp_path / "scores.json"), "--segments", str(tmp_path / "segments.zst")]
    with pytest.raises(InputError, match="does not have a judge's scores"):
        llm_ref.main([*files, "--results", "x", "--output", str(tmp_path / "results")])


def test_texts_of_other_lengths_are_refused(judged: Judged, tmp_path: Path) -> None:
    short = tmp_path / "short.zst"
    write_lines(short, LINES[:-1])
    with chat_server(chat := Chat(judge=worth)) as url, pytest.raises(InputError):
        judged(url, **{"corpus-src": short})
    assert chat.bodies == []


def test_kills_pay_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = tmp_path / "progress.jsonl"
    with chat_server(chat := Chat(judge=worth, delay=0.05)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
        monkeypatch.setenv("TRANSLATIONS_PROGRESS", str(progress))
        command = [sys.executable, "-m", "pipeline.eval.judge", *arguments(tmp_path, lines=1)]
        kept = lost = 0
        for stop, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 75)):
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            _wait_for(chat, len(chat.paid) + 12)
            process.send_signal(stop)
            process.communicate(timeout=60)
            assert process.returncode == code
            shutil.rmtree(tmp_path / "scores", ignore_errors=True)
            while chat.running:
                time.sleep(0.01)
            time.sleep(0.1)  # an answer is counted after it is sent
            kept = max(int(path.name.rpartition("-")[2]) for path in (tmp_path / "kept").glob("requests-*"))
            lost = len(chat.paid) - kept
        subprocess.run(command, check=True, env={**os.environ})
    assert 0 < kept < 60
    assert len(chat.paid) == 60 + lost
    segments, scores, stats = read(tmp_path)
    assert segments == EXPECTED
    assert stats["tokens"] == {"read": 600, "written": 420}
    assert json.loads([*progress.read_text().splitlines()][-1]) == {
        "tokens_read": 600,
        "tokens_written": 420,
    }
    monkeypatch.delenv("TRANSLATIONS_CHECKPOINTS")
    with chat_server(Chat(judge=worth)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        shutil.rmtree(tmp_path / "scores", ignore_errors=True)
        judge.main(arguments(tmp_path, lines=1))
    assert read(tmp_path)[1] == scores


@pytest.mark.parametrize("other", ["model", "prompt", "corpus-trg", "translations", "src", "trg"])
def test_answers_about_something_else_are_refused(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    (tmp_path / "prompt.yml").write_text('user: "{lines}"\n')
    write_lines(tmp_path / "text.zst", ["x"] * 60)
    named = {"model": "other", "prompt": tmp_path / "prompt.yml", "src": "Breton", "trg": "Breton"}
    value = named.get(other, tmp_path / "text.zst")
    with chat_server(Chat(judge=worth)) as url:
        judged(url)
        shutil.rmtree(tmp_path / "scores", ignore_errors=True)
        with pytest.raises(InputError, match="of another input"):
            judged(url, **{other: value})


def _wait_for(chat: Chat, paid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(chat.paid) < paid:
        assert time.monotonic() < deadline
        time.sleep(0.01)
