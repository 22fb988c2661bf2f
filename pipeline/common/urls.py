"""URLs in logs, messages and records, and the logins of servers.

A server's login is in the variable TRANSLATIONS_LOGIN_<HOST>, for data.example.org in
TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG: `user:password`, a token (sent as `Bearer`), or `?` and a query that is
added to each URL, as storage services give it with signatures. It is sent encrypted, or within this machine.
"""

import base64
import os
import re
from urllib.parse import unquote, urlsplit

from pipeline.common.errors import InputError

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def shown(text: str) -> str:
    """A URL as logs and records may hold it: without login, query and fragment."""
    return re.sub(r"(://)(?:[^/?#\s]*@)?([^?#\s]*)\S*", r"\1\2", text)


def check(url: str) -> None:
    """Raise InputError for a URL that cannot be taken apart, or holds a control character."""
    try:
        urlsplit(url).port  # noqa: B018 - raises ValueError when it is no number
    except ValueError as error:
        raise InputError(f"{shown(url)!r} is not a URL: {error}. Correct it.") from None
    if any(ord(character) < 32 for character in unquote(url)):
        raise InputError(f"The URL {shown(url)!r} holds a control character. Correct it.")


def login_variable(host: str) -> str:
    """The variable that holds a server's login."""
    return f"TRANSLATIONS_LOGIN_{re.sub('[^A-Z0-9]', '_', host.upper())}"


def past_proxies(url: str) -> dict[str, str]:
    """What `requests` takes as proxies, so that what is for this machine does not leave it by a proxy.

    `requests` exempts no address of its own accord: without NO_PROXY a key would go to the proxy unencrypted.
    """
    return {"no_proxy": ",".join(LOOPBACK)} if urlsplit(url).hostname in LOOPBACK else {}


def with_login(url: str) -> tuple[str, dict[str, str]]:
    """The URL to ask a server for, and the headers, with the login that the environment has for it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    login = os.environ.get(login_variable(host), "").strip() if host else ""
    if not login or not (parts.scheme == "https" or host in LOOPBACK):
        return url, {}
    if login.startswith("?"):
        query = "&".join(filter(None, (parts.query, login[1:])))
        return parts._replace(query=query).geturl(), {}
    if ":" in login:
        return url, {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}
    return url, {"Authorization": f"Bearer {login}"}
