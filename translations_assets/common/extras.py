"""Libraries that an installation may lack, as only some people need them."""

from __future__ import annotations

from importlib.util import find_spec

from translations_assets.common.errors import TranslationsError

# Extra of the wheel → the target of a checkout's Makefile that installs it
TARGETS = {
    "cluster": "install",
    "ja-ko": "install",
    "signing": "install-signing",
    "tracking": "install-tracking",
}


def how_to_install(extra: str) -> str:
    """A sentence with the commands that install an extra."""
    return (
        f"Install the extra `{extra}`: pip install 'translations-assets[{extra}]'; "
        f"in a checkout: make {TARGETS[extra]}"
    )


def require_cluster(library: str, why: str) -> None:
    """Raise TranslationsError where a library of the extra `cluster` is not installed.

    why  the beginning of the message: a thing that needs the library
    """
    if find_spec(library) is None:
        raise TranslationsError(
            f"{why} needs the library {library}, which is not installed. {how_to_install('cluster')}"
        )
