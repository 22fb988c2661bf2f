"""Tests of the training configs that are partitions, whatever else lies in the folders."""

import logging
from pathlib import Path

import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place
from translations_assets.common.errors import StoreError
from translations_assets.config.errors import ConfigError
from translations_assets.defs import shared
from translations_assets.project import Project


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    place = make_place(tmp_path / "place")
    for name, value in place.environment.items():
        if name.startswith("TRANSLATIONS_"):
            monkeypatch.setenv(name, value)
    return place


@pytest.fixture
def project(place: Place, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project over the place, which the definitions' functions use, too."""
    project = Project()
    monkeypatch.setattr(shared, "PROJECT", project)
    return project


def text(place: Place) -> str:
    return (place.root / "configs" / f"{PARTITION}.yml").read_text()


def put(place: Place, name: str, content: str) -> Path:
    path = place.root / "configs" / name
    path.write_text(content)
    return path


def test_a_file_that_cannot_be_a_partition_stops_no_other(
    place: Place, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    put(place, "no name.yml", text(place))
    with caplog.at_level(logging.WARNING):
        assert shared.partition_keys() == [PARTITION]
    assert "no name.yml" in caplog.text
    assert project.configs.read(PARTITION).graph.steps


def test_of_two_files_with_one_key_neither_is_used(place: Place, project: Project) -> None:
    put(place, f"{PARTITION}.yaml", text(place))
    put(place, "en-eo.more.yml", text(place))
    assert shared.partition_keys() == ["en-eo.more"]
    with pytest.raises(ConfigError, match="also defined by"):
        project.configs.read(PARTITION)


def test_a_missing_folder_stops_no_other(
    place: Place, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = f"{place.root / 'nowhere'}:{place.root / 'configs'}"
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", folders)
    found = project.configs.partitions()
    assert list(found.states) == [PARTITION]
    assert "nowhere" in str(found.problems[0])


def test_no_configs_are_no_partitions(place: Place, project: Project) -> None:
    (place.root / "configs" / f"{PARTITION}.yml").unlink()
    assert shared.partition_keys() == []


def test_a_config_from_outside_becomes_a_partition(place: Place, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "en-eo.mine.yml"
    path.write_text(text(place))
    project.configs.adopt(project.configs.read(str(path)))
    assert shared.partition_keys() == ["en-eo.mine", PARTITION]
    path.unlink()
    assert project.configs.read("en-eo.mine").partition == "en-eo.mine"


def test_a_kept_config_that_cannot_be_a_partition_stops_no_other(
    place: Place, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    """An earlier version kept names that Dagster refuses."""
    project.store.add_config("en-eo.try...again", text(place))
    with caplog.at_level(logging.WARNING):
        assert shared.partition_keys() == [PARTITION]
    assert "'en-eo.try...again' in the store" in caplog.text
    with pytest.raises(ConfigError, match=r"for example en-eo\.try\.again\.yml"):
        project.configs.keep(text(place), "try...again")


def test_an_adopted_config_never_changes(place: Place, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "en-eo.mine.yml"
    path.write_text(text(place))
    project.configs.adopt(project.configs.read(str(path)))
    project.configs.adopt(project.configs.read(str(path)))
    path.write_text(text(place).replace("after: 20u", "after: 40u"))
    with pytest.raises(StoreError, match="Choose another name"):
        project.configs.adopt(project.configs.read(str(path)))


def test_a_config_from_outside_does_not_replace_one_of_the_folder(
    place: Place, project: Project, tmp_path: Path
) -> None:
    path = tmp_path / f"{PARTITION}.yml"
    path.write_text(text(place))
    with pytest.raises(ConfigError, match="give the file another name"):
        project.configs.adopt(project.configs.read(str(path)))
    own = place.root / "configs" / f"{PARTITION}.yml"
    project.configs.adopt(project.configs.read(str(own)))
    assert project.store.config_names() == []
