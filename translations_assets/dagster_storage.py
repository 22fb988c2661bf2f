"""Dagster's storage in SQLite, with databases that stay open: `instance_class` in dagster.yaml names it.

Dagster's own opens the database for each event, makes an engine that compiles each statement anew, and closes
both: nearly half of the processor time of a run in which everything is cached. Files, tables and statements
are the same here, so either reads what the other writes. What opening each time does by itself is done here:

* a process that was forked, or that finds another file under a name (`make clean`), opens the database anew;
* after an error a database is closed, and the next use opens it;
* of the databases of runs, those used last stay open: whoever looks at thousands of runs keeps few files;
* who watches a run's events (the UI does) learns of them by the time of its file, which stays as it is while
  SQLite writes to the log beside it: it is set.

Stands outside of the layers, as dagster.yaml does: every process of an instance loads it.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.pool import NullPool

MOST_OPEN = 8  # databases of a storage: one of all runs, and those of the runs that were used last
SECONDS = 30  # that a database may be locked by another process, as in Dagster's own storage


@dataclass(frozen=True)
class _Open:
    """An engine; in which process it was made, and of which file."""

    engine: Engine
    identity: tuple[int, ...]


class OpenDatabases:
    """The databases that stay open, the last ones used; for any number of threads."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, _Open] = OrderedDict()
        self._inherited: list[_Open] = []  # SQLite forbids even to close a parent's connection
        self._guard = threading.Lock()

    @contextmanager
    def connect(self, path: Path) -> Iterator[Connection]:
        """A connection to the database in a file, in a transaction, which ends with this."""
        engine = self._engine(path)
        try:
            with engine.connect() as connection, connection.begin():
                yield connection
        except BaseException:
            self._close(path, engine)
            raise

    def close(self) -> None:
        """Close them all; the next use opens them again."""
        with self._guard:
            for found in self._open.values():
                self._dispose(found)
            self._open.clear()

    def _engine(self, path: Path) -> Engine:
        with self._guard:
            found, identity = self._open.pop(path, None), _identity(path)
            if found and found.identity != identity:
                self._dispose(found)
                found = None
            found = self._open[path] = found or _Open(_engine(path), identity)
            while len(self._open) > MOST_OPEN:
                self._dispose(self._open.popitem(last=False)[1])
            return found.engine

    def _close(self, path: Path, engine: Engine) -> None:
        with self._guard:
            found = self._open.get(path)
            if found and found.engine is engine:
                self._dispose(self._open.pop(path))

    def _dispose(self, found: _Open) -> None:
        if found.identity[0] == os.getpid():
            found.engine.dispose()  # connections that threads still use are closed when they give them back
        else:
            self._inherited.append(found)


def _engine(path: Path) -> Engine:
    # any thread may use a connection, one after the other; as many as threads ask for at once
    return create_engine(
        f"sqlite:///{path}",
        max_overflow=-1,
        connect_args={"timeout": SECONDS, "check_same_thread": False},
    )


def _identity(path: Path) -> tuple[int, ...]:
    """Return the process and the file, which must be the same for an open database to be used."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (os.getpid(),)
    return os.getpid(), found.st_dev, found.st_ino


class EventLogStorage(SqliteEventLogStorage):
    """Dagster's events in databases that stay open."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        self._databases = OpenDatabases()
        super().__init__(base_dir, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> EventLogStorage:
        """The storage that a dagster.yaml describes."""
        return cls(inst_data=inst_data, **config_value)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        """A connection to the events of a run, or to what those of all say of assets, in a transaction."""
        path = Path(self.path_for_shard(shard))
        with self._db_lock:
            if shard not in self._initialized_dbs or not path.exists():
                arguments = {"timeout": SECONDS}
                self._initdb(create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args=arguments))
                self._initialized_dbs.add(shard)
            with self._databases.connect(path) as connection:
                before = _changes(connection)
                yield connection
                is_changed = _changes(connection) != before
        if is_changed:
            with suppress(FileNotFoundError):
                os.utime(path)

    def dispose(self) -> None:
        """Close what is open."""
        super().dispose()
        self._databases.close()


def _changes(connection: Connection) -> int:
    """The number of rows that the connection has changed since it was opened."""
    changes: int = connection.connection.dbapi_connection.total_changes  # type: ignore[union-attr]
    return changes


class RunStorage(SqliteRunStorage):
    """Dagster's runs in a database that stays open."""

    def __init__(self, conn_string: str, inst_data: Any = None) -> None:
        self._databases = OpenDatabases()
        super().__init__(conn_string, inst_data)

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> RunStorage:
        """The storage that a dagster.yaml describes."""
        return cls.from_local(inst_data=inst_data, **config_value)

    def connect(self) -> Any:
        """A connection, in a transaction."""
        return self._databases.connect(Path(self._conn_string.removeprefix("sqlite:///")))

    def dispose(self) -> None:
        """Close what is open."""
        super().dispose()
        self._databases.close()


class Instance(DagsterInstance):
    """Dagster's instance, in whose home these storages are where Dagster's own would be.

    A dagster.yaml with a storage of its own (`storage`) has that.
    """

    @staticmethod
    def config_schema() -> dict[str, object]:
        """Nothing besides what every instance has."""
        return {}

    @staticmethod
    def config_defaults(base_dir: str) -> Mapping[str, Any]:
        """Dagster's own, with these storages at the same places."""
        own: dict[str, Any] = {**InstanceRef.config_defaults(base_dir)}
        for name, storage in (("run_storage", RunStorage), ("event_log_storage", EventLogStorage)):
            own[name] = own[name]._replace(module_name=__name__, class_name=storage.__name__)
        parts = {
            name: own[name]._asdict() for name in ("run_storage", "event_log_storage", "schedule_storage")
        }
        module = "dagster._core.storage.legacy_storage"  # its class of a storage that consists of others
        own["storage"] = own["storage"]._replace(
            module_name=module, class_name="CompositeStorage", config_yaml=yaml.dump(parts)
        )
        return own
