"""The error of this package."""

from __future__ import annotations

from translations_assets.errors import TranslationsError


class CodeError(TranslationsError):
    """A script's code cannot be fingerprinted: it is missing, broken, or imports what cannot be followed."""
