"""Ask a service for 10,000 translations while it fails in every way and the script is killed three times.

python -m benchmarks.endpoint

The service is that of the tests, on this machine: of ten requests one fails, or has an answer that is not as
asked; of ten lines one has an answer with a fault; some lines it rejects. The table says what became of the
lines, and what was paid for more than once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline.common.lines import read_lines, write_lines
from tests.chat_server import KEY, LINE_FAULTS, Chat, chat_server, sentences

PROMPT = "pipeline/translate/configs/prompts/endpoint.yml"
STOPS = (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL)
A_REQUEST = 10  # lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000)
    number = parser.parse_args().lines
    known = sentences(number)
    kinds = [*LINE_FAULTS]
    faulty = {line: kinds[at // 10 % len(kinds)] for at, line in enumerate(known) if at % 10 == 3}
    rejected = frozenset(line for at, line in enumerate(known) if at % 200 == 7)
    chat = Chat(known, fails=0.1, faulty=faulty, rejected=rejected, silence=3.0, delay=0.05)
    with tempfile.TemporaryDirectory() as folder, chat_server(chat) as url:
        _run(Path(folder), url, chat, known, faulty, rejected)


def _run(
    folder: Path,
    url: str,
    chat: Chat,
    known: dict[str, str],
    faulty: dict[str, str],
    rejected: frozenset[str],
) -> None:
    write_lines(folder / "text.zst", known)
    environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    environment["TRANSLATIONS_CHECKPOINTS"] = str(folder / "kept")
    begin, lost = time.monotonic(), list[int]()
    for number in range(len(STOPS) + 1):
        command = _ask(folder, f"answers{number}")
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        if number < len(STOPS):
            wanted = len(known) // A_REQUEST * (number + 1) // (len(STOPS) + 1)
            while len(chat.paid) < wanted:
                time.sleep(0.001)
            process.send_signal(STOPS[number])
        process.wait()
        while chat.running:
            time.sleep(0.01)
        lost.append(_answered(chat) - _kept(folder / "kept") - sum(lost))
    seconds = time.monotonic() - begin
    _check(folder, f"answers{len(STOPS)}")
    _print(folder, chat, known, faulty, rejected, lost, seconds)


def _ask(folder: Path, name: str) -> list[str]:
    options = {"service": "OPENAI", "model": "tiny", "src": "English", "trg": "French", "prompt": PROMPT}
    options |= {"text": str(folder / "text.zst"), "output": str(folder / name), "timeout": "2"}
    words = [word for option, value in options.items() for word in (f"--{option}", value)]
    return [sys.executable, "-m", "pipeline.translate.ask", *words]


def _check(folder: Path, name: str) -> None:
    files = ["--answers", str(folder / name / "answers.zst"), "--text", str(folder / "text.zst")]
    scripts = ["--src-script", "Latin", "--trg-script", "Latin", "--trg-labels", "fra"]
    command = [sys.executable, "-m", "pipeline.clean.check_answers", *files, *scripts]
    subprocess.run([*command, "--output", str(folder / "checked")], check=True, stderr=subprocess.DEVNULL)


def _answered(chat: Chat) -> int:
    """The requests that were answered to the end, paid ones, and those that the service rejected."""
    return len(chat.paid) + len(chat.spoiled)


def _kept(folder: Path) -> int:
    """The requests with tokens in the newest set."""
    newest = max(folder.glob("requests-*"))
    records = [json.loads(line) for path in sorted(newest.glob("*.zst")) for line in read_lines(path)]
    return sum(record["tokens"][0] > 0 for record in records)


def _print(
    folder: Path,
    chat: Chat,
    known: dict[str, str],
    faulty: dict[str, str],
    rejected: frozenset[str],
    lost: list[int],
    seconds: float,
) -> None:
    stats: Any = json.loads((folder / "checked/stats.json").read_text())
    translations = [*read_lines(folder / "checked/translations.zst")]
    wrong = sum(bool(made) and made != known[line] for line, made in zip(known, translations, strict=True))
    planted = Counter(kind for line, kind in faulty.items() if line not in rejected)
    planted["rejected"] = len(rejected)
    again = sum(Counter(line for lines in chat.paid for line in lines).values()) - len(
        {line for lines in chat.paid for line in lines}
    )
    kept, dropped = stats["lines"]["kept"], stats["lines"]["dropped"]
    print(f"{len(known):,} lines, {A_REQUEST} a request, in {seconds:.0f} s with 3 kills")
    print(f"translated {kept:,}, with another line's translation {wrong}")
    print(
        f"dropped {sum(dropped.values()):,}: " + ", ".join(f"{name} {many}" for name, many in dropped.items())
    )
    print("planted:  " + ", ".join(f"{name} {many}" for name, many in sorted(planted.items())))
    print(f"failures of requests and answers: {dict(sorted(Counter(chat.failures).items()))}")
    print(f"requests that were answered: {_answered(chat):,}; answers lost by each kill: {lost[:-1]}")
    print(f"most requests at once: {chat.most}; lines with a good answer more than once: {again}")


if __name__ == "__main__":
    main()
