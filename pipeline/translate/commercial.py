"""The translation services of Google (Cloud Translation v2) and of Microsoft (Translator 3.0).

    GOOGLE_API_KEY, MICROSOFT_API_KEY       the key
    MICROSOFT_REGION                        of a resource that has one
    GOOGLE_BASE_URL, MICROSOFT_BASE_URL     another address than the public one

are their variables. Characters of the source are paid for.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import requests

from pipeline.common.errors import InputError
from pipeline.translate.pacing import MOST
from pipeline.translate.web_service import WebService, read_key, unreadable

# The translations of lines; as many as the service gave. Raises Busy, Rejected or InputError.
Translate: TypeAlias = Callable[[Sequence[str]], list[str]]

GOOGLE, MICROSOFT = "https://translation.googleapis.com", "https://api.cognitive.microsofttranslator.com"
# Of an answer 403, in place of 429: so many requests in a minute
LIMITS = {"userRateLimitExceeded", "rateLimitExceeded"}


def google(src: str, trg: str, timeout: float) -> Translate:
    """Google's service between two languages. Raises InputError without a key."""
    url, key = _address("GOOGLE", GOOGLE)
    help = "Check GOOGLE_API_KEY, that its project has the Cloud Translation API, and the project's quotas."
    service = WebService(url, "GOOGLE_BASE_URL", {"X-goog-api-key": key}, help, MOST, timeout)

    def translate(lines: Sequence[str]) -> list[str]:
        body = {"q": list(lines), "source": src, "target": trg, "format": "text"}
        answer = service.post("language/translate/v2", body)
        service.check(answer, overload=answer.status_code == 403 and bool(_reasons(answer) & LIMITS))
        return _texts(answer, lambda told: [one["translatedText"] for one in told["data"]["translations"]])

    return translate


def microsoft(src: str, trg: str, timeout: float) -> Translate:
    """Microsoft's service between two languages. Raises InputError without a key."""
    url, key = _address("MICROSOFT", MICROSOFT)
    headers, region = {"Ocp-Apim-Subscription-Key": key}, os.environ.get("MICROSOFT_REGION", "").strip()
    if region:
        headers["Ocp-Apim-Subscription-Region"] = region
    help = (
        "Check MICROSOFT_API_KEY, MICROSOFT_REGION (a regional resource needs it), and the resource's quota."
    )
    service = WebService(url, "MICROSOFT_BASE_URL", headers, help, MOST, timeout)
    query = {"api-version": "3.0", "from": src, "to": trg}

    def translate(lines: Sequence[str]) -> list[str]:
        answer = service.post("translate", [{"Text": line} for line in lines], query)
        service.check(answer)
        return _texts(answer, lambda told: [one["translations"][0]["text"] for one in told])

    return translate


SERVICES: Mapping[str, Callable[[str, str, float], Translate]] = {"google": google, "microsoft": microsoft}


def _address(name: str, usual: str) -> tuple[str, str]:
    """The address and the key of a service. Raises InputError without a key."""
    address = f"{name}_BASE_URL"
    url = os.environ.get(address, "").strip() or usual
    key = read_key(f"{name}_API_KEY", url, address)
    if not key:
        raise InputError(f"Set {name}_API_KEY to your key of the service.")
    return url, key


def _texts(answer: requests.Response, taken: Callable[[Any], list[Any]]) -> list[str]:
    try:
        return [str(text) for text in taken(answer.json())]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise unreadable(answer) from error


def _reasons(answer: requests.Response) -> set[str]:
    """The reasons that an error of Google's gives."""
    try:
        return {str(one["reason"]) for one in answer.json()["error"]["errors"]}
    except (ValueError, KeyError, TypeError):
        return set()
