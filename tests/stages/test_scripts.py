"""Tests that hold for every training config: stages, files and scripts fit together."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from tests.stages.configs import FULL, TEXTS, graph
from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import RepoFile, Step, placed
from translations_assets.running.job import INPUT_FOLDER, command
from translations_assets.stages import ASSETS, STAGES

ROOT = Path(__file__).resolve().parents[2]


def repo_files(steps: Sequence[Step]) -> Iterator[RepoFile]:
    for step in steps:
        for handles in step.inputs.values():
            yield from (handle for _, handle in placed(handles) if isinstance(handle, RepoFile))


# What holds for every config


def test_the_readme_lists_the_assets_by_group() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z-]+) \| ((?:`\w+`(?:, )?)+) \|$", readme, re.MULTILINE)
    assets: dict[str, list[str]] = {}
    for name, stage in ASSETS.items():
        assets.setdefault(stage.group.replace("_", "-"), []).append(name)
    assert {group: sorted(re.findall(r"\w+", names)) for group, names in rows} == {
        group: sorted(names) for group, names in assets.items()
    }


def test_every_stage_says_what_it_makes() -> None:
    assert [name for name, stage in STAGES.items() if not stage.description] == []


def test_outputs_of_a_step_are_unique(any_graph: Graph) -> None:
    for step in any_graph.steps:
        assert len(set(step.outputs)) == len(step.outputs), step.label
        assert step.outputs


def test_steps_stand_in_running_order(any_graph: Graph) -> None:
    order = {step: number for number, step in enumerate(any_graph.steps)}
    for step in any_graph.steps:
        assert all(order[up] < order[step] for up in step.upstream()), step.label


def test_inputs_come_from_the_stage_itself_or_those_that_it_names(any_graph: Graph) -> None:
    """Else Dagster would not know of the dependency. A handle may be handed on by the stage that is named."""
    for step in any_graph.steps:
        known = {step.stage, *any_graph.stage_closure(any_graph.upstream[step.stage])}
        assert {up.stage for up in step.upstream()} <= known, step.label


def test_building_does_not_change_from_one_time_to_the_next() -> None:
    again = build_graph(parse_config(FULL, "config.yml"), STAGES)
    assert [(step.label, command(step)) for step in again.steps] == [
        (step.label, command(step)) for step in graph(FULL).steps
    ]


def test_every_file_of_the_repository_that_a_stage_names_is_there() -> None:
    named = {file.path for text in TEXTS.values() for file in repo_files(graph(text).steps)}
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
    chosen = {path.rpartition("/")[2] for path in named}
    assert chosen >= {"student.tiny.yml", "student.base.yml", "student.base-memory.yml"}
    assert chosen >= {"teacher.original.yml", "teacher.one-stage.yml", "teacher.two-stage.yml"}


class Parsed(Exception):
    """The arguments were taken; what the script would do with them is not of interest."""


@pytest.fixture
def only_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop scripts once their arguments are parsed; shortened options do not pass for whole ones."""
    parse = argparse.ArgumentParser.parse_args

    def parse_then_stop(self: argparse.ArgumentParser, args: Sequence[str]) -> NoReturn:
        self.allow_abbrev = False
        parse(self, args)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_then_stop)


SCRIPTS = sorted({step.script for text in TEXTS.values() for step in graph(text).steps})


def place_inputs(step: Step, work: Path) -> None:
    """Put an empty file wherever a worker would place an input."""
    for name, handles in step.inputs.items():
        for path, _ in placed(handles):
            target = work / INPUT_FOLDER / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.usefixtures("only_parse")
def test_a_script_takes_the_command_line_of_every_step(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = importlib.import_module(script).main
    monkeypatch.chdir(tmp_path)
    for step in (step for text in TEXTS.values() for step in graph(text).steps):
        if step.script == script:
            place_inputs(step, tmp_path)
            with pytest.raises(Parsed):
                main(list(command(step)))


@pytest.mark.usefixtures("only_parse")
def test_an_option_that_a_script_does_not_know_would_be_found(capsys: pytest.CaptureFixture[str]) -> None:
    main = importlib.import_module("pipeline.translate.split").main
    with pytest.raises(SystemExit):
        main(["--text", "a", "--part", "2", "--output", "out"])
    assert "--part" in capsys.readouterr().err


def test_every_provider_of_the_table_is_a_script() -> None:
    fetched = {script.removeprefix("pipeline.data.") for script in SCRIPTS if "_" in script}
    assert {"parallel_mtdata", "parallel_ntrex", "mono_news_crawl", "mono_opus"} <= fetched
