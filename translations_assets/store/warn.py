"""Warnings of the stores.

`logging` is imported once there is something to say: it would be a tenth of a worker's start, and a worker
starts for every step.
"""

from __future__ import annotations


def warn(message: str) -> None:
    """Log a warning as `translations_assets.store`."""
    import logging

    logging.getLogger("translations_assets.store").warning("%s", message)
