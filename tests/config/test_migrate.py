"""Configs rewritten in today's form: the same meaning, the same comments and order, twice the same."""

from pathlib import Path

import pytest

from tests.config.test_real_configs import UPSTREAM
from tests.config.texts import SMALL, with_line
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.schema import TrainingConfig

GENERATIONS = Path(__file__).parent / "generations"
CONFIGS = [*sorted(GENERATIONS.glob("*.yml")), *sorted(UPSTREAM.glob("*.yml"))]


def digest(text: str) -> str:
    return TrainingConfig.model_validate(read_values(text, "my.yml").value).digest


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_meaning_is_kept_and_nothing_is_left_to_rewrite(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new, notes = migrated(text, "my.yml")
    assert read_values(new, "my.yml").notes == []
    assert digest(new) == digest(text)
    assert migrated(new, "my.yml") == (new, [])
    assert (new == text) == (not notes)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_lines_of_datasets_stay_as_they_were_and_in_order(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new, _ = migrated(text, "my.yml")
    old_lines = iter(text.splitlines())
    assert all(line in old_lines for line in _section(new, "datasets"))


def _section(text: str, name: str) -> list[str]:
    """The lines of a top-level section."""
    lines = text.splitlines()
    begin = lines.index(f"{name}:")
    end = next((i for i in range(begin + 1, len(lines)) if lines[i][:1].isalpha()), len(lines))
    return lines[begin:end]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_comments_are_kept(path: Path) -> None:
    """All but those behind a dataset that stood in a list twice."""
    new, _ = migrated(path.read_text(encoding="utf-8"), "my.yml")
    kept = {line.strip() for line in new.splitlines()}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("#"):
            assert line.strip() in kept or line.strip().removesuffix(",") in kept


def test_spellings_and_comments_behind_values_are_kept() -> None:
    text = with_line(
        "  mono-max-sentences-src: 500_000 # all\n  use-opuscleaner: 'true' # of course\n"
        "  split-chunks: '7' # parts",
        "  trg: ru",
    )
    assert migrated(text.replace("'7'", "7"), "my.yml")[0] == (
        with_line(
            "  mono-max-sentences-src: # all\n    total: 500_000\n    per-dataset: 500_000\n  # of course\n"
            "  student-model: tiny",
            "  trg: ru",
        )
        + "target-stage: all\nmarian-args:\n  training-student:\n    early-stopping: '20'\n"
        + "# parts\ntaskcluster:\n  split-chunks: 7\n"
    )


def test_windows_line_ends_and_a_missing_last_one_are_kept() -> None:
    student = "marian-args:\n  training-student: {}\n"
    text = with_line("  student-model: base", "  trg: ru") + student + "previous_group_ids: [abc]"
    text = text.replace("\n", "\r\n")
    assert migrated(text, "my.yml")[0] == text.replace("_group_", "-group-")


def test_a_config_of_today_is_not_touched() -> None:
    assert migrated(SMALL, "my.yml") == (SMALL, [])


@pytest.mark.parametrize(
    "line",
    [
        "experiment: {name: x, src: en, trg: ru, student-model: tiny, use-opuscleaner: true}",
        "x: &x {use-opuscleaner: true, student-model: tiny}",
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line(line: str) -> None:
    start = (
        line if line.startswith("exp") else f"{line}\nexperiment:\n  <<: *x\n  name: x\n  src: en\n  trg: ru"
    )
    datasets = SMALL[SMALL.index("datasets:") :]
    with pytest.raises(ConfigError) as caught:
        migrated(f"{start}\n{datasets}", "my.yml")
    assert str(caught.value).startswith("my.yml:1: experiment.use-opuscleaner: ")
    assert "Write it by hand" in str(caught.value)
