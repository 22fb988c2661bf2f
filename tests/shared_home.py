"""Databases of a fresh home of Dagster, made once a process: those of every other home are copies.

Most of what the first command in a new place computes is their schema, one migration after another.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from unittest.mock import patch

from tests.session import new_folder
from translations_assets.instance import home as dagster_home

create_databases = dagster_home._create_databases


def share_home() -> None:
    """From now on `prepare` copies the databases from here, in this process and those forked from it."""
    vars(dagster_home)["_create_databases"] = _copy_databases


def make_home() -> None:
    """Make them now. Imports Dagster with what its databases need."""
    _shared()


def _share_migrations() -> None:
    """From now on each database's migrations are read once a process, and not whenever one is opened."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    read, known = ScriptDirectory.from_config, dict[str | None, ScriptDirectory]()

    def from_config(config: Config) -> ScriptDirectory:
        folder = config.get_main_option("script_location")
        if folder not in known:
            known[folder] = read(config)
        return known[folder]

    patch.object(ScriptDirectory, "from_config", from_config).start()


@cache
def _shared() -> tuple[Path, list[str]]:
    _share_migrations()
    folder = new_folder()
    dagster_home._renew_config(folder, dagster_home._SHIPPED.read_text(encoding="utf-8"))
    return folder, create_databases(folder)


def _copy_databases(folder: Path) -> list[str]:
    config = (folder / "dagster.yaml").read_text(encoding="utf-8")
    home, databases = _shared()
    if config != (home / "dagster.yaml").read_text(encoding="utf-8") or any(folder.rglob("*.db")):
        return create_databases(folder)
    for name in databases:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(home / name, folder / name)
    return databases
