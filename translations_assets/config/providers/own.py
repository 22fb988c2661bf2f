"""Text of one's own, behind URLs, and the generated text of the demo."""

from __future__ import annotations

from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import Addresses, Provider, same_code
from translations_assets.config.urls import PLACEHOLDER

_DEMO = ("en", "eo")


def _addresses(name: str, *sides: Language) -> Addresses:
    return [[name.replace(PLACEHOLDER, side.code)] for side in sides]


def _check_pair(name: str) -> None:
    if PLACEHOLDER not in name:
        raise ConfigError.of(f"the URL needs the placeholder {PLACEHOLDER} where the language's code goes")


def _demo_code(name: str, spoken: Language) -> str:
    return spoken.code if spoken.code in _DEMO else ""


URLS = Provider("url", same_code("code"), by_url=True, check=_check_pair, addresses=_addresses)
MONO_URLS = Provider("url", same_code("code"), by_url=True, addresses=_addresses)
_DEMO_TITLE = f"the demo corpus ({', '.join(_DEMO)})"
DEMO = Provider("demo", _demo_code, title=_DEMO_TITLE, sets=("train", "dev", "test"))
MONO_DEMO = Provider("demo", _demo_code, title=_DEMO_TITLE, sets=("mono",))
