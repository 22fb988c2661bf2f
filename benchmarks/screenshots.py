"""Pictures of the UI: a failed run, a cancelled one, a stale asset, a gate, the Launchpad, the list of runs.

    python -m benchmarks.screenshots FOLDER

A real web server over tiny data, looked at by a headless Chromium (`make ci-environments` installs it).
Nothing is judged here: the pictures are for people.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browsers import chromium
from tests.end_to_end.test_stale_marks import tick
from tests.end_to_end.test_webserver import (
    SLOW,
    STATUSES,
    TERMINATE,
    Server,
    is_cleaning,
    make_slow,
    serve,
    wait_for,
)
from tests.end_to_end.tiny import PARTITION, Place, make_place

BROKEN = "en-eo.broken"
SECONDS = 300
WAIT_SECONDS = 30  # for a page
STAGES = ["dataset_train", "dataset_devtest", "dataset_test", "clean_corpus"]


def make_broken(place: Place) -> None:
    """A partition one of whose test sets is missing."""
    config = (place.root / "configs" / f"{PARTITION}.yml").read_text()
    broken = config.replace("data/test.[LANG].gz", "data/broken.[LANG].gz")
    (place.root / "configs" / f"{BROKEN}.yml").write_text(broken)


def ended(server: Server, run: str) -> str:
    """The run, once it has ended."""
    wait_for(lambda: server.run(run)["status"] in STATUSES, SECONDS, lambda: server.run(run))
    return run


def cancelled(server: Server) -> str:
    """A run that is ended while it cleans."""
    run = server.launch(SLOW, ["dataset_train", "clean_corpus"])
    wait_for(lambda: is_cleaning(server, run), SECONDS, lambda: server.run(run))
    server.ask(TERMINATE, id=run)
    return ended(server, run)


def make_stale(server: Server) -> None:
    """Edit the training config, and let the sensor see it."""
    config = server.place.root / "configs" / f"{PARTITION}.yml"
    config.write_text(config.read_text().replace("  src: en\n", "  src: en\n  opuscleaner-mode: legacy\n"))
    tick(server)


def take(page: Page, url: str, path: Path, ready: str, hovered: str = "") -> None:
    """A picture of a page once it shows a text, with the mouse over another one, if it is given."""
    show(page, url, path, ready, hovered)
    page.screenshot(path=path)
    print(path, flush=True)


def show(page: Page, url: str, path: Path, ready: str, hovered: str = "") -> None:
    """Open a page, of which a picture is to be taken."""
    page.goto(url)
    try:
        page.get_by_text(ready).first.wait_for(timeout=WAIT_SECONDS * 1000)
        if hovered:
            page.get_by_text(hovered).first.hover(timeout=WAIT_SECONDS * 1000)
    except PlaywrightTimeout:
        print(f"{path}: {ready} is not there", file=sys.stderr)
    page.wait_for_timeout(2000)  # it goes on to fill itself


def main(folder: Path) -> None:
    """Make the runs, then the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        place = make_place(Path(name) / "place")
        make_slow(place)
        make_broken(place)
        with serve(place) as server, chromium() as page:
            page.set_viewport_size({"width": 1500, "height": 950})
            failed, stopped = server.launch(BROKEN, ["dataset_test"]), cancelled(server)
            made = server.launch(PARTITION, STAGES)
            for run in (failed, made):
                ended(server, run)
            options = (
                "--target",
                "dataset_test",
                "--set",
                "experiment.spm-vocab-size=344",
                "--server",
                server.url,
            )
            place.run("translations", "train", PARTITION, "--yes", *options)
            make_stale(server)
            job = f"{server.url}/locations/translations-assets/jobs/train_pasted_config/playground"
            partition = f"{server.url}/assets/clean_corpus?view=partitions&partition={PARTITION}"
            gate = f"{server.url}/assets/merge_corpus?view=checks&checkDetail=held_out_exact"
            take(page, f"{server.url}/runs/{failed}", folder / "failed-run.png", "STEP_FAILURE")
            take(page, f"{server.url}/runs/{stopped}", folder / "cancelled-run.png", "RUN_CANCELED")
            take(page, partition, folder / "stale-asset.png", "Unsynced", "Unsynced")
            page.goto(f"{server.url}/runs/{failed}")
            with page.expect_popup() as opened:
                page.get_by_role("link", name="/step-logs/").first.click()
            take(page, opened.value.url, folder / "step-log.png", "[worker]")
            take(page, gate, folder / "gate.png", "asset check")
            take(page, job, folder / "launchpad.png", "my-experiment")
            take(page, f"{server.url}/runs", folder / "runs.png", "Canceled")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
