"""The training configs of the corpora: they read what the builder writes, all of it once."""

import re
from pathlib import Path

import pytest
import yaml

from corpora.debian import DESCRIPTIONS, PARAGRAPHS, SECTIONS
from pipeline.common.lines import write_lines
from translations_assets.common.settings import repository_root
from translations_assets.config.schema import TrainingConfig
from translations_assets.configs.training_configs import graph_of
from translations_assets.project import Project
from translations_assets.stages.handles import DECODING_CONFIGS

CONFIGS = sorted(Path(__file__).parents[2].joinpath("corpora").glob("*.yml"))
DIRECT = "en-fr.direct"  # trained without a teacher: it ends where teachers are evaluated
STUDENT_DECODING = yaml.safe_load((repository_root() / DECODING_CONFIGS / "student.yml").read_text())
PAIRS = (*SECTIONS, DESCRIPTIONS, "apps", "dev", "test", "libreoffice-test", PARAGRAPHS)


def load(config: Path, folder: Path) -> TrainingConfig:
    """A config beside a corpus that was built there, of a line in each file."""
    copy = folder / config.name
    copy.write_bytes(config.read_bytes())
    (folder / "en-fr.debian").mkdir(exist_ok=True)
    for lang in ("en", "fr"):
        for name in (*PAIRS, "mono"):
            write_lines(folder / "en-fr.debian" / f"{name}.{lang}.zst", [f"a line of {name}"])
    write_lines(folder / "en-fr.debian" / f"{PARAGRAPHS}.documents.zst", ["1 one"])
    return Project().configs.read(str(copy)).config


@pytest.mark.parametrize("config", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_a_config_reads_what_the_builder_writes(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path / "state"))
    built = graph_of(load(config, tmp_path))
    read = {name for step in built.steps for name in re.findall(r"/([\w-]+)\.\w\w\.zst", repr(step.inputs))}
    assert {*PAIRS, *(["mono"] if config.stem != DIRECT else [])} <= read
    assert "pipeline.eval.paragraphs" in {step.script for step in built.steps}
    stages = built.up_to(built.target)
    assert {"train_teacher", "evaluate_teacher"} <= {*stages}
    assert ("train_student" in stages, "evaluate_exported" in stages) == 2 * (config.stem != DIRECT,)


def test_the_model_without_a_teacher_is_trained_and_read_as_the_student(tmp_path: Path) -> None:
    configs = {path.stem: load(path, tmp_path) for path in CONFIGS}
    distilled, direct = configs["en-fr.debian"], configs[DIRECT]
    student, alone = distilled.marian_args.training_student, direct.marian_args.training_teacher
    assert {**alone, **student} == alone
    assert alone["beam-size"] == STUDENT_DECODING["beam-size"]
    assert direct.marian_args.decoding_teacher["beam-size"] == STUDENT_DECODING["beam-size"]
    for name in ("spm_vocab_size", "corpus_max_sentences", "modifiers", "bicleaner"):
        assert getattr(direct.experiment, name) == getattr(distilled.experiment, name)
    for name in ("train", "devtest", "test"):
        assert getattr(direct.datasets, name) == getattr(distilled.datasets, name)


def test_held_out_text_is_in_no_training_set() -> None:
    assert len(CONFIGS) == 3
    for config in CONFIGS:
        text = config.read_text()
        train, held_out = text.split("  devtest:")
        assert not set(re.findall(r"en-fr\.debian/([\w-]+)\.", train.partition("  train:")[2])) & {
            "dev",
            "test",
            "libreoffice-test",
            PARAGRAPHS,
        }
        assert "libreoffice-test" in held_out
