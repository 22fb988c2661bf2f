"""Files of this machine that steps read: put into the store, as the keys stand for them."""

from pathlib import Path
from typing import Any

import pytest

from tests.running.conftest import Bench, graph_of
from translations_assets.common.errors import StepFailed
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import LocalFile


def graph_with(file: Path) -> Graph:
    @stage(group="demo")
    def texts(config: Any) -> None:
        """A text."""
        text = LocalFile(str(file))
        step("pipeline.demo.write", label="write", inputs={"text": text}, outputs=["text.txt"])

    return graph_of({"texts": texts})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "mine" / "a.en"
    file.parent.mkdir()
    file.write_text("one")
    return file


def test_a_worker_finds_the_file_in_the_store(bench: Bench, file: Path) -> None:
    bench.run(bench.session(graph_with(file)))
    (job,) = bench.runner.jobs
    assert job.command == ("--text", "in/text/text", "--output", "out")
    assert bench.store.read_blob(job.inputs["text/text"]) == b"one"
    assert job.provenance.parts.inputs == {"text/text": job.inputs["text/text"].digest}


def test_a_file_of_another_place_is_the_same_and_one_that_changed_is_not(bench: Bench, file: Path) -> None:
    bench.run(bench.session(graph_with(file)))
    moved = file.rename(file.with_name("b.en"))
    bench.run(bench.session(graph_with(moved), run="run-2"))
    assert len(bench.runner.jobs) == 1
    moved.write_text("two")
    bench.run(bench.session(graph_with(moved), run="run-3"))
    assert len(bench.runner.jobs) == 2


@pytest.mark.parametrize(("change", "message"), [("other", "changed while the run"), ("", "is gone. Put it")])
def test_a_file_that_is_no_longer_what_the_key_stands_for_is_not_read(
    bench: Bench, file: Path, monkeypatch: pytest.MonkeyPatch, change: str, message: str
) -> None:
    session = bench.session(graph_with(file))
    digest = session.keys._files.digest(str(file))
    monkeypatch.setattr(session.keys._files, "digest", lambda path: digest)
    file.unlink()
    if change:
        file.write_text(change)
    with pytest.raises(StepFailed, match=message):
        bench.run(session)
    assert bench.runner.jobs == []
