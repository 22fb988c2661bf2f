"""JSON in one form, so that equal values have equal bytes and digests."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """A value as JSON, the same bytes for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def json_digest(value: Any) -> str:
    """SHA-256 (hex) of a value as canonical JSON."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
