"""Being asked to stop: SIGTERM from a machine that goes away, or Ctrl-C."""

import signal
import time
from types import FrameType

from pipeline.common.errors import TemporaryError


class StopSwitch:
    """Turns the first SIGTERM or SIGINT into TemporaryError (exit 75), or holds it until things are saved."""

    def __init__(self) -> None:
        self._asked: float | None = None
        self._held = False

    def install(self) -> None:
        """From now on take the signals."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def hold(self) -> None:
        """From now on only note that a stop was asked for, see `seconds`."""
        self._held = True

    def release(self) -> None:
        """Stop at once when asked, or when asked in the meantime."""
        self._held = False
        if self._asked is not None:
            raise TemporaryError("Stopped by a signal")

    @property
    def seconds(self) -> float | None:
        """How long ago a stop was asked for, None when it was not."""
        return None if self._asked is None else time.monotonic() - self._asked

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._asked is None:
            self._asked = time.monotonic()
            if not self._held:
                raise TemporaryError(f"Stopped by {signal.Signals(number).name}")
