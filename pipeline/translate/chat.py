"""Chat completions of a service with OpenAI's interface: vLLM, llama.cpp, vendors.

A service has a name, OPENAI for one, and two variables of the environment: OPENAI_BASE_URL, its address with
the version (`http://127.0.0.1:8000/v1`), and OPENAI_API_KEY, where it wants a key.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import requests

from pipeline.common.errors import InputError
from pipeline.translate.web_service import WebService, read_key, unreadable

Message: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """What came of a request.

    texts   of the choices, without those that are cut off or that a filter has stopped
    tokens  read and written, which are paid for
    model   that the service says it has asked
    """

    texts: tuple[str, ...]
    tokens: tuple[int, int]
    model: str


class Service:
    """A service that answers; safe for use by several threads.

    timeout  seconds without a byte of the answer
    """

    def __init__(self, name: str, model: str, timeout: float, at_once: int) -> None:
        variable, self._model = f"{name}_BASE_URL", model
        url, key = os.environ.get(variable, "").strip(), f"{name}_API_KEY"
        if not url:
            raise InputError(
                f"Set {variable} to the address of the service, such as http://127.0.0.1:8000/v1, and "
                f"{key} to its key, if it wants one."
            )
        given = read_key(key, url, variable)
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        help = (
            f"Check the model {model}, {variable} (it ends with the version, as in /v1), and the key "
            "beside it."
        )
        self._service = WebService(url, variable, headers, help, at_once, timeout)

    def complete(self, messages: Sequence[Message], choices: int, options: Mapping[str, Any]) -> Reply:
        """Ask once. Raises Busy, Rejected, or InputError where no request would be answered."""
        wanted = {"n": choices} if choices > 1 else {}
        body = {"model": self._model, "messages": list(messages), **wanted, **options}
        answer = self._service.post("chat/completions", body)
        self._service.check(answer)
        return _reply(answer)


def _reply(answer: requests.Response) -> Reply:
    """Take an answer apart; one without choices counts as none, as a proxy's page does."""
    try:
        told = answer.json()
        whole = [one for one in told["choices"] if dict(one).get("finish_reason") in ("stop", None)]
        texts = tuple(str(choice["message"]["content"] or "") for choice in whole)
        usage = dict(told.get("usage") or {})
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        return Reply(texts, tokens, str(told.get("model") or ""))
    except (ValueError, KeyError, TypeError) as error:
        raise unreadable(answer) from error
