"""Prepares the folder that Dagster keeps runs and events in, before anything opens it.

Several processes that open a fresh `DAGSTER_HOME` at the same time (web server, daemon, a run) each create
its databases, and the loser leaves a second row in the table of schema versions: every later start fails
with alembic's "more than one head", for good. So every entry point calls `prepare(home())` first: one process
creates the databases under a file lock, and the others find a stamp.

Stands outside `defs/` because Dagster's loader imports whatever is there; imports Dagster only when there is
something to create.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import state_folder
from translations_assets.common.whole_file import write_whole

if TYPE_CHECKING:
    from dagster import DagsterInstance

_logger = logging.getLogger(__name__)

_SHIPPED = Path(__file__).with_name("dagster.yaml")
_STAMP = ".prepared"
"""In the home: the databases that were created, a line each, an empty line, the dagster.yaml shipped then."""


def home() -> Path:
    """Dagster's home: `DAGSTER_HOME` when it is set and not empty, else `dagster` in the state folder."""
    value = os.environ.get("DAGSTER_HOME")
    return Path(value).expanduser().absolute() if value else state_folder() / "dagster"


def prepare(folder: Path) -> None:
    """Make `folder` ready to be used as `DAGSTER_HOME` by any number of processes at once.

    Creates the folder, its dagster.yaml and the databases for runs, events and schedules. A dagster.yaml that
    is absent or as we shipped it earlier becomes the shipped one; any other is the user's and stays as it is.
    A cluster's pods have their dagster.yaml mounted into a folder that is read-only: nothing is to be made.
    Costs less than a millisecond when there is nothing to do. Errors of Dagster (a mistake in dagster.yaml,
    say) pass through, and the next call tries again.
    """
    shipped = _SHIPPED.read_text(encoding="utf-8")
    if _is_prepared(folder, shipped) or _is_mounted(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".prepare.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # freed by the kernel when the process ends, however it ends
        if not _is_prepared(folder, shipped):
            _renew_config(folder, shipped)
            databases = _create_databases(folder)
            write_whole(folder / _STAMP, "".join(f"{name}\n" for name in databases) + "\n" + shipped)


def _is_prepared(folder: Path, shipped: str) -> bool:
    databases, stamped = _read_stamp(folder)
    return stamped == shipped and all((folder / name).exists() for name in ["dagster.yaml", *databases])


def _is_mounted(folder: Path) -> bool:
    return (folder / "dagster.yaml").exists() and not os.access(folder, os.W_OK)


def _read_stamp(folder: Path) -> tuple[list[str], str | None]:
    """The databases and the shipped dagster.yaml of the last `prepare`; nothing and None before the first."""
    try:
        text = (folder / _STAMP).read_text(encoding="utf-8")
    except FileNotFoundError:
        return [], None
    databases, _, stamped = ("\n" + text).partition("\n\n")
    return databases.strip().splitlines(), stamped


def _renew_config(folder: Path, shipped: str) -> None:
    config = folder / "dagster.yaml"
    present = config.read_text(encoding="utf-8") if config.exists() else None
    stamped = _read_stamp(folder)[1]
    if present is None or present == stamped:
        write_whole(config, shipped)
    elif stamped is not None and present != shipped:
        _logger.warning("%s was edited and is kept; the settings shipped now: %s", config, _SHIPPED)


def _create_databases(folder: Path) -> list[str]:
    """Create what is missing of the databases that dagster.yaml asks for.

    Returns their files relative to `folder`: none for a server's database (`storage: postgres`).
    """
    with _opened(folder) as instance:
        instance.get_runs_count()
        instance.all_asset_keys()
        instance.all_instigator_state()
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.db") if _is_shared(path))


@contextmanager
def open_instance() -> Iterator[DagsterInstance]:
    """The instance in Dagster's home. Raises TranslationsError when its databases cannot be used."""
    prepare(home())
    with _opened(home()) as instance:
        yield instance


@contextmanager
def _opened(folder: Path) -> Iterator[DagsterInstance]:
    from dagster import DagsterInstance
    from sqlalchemy.exc import OperationalError

    try:
        with DagsterInstance.from_config(str(folder)) as instance:
            yield instance
    except OperationalError as error:  # a full disk, above all
        raise TranslationsError(
            f"Dagster's databases in {folder} cannot be used: {error.orig}. "
            "Make room on that disk, or set DAGSTER_HOME to another folder."
        ) from error


def has_instance() -> bool:
    """True if there is an instance, so that none is made, and Dagster is not imported in vain."""
    return (home() / "dagster.yaml").exists()


def _is_shared(database: Path) -> bool:
    """True if all runs use the database: `history/runs/` also holds one for each run, named by its id."""
    return database.parent.name != "runs" or database.stem == "index"


if __name__ == "__main__":
    prepare(home())
