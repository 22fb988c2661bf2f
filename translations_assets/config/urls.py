"""URLs in configs: how they are shown, what of them is secret, and where secrets go instead.

A config is stored, shown and sent to machines, and so are the arguments of steps. A URL in it therefore holds
no login and no signature; a server's is in the environment of the worker, in a variable named by its host.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from translations_assets.config.errors import ConfigError

PLACEHOLDER = "[LANG]"  # stands for the code of a language
SCHEMES = ("https", "http", "gs", "file")
# Names of parameters that give access by themselves: words in them, or their ends (AWSAccessKeyId).
_SECRET_WORDS = frozenset(
    (
        *("auth", "authorization", "credential", "credentials", "jwt", "key", "pass", "passwd", "password"),
        *("pwd", "sas", "secret", "session", "sig", "sign", "signature", "token"),
    )
)
_SECRET_ENDS = (
    *("accessid", "accesskey", "apikey", "credential", "keyid", "password", "secret", "secretkey"),
    *("signature", "token"),
)


def shown(text: str) -> str:
    """A URL, or a dataset key with one, as records may hold it: without login, query and fragment."""
    return re.sub(r"(://)(?:[^/?#\s]*@)?([^?#\s]*)\S*", r"\1\2", text)


def login_variable(url: str) -> str:
    """The variable with the login of a URL's server, TRANSLATIONS_LOGIN_DATA_EXAMPLE_ORG; "" without one.

    As in pipeline.common.urls.
    """
    host = _split(url).hostname if url.startswith(("https://", "http://")) else ""
    return f"TRANSLATIONS_LOGIN_{re.sub('[^A-Z0-9]', '_', host.upper())}" if host else ""


def check_url(url: str) -> None:
    """Raise ConfigError when a URL cannot be fetched, or holds a secret; the message does not."""
    scheme, colon, rest = url.partition("://")
    if not colon or scheme not in SCHEMES or not rest.strip("/"):
        allowed = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise ConfigError.of(
            f"{shown(url)!r} is not a URL that can be fetched; it must begin with one of {allowed}"
        )
    parts = _split(url)
    if scheme != "file" and not parts.hostname:
        raise ConfigError.of(f"{shown(url)!r} is not a URL that can be fetched: it names no server")
    if "@" in parts.netloc:
        raise ConfigError.of(f"the URL holds a user name or a password, {_advice(url)}")
    secret = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if _is_secret(name)]
    if secret:
        raise ConfigError.of(f"the URL's query holds a secret ({secret[0]}), {_advice(url)}")


def _advice(url: str) -> str:
    return (
        f"which would stand in logs and records. Take it out of {shown(url)} and give it to the workers as "
        f"the variable {login_variable(url) or 'of a login'} (docs/datasets.md, “Logins”), or copy the file"
    )


def _is_secret(name: str) -> bool:
    words = re.split("[^a-z0-9]+", name.lower())
    return not _SECRET_WORDS.isdisjoint(words) or words[-1].endswith(_SECRET_ENDS)


def _split(url: str) -> SplitResult:
    """The parts of a URL; ConfigError when it has none. The placeholder stands for a word."""
    try:
        parts = urlsplit(url.replace(PLACEHOLDER, "LANG"))
        parts.port  # noqa: B018 - raises ValueError when it is no number
        if any(ord(character) < 32 for character in unquote(url)):
            raise ValueError("it holds a control character")
    except ValueError as error:
        raise ConfigError.of(f"{shown(url)!r} is not a URL: {error}") from None
    return parts
