"""Text that is scored on its way to the merged corpora: models from a mirror, stand-ins for the programs."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.pipeline.clean.stand_in import add_program
from translations_assets.stages.cleaning import BICLEANER, BICLEANER_FILES, MONOCLEANER

ROOT = Path(__file__).resolve().parents[2]
SHA = "0123456789abcdef0123456789abcdef01234567"
MODEL = "bitextor/bicleaner-ai-full-large-en-xx"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The tiny pair, with thresholds, models and programs."""
    place = make_place(tmp_path)
    config = tmp_path / "configs" / f"{PARTITION}.yml"
    text = config.read_text()
    asked = "bicleaner: {default-threshold: 0.3}\n  monocleaner: {mono-trg: {default-threshold: 0.2}}"
    assert "bicleaner: {default-threshold: 0}" in text
    config.write_text(text.replace("bicleaner: {default-threshold: 0}", asked))
    write_models(tmp_path / "mirror")
    add_program(tmp_path, ROOT / BICLEANER.path, "bicleaner-ai-classify")
    add_program(tmp_path, ROOT / MONOCLEANER.path, "monocleaner")
    return place


def write_models(mirror: Path) -> None:
    """A model of the hub, and a language pack."""
    answer = mirror / "huggingface.co" / "api" / "models" / MODEL / "revision" / "main"
    files = mirror / "huggingface.co" / MODEL / "resolve" / SHA
    pack = mirror / "github.com/bitextor/monocleaner-data/releases/latest/download/eo.tgz"
    for folder in (answer.parent, files, pack.parent):
        folder.mkdir(parents=True)
    answer.write_text(json.dumps({"sha": SHA, "cardData": {"license": "cc-by-sa-4.0"}}))
    for name in BICLEANER_FILES:
        (files / name).write_text("model")
    (files / "metadata.yaml").write_text("{source_lang: en, target_lang: xx, classifier_settings: {}}")
    with tarfile.open(pack, "w:gz") as archive:
        for name, content in (("eo/metadata.yaml", b"lm_file: eo.lm"), ("eo/eo.lm", b"model")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


@pytest.mark.slow
def test_what_scores_low_is_in_no_corpus_and_another_threshold_scores_nothing_anew(place: Place) -> None:
    folders = {"TRANSLATIONS_MIRROR": "mirror", "TRANSLATIONS_ENVIRONMENTS": "environments"}
    variables = {name: str(place.root / folder) for name, folder in folders.items()}
    command = ("translations", "train", PARTITION, "--target", "merge_mono_trg", "--yes")
    done = place.run(*command, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    scored = stats(place, "bicleaner-ai-score-")
    filtered = stats(place, "bicleaner-ai-url")
    merged = stats(place, "merge-corpus-en-eo")
    low = filtered["lines"]["dropped"]["low_score"]
    assert 0 < low < filtered["lines"]["in"] == scored["lines"]["in"]
    assert merged["lines"]["in"] == filtered["lines"]["kept"]
    assert (
        stats(place, "merge-mono-trg-eo")["lines"]["in"] == stats(place, "monocleaner-trg")["lines"]["kept"]
    )

    config = place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("threshold: 0.3", "threshold: 0.6"))
    planned = place.run("translations", "plan", PARTITION, "--target", "bicleaner", "--json")
    steps = {step["label"]: step["status"] for step in json.loads(planned.stdout)["steps"]}
    assert [label[:17] for label, status in steps.items() if status != "cached"] == ["bicleaner-ai-url_"]


def stats(place: Place, start: str) -> dict[str, Any]:
    """Contents of stats.json of the step whose label begins so."""
    planned = place.run("translations", "plan", PARTITION, "--json")
    (key,) = {s["key"] for s in json.loads(planned.stdout)["steps"] if s["label"].startswith(start)}
    manifest = place.store.latest(key)
    assert manifest is not None
    found: dict[str, Any] = json.loads(place.store.read_blob(manifest.outputs["stats.json"]))
    return found
