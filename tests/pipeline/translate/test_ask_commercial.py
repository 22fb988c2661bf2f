"""pipeline.translate.ask_commercial: Google's and Microsoft's services, which fail as the real ones."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.translate import ask_commercial, asking, pacing
from tests.pipeline.train.tiny import lines_of
from tests.translation_server import FAULTS, KEY, OTHER_FAULTS, REGION, Company, translation_server

Ask: TypeAlias = Callable[..., tuple[list[Any], Any]]

COMPANIES = ("google", "microsoft")
LINES = [f'The {number}. line has "quotes" & <signs>, ŝĉ 漢 \U0001f600.' for number in range(1, 46)]


def mirrored(line: str) -> str:
    return line[::-1]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in COMPANIES:
        monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    monkeypatch.setattr(pacing, "PAUSE", 0.01)


def arguments(folder: Path, company: Company, text: list[str], **options: object) -> list[str]:
    write_lines(folder / "text.zst", text)
    given = {"service": company.name, "src": "en", "trg": "zh-TW", "text": folder / "text.zst"}
    given |= {"output": folder / "answers", **options}
    return [word for name, value in given.items() for word in (f"--{name}", str(value))]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks a company's service, and returns the answers and stats.json."""

    def asked(company: Company, text: list[str], **options: object) -> tuple[list[Any], Any]:
        with translation_server(company) as url:
            monkeypatch.setenv(f"{company.name.upper()}_BASE_URL", url)
            ask_commercial.main(arguments(tmp_path, company, text, **options))
        answers = [json.loads(line) for line in lines_of(tmp_path / "answers/answers.zst")]
        return answers, json.loads((tmp_path / "answers/stats.json").read_text())

    return asked


@pytest.mark.parametrize("name", COMPANIES)
def test_each_line_has_its_own_translation(ask: Ask, name: str) -> None:
    company = Company(name, mirrored)
    text = [*LINES[:30], "", "  ", *LINES[30:]]
    answers, stats = ask(company, text)
    assert [one["candidates"] for one in answers] == [
        [mirrored(line) if line.strip() else ""] for line in text
    ]
    assert sorted(map(len, company.paid)) == [5, 20, 20]
    assert stats["lines"] == {"in": 47, "kept": 47, "dropped": {}}
    assert (stats["requests"], stats["characters"]) == (3, sum(map(len, LINES)))
    assert stats["samples"][0] == [LINES[0], mirrored(LINES[0])]


@pytest.mark.parametrize(
    ("name", "told", "header"),
    [
        ("google", {"source": "en", "target": "zh-TW", "format": "text"}, "X-goog-api-key"),
        ("microsoft", {"api-version": "3.0", "from": "en", "to": "zh-TW"}, "Ocp-Apim-Subscription-Key"),
    ],
)
def test_the_key_is_in_its_header_and_nowhere_else(
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    told: Mapping[str, str],
    header: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MICROSOFT_REGION", REGION)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password else\n")
    company = Company(name, mirrored)
    ask(company, LINES)
    for headers, asked in company.requests:
        sent = {key.lower(): value for key, value in headers.items()}
        assert sent[header.lower()] == KEY
        assert "authorization" not in sent
        assert sent.get("ocp-apim-subscription-region") == (REGION if name == "microsoft" else None)
        assert asked == told
    assert KEY not in caplog.text
    assert not [path for path in (tmp_path / "answers").iterdir() if KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("name", COMPANIES)
def test_a_service_that_fails_in_every_way_translates_all_and_is_paid_once(ask: Ask, name: str) -> None:
    """`few` alone is paid for in vain: its lines are asked again, each alone."""
    faults = [fault for fault in OTHER_FAULTS if fault != "silence"]
    company = Company(name, mirrored, iter([*faults, "limit", "500", "", "429"]))
    answers, stats = ask(company, LINES, lines=5)
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in LINES]
    paid = Counter(line for lines in company.paid for line in lines)
    assert sorted(paid.values()) == [1] * 40 + [2] * 5
    assert stats["characters"] == sum(len(line) * times for line, times in paid.items())
    assert stats["lines"]["dropped"] == {}


@pytest.mark.parametrize("name", COMPANIES)
def test_a_silent_service_is_asked_again(ask: Ask, name: str) -> None:
    company = Company(name, mirrored, iter(["silence"]), silence=1.0)
    answers, _ = ask(company, LINES[:3], timeout=0.3)
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in LINES[:3]]


@pytest.mark.parametrize("name", COMPANIES)
def test_a_line_that_is_rejected_is_dropped_under_that_reason(ask: Ask, name: str) -> None:
    company = Company(name, mirrored, rejected=frozenset([LINES[7]]))
    answers, stats = ask(company, LINES)
    assert answers[7] == {"failed": "rejected"}
    assert answers[8] == {"candidates": [mirrored(LINES[8])]}
    assert stats["lines"]["dropped"] == {"rejected": 1}
    assert stats["characters"] == sum(map(len, LINES)) - len(LINES[7])  # rejected requests are not paid for


@pytest.mark.parametrize("name", COMPANIES)
def test_a_wrong_count_of_translations_is_not_mapped(ask: Ask, name: str) -> None:
    company = Company(name, mirrored, iter(["few", "few"]))
    answers, stats = ask(company, LINES[:1])
    assert answers == [{"failed": "malformed"}]
    assert stats["lines"]["dropped"] == {"malformed": 1}


def test_requests_stay_below_the_limit_of_characters(ask: Ask) -> None:
    text = ["x" * 2_400, "y" * 2_400, "z" * 300, "w" * 9_000, *LINES]
    company = Company("google", mirrored)
    ask(company, text)
    sizes = [sum(map(len, lines)) for lines in company.paid]
    assert sorted(sizes)[-2:] == [5_000 - 200, 9_000]
    assert dict.fromkeys(text, 1) == Counter(line for lines in company.paid for line in lines)
    assert asking.MOST_CHARACTERS == 5_000


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("google", TemporaryError, "Daily Limit Exceeded.*after midnight"),
        ("microsoft", InputError, "403001.*Check MICROSOFT_API_KEY"),
    ],
)
def test_a_quota_that_is_used_up_ends_the_attempt_and_keeps_what_is_answered(
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: type[Exception],
    said: str,
) -> None:
    """Google's is that of a day, so that a later attempt may succeed; Microsoft's that of a month."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    monkeypatch.setattr(pacing, "FIRST", 1)  # one request after the other
    first = Company(name, mirrored, iter(["", *["daily"] * 10]))
    with pytest.raises(kind, match=said):
        ask(first, LINES)
    assert len(first.requests) <= 3
    second = Company(name, mirrored)
    answers, _ = ask(second, LINES)
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in LINES]
    assert len(first.paid) == 1
    assert Counter(line for lines in (*first.paid, *second.paid) for line in lines) == Counter(LINES)


@pytest.mark.parametrize("number", [3, 45])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("google", "API key not valid.*Check GOOGLE_API_KEY"),
        ("microsoft", "401000.*Check MICROSOFT_API_KEY"),
    ],
)
def test_a_wrong_key_is_told_at_once_and_costs_no_line(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str, number: int
) -> None:
    """Google answers it with 400, as it does requests that are none."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    variable = f"{name.upper()}_API_KEY"
    monkeypatch.setenv(variable, "another-key")
    company, lines = Company(name, mirrored), LINES[:number]
    with pytest.raises(InputError, match=said) as caught:
        ask(company, lines)
    assert "another-key" not in str(caught.value)
    assert len(company.requests) <= pacing.FIRST
    assert not [*(tmp_path / "answers").iterdir()]
    monkeypatch.setenv(variable, KEY)
    answers, _ = ask(company, lines)
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in lines]
    assert Counter(line for asked in company.paid for line in asked) == Counter(lines)


@pytest.mark.parametrize("name", COMPANIES)
def test_a_language_that_a_service_has_not_is_told_at_once(ask: Ask, name: str) -> None:
    company = Company(name, mirrored, iter(["language"] * 100))
    with pytest.raises(InputError, match="language.* that it translates from en into zh-TW"):
        ask(company, LINES[:3])
    assert (len(company.requests), company.paid) == (1, [])


@pytest.mark.parametrize("number", [3, 45])
@pytest.mark.parametrize("name", COMPANIES)
def test_lines_are_not_lost_to_a_service_that_rejected_everything(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    with pytest.raises(InputError, match="rejected all .* the languages or the key"):
        ask(Company(name, mirrored, iter(["400"] * 100)), LINES[:number])
    assert not [*(tmp_path / "answers").iterdir()]
    company = Company(name, mirrored)
    answers, _ = ask(company, LINES[:number])
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in LINES[:number]]
    assert len(company.paid) == -(-number // 20)  # together, as if nothing had been asked


@pytest.mark.parametrize("name", COMPANIES)
def test_errors_in_other_forms_are_rejections(ask: Ask, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    bodies: list[Any] = ["<html>", [], {"error": "no"}, {"error": {"errors": [1], "details": 2, "code": []}}]
    for number, body in enumerate(bodies):
        monkeypatch.setitem(FAULTS[name], f"odd-{number}", (400, body))
    company = Company(name, mirrored, iter(f"odd-{number}" for number in range(len(bodies))))
    answers, _ = ask(company, LINES[:6], lines=1)
    assert sum(one == {"failed": "rejected"} for one in answers) == len(bodies)


def test_a_rejection_that_is_kept_is_not_asked_again(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where lines before it were answered, the line is the reason."""
    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    ask(Company("google", mirrored, rejected=frozenset(LINES[-17:])), LINES)
    shutil.rmtree(tmp_path / "answers")
    again = Company("google", mirrored)
    answers, _ = ask(again, LINES)
    assert again.requests == []
    assert answers[-17:] == [{"failed": "rejected"}] * 17


@pytest.mark.parametrize(
    ("name", "variables", "said"),
    [
        ("google", {"GOOGLE_API_KEY": ""}, "Set GOOGLE_API_KEY to your key"),
        ("microsoft", {"MICROSOFT_API_KEY": ""}, "Set MICROSOFT_API_KEY to your key"),
        ("google", {"GOOGLE_BASE_URL": "http://translate.example.org"}, "would be sent unencrypted"),
        ("microsoft", {"MICROSOFT_BASE_URL": "example.org"}, "must be an address such as"),
    ],
)
def test_an_environment_that_will_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, variables: Mapping[str, str], said: str
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=said):
        ask_commercial.main(arguments(tmp_path, Company(name, mirrored), LINES))


@pytest.mark.parametrize("name", COMPANIES)
def test_kills_pay_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    lines = [f"Line {number}" for number in range(300)]
    company = Company(name, mirrored, delay=0.05)
    with translation_server(company) as url:
        monkeypatch.setenv(f"{name.upper()}_BASE_URL", url)
        monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
        script = [sys.executable, "-m", "pipeline.translate.ask_commercial"]
        command = [*script, *arguments(tmp_path, company, lines, lines=3)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while len(company.paid) < 40 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        while company.running:
            time.sleep(0.01)
        kept = max(int(path.name.rpartition("-")[2]) for path in (tmp_path / "kept").glob("requests-*"))
        lost = len(company.paid) - kept
        assert lost <= pacing.FIRST + len(company.paid) // pacing.FIRST + 1
        subprocess.run(["rm", "-rf", str(tmp_path / "answers")], check=True)
        subprocess.run(command, check=True, env={**os.environ})
    answers = [json.loads(line) for line in lines_of(tmp_path / "answers/answers.zst")]
    assert [one["candidates"] for one in answers] == [[mirrored(line)] for line in lines]
    assert len(company.paid) == 100 + lost


def test_half_a_character_costs_its_line_and_no_other(ask: Ask) -> None:
    company = Company("google", lambda line: f"{mirrored(line)} \ud83d" if line == LINES[4] else line)
    answers, stats = ask(company, LINES)
    assert answers[4] == {"failed": "malformed"}
    assert stats["lines"] == {"in": 45, "kept": 44, "dropped": {"malformed": 1}}
