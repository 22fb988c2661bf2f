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

from pipeline.common.errors import InputError, TemporaryError
from pipeline.translate.pacing import MOST
from pipeline.translate.web_service import WebService, read_key, shown, unreadable

# The translations of lines; as many as the service gave. Raises Busy, Rejected, InputError or TemporaryError.
Translate: TypeAlias = Callable[[Sequence[str]], list[str]]

GOOGLE, MICROSOFT = "https://translation.googleapis.com", "https://api.cognitive.microsofttranslator.com"
# Of an answer 403, in place of 429: so many requests in a minute
LIMITS = {"userRateLimitExceeded", "rateLimitExceeded"}
DAILY = "dailyLimitExceeded"
# Of an answer 400 that is not about the text: a wrong key, and fields with a language that Google has not
REFUSALS = {"API_KEY_INVALID", "keyInvalid", "source", "target"}
# Microsoft's for a language, a pair, or either side that it has not
LANGUAGES = {"400019", "400023", "400035", "400036"}


def google(src: str, trg: str, timeout: float) -> Translate:
    """Google's service between two languages. Raises InputError without a key."""
    url, key = _address("GOOGLE", GOOGLE)
    help = (
        "Check GOOGLE_API_KEY, that its project has the Cloud Translation API and a quota, and that it "
        f"translates from {src} into {trg}."
    )
    service = WebService(url, "GOOGLE_BASE_URL", {"X-goog-api-key": key}, help, MOST, timeout)

    def translate(lines: Sequence[str]) -> list[str]:
        body = {"q": list(lines), "source": src, "target": trg, "format": "text"}
        answer = service.post("language/translate/v2", body)
        reasons = _reasons(answer)
        if DAILY in reasons:
            raise TemporaryError(
                f"{shown(answer)}: the project has its next quota after midnight (Pacific Time)"
            )
        overload = answer.status_code == 403 and bool(reasons & LIMITS)
        service.check(answer, overload, refused=bool(reasons & REFUSALS))
        return _texts(answer, lambda told: [one["translatedText"] for one in told["data"]["translations"]])

    return translate


def microsoft(src: str, trg: str, timeout: float) -> Translate:
    """Microsoft's service between two languages. Raises InputError without a key."""
    url, key = _address("MICROSOFT", MICROSOFT)
    headers, region = {"Ocp-Apim-Subscription-Key": key}, os.environ.get("MICROSOFT_REGION", "").strip()
    if region:
        headers["Ocp-Apim-Subscription-Region"] = region
    help = (
        "Check MICROSOFT_API_KEY, MICROSOFT_REGION (a regional resource needs it), the resource's quota, and "
        f"that it translates from {src} into {trg}."
    )
    service = WebService(url, "MICROSOFT_BASE_URL", headers, help, MOST, timeout)
    query = {"api-version": "3.0", "from": src, "to": trg}

    def translate(lines: Sequence[str]) -> list[str]:
        answer = service.post("translate", [{"Text": line} for line in lines], query)
        service.check(answer, refused=_code(answer) in LANGUAGES)
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


def _error(answer: requests.Response) -> dict[str, Any]:
    """What an answer says of an error; empty for one that says nothing."""
    try:
        return {} if answer.ok else dict(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return {}


def _reasons(answer: requests.Response) -> set[str]:
    """The reasons that an error of Google's gives, and the fields of the request that it names."""
    error = _error(answer)
    try:
        told = [dict(one) for name in ("errors", "details") for one in error.get(name, ())]
        fields = [dict(one)["field"] for each in told for one in each.get("fieldViolations", ())]
        return {str(one) for one in (*fields, *(each.get("reason") for each in told))}
    except (ValueError, KeyError, TypeError):
        return set()


def _code(answer: requests.Response) -> str:
    """The code of an error of Microsoft's."""
    return str(_error(answer).get("code"))
