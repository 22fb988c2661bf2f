"""Materializing assets by Dagster's own command, with the stages of the tiny pair that take seconds."""

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from tests.end_to_end.damage import copy_of
from tests.end_to_end.tiny import BIN, PARTITION, Place, make_place
from translations_assets.config.load import parse_config
from translations_assets.graph.stage import build_graph
from translations_assets.instance.home import prepare
from translations_assets.instance.server import REPORT, WANDB
from translations_assets.stages import ASSETS, STAGES
from translations_assets.store.open import open_store

pytestmark = pytest.mark.slow

OTHER = "en-eo.other"


@pytest.fixture(scope="module")
def two_pairs(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tiny pair and another one with the vocabulary and all that it needs, made by runs at once."""
    place = make_place(tmp_path_factory.mktemp("two") / "place")
    prepare(place.root / "dagster")
    text = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    (place.root / "configs" / f"{OTHER}.yml").write_text(text.replace("enc-depth: 1", "enc-depth: 2"))
    assert place.run("dagster", "--version").returncode == 0  # runs are forked from what it starts
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(materialize, place, "+key:train_vocab", pair) for pair in (PARTITION, OTHER)]
    for done in [run.result() for run in runs]:
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def made(two_pairs: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A copy of that place, with the tiny pair alone."""
    place = copy_of(two_pairs, tmp_path_factory.mktemp("made") / "place")
    (place.root / "configs" / f"{OTHER}.yml").unlink()
    return place


def materialize(place: Place, selection: str, partition: str = PARTITION) -> CompletedProcess[str]:
    return place.run("dagster", "asset", "materialize", "--select", selection, "--partition", partition)


def metadata(place: Place, asset: str, partition: str = PARTITION) -> dict[str, Any]:
    """The metadata of an asset's newest materialization in a partition."""
    newest = AssetRecordsFilter(AssetKey(asset), asset_partitions=[partition])
    with DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        (record,) = instance.fetch_materializations(newest, limit=1).records
    assert record.asset_materialization is not None
    return {name: value.value for name, value in record.asset_materialization.metadata.items()}


@contextmanager
def edited(place: Place, old: str, new: str) -> Iterator[None]:
    """The config with a text replaced."""
    path = place.root / "configs" / f"{PARTITION}.yml"
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    try:
        yield
    finally:
        path.write_text(before)


def test_what_was_made_is_told(two_pairs: Place) -> None:
    pairs = [metadata(two_pairs, "merge_corpus", pair) for pair in (PARTITION, OTHER)]
    found = min(pairs, key=lambda one: one["steps_cached"])  # the other run may find it made
    assert (found["steps_run"], found["steps_cached"]) == (1, 0)
    assert (found["lines_in"], found["dagster/row_count"], found["lines_dropped"]) == (400, 400, 0)
    assert found["peak_memory"] > 1
    assert re.search(r"The \w+ dog .* \|\|\| La \w+ hundo ", found["samples"])


def test_an_asset_alone_reuses_what_is_there(made: Place) -> None:
    done = materialize(made, "train_vocab")
    assert done.returncode == 0, done.stderr
    assert ": started" not in done.stderr
    found = metadata(made, "train_vocab")
    assert (found["steps_run"], found["steps_cached"]) == (0, 1)
    assert "warnings" not in found


def test_upstream_that_was_never_made_is_an_error_with_the_command(made: Place) -> None:
    done = materialize(made, "merge_devset,clean_mono")
    assert done.returncode == 1
    assert f"Make it first: translations train {PARTITION} --target dataset_mono_src" in done.stderr
    assert "The above exception was caused by" not in done.stderr
    assert 'Finished execution of step "merge_devset"' in done.stderr  # nothing is wrong with this one


def test_upstream_that_is_out_of_date_is_used_with_a_warning(two_pairs: Place, made: Place) -> None:
    for lang in ("en", "eo"):
        data = two_pairs.root / "data" / f"train.{lang}.gz"
        data.with_name(f"more.{lang}.gz").write_bytes(data.read_bytes())
    with edited(made, "data/train.[LANG].gz", "data/more.[LANG].gz"):
        done = materialize(made, "train_vocab")
    assert done.returncode == 0, done.stderr
    warning = "merge_corpus is out of date (merge-corpus-en-eo)"
    assert "WARNING - __ASSET_JOB" in done.stderr
    assert warning in done.stderr
    assert warning in metadata(made, "train_vocab")["warnings"]
    assert f"translations train {PARTITION} --target merge_corpus" in done.stderr


def test_a_failing_step_stops_what_needs_it_and_nothing_else(made: Place) -> None:
    with edited(made, "spm-vocab-size: 400", "spm-vocab-size: 64000"):
        done = materialize(made, "train_vocab,train_backwards,analyze_corpus")
    assert done.returncode == 1
    assert re.search(r"The step train-vocab-en-eo failed: .*Set spm-vocab-size", done.stderr)
    assert done.stderr.count("Set spm-vocab-size") == 1
    assert "Stack Trace" not in done.stderr
    assert "Dependencies for step train_backwards failed: ['train_vocab']" in done.stderr
    images = [value for name, value in metadata(made, "analyze_corpus").items() if name.endswith(".png")]
    assert len(images) == 4
    assert all("](data:image/png;base64,iVBOR" in image for image in images)


def test_a_run_of_a_job_is_recorded_with_its_stages(made: Place) -> None:
    tags = json.dumps({"dagster/partition": PARTITION})
    module = "translations_assets.definitions"
    done = made.run("dagster", "job", "execute", "-m", module, "-j", "up_to_merge_corpus", "--tags", tags)
    assert done.returncode == 0, done.stderr
    newest = json.loads(made.run("translations", "status", "--json").stdout)["runs"][0]
    assert "merge_corpus" in newest["stages"]
    assert not {"train_vocab", "train_backwards"} & set(newest["stages"])


def test_key_plus_selects_all_that_is_downstream(made: Place) -> None:
    done = made.run("dagster", "asset", "list", "--select", "key:train_student+")
    assert done.returncode == 0, done.stderr
    text = (made.root / "configs" / f"{PARTITION}.yml").read_text()
    graph = build_graph(parse_config(text, "tiny"), STAGES)
    downstream = set(graph.downstream_stages(["train_student"]))
    looked_at = {REPORT, WANDB}  # which are made from the store, without network or keys
    assert set(done.stdout.split()) == downstream & set(ASSETS) | looked_at


def test_a_broken_config_stops_no_other(made: Place) -> None:
    broken, misnamed = made.root / "configs" / "en-eo.broken.yml", made.root / "configs" / "no name.yml"
    broken.write_text("experiment: {src: en\n")
    misnamed.write_text("experiment: {}\n")
    try:
        other, itself = materialize(made, "train_vocab"), materialize(made, "train_vocab", "en-eo.broken")
    finally:
        broken.unlink()
        misnamed.unlink()
    assert other.returncode == 0, other.stderr
    assert "no name.yml" in other.stderr
    assert itself.returncode == 1
    assert f"{broken}:1: not valid YAML" in itself.stderr


def test_a_folder_without_configs_loads(tmp_path: Path) -> None:
    place = make_place(tmp_path / "place")
    (place.root / "configs" / f"{PARTITION}.yml").unlink()
    done = place.run("dagster", "asset", "list")
    assert done.returncode == 0, done.stderr
    assert set(ASSETS) <= set(done.stdout.split())


def test_dg_accepts_the_definitions(made: Place) -> None:
    project = Path(__file__).parents[2]  # `dg` reads its pyproject
    done = subprocess.run(
        [str(BIN / "dg"), "check", "defs"],
        env=made.environment,
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "loaded successfully" in done.stdout + done.stderr


def test_two_pairs_at_once_make_what_they_share_once(two_pairs: Place) -> None:
    """As two runs of one backfill do: what is equal has one result, made by one of them."""
    store = open_store(str(two_pairs.root / "state" / "store"))
    made = list(store.manifests())
    assert {manifest.label for manifest in made} >= {"train-vocab-en-eo", "merge-corpus-en-eo"}
    assert {manifest.generation for manifest in made} == {1}
    assert [store.attempts(manifest.key, 1) for manifest in made] == [[1]] * len(made)
    records = [store.read_run(run) for run in store.runs()]
    assert sorted(record.partition for record in records if record) == [OTHER, PARTITION]
    first, second = (record.uses for record in records if record)
    assert first == second
    assert {key for key, _ in first.values()} == {manifest.key for manifest in made}
