"""Training with a model of an earlier run, fetched from what that left: begun with, and gone on with."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.continuation.model import main as fetch_model
from tests.pipeline.train import tiny
from tests.pipeline.train.training import metrics, train

pytestmark = [pytest.mark.marian, pytest.mark.slow]

OFTEN = {**tiny.TINY, "save-freq": 10, "valid-freq": 15, "disp-freq": 1, "maxi-batch": 2}
UPDATES = 40


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as Mozilla's pipeline leaves it, after 40 updates: best models, last save, vocabularies."""
    folder = tmp_path_factory.mktemp("earlier")
    done = train(folder, {**OFTEN, "after": f"{UPDATES}u"}, env={"TRANSLATIONS_CHECKPOINTS": folder / "sets"})
    assert done.returncode == 0, done.stderr
    artifacts = folder / "artifacts"
    shutil.copytree(sorted((folder / "sets").glob("0*"))[-1], artifacts)
    for lang, vocab in zip(("en", "xx"), tiny.corpus().vocabs, strict=True):
        shutil.copyfile(vocab, artifacts / f"vocab.{lang}.spm")
    (artifacts / "metrics.json").write_text(json.dumps(metrics(folder)))
    return artifacts


def fetched(earlier: Path, folder: Path, *options: str) -> dict[str, object]:
    """The options of a training that begins with the earlier model."""
    given = ["--url", earlier.as_uri(), "--best-model", "chrf", "--output", str(folder / "model"), *options]
    fetch_model(["--src", "en", "--trg", "xx", *given])
    model = folder / "model"
    state = {"state": model} if "--state" in options else {}
    return {"pretrained": model, "pretrained-args": model / "marian-args.yml", **state}


def costs(facts: Any) -> dict[int, float]:
    """Update → cost."""
    return {point["update"]: point["cost"] for point in facts["curve"] if point["kind"] == "train"}


def parameters(model: Path) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(model) as arrays:
        return {name: arrays[name] for name in arrays.files if name != "special:model.yml"}


def short(changes: Mapping[str, object]) -> dict[str, object]:
    """Options of a training without those that shape the model: they come from the model."""
    shaping = ("task", "dim-emb", "transformer-dim-ffn", "transformer-heads", "enc-depth", "dec-depth")
    return {**{name: value for name, value in OFTEN.items() if name not in shaping}, **changes}


def test_a_model_to_begin_with_keeps_its_shape_and_its_optimizer_is_new(
    earlier: Path, tmp_path: Path
) -> None:
    done = train(tmp_path, short({"after": "3u"}), fetched(earlier, tmp_path))
    assert done.returncode == 0, done.stderr
    before, after = costs(json.loads((earlier / "metrics.json").read_text())), costs(metrics(tmp_path))
    assert list(after) == [1, 2, 3]
    assert abs(after[1] - before[UPDATES]) < abs(after[1] - before[1])
    shapes = [
        {name: array.shape for name, array in parameters(path).items()}
        for path in (tmp_path / "out/model.npz", earlier / "model.npz")
    ]
    assert shapes[0] == shapes[1]


def test_a_training_goes_on_from_what_this_pipeline_left(earlier: Path, tmp_path: Path) -> None:
    own = earlier.parent / "out"
    done = train(tmp_path, short({"after": "45u"}), fetched(own, tmp_path, "--state"))
    assert done.returncode == 0, done.stderr
    assert list(costs(metrics(tmp_path))) == list(range(UPDATES + 1, 46))
    names = ("last.npz", "last.optimizer.npz", "last.progress.yml")
    assert all((tmp_path / "model" / name).read_bytes() == (own / name).read_bytes() for name in names)


def test_a_training_goes_on_with_its_count_of_updates_and_then_from_its_own_saves(
    earlier: Path, tmp_path: Path
) -> None:
    sets = {"TRANSLATIONS_CHECKPOINTS": tmp_path / "sets"}
    options = fetched(earlier, tmp_path, "--state")
    done = train(tmp_path, short({"after": "51u"}), options, env=sets)
    assert done.returncode == 0, done.stderr
    assert "after update 40" in done.stderr
    assert list(costs(metrics(tmp_path))) == list(range(UPDATES + 1, 52))
    assert metrics(tmp_path)["updates"] == 51
    kept = sorted(path.name for path in (tmp_path / "sets").glob("0*"))
    assert kept[-1].endswith("update-000000051")
    shutil.rmtree(tmp_path / "out")
    done = train(tmp_path, short({"after": "60u"}), options, env=sets)
    assert done.returncode == 0, done.stderr
    assert "Going on from checkpoint" in done.stderr
    assert "after update 40" not in done.stderr
    assert list(costs(metrics(tmp_path))) == list(range(UPDATES + 1, 61))


def test_the_best_model_so_far_is_the_result_when_no_later_one_is_better(
    earlier: Path, tmp_path: Path
) -> None:
    spoiling = short({"after": "46u", "learn-rate": 1.0, "lr-warmup": 0, "valid-freq": 2})
    done = train(tmp_path, spoiling, fetched(earlier, tmp_path, "--state"))
    assert done.returncode == 0, done.stderr
    best, result = earlier / "model.npz.best-chrf.npz", tmp_path / "out/model.npz"
    assert all(np.array_equal(array, parameters(result)[name]) for name, array in parameters(best).items())


def test_an_end_that_is_already_behind_is_refused(earlier: Path, tmp_path: Path) -> None:
    done = train(tmp_path, short({"after": "40u"}), fetched(earlier, tmp_path, "--state"))
    assert done.returncode == 1
    assert "has made 40 updates" in done.stderr
    assert "more than 40u" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_state_without_its_model_is_refused(earlier: Path, tmp_path: Path) -> None:
    state = {"state": fetched(earlier, tmp_path, "--state")["state"]}
    done = train(tmp_path, {**OFTEN, "after": "60u"}, state)
    assert done.returncode == 1
    assert "--state goes with --pretrained" in done.stderr
