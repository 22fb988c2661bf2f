"""The pictures of the documentation: lineage, an asset and its plots, a report, the playground, a registry.

    python -m benchmarks.pictures [--folder FOLDER] [--trained en-fr.debian]

By default into docs/images. With --trained, the report and the playground of a training config that is
trained, from the store that the settings name. Else they show the finished demo (`make demo`) and three
trainings with fewer updates of the student, which take some minutes the first time and are kept in
`.state/pictures`. Needs Chromium and the engine of browsers (`make ci-environments`). Look at them: nothing
is judged here but their sizes.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, ViewportSize

from benchmarks.screenshots import ended, show
from benchmarks.timing import BIN
from tests.browsers import chromium, missing, playground, typed
from tests.end_to_end.test_webserver import Server, serve
from tests.end_to_end.tiny import Place
from translations_assets.common.settings import repository_root, state_folder, store_url

FOLDER = repository_root() / "docs" / "images"
DEMO = "en-eo.demo"
UPDATES = {"en-eo.200-updates": 200, "en-eo.400-updates": 400, "en-eo.800-updates": 800}
BESIDE = "en-eo.800-updates"  # the one that is exported, too
SIZE: ViewportSize = {"width": 1440, "height": 800}
WIDE: ViewportSize = {"width": 1680, "height": 520}
SHOWN = 'group:"teacher" or group:"distillation" or group:"student" or group:"release"'
MOST_BYTES = 150_000
QUALITY = 80
SETTLE_MS = 2000  # for Dagster's graphs to arrange themselves
TEXT = "The big dog sees a small cat.\nNext week we write a letter."
SENTENCES = "The file could not be opened.\nClick on the button to save your settings."


class DemoPlace(Place):
    """A place that reads what the demo has made, and writes elsewhere."""

    @property
    def environment(self) -> dict[str, str]:
        """That of its commands."""
        return {**super().environment, "TRANSLATIONS_STORE_BASE": store_url(), "TRANSLATIONS_SPACE": "demo"}


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--trained", metavar="CONFIG", help="of this one alone: its report and playground")
    args = parser.parse_args()
    if reason := missing("chromium"):
        sys.exit(f"error: {reason}")
    folder: Path = args.folder
    folder.mkdir(parents=True, exist_ok=True)
    if args.trained:
        pictures_of_trained(args.trained, folder)
    else:
        pictures_of_demo(folder)
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    if large := [name for name, size in sizes.items() if size > MOST_BYTES]:
        sys.exit(f"error: larger than {MOST_BYTES:,} bytes: {', '.join(large)}")
    print(f"{sum(sizes.values()):,} bytes in all")


def pictures_of_demo(folder: Path) -> None:
    """Train what is beside it, and take its pictures."""
    place = make_place(state_folder() / "pictures")
    with serve(place) as server, chromium() as page:
        page.set_viewport_size(SIZE)
        train(server)
        pictures_of_ui(page, server, folder)
        pictures_of_files(page, place, folder)
        with playground(DEMO, BESIDE, environment=place.environment) as served:
            picture_of_playground(page, served.url, TEXT, folder / "playground.webp")


def pictures_of_trained(config: str, folder: Path) -> None:
    """Of a training config: `en-fr.report.webp` and `en-fr.playground.webp`."""
    pair = config.partition(".")[0]
    with tempfile.TemporaryDirectory() as name, chromium() as page:
        report, path = Path(name, "report.html"), folder / f"{pair}.report.webp"
        subprocess.run([str(BIN / "translations"), "report", config, "--output", str(report)], check=True)
        page.set_viewport_size(SIZE)
        show(page, report.as_uri(), path, config)
        picture(page, path)
        with playground(config, environment=dict(os.environ)) as served:
            picture_of_playground(page, served.url, SENTENCES, folder / f"{pair}.playground.webp")


def make_place(root: Path) -> DemoPlace:
    """The demo's config, and the same with fewer updates of the student."""
    config = (repository_root() / "configs" / f"{DEMO}.yml").read_text(encoding="utf-8")
    (root / "configs").mkdir(parents=True, exist_ok=True)
    (root / "configs" / f"{DEMO}.yml").write_text(config, encoding="utf-8")
    for name, updates in UPDATES.items():
        shorter, count = re.subn(
            r"(  training-student:\n(?:    .*\n)*?    after: )\d+u", rf"\g<1>{updates}u", config
        )
        assert count == 1
        (root / "configs" / f"{name}.yml").write_text(shorter, encoding="utf-8")
    return DemoPlace(root)


def train(server: Server) -> None:
    """Train the others, then materialize the demo, of which everything is found."""
    for name in UPDATES:
        target = "all" if name == BESIDE else "evaluate_student"
        run(server.place, "train", name, "--yes", "--target", target)
    ended(server, server.launch(DEMO, [], "all"))


def run(place: Place, *words: str) -> None:
    """Run a `translations` command, as long as it takes."""
    done = subprocess.run(
        [str(BIN / "translations"), *words],
        env=place.environment,
        cwd=place.root,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"translations {' '.join(words)} failed:\n{done.stdout}\n{done.stderr}")


def pictures_of_ui(page: Page, server: Server, folder: Path) -> None:
    """Dagster's."""
    page.set_viewport_size(WIDE)
    show(page, f"{server.url}/asset-groups~{quote(SHOWN, safe='')}/", folder / "lineage.webp", "student")
    page.get_by_text("Hide navigation").click()
    page.get_by_placeholder("Jump to").locator("xpath=following::button[1]").click()  # hides the list
    page.keyboard.press("Alt+e")  # expands the groups
    page.get_by_text("train_student").first.wait_for()
    page.wait_for_timeout(SETTLE_MS)
    drag(page, -28)  # out from under the buttons at the right
    picture(page, folder / "lineage.webp", scale=2)  # its words are small
    page.set_viewport_size({"width": WIDE["width"], "height": SIZE["height"]})
    asset = f"{server.url}/assets/evaluate_student"
    show(page, f"{asset}?partition={DEMO}", folder / "asset.webp", "Metadata")
    picture(page, folder / "asset.webp")
    page.get_by_text("Plots", exact=True).click()
    page.get_by_text("bleu", exact=True).first.wait_for()
    page.wait_for_timeout(SETTLE_MS)
    picture(page, folder / "plots.webp")


def pictures_of_files(page: Page, place: Place, folder: Path) -> None:
    """Of what commands write: the report, the registry."""
    run(place, "report", DEMO, "--output", "report.html")
    run(place, "registry", "build", "--output", "registry")
    for name, file, height in (("report", "report.html", 800), ("registry", "registry/index.html", 400)):
        page.set_viewport_size({"width": SIZE["width"], "height": height})
        show(page, (place.root / file).as_uri(), folder / f"{name}.webp", DEMO)
        picture(page, folder / f"{name}.webp")


def picture_of_playground(page: Page, url: str, text: str, path: Path) -> None:
    """With a word pointed at."""
    page.set_viewport_size(SIZE)
    show(page, url, path, "Everything is loaded")
    typed(page, text)
    page.wait_for_function("document.querySelectorAll('[aria-busy=true]').length === 0")
    page.locator("#target span").nth(2).hover()
    page.wait_for_timeout(SETTLE_MS)
    picture(page, path)


def drag(page: Page, pixels: int) -> None:
    """Move Dagster's graph to the right."""
    middle, low = WIDE["width"] / 2, WIDE["height"] - 30
    page.mouse.move(middle, low)
    page.mouse.down()
    page.mouse.move(middle + pixels, low, steps=4)
    page.mouse.up()


def picture(page: Page, path: Path, scale: int = 1) -> None:
    """Save what the window shows of a page as WebP, larger by a scale."""
    clip = {"x": 0, "y": 0, **(page.viewport_size or SIZE), "scale": scale}
    options = {"format": "webp", "quality": QUALITY, "clip": clip}
    found = page.context.new_cdp_session(page).send("Page.captureScreenshot", options)
    path.write_bytes(base64.b64decode(found["data"]))
    print(path, f"{path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    main()
