"""Tests of pipeline.translate.ask, and of check_answers behind it, with a service that fails as real ones."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pipeline.clean import check_answers
from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.translate import ask, pacing, web_service
from tests.chat_server import (
    ANSWER_FAULTS,
    KEY,
    LINE_FAULTS,
    REQUEST_FAULTS,
    Chat,
    chat_server,
    sentences,
)
from tests.pipeline.train.tiny import lines_of

Asked: TypeAlias = Callable[..., Any]

PROMPT = "pipeline/translate/configs/prompts/endpoint.yml"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(pacing, "PAUSE", 0.01)


def arguments(folder: Path, text: list[str], **options: object) -> list[str]:
    write_lines(folder / "text.zst", text)
    given = {"service": "OPENAI", "model": "tiny", "src": "English", "trg": "French", "prompt": PROMPT}
    given |= {"text": str(folder / "text.zst"), "output": str(folder / "answers")}
    return [word for name, value in (given | options).items() for word in (f"--{name}", str(value))]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Asks the service at an address, and returns the answers and stats.json."""

    def ask_for(url: str, text: list[str], **options: object) -> tuple[list[Any], Any]:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        ask.main(arguments(tmp_path, text, **options))
        answers = [json.loads(line) for line in lines_of(tmp_path / "answers/answers.zst")]
        return answers, json.loads((tmp_path / "answers/stats.json").read_text())

    return ask_for


def checked(folder: Path, *more: str) -> tuple[list[str], Any]:
    """What check_answers makes of the answers, and its stats.json."""
    files = ["--answers", str(folder / "answers/answers.zst"), "--text", str(folder / "text.zst")]
    scripts = ["--src-script", "Latin", "--trg-script", "Latin", "--trg-labels", "fra"]
    check_answers.main([*files, *scripts, *more, "--output", str(folder / "checked")])
    made = folder / "checked" / ("nbest.zst" if "--nbest" in more else "translations.zst")
    return lines_of(made), json.loads((folder / "checked/stats.json").read_text())


def test_each_line_has_its_own_translation(asked: Asked, tmp_path: Path) -> None:
    known = sentences(25)
    lines = [*known][:12] + ["", "  "] + [*known][12:]
    with chat_server(chat := Chat(known)) as url:
        answers, stats = asked(url, lines)
    assert [answer["candidates"] for answer in answers] == [[known.get(line, "")] for line in lines]
    assert sorted(map(len, chat.paid)) == [5, 10, 10]
    assert stats["lines"] == {"in": 27, "kept": 27, "dropped": {}}
    assert (stats["requests"], stats["tokens"]) == (3, {"read": 250, "written": 175})
    assert stats["models"] == ["tiny-of-the-test"]
    assert all(body["temperature"] == 0 and "n" not in body for body in chat.bodies)
    translations, stats = checked(tmp_path)
    assert translations == [known.get(line, "") for line in lines]
    assert stats["lines"] == {"in": 27, "kept": 27, "dropped": {}}


def test_prompt_and_examples_are_sent(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "examples.tsv").write_text("Good evening.\tBonsoir.\nThanks.\tMerci.\n")
    known = sentences(2)
    with chat_server(chat := Chat(known)) as url:
        asked(url, [*known], examples=tmp_path / "examples.tsv")
    system, question, answer, last = chat.bodies[0]["messages"]
    assert "from English to French" in system["content"]
    assert json.loads(question["content"]) == {"1": "Good evening.", "2": "Thanks."}
    assert json.loads(answer["content"]) == {"1": "Bonsoir.", "2": "Merci."}
    assert [message["role"] for message in (question, answer, last)] == ["user", "assistant", "user"]


def test_several_candidates_make_a_list_of_n_best(asked: Asked, tmp_path: Path) -> None:
    known = sentences(3)
    lines = [*known]
    with chat_server(chat := Chat(known, faulty={lines[1]: "copied"})) as url:
        options = {"candidates": 2, "options": '{"temperature": 0.7, "top_p": 0.9}'}
        answers, _ = asked(url, lines, **options)
    assert answers[0]["candidates"] == [known[lines[0]], f"{known[lines[0]]} bis"]
    assert {name: chat.bodies[0][name] for name in ("n", "temperature", "top_p")} == {
        "n": 2,
        "temperature": 0.7,
        "top_p": 0.9,
    }
    entries, stats = checked(tmp_path, "--nbest")
    assert entries == [
        f"0 ||| {known[lines[0]]} ||| F0= 0 ||| 0",
        f"0 ||| {known[lines[0]]} bis ||| F0= 0 ||| 0",
        "1 |||  ||| F0= 0 ||| 0",
        f"2 ||| {known[lines[2]]} ||| F0= 0 ||| 0",
        f"2 ||| {known[lines[2]]} bis ||| F0= 0 ||| 0",
    ]
    assert stats["lines"] == {"in": 3, "kept": 2, "dropped": {"copied": 1}}


@pytest.mark.parametrize("kind", LINE_FAULTS)
def test_a_faulty_answer_is_dropped_by_name(asked: Asked, tmp_path: Path, kind: str) -> None:
    known = sentences(120)
    faulty = {line: kind for number, line in enumerate(known) if number % 10 == 3}
    with chat_server(Chat(known, faulty=faulty)) as url:
        asked(url, [*known])
    translations, stats = checked(tmp_path)
    assert stats["lines"] == {"in": 120, "kept": 108, "dropped": {kind: 12}}
    assert translations == ["" if line in faulty else right for line, right in known.items()]
    assert all(text.startswith(f"{kind}: ") for (text,) in stats["samples"])
    assert [text.split(": ", 1)[1].split(" | ")[0] for (text,) in stats["samples"]] == [*faulty][:5]


def test_a_rejected_line_does_not_take_others_with_it(asked: Asked, tmp_path: Path) -> None:
    known = sentences(40)
    bad = [*known][13]
    with chat_server(chat := Chat(known, rejected=frozenset([bad]))) as url:
        answers, stats = asked(url, [*known])
    assert answers[13] == {"failed": "rejected"}
    assert sum("candidates" in answer for answer in answers) == 39
    assert stats["lines"] == {"in": 40, "kept": 39, "dropped": {"rejected": 1}}
    assert Counter(line for lines in chat.paid for line in lines) == Counter(
        {line: 1 for line in known if line != bad}
    )
    translations, stats = checked(tmp_path)
    assert translations[13] == ""
    assert stats["lines"]["dropped"] == {"rejected": 1}


def test_a_service_that_rejects_everything_is_told(asked: Asked) -> None:
    known = sentences(40)
    with (
        chat_server(Chat(known, rejected=frozenset(known))) as url,
        pytest.raises(InputError, match="rejected all .* Correct the options, the model"),
    ):
        asked(url, [*known])


@pytest.mark.parametrize("number", [4, 40])
def test_lines_are_not_lost_to_a_service_at_a_wrong_address(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The address is in no key, so the next attempt finds what the other service has said."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    known = sentences(number)
    wrong, right = Chat(known, rejected=frozenset(known)), Chat(known)
    with chat_server(wrong) as url, pytest.raises(InputError, match="rejected all"):
        asked(url, [*known])
    with chat_server(right) as url:
        answers, _ = asked(url, [*known])
    assert [answer["candidates"] for answer in answers] == [[text] for text in known.values()]
    assert len(right.paid) == number // 10 + (number % 10 > 0)  # together, as if nothing had been asked


def test_failures_of_every_kind_leave_each_line_with_one_answer_or_a_reason(asked: Asked) -> None:
    known = sentences(600)
    with chat_server(chat := Chat(known, fails=0.4, silence=0.5, retry_after="0")) as url:
        answers, stats = asked(url, [*known], timeout=0.3, lines=5)
    assert {*chat.failures} == {*REQUEST_FAULTS, *ANSWER_FAULTS}
    failed = {line for line, answer in zip(known, answers, strict=True) if "failed" in answer}
    assert [answer.get("candidates") for answer in answers] == [
        None if line in failed else [right] for line, right in known.items()
    ]
    answered = Counter(line for lines in chat.paid for line in lines)
    # An answer that leaves one line out is kept for the others.
    spoiled = Counter(line for lines in chat.spoiled for line in lines)
    assert all(answered[line] + spoiled[line] <= 2 for line in known)
    assert all(answered[line] == 0 and spoiled[line] == 2 for line in failed)
    assert stats["lines"]["dropped"].keys() <= {"malformed", "cut_off"}
    assert len(failed) < 60


def test_a_line_that_is_never_answered_as_asked_fails(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    known = sentences(12)
    chat = Chat(known)
    monkeypatch.setattr(chat, "next_fault", lambda: "cut off")
    with chat_server(chat) as url:
        answers, stats = asked(url, [*known])
    assert answers == [{"failed": "cut_off"}] * 12
    assert stats["tokens"]["read"] == 2 * 120  # once together, once each alone
    assert len(chat.spoiled) == 2 + 12


def test_a_service_that_stays_busy_ends_the_attempt(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    known = sentences(3)
    chat = Chat(known, retry_after="0")
    monkeypatch.setattr(chat, "next_fault", lambda: "429")
    with chat_server(chat) as url, pytest.raises(TemporaryError, match="429 .*; tried 8 times"):
        asked(url, [*known])


def test_a_line_on_which_the_service_always_fails_is_given_up_alone(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = sentences(40)
    bad = [*known][13]
    with chat_server(chat := Chat(known, failing=frozenset([bad]))) as url:
        answers, stats = asked(url, [*known])
    assert answers[13] == {"failed": "unanswered"}
    assert stats["lines"] == {"in": 40, "kept": 39, "dropped": {"unanswered": 1}}
    assert sorted(map(len, chat.paid)) == [*[1] * 9, 10, 10, 10]
    translations, stats = checked(tmp_path)
    assert translations == ["" if line == bad else right for line, right in known.items()]
    assert stats["lines"]["dropped"] == {"unanswered": 1}


@pytest.mark.parametrize("lines", [1, 10])
def test_a_line_on_which_the_service_always_fails_may_be_the_last(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """All others were answered before: one is asked again, which shows that the service is there."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    known = sentences(11)
    *_, bad = known
    for paid in (10, 1):
        with chat_server(chat := Chat(known, failing=frozenset([bad]))) as url:
            answers, _ = asked(url, [*known], lines=lines)
        _remove_output(tmp_path / "answers")
        assert answers == [
            *({"candidates": [known[line]]} for line in known if line != bad),
            {"failed": "unanswered"},
        ]
        assert len({line for asked_together in chat.paid for line in asked_together} - {bad}) == paid


def test_a_pause_may_be_given_as_a_date() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 97 < (web_service._pause(until) or 0) < 101
    assert [web_service._pause(text) for text in ("120", "", "soon", "Mon, 01 Jan 2024 00:00:00 GMT")] == [
        120.0,
        None,
        None,
        0.0,
    ]


def test_a_pause_is_kept(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    known = sentences(20)
    faults = iter(["429"])
    chat = Chat(known, retry_after="1")
    monkeypatch.setattr(chat, "next_fault", lambda: next(faults, ""))
    with chat_server(chat) as url:
        begin = time.monotonic()
        asked(url, [*known], lines=1)
    assert time.monotonic() - begin >= 1.0


def test_a_long_pause_is_left_to_another_attempt(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Chat(known := sentences(3), retry_after="86400")
    monkeypatch.setattr(chat, "next_fault", lambda: "429")
    with chat_server(chat) as url, pytest.raises(TemporaryError, match="tried 1 times"):
        asked(url, [*known])


def test_a_key_for_this_machine_does_not_go_to_a_proxy(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    known = sentences(2)
    with chat_server(Chat(known)) as url, chat_server(proxy := Chat(known)) as proxy_url:
        monkeypatch.setenv("http_proxy", proxy_url.removesuffix("/v1"))
        answers, _ = asked(url, [*known])
    assert [answer["candidates"] for answer in answers] == [[right] for right in known.values()]
    assert proxy.most == 0


@pytest.mark.parametrize("key", ["sk-abc\u2026", "sk-\u00e9", "sk-abc\ndef"])
def test_a_key_that_is_none_is_told_without_the_key(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError, match="OPENAI_API_KEY has a character that no key has") as caught:
        asked("http://127.0.0.1:9/v1", ["A line."])
    assert "sk-" not in str(caught.value)


def test_an_address_where_nobody_answers_is_named(asked: Asked) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(TemporaryError, match=f"check OPENAI_BASE_URL .*127.0.0.1.*{port}.*refused"):
        asked(f"http://127.0.0.1:{port}/v1", ["A line."])


def test_a_wrong_key_is_told_without_the_key(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    with chat_server(Chat(sentences(2))) as url, pytest.raises(InputError) as caught:
        asked(url, [*sentences(2)])
    assert "401" in str(caught.value)
    assert "sk-another" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "Set OPENAI_BASE_URL to the address"),
        ("http://models.example.org/v1", "OPENAI_API_KEY would be sent unencrypted"),
        ("models.example.org", "must be an address such as"),
    ],
)
def test_an_address_that_will_not_do(asked: Asked, url: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        asked(url, ["A line."])


def test_kills_pay_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = sentences(400)
    chat = Chat(known, delay=0.05)
    with chat_server(chat) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
        command = [sys.executable, "-m", "pipeline.translate.ask", *arguments(tmp_path, [*known], lines=4)]
        before = lost_before = 0
        for stop in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            _wait_until(lambda wanted=before + 20: len(chat.paid) >= wanted)
            process.send_signal(stop)
            process.communicate(timeout=60)
            assert process.returncode == (75 if stop == signal.SIGTERM else -signal.SIGKILL)
            _remove_output(tmp_path / "answers")
            _wait_until(lambda: chat.running == 0)
            time.sleep(0.1)  # an answer is counted after it is sent
            kept = max(int(path.name.rpartition("-")[2]) for path in (tmp_path / "kept").glob("requests-*"))
            lost = len(chat.paid) - kept
            # As many as are asked at once: 8, and one more for each 8 answers
            assert lost - lost_before <= pacing.FIRST + (len(chat.paid) - before) // pacing.FIRST + 1
            before, lost_before = len(chat.paid), lost
        subprocess.run(command, check=True, env={**os.environ})
    answers = [json.loads(line) for line in lines_of(tmp_path / "answers/answers.zst")]
    assert [answer["candidates"] for answer in answers] == [[right] for right in known.values()]
    assert len(chat.paid) == len(known) // 4 + lost_before
    sets = [*(tmp_path / "kept").iterdir()]
    assert [path.name for path in sets] == ["requests-000000000100"]
    assert len([*sets[0].glob("*.zst")]) <= 8


def _wait_until(true: Any) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _remove_output(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    if folder.exists():
        folder.rmdir()


def test_answers_of_another_prompt_are_refused(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    known = sentences(3)
    with chat_server(Chat(known)) as url:
        asked(url, [*known])
        _remove_output(tmp_path / "answers")
        for name, value in (("model", "other"), ("src", "German"), ("trg", "Breton")):
            with pytest.raises(InputError, match=f"of another input: --{name}"):
                asked(url, [*known], **{name: value})


def test_half_a_character_costs_its_line_and_no_other(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models write an emoji as two escapes, and cut it between them."""
    monkeypatch.setitem(LINE_FAULTS, "half", lambda line, right: f"{right} \ud83d")
    known = sentences(20)
    broken = [*known][7]
    with chat_server(chat := Chat(known, faulty={broken: "half"})) as url:
        answers, stats = asked(url, [*known])
    assert answers[7] == {"failed": "malformed"}
    assert [answer.get("candidates") for answer in answers] == [
        None if line == broken else [right] for line, right in known.items()
    ]
    assert stats["lines"]["dropped"] == {"malformed": 1}
    assert sorted(map(len, chat.paid)) == [1, 10, 10]
    assert checked(tmp_path)[1]["lines"]["dropped"] == {"malformed": 1}
