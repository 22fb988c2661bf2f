"""The training configs of the corpora: they read what the builder writes, all of it once."""

import re
from pathlib import Path

import pytest

from corpora.debian import DESCRIPTIONS, SECTIONS
from pipeline.common.lines import write_lines
from translations_assets.configs.training_configs import graph_of
from translations_assets.graph.graph import Graph
from translations_assets.project import Project

CONFIGS = sorted(Path(__file__).parents[2].joinpath("corpora").glob("*.yml"))
DIRECT = "en-fr.direct"  # trained without a teacher: it ends where teachers are evaluated
PAIRS = (*SECTIONS, DESCRIPTIONS, "apps", "dev", "test", "libreoffice-test")


def graph(config: Path, folder: Path) -> Graph:
    """The graph of a config beside a corpus that was built there, of a line in each file."""
    copy = folder / config.name
    copy.write_bytes(config.read_bytes())
    (folder / "en-fr.debian").mkdir()
    for lang in ("en", "fr"):
        for name in (*PAIRS, "mono"):
            write_lines(folder / "en-fr.debian" / f"{name}.{lang}.zst", [f"a line of {name}"])
    return graph_of(Project().configs.read(str(copy)).config)


@pytest.mark.parametrize("config", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_a_config_reads_what_the_builder_writes(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path / "state"))
    built = graph(config, tmp_path)
    read = {name for step in built.steps for name in re.findall(r"/([\w-]+)\.\w\w\.zst", repr(step.inputs))}
    assert {*PAIRS, "mono"} <= read
    stages = built.up_to(built.target)
    assert {"train_teacher", "evaluate_teacher"} <= {*stages}
    assert ("train_student" in stages, "evaluate_exported" in stages) == 2 * (config.stem != DIRECT,)


def test_held_out_text_is_in_no_training_set() -> None:
    assert len(CONFIGS) == 3
    for config in CONFIGS:
        text = config.read_text()
        train, held_out = text.split("  devtest:")
        assert not set(re.findall(r"en-fr\.debian/([\w-]+)\.", train.partition("  train:")[2])) & {
            "dev",
            "test",
            "libreoffice-test",
        }
        assert "libreoffice-test" in held_out
