"""The first causes of differences between steps, and no others."""

import gzip
import re
from pathlib import Path
from typing import Any

from tests.cli.conftest import Command, make
from tests.cli.test_explain import config, edit
from tests.diff.conftest import Diff
from tests.end_to_end.tiny import Place

AFTER = "marian-args.training-student.after"


def use_files(place: Place) -> None:
    """Have the config name the text to train on by its path, so that the contents count in keys."""
    edit(config(place), 'train: ["url_file://', 'train: ["')


def causes(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(cause["kind"], cause["text"]) for cause in found["steps"]["causes"]]


def test_planted_changes_of_data_code_and_an_option_are_named_and_nothing_else(
    command: Command, place: Place, repository: Path, diff: Diff
) -> None:
    use_files(place)
    make("train_student", run="before")
    file = place.root / "data" / "train.eo.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"hundo", b"hundido")))
    script = repository / "pipeline" / "train" / "vocab.py"
    source = script.read_text()
    name = re.findall(r"^def (?!main)(\w+)\(.*:$", source, re.M)[0]
    script.write_text(re.sub(rf"^(def {name}\(.*:)$", r"\1\n    print('more')", source, flags=re.M))
    edit(config(place), "  training-student: *model", "  training-student: {<<: *model, after: 30u}")
    make("train_student", run="after")
    found = diff("before", "after")
    assert causes(found) == [
        ("data", f"{file}: other contents"),
        ("code", f"pipeline.train.vocab: function {name} changed"),
        ("option", f"{AFTER}: 20u → 30u"),
    ]
    assert [change["key"] for change in found["config"]] == [AFTER]
    steps = found["steps"]
    assert [cause["steps"] for cause in steps["causes"]][1:] == [
        ["train-vocab-en-eo"],
        ["train-student-en-eo"],
    ]
    assert "merge-corpus-en-eo" in steps["following"]
    assert len(steps["differing"]) == 3
