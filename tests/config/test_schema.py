"""Keys without effect."""

from tests.config.texts import SMALL, notes_on, with_line
from translations_assets.config.load import read_values
from translations_assets.config.schema import without_effect
from translations_assets.config.yaml_reader import dotted


def unused(text: str) -> list[str]:
    return [dotted(path) for path, _ in without_effect(read_values(text, "my.yml").value)]


def test_defaults_are_not_told_of() -> None:
    assert unused(SMALL) == []


def test_keys_that_a_config_sets_are_told_of() -> None:
    text = with_line(
        "  hplt-min-doc-score:\n    mono-src: 7.0",
        "  trg: ru",
    )
    text += "start-stage: train-student\nprevious-group-ids: [abc]\n"
    text += "taskcluster:\n  split-chunks: 2\n  upload-bucket: development\n"
    assert unused(text) == [
        "taskcluster.upload-bucket",
        "start-stage",
        "previous-group-ids",
    ]


def test_what_asks_for_nothing_is_honoured() -> None:
    text = with_line(
        "  archive-corpora: false",
        "  trg: ru",
    )
    text += "previous-group-ids: []\nstart-task-prefix: ''\n"
    assert unused(text) == []


def test_what_describes_a_launch_is_said_to_belong_there() -> None:
    text = with_line("  archive-corpora: true", "  trg: ru")
    text += "start-stage: train-student\nprevious-group-ids: [abc]\n"
    assert [note.message for note in notes_on(text)] == [
        "has no effect in this version",
        "has no effect: it describes one launch; give --start to `translations train`, or in the UI",
        "has no effect: it describes one launch; give --previous-run to `translations train`, or in the UI",
    ]
