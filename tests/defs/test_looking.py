"""The report and the runs in Weights & Biases as assets, made of a real instance's partition."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from tests.checks.numbers import training
from tests.defs.test_recipes import made_up_place
from tests.end_to_end.tiny import PARTITION, Place, make_place
from tests.tracked import curve_of
from tests.wandb_server import wandb_server
from translations_assets.instance.home import prepare
from translations_assets.instance.server import REPORT, WANDB
from translations_assets.project import Project
from translations_assets.ui import reports

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
DEFINITIONS = ("-m", "translations_assets.definitions")


def materialize(place: Place, asset: str, **environment: str) -> Mapping[str, Any] | None:
    """Materialize an asset; the metadata of its newest materialization, with its data version."""
    words = ("asset", "materialize", "--select", asset, "--partition", PARTITION, *DEFINITIONS)
    done = place.run("dagster", *words, **environment)
    assert done.returncode == 0, done.stderr
    with dg.DagsterInstance.from_config(str(place.root / "dagster")) as instance:
        found = instance.get_latest_materialization_event(dg.AssetKey(asset))
    if found is None or found.asset_materialization is None:
        return None
    made = found.asset_materialization
    told = {name: value.value for name, value in made.metadata.items()}
    return {**told, "version": (made.tags or {})["dagster/data_version"]}


def edit(place: Place, old: str, new: str) -> None:
    path = place.root / "configs" / f"{PARTITION}.yml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return made_up_place(tmp_path / "place")


def test_a_report_is_made_anew_when_what_it_shows_has_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = {*place.store.runs()}
    first = materialize(place, REPORT)
    assert first
    assert first["summary"].startswith("**2.0** chrF; **1.0** BLEU; **17.0 MB** model; **2,500** words/s; **")
    assert "exported" in [row.data["model"] for row in first["cost, by model"].records]
    assert (first["chrf"], first["words_per_second"], first["missing_results"]) == (2.0, 2500.0, 0)
    assert {*place.store.runs()} == runs  # it is no run of steps
    assert materialize(place, REPORT) == first
    edit(place, "  devtest: [", "  devtest: &dev [")  # shown, and changes nothing that was trained
    second = materialize(place, REPORT)
    assert second
    assert second["version"] != first["version"]
    monkeypatch.setenv("TRANSLATIONS_STORE", str(place.store.root))
    monkeypatch.setattr("translations_assets.ui.pages.this_project", lambda: Project())
    with TestClient(Starlette(routes=reports.ROUTES)) as client:
        pages = [client.get(made["report"]) for made in (first, second)]
        assert ["devtest: &amp;dev [" in page.text for page in pages] == [False, True]
        assert pages[0].headers["Content-Security-Policy"].startswith("default-src 'none'")
        card = client.get(f"{second['report']}?card")
        assert card.headers["Content-Type"].startswith("text/plain")
        assert "model-index" in card.text
        for missing in (f"/reports/{'0' * 64}/1", "/reports/../1", f"{first['report']}0"):
            assert client.get(missing).status_code == 404
        made = next(place.store.manifests())
        assert client.get(f"/reports/{made.key}/{made.generation}").status_code == 404  # no report


def test_runs_are_published_if_the_config_asks_for_it_and_a_key_is_there(place: Place) -> None:
    offline = {"WANDB_MODE": "offline", "WANDB_CONFIG_DIR": str(place.root)}
    assert materialize(place, WANDB, **offline) is None
    edit(place, "target-stage: all", "target-stage: all\nwandb-publication: true")
    assert "85 steps: 85 cached" in place.run("translations", "plan", PARTITION).stdout
    alone = {"WANDB_API_KEY": "", "NETRC": str(place.root / "netrc"), "WANDB_CONFIG_DIR": str(place.root)}
    assert materialize(place, WANDB, **alone) is None  # and the run succeeded
    first = materialize(place, WANDB, **offline)
    assert first
    assert (first["runs_sent"], first["runs_known"]) == (5, 0)
    again = materialize(place, WANDB, **offline)
    assert again
    assert (again["runs_sent"], again["runs_known"]) == (0, 5)
    assert again["version"] == first["version"]


def test_a_run_sends_numbers_while_it_trains_and_the_rest_to_the_same_runs(tmp_path: Path) -> None:
    place = make_place(tmp_path / "place")
    edit(place, "target-stage: all", "target-stage: all\nwandb-publication: true")
    prepare(place.root / "dagster")
    words = ("-m", "tests.defs.live_numbers", PARTITION, "train_backwards")
    key = {"WANDB_API_KEY": "0123456789" * 4, "WANDB_CONFIG_DIR": str(place.root)}
    with wandb_server() as server:
        done = place.run("python", *words, **key, WANDB_BASE_URL=server.url, PYTHONPATH=str(ROOT))
        assert done.returncode == 0, done.stderr
        assert sorted(server.names.values()) == ["scores", "train-backwards-en-eo"]
        assert server.curves()["train-backwards-en-eo"] == curve_of(training(50.0)["curve"])
    (note,) = place.root.rglob("wandb/online/en-eo/live/*/note.json")
    assert json.loads(note.read_text())["identity"] in server.names
