"""Libraries that an installation may lack, as only some people need them."""

from __future__ import annotations

from importlib.util import find_spec

from translations_assets.common.errors import TranslationsError


def require_cluster(library: str, why: str) -> None:
    """Raise TranslationsError where a library of the extra `cluster` is not installed.

    why  the beginning of the message: a thing that needs the library
    """
    if find_spec(library) is None:
        raise TranslationsError(
            f"{why} needs the library {library}, which is not installed. Install the extra `cluster`: "
            "pip install 'translations-assets[cluster]'; in a checkout: make install."
        )
