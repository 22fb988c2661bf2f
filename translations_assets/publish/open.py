"""Opening a destination by its URL."""

from __future__ import annotations

from pathlib import Path

from translations_assets.publish.destination import BucketDestination, Destination, FolderDestination
from translations_assets.store.open import named_place

HUB = "hf://"
WEB = ("http://", "https://")


def open_destination(url: str) -> Destination:
    """The destination at `gs://bucket/folder`, `s3://bucket/folder`, `hf://owner/name`, `http://server/v1`
    (of Remote Settings), `file:///folder` or a plain path; nothing is made or asked.
    """
    if url.startswith(HUB):
        from translations_assets.publish.hub import HubDestination

        return HubDestination(url.removeprefix(HUB))
    if url.startswith(WEB):
        from translations_assets.publish.remote_settings import RemoteSettingsDestination

        return RemoteSettingsDestination(url)
    place = named_place(url, "destination")
    return FolderDestination(place) if isinstance(place, Path) else BucketDestination(place)
