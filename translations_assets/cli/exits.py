"""Exit codes of the command: the only list, from which help and tests take them."""

from __future__ import annotations

from collections.abc import Mapping

DONE = 0
FAILED = 1
USAGE = 2
CANCELLED = 130
BROKEN_PIPE = 141

MEANINGS: Mapping[int, str] = {
    DONE: "done",
    FAILED: "failed: an error, a failed run, a failed gate, a missing result, or `no` to a question",
    USAGE: "invalid command: an unknown option, a missing argument",
    CANCELLED: "cancelled with Ctrl-C, or by somebody else",
    BROKEN_PIPE: "the reader of the output has exited, as in `translations plan en-ru | head -1`",
}
