"""Secrets: the values that a step asks for by name, and keeping them out of what is shown and stored."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from translations_assets.running.job import Job

HIDDEN = b"***"
_SHORTEST = 4  # a value below that is no secret, and would be found everywhere


def secrets_of(job: Job, outer: Mapping[str, str]) -> dict[str, str]:
    """The variables that a job names, with their values, as far as the worker has them."""
    return {name: outer[name] for name in job.secrets if name in outer}


class Redaction:
    """Puts `***` in place of secret values, written plainly or as in JSON.

    longest  bytes of the longest text that is hidden
    """

    def __init__(self, values: Sequence[str]) -> None:
        plain = [value.strip() for value in values]  # a secret made from a file ends with a newline
        written = {form for value in plain for form in (value, json.dumps(value)[1:-1])}
        self._hidden = sorted((form.encode() for form in written if len(form) >= _SHORTEST), key=len)[::-1]
        self._pattern = re.compile(b"|".join(map(re.escape, self._hidden))) if self._hidden else None
        self.longest = max(map(len, self._hidden), default=0)

    def hide(self, data: bytes) -> bytes:
        """The same without secrets; never longer than before."""
        return self._pattern.sub(HIDDEN, data) if self._pattern else data

    def hide_part(self, data: bytes) -> tuple[bytes, int]:
        """What of a growing text's new end may be shown, and how many bytes of it that stands for.

        The rest may be the beginning of a secret: it is to be given again, with what follows.
        """
        if not self._pattern:
            return data, len(data)
        end = self._open_end(data)
        for match in self._pattern.finditer(data):
            if match.start() < end:
                end = max(end, match.end())
        return self.hide(data[:end]), end

    def _open_end(self, data: bytes) -> int:
        """Where the longest end of the data begins that is the beginning of a secret."""
        for start in range(max(0, len(data) - self.longest + 1), len(data)):
            if any(secret.startswith(data[start:]) for secret in self._hidden):
                return start
        return len(data)
