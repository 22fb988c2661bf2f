"""What every script does at its start and end: logging, exit codes, the output folder."""

import errno
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline.common.errors import InputError, TemporaryError

EX_TEMPFAIL = 75  # sysexits.h: the engine tries such a step again
_FULL = {errno.ENOSPC, errno.EDQUOT}
# A disk or a share that is away, and memory or processes that are short
_MAY_PASS = {
    *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH),
    *(errno.ENETUNREACH, errno.ENETDOWN, errno.EREMOTEIO, errno.ESHUTDOWN, errno.ENOMEM, errno.EAGAIN),
}


def run(main: Callable[[], None]) -> None:
    """Run a script's main function as a program: log to stderr, exit 0, 1 (bad input) or 75 (try again)."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    try:
        main()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except TemporaryError as error:
        print(f"error (worth another attempt): {error}", file=sys.stderr)
        sys.exit(EX_TEMPFAIL)
    except OSError as error:
        sys.exit(_explain(error))
    except MemoryError as error:
        told = f": {error}" if str(error) else ""
        print(f"error (worth another attempt): Memory was short{told}", file=sys.stderr)
        sys.exit(EX_TEMPFAIL)


def _explain(error: OSError) -> int:
    """Say what the system refused, and where; the exit code. A full disk may have room in another attempt."""
    where = f": {error.filename}" if error.filename else ""
    again = " (worth another attempt)" if error.errno in _MAY_PASS else ""
    print(f"error{again}: {error.strerror or error}{where}", file=sys.stderr)
    if error.errno in _FULL:
        print("Make room on the disk that holds the output, then run this again.", file=sys.stderr)
    return EX_TEMPFAIL if error.errno in _FULL | _MAY_PASS else 1


def new_folder(path: Path) -> Path:
    """Make the output folder; it may exist when it is empty. Raises InputError otherwise."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"The output folder {path} is not empty. Give a new folder, or remove that one.")
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_json(path: Path, value: object) -> None:
    """Write a value as indented JSON, keys in the given order, ending with a newline."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
