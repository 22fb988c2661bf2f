"""Dagster's storage with databases that stay open: as Dagster's own, whoever writes, forks or deletes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from dagster import DagsterEvent, DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.events import EngineEventData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.runs import SqliteRunStorage
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from tests.patience import PATIENCE
from translations_assets import dagster_storage
from translations_assets.dagster_storage import MOST_OPEN, EventLogStorage, RunStorage
from translations_assets.instance.home import prepare

PLAIN = "telemetry: {enabled: false}\n"  # Dagster's own storage, at the same places
OLD = "5771160a95ad"  # a revision of Dagster's tables before the newest
WRITE = """
import sys
from dagster import DagsterInstance
from tests.test_dagster_storage import add_run, write
with DagsterInstance.from_config(sys.argv[1]) as instance:
    add_run(instance, sys.argv[2])
    write(instance, sys.argv[2], int(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made") / "home"
    prepare(home)
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A home as it is shipped, with its databases."""
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture
def instance(home: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.from_config(str(home)) as instance:
        yield instance


def plain(home: Path) -> DagsterInstance:
    """The same home as Dagster's own storage has it."""
    (home / "plain.yaml").write_text(PLAIN)
    return DagsterInstance.from_config(str(home), "plain.yaml")


def add_run(instance: DagsterInstance, run: str) -> None:
    instance.add_run(DagsterRun(job_name="job", run_id=run, status=DagsterRunStatus.STARTED))


def write(instance: DagsterInstance, run: str, number: int, prefix: str = "") -> None:
    """Events of a run, numbered."""
    for text in numbers(number, prefix):
        told = EngineEventData.in_process(os.getpid())
        instance.store_event(
            EventLogEntry(  # type: ignore[no-untyped-call]  # Dagster's
                error_info=None,
                level=20,
                user_message=text,
                run_id=run,
                timestamp=time.time(),
                dagster_event=DagsterEvent("ENGINE_EVENT", "job", event_specific_data=told, message=text),
            )
        )


def read(instance: DagsterInstance, run: str) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(run)]


def numbers(number: int, prefix: str = "") -> list[str]:
    return [f"{prefix}{count}" for count in range(number)]


def opened(work: Callable[[], None]) -> int:
    """Number of connections to databases."""
    made: list[object] = []

    def note(*connection: object) -> None:
        made.append(connection)

    event.listen(Engine, "connect", note)
    try:
        work()
    finally:
        event.remove(Engine, "connect", note)
    return len(made)


def test_the_shipped_settings_name_it(instance: DagsterInstance) -> None:
    assert type(instance.event_log_storage) is EventLogStorage
    assert type(instance.run_storage) is RunStorage
    again = DagsterInstance.from_ref(instance.get_ref())  # as another process gets it
    assert type(again.event_log_storage) is EventLogStorage
    again.dispose()


def test_a_storage_of_ones_own_is_used_instead(home: Path, tmp_path: Path) -> None:
    with (home / "dagster.yaml").open("a") as config:
        config.write(f"storage: {{sqlite: {{base_dir: {tmp_path / 'other'}}}}}\n")
    with DagsterInstance.from_config(str(home)) as instance:
        assert type(instance.event_log_storage) is SqliteEventLogStorage
        assert type(instance.run_storage) is SqliteRunStorage
        add_run(instance, "a")
    assert (tmp_path / "other" / "history" / "runs.db").exists()


def test_a_database_is_opened_once(instance: DagsterInstance, home: Path) -> None:
    def work(instance: DagsterInstance, run: str) -> None:
        add_run(instance, run)
        write(instance, run, 50)
        assert read(instance, run) == numbers(50)

    work(instance, "warm")
    assert opened(lambda: work(instance, "a")) < 10  # some make the tables of the run
    with plain(home) as own:
        assert opened(lambda: work(own, "b")) > 50


def test_either_reads_what_the_other_writes(instance: DagsterInstance, home: Path) -> None:
    """At the same time, and in databases that have the same tables."""
    with plain(home) as own:
        for writer, reader, run in ((instance, own, "a"), (own, instance, "b")):
            add_run(writer, run)
            write(writer, run, 3)
            assert read(reader, run) == numbers(3)
            write(reader, run, 2, "more")
            assert read(writer, run) == numbers(3) + numbers(2, "more")
        assert (
            {run.run_id for run in own.get_runs()}
            == {run.run_id for run in instance.get_runs()}
            == {"a", "b"}
        )
    assert tables(home / "history" / "runs" / "a.db") == tables(home / "history" / "runs" / "b.db")


def tables(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return sorted(str(sql) for (sql,) in database.execute("select sql from sqlite_master"))


def test_events_are_there_when_the_process_is_killed(home: Path) -> None:
    """At once, although the database is not closed."""
    script = WRITE.replace("int(sys.argv[3]))", "int(sys.argv[3])); import os; os.kill(os.getpid(), 9)")
    done = subprocess.run([sys.executable, "-c", script, str(home), "a", "20"], check=False)
    assert done.returncode == -9
    with plain(home) as own:
        assert read(own, "a") == numbers(20)


def test_threads(instance: DagsterInstance) -> None:
    """Each writes to a run of its own and to one of all."""
    runs = [f"run{number}" for number in range(6)]
    for run in [*runs, "all"]:
        add_run(instance, run)

    def work(run: str) -> None:
        for _ in range(3):
            write(instance, run, 10)
            write(instance, "all", 10, run)
            instance.add_run_tags(run, {"written": run})
            assert instance.has_run(run)

    threads = [threading.Thread(target=work, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in runs:
        assert read(instance, run) == numbers(10) * 3
        found = instance.get_run_by_id(run)
        assert found
        assert found.tags["written"] == run
        of_run = [text for text in read(instance, "all") if text.startswith(run)]
        assert of_run == numbers(10, run) * 3
    assert len(read(instance, "all")) == 6 * 30


def test_processes(home: Path, instance: DagsterInstance) -> None:
    """Several write at once, one of them with Dagster's own storage."""
    write(instance, "before", 1)
    command = [sys.executable, "-c", WRITE, str(home)]
    writers = [subprocess.Popen([*command, f"run{number}", "40"]) for number in range(3)]
    with plain(home) as own:
        add_run(own, "own")
        write(own, "own", 40)
    assert [writer.wait(PATIENCE) for writer in writers] == [0, 0, 0]
    for run in ("run0", "run1", "run2", "own"):
        assert read(instance, run) == numbers(40)
    assert {run.run_id for run in instance.get_runs()} == {"run0", "run1", "run2", "own"}


def test_a_forked_process(home: Path, instance: DagsterInstance) -> None:
    """It opens the databases anew, and leaves the parent's as they are."""
    add_run(instance, "a")
    write(instance, "a", 3)
    child = os.fork()
    if not child:
        code = 1
        try:
            write(instance, "a", 3, "child")
            add_run(instance, "b")
            instance.dispose()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    write(instance, "a", 3, "parent")
    assert read(instance, "a") == numbers(3) + numbers(3, "child") + numbers(3, "parent")
    assert {run.run_id for run in instance.get_runs()} == {"a", "b"}
    for name in ("runs.db", "runs/a.db", "runs/index.db"):
        with closing(sqlite3.connect(home / "history" / name)) as database:
            assert database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_a_child_uses_no_connection_of_its_parent(instance: DagsterInstance) -> None:
    add_run(instance, "a")
    write(instance, "a", 1)
    storage = instance.event_log_storage
    assert isinstance(storage, EventLogStorage)
    with storage.run_connection("a") as connection:
        of_parent = connection.connection.dbapi_connection
    child = os.fork()
    if not child:
        code = 1
        try:
            with storage.run_connection("a") as connection:
                code = int(connection.connection.dbapi_connection is of_parent)
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_files_that_were_deleted(home: Path, instance: DagsterInstance) -> None:
    """The next event makes them anew: what was written into a file without a name would be lost."""
    add_run(instance, "a")
    write(instance, "a", 3)
    for path in (home / "history" / "runs").iterdir():
        path.unlink()
    write(instance, "a", 2, "new")
    assert read(instance, "a") == numbers(2, "new")
    with plain(home) as own:
        assert read(own, "a") == numbers(2, "new")


def test_another_file_under_the_name(home: Path, instance: DagsterInstance) -> None:
    """A copy that is put back counts, and an old connection takes nothing away from it."""
    add_run(instance, "a")
    write(instance, "a", 3)
    instance.dispose()
    path = home / "history" / "runs" / "a.db"
    shutil.copy(path, home / "kept.db")
    write(instance, "a", 2, "later")
    for left in path.parent.glob("a.db-*"):
        left.unlink()
    (home / "kept.db").replace(path)
    with plain(home) as own:
        write(own, "a", 2, "other")
        assert read(instance, "a") == numbers(3) + numbers(2, "other")
    write(instance, "a", 1, "last")
    assert read(instance, "a") == [*numbers(3), *numbers(2, "other"), "last0"]


def test_after_an_error_the_database_is_opened_again(
    home: Path, monkeypatch: pytest.MonkeyPatch, made: Path
) -> None:
    monkeypatch.setattr(dagster_storage, "SECONDS", 0.1)
    with DagsterInstance.from_config(str(home)) as instance:
        add_run(instance, "a")
        write(instance, "a", 1)
        with closing(sqlite3.connect(home / "history" / "runs" / "a.db")) as other:
            other.execute("begin immediate")
            with pytest.raises(OperationalError, match="locked"):
                write(instance, "a", 1, "lost")
            other.rollback()
        assert opened(lambda: write(instance, "a", 1, "next")) == 1
        assert read(instance, "a") == ["0", "next0"]


def test_tables_of_an_older_dagster_are_upgraded(home: Path, instance: DagsterInstance) -> None:
    """While another process has them open."""
    add_run(instance, "a")
    write(instance, "a", 1)
    instance.dispose()
    paths = [home / "history" / name for name in ("runs.db", "runs/a.db", "runs/index.db")]
    newest = [revision(path) for path in paths]
    for path in paths:
        with closing(sqlite3.connect(path)) as database:
            database.execute("update alembic_version set version_num = ?", (OLD,))
            database.commit()
    with DagsterInstance.from_config(str(home)) as other:
        write(other, "a", 1, "other")
        instance.upgrade()
        assert [revision(path) for path in paths] == newest
        assert OLD not in newest
        write(other, "a", 1, "after")
        assert read(instance, "a") == read(other, "a") == ["0", "other0", "after0"]


def revision(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("select version_num from alembic_version").fetchone()
    return str(found)


def test_who_watches_a_run_is_told_of_each_event(home: Path, instance: DagsterInstance) -> None:
    """As the UI does, in another process than the run's."""
    add_run(instance, "a")
    write(instance, "a", 1)
    told: list[str] = []
    with DagsterInstance.from_config(str(home)) as ui:

        def note(entry: EventLogEntry, _cursor: str) -> Any:
            told.append(entry.user_message)

        ui.watch_event_logs("a", None, note)
        for count in range(3):
            write(instance, "a", 1, f"event{count}-")
            wait_for(lambda count=count: len(told) == count + 2)  # type: ignore[misc]
        ui.end_watch_event_logs("a", note)
    assert told == ["0", "event0-0", "event1-0", "event2-0"]


def wait_for(found: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_looking_at_many_runs_keeps_few_files_open(home: Path, instance: DagsterInstance) -> None:
    for number in range(3 * MOST_OPEN):
        write(instance, f"run{number}", 1)
        assert read(instance, f"run{number}") == ["0"]
    of_home = [file.path for file in psutil.Process().open_files() if file.path.startswith(str(home))]
    assert 0 < sum(path.endswith(".db") for path in of_home) <= MOST_OPEN + 1  # and that of the runs
    instance.dispose()
    assert not [file for file in psutil.Process().open_files() if file.path.startswith(str(home))]


def test_reading_leaves_the_time_of_a_file(home: Path, instance: DagsterInstance) -> None:
    """Or who watches it would read for ever."""
    write(instance, "a", 1)
    path = home / "history" / "runs" / "a.db"
    os.utime(path, (1, 1))
    assert read(instance, "a") == ["0"]
    assert path.stat().st_mtime == 1
    write(instance, "a", 1)
    assert path.stat().st_mtime > 1
