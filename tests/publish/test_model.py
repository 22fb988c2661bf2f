"""Scores and folders of a published model, as Mozilla's scripts expect them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from translations_assets.publish import model as model_module
from translations_assets.publish.model import PublishedModel, _as_mozillas, _evaluation_folder, write_files
from translations_assets.results.scores import Scores


def test_shares_of_unaligned_words_have_mozillas_name_and_scale() -> None:
    scores = {"unaligned": {"score": -1.25}, "unaligned_src": {"score": 2.5}}
    found = _as_mozillas(Scores.from_dict({"dataset": "strings", **scores}))
    assert found == {
        "unaligned-ratio": {"score": -0.0125, "details": {}},
        "unaligned_src": {"score": 0.025, "details": {}},
    }


def test_metricx_has_mozillas_names_and_its_own_scale() -> None:
    scores = {"metricx24": {"score": 3.25}, "metricx24_qe": {"score": 2.5}}
    found = _as_mozillas(Scores.from_dict({"dataset": "strings", **scores}))
    assert found == {
        "metricx24": {"score": 3.25, "details": {}},
        "metricx24-qe": {"score": 2.5, "details": {}},
    }


def test_comet_is_told_from_0_to_1_and_all_else_from_0_to_100() -> None:
    """Mozilla's `comet` of a good model is about 0.88, its `bleu` and `chrf` are those of sacreBLEU."""
    scores = {name: {"score": 87.654321, "ci": 0.5, "signature": name} for name in ("bleu", "chrf", "comet")}
    found = _as_mozillas(Scores.from_dict({"dataset": "flores_devtest", "lines": 3, **scores}))
    assert {name: told["score"] for name, told in found.items()} == {
        "bleu": 87.6543,
        "chrf": 87.6543,
        "comet": 0.8765,
    }
    assert found["comet"]["details"] == {"ci": 0.5, "signature": "comet"}


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("teacher-1", "teacher0"),
        ("teacher-2", "teacher1"),
        ("teacher-ensemble", "teacher-ensemble"),
        ("backwards", "backward"),
        ("finetuned-student", "student-finetuned"),
        ("student", "student"),
    ],
)
def test_folders_of_evaluations_are_called_as_upstream_calls_them(model: str, folder: str) -> None:
    assert _evaluation_folder(model) == folder


def test_metadata_is_copied_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it stands, everything stands: what reads a destination meanwhile finds no half model."""
    for name in ("as_html", "as_card", "statement", "bill_of_materials", "origins_of"):
        monkeypatch.setattr(model_module, name, lambda *given: "")
    monkeypatch.setattr(model_module, "_metrics", lambda model, report: {"evaluation/a.json": "{}"})
    outputs = dict.fromkeys(("metadata.json", "model.bin", "vocab.spm"))
    published = PublishedModel(SimpleNamespace(outputs=outputs), "en-ru", "spring_id")  # type: ignore[arg-type]
    report = SimpleNamespace(
        session=SimpleNamespace(
            store=SimpleNamespace(place_blob=lambda blob, path: None),
            config=SimpleNamespace(experiment=SimpleNamespace(name="spring")),
        )
    )
    files = list(write_files(published, report, "experiment: {}", tmp_path))  # type: ignore[arg-type]
    assert files[-1] == "models/en-ru/spring_id/exported/metadata.json"
    assert len(files) == len(set(files)) == 9
