"""Datasets that are files: by their contents, never their paths, part of keys."""

import importlib
from pathlib import Path

import pytest

from pipeline.common.lines import read_lines
from tests.stages.test_aliases import keys_of
from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import LocalFile, placed
from translations_assets.running.job import INPUT_FOLDER, command
from translations_assets.stages import STAGES

CONFIG = """\
experiment:
  name: own
  src: en
  trg: ru
datasets:
  train: [opus_ParaCrawl/v9, "FIRST.[LANG]", "SECOND.[LANG]"]
  devtest: ["DEV.[LANG]"]
  test: ["TEST.[LANG]", "file_aug-upper_TEST.[LANG]"]
  mono-src: ["MONO.en"]
  mono-trg: ["MONO.ru"]
marian-args: {}
taskcluster: {split-chunks: 1}
"""
NAMES = ("FIRST", "SECOND", "DEV", "TEST", "MONO")


def graph_in(folder: Path, paths: str = "./{}", **contents: str) -> Graph:
    """The graph of the config, whose files are written with contents by their names."""
    text = CONFIG
    for name in NAMES:
        path = paths.format(name.lower())
        text = text.replace(f"{name}.", f"{path}.")
        for lang in ("en", "ru"):
            file = folder / f"{path}.{lang}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents.get(name.lower(), f"{name} in {lang}\n"))
    return build_graph(parse_config(text, folder / "en-ru.yml"), STAGES)


def test_no_key_changes_with_a_path(tmp_path: Path) -> None:
    here, there = graph_in(tmp_path / "a"), graph_in(tmp_path / "b", "./other/{}_2026")
    assert [step.label for step in here.steps] != [step.label for step in there.steps]
    assert keys_of(here) == keys_of(there)


def test_what_is_made_from_a_file_changes_with_it(tmp_path: Path) -> None:
    before, after = graph_in(tmp_path / "a"), graph_in(tmp_path / "b", second="New\n")
    pairs = zip(before.steps, keys_of(before), keys_of(after), strict=True)
    changed = {step.label for step, old, new in pairs if old != new}
    assert {"dataset-train-file_second-en-ru", "merge-corpus-en-ru", "train-student-en-ru"} <= changed
    assert not changed & {"dataset-train-file_first-en-ru", "clean-corpus-file_first-en-ru"}
    assert not changed & {"dataset-test-file_test-en-ru", "dataset-mono-src-file_mono-en"}


def test_people_are_told_the_files_names(tmp_path: Path) -> None:
    graph = graph_in(tmp_path)
    merge = graph.step("merge-corpus-en-ru")
    assert merge.args["datasets"] == ["opus_ParaCrawl/v9", "file_1", "file_2"]
    assert merge.aliases == {"file_1": "file_first", "file_2": "file_second"}
    evaluated = graph.step("evaluate-student-file_aug-upper_test-en-ru")
    assert evaluated.aliases == {"file_aug-upper_2": "file_aug-upper_test"}
    words = [word for step in graph.steps for word in command(step)]
    assert [word for word in words if str(tmp_path) in word] == []


@pytest.mark.parametrize(
    ("label", "output"),
    [
        ("dataset-train-file_first-en-ru", "corpus.ru.zst"),
        ("dataset-mono-trg-file_mono-ru", "mono.ru.zst"),
    ],
)
def test_a_script_reads_the_files_that_a_step_is_given(
    label: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = graph_in(tmp_path).step(label)
    work = tmp_path / "work"
    for name, handles in step.inputs.items():
        for path, handle in placed(handles):
            assert isinstance(handle, LocalFile)
            target = work / INPUT_FOLDER / name / path
            target.parent.mkdir(parents=True)
            target.write_bytes(Path(handle.path).read_bytes())
    monkeypatch.chdir(work)
    importlib.import_module(step.script).main(list(command(step)))
    assert len(list(read_lines(work / "out" / output))) == 1
    assert sorted(path.name for path in (work / "out").iterdir()) == sorted(step.outputs)
