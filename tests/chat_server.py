"""A service with OpenAI's interface on 127.0.0.1, which knows the translations of made sentences, or judges.

It fails as real ones do, where it is told to, and keeps account of what it was paid for.
"""

from __future__ import annotations

import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.http_server import http_server

KEY = "sk-of-the-test"
_THINGS = [
    ("apples", "pommes"), ("books", "livres"), ("letters", "lettres"), ("chairs", "chaises"),
    ("candles", "bougies"), ("bottles", "bouteilles"), ("flowers", "fleurs"), ("stamps", "timbres"),
]  # fmt: skip
_PEOPLE = [
    ("The old woman", "La vieille femme"), ("My brother", "Mon frère"), ("The teacher", "Le professeur"),
    ("Our neighbour", "Notre voisin"), ("The young doctor", "Le jeune médecin"),
]  # fmt: skip
_PLACES = [
    ("at the market of the small town", "au marché de la petite ville"),
    ("in the garden behind the house", "dans le jardin derrière la maison"),
    ("before the beginning of the summer holidays", "avant le début des vacances d'été"),
]  # fmt: skip


def sentence(number: int) -> tuple[str, str]:
    """An English sentence and its French translation; all numbers have other ones."""
    (who, qui), (what, quoi), (where, ou) = (
        table[number % len(table)] for table in (_PEOPLE, _THINGS, _PLACES)
    )
    return (
        f"{who} has bought {number + 2} {what} {where}.",
        f"{qui} a acheté {number + 2} {quoi} {ou}.",
    )


def sentences(number: int) -> dict[str, str]:
    """So many sentences and their translations."""
    return dict(map(sentence, range(number)))


# Faults of the answer for one sentence: what stands in its place, by the fault's name in stats.json
LINE_FAULTS: Mapping[str, Callable[[str, str], Any]] = {
    "empty": lambda line, right: "  ",
    "several_lines": lambda line, right: f"{right}\n{right}",
    "chatter": lambda line, right: f"Here is the translation: {right}",
    "refusal": lambda line, right: "I'm sorry, but as an AI language model I can't translate this.",
    "copied": lambda line, right: line,
    "language": lambda line, right: "Die alte Frau hat gestern auf dem Markt der Stadt etwas gekauft.",
    "length": lambda line, right: " ".join([right] * 4),
}
# Faults of a whole answer
ANSWER_FAULTS = ("no JSON", "missing key", "strange key", "twin key", "not text", "cut off")
# Failures of a request, which is not paid for
REQUEST_FAULTS = ("429", "500", "503", "dropped", "page", "nothing", "silence")


@dataclass
class Chat:
    """The service: what it translates, how often it fails, and what it has been asked.

    translations  by line
    judge         the score of a source, a reference and a translation; such a line is called by its source
    fails         share of requests that fail, or whose answer is no good, by kinds in turn
    faulty        the fault of the answer for a line, by line; the same however often it is asked
    rejected      lines for which the service answers 400
    failing       lines for which it answers 500
    silence       seconds for which it says nothing, in that fault
    asked         the requests: their lines, and whether their answer was sent to its end
    """

    translations: Mapping[str, str] = field(default_factory=dict)
    judge: Callable[[Mapping[str, str]], Any] = lambda asked: None
    fails: float = 0.0
    faulty: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    silence: float = 5.0
    delay: float = 0.0
    retry_after: str = "1"
    seed: int = 1
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paid: list[tuple[str, ...]] = field(default_factory=list)
    spoiled: list[tuple[str, ...]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    running: int = 0
    most: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._turn = 0

    def next_fault(self) -> str:
        """The fault of the next request; mostly none."""
        kinds = (*REQUEST_FAULTS, *ANSWER_FAULTS)
        with self.lock:
            if self._random.random() >= self.fails:
                return ""
            self._turn += 1
            return kinds[self._turn % len(kinds)]

    def answer(self, lines: Sequence[Any], choices: int, fault: str) -> dict[str, Any]:
        """The body of an answer."""
        contents = [self._content(lines, fault, choice) for choice in range(choices)]
        reason = "length" if fault == "cut off" else "stop"
        return {
            "id": "chat",
            "model": "tiny-of-the-test",
            "choices": [
                {"index": number, "finish_reason": reason, "message": {"role": "assistant", "content": text}}
                for number, text in enumerate(contents)
            ],
            "usage": {"prompt_tokens": 10 * len(lines), "completion_tokens": 7 * len(lines) * choices},
        }

    def _content(self, lines: Sequence[Any], fault: str, choice: int) -> str:
        said: dict[str, Any] = {}
        for number, line in enumerate(lines, start=1):
            if isinstance(line, dict):
                said[str(number)] = self.judge(line)
                continue
            right = self.translations[line] + (" bis" * choice)
            own = self.faulty.get(line, "")
            said[str(number)] = LINE_FAULTS[own](line, right) if own else right
        if fault == "missing key":
            said.popitem()
        elif fault == "strange key":
            said["7777"] = "une ligne de plus"
        elif fault == "not text":
            said["1"] = ["une", "liste"]
        text = json.dumps(said, ensure_ascii=False)
        if fault == "no JSON":
            return "Voici : " + ", ".join(map(str, said.values()))
        if fault == "cut off":
            return text[: len(text) // 2]
        if fault == "twin key":
            return text[:-1] + ', "1": "encore une fois"}'
        return f"<think>{{}} is the format</think>\n```json\n{text}\n```" if len(lines) % 2 else text


@contextmanager
def chat_server(chat: Chat) -> Iterator[str]:
    """The service's base URL, while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            with chat.lock:
                chat.running += 1
                chat.most = max(chat.most, chat.running)
            try:
                self._serve()
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with chat.lock:
                    chat.running -= 1

        def _serve(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers.get("Authorization") != f"Bearer {KEY}":
                return self._send(401, {"error": {"message": "Incorrect API key provided"}})
            if self.path != "/v1/chat/completions":
                return self._send(404, {"error": {"message": "no such path"}})
            asked = tuple(json.loads(body["messages"][-1]["content"]).values())
            lines = tuple(line["source"] if isinstance(line, dict) else line for line in asked)
            with chat.lock:
                chat.bodies.append(body)
            if chat.rejected.intersection(lines):
                return self._send(400, {"error": {"code": "content_filter", "message": "filtered"}})
            if chat.failing.intersection(lines):
                return self._fail("500")
            time.sleep(chat.delay)
            fault = chat.next_fault()
            if fault:
                with chat.lock:
                    chat.failures.append(fault)
            if fault in REQUEST_FAULTS:
                return self._fail(fault)
            self._send(200, chat.answer(asked, body.get("n", 1), fault))
            with chat.lock:
                (chat.spoiled if fault else chat.paid).append(lines)

        def _fail(self, fault: str) -> None:
            if fault == "silence":
                time.sleep(chat.silence)
            if fault in ("silence", "nothing"):
                self.close_connection = True
                linger = struct.pack("ii", 1, 0)  # a reset, and no answer
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            elif fault == "dropped":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"choices": [')
                self.close_connection = True
            elif fault == "page":
                self._send_bytes(200, b"<html>The gateway is being mended</html>")
            else:
                self._send(int(fault), {"error": {"message": "busy"}})

        def _send(self, status: int, value: object) -> None:
            self._send_bytes(status, json.dumps(value).encode())

        def _send_bytes(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", chat.retry_after)
            self.end_headers()
            self.wfile.write(data)

    with http_server(Handler) as address:
        yield f"{address}/v1"
