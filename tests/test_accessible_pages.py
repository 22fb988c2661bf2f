"""Pages that people read: nothing serious for axe-core, and the documentation can be searched from a disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browsers import chromium, missing
from tests.cli.conftest import Command, command, make, place
from tests.diff.test_page import different
from tests.docs_site import site
from tests.end_to_end.tiny import PARTITION, Place
from translations_assets.ui.pages import HOME, complain, page

__all__ = ["command", "place"]
pytestmark = pytest.mark.slow

PAGES = ("index", "config", "configs", "evaluation", "runs", "deployment", "commands", "decisions/index")


@pytest.fixture
def required() -> None:
    if missing("chromium").startswith("needs chromium"):
        pytest.skip(missing("chromium"))


def serious(shown: Page, paths: Sequence[Path]) -> list[str]:
    """Serious and critical findings of axe-core, on a phone in the light and on a screen in the dark."""
    found = []
    for width, scheme in ((390, "light"), (1280, "dark")):
        shown.set_viewport_size({"width": width, "height": 900})
        shown.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its literals
        for path in paths:
            shown.goto(path.as_uri())
            for violation in Axe().run(shown).response["violations"]:
                if violation["impact"] in ("serious", "critical"):
                    where = [node["target"] for node in violation["nodes"][:3]]
                    found.append(f"{path.name}, {width} px, {scheme}: {violation['id']} {where}")
    return found


def test_the_documentation(required: None) -> None:
    with chromium() as shown:
        assert serious(shown, [site() / f"{name}.html" for name in PAGES]) == []


def test_the_search_works_from_a_disk_and_ranks_pages_for_users_first(required: None) -> None:
    with chromium() as shown:
        shown.set_default_timeout(30_000)
        for word in ("vocabulary", "playground", "publish", "spot"):
            shown.goto((site() / "index.html").as_uri())
            shown.click(".md-search__input")
            shown.keyboard.type(word)
            first = shown.locator(".md-search-result__link").first
            first.wait_for()
            assert "/decisions/" not in str(first.get_attribute("href")), word


def test_the_report_the_registry_and_the_pages_of_the_ui(
    required: None, place: Place, command: object, tmp_path: Path
) -> None:
    make("evaluate_exported", checks=True)
    assert callable(command)
    command("report", PARTITION, "--output", "report.html")
    command("registry", "build")
    log, gone = tmp_path / "log.html", tmp_path / "gone.html"
    log.write_text(
        page("train-student, attempt 1: failed", HOME, told="too little text", text="a line\n" * 99)
    )
    gone.write_bytes(bytes(complain(404, "There is no such page.", "Look elsewhere.").body))
    sweeps = place.root / "configs" / "sweeps"
    sweeps.mkdir()
    (sweeps / "seeds.yml").write_text(f"base: {PARTITION}\naxes: {{experiment.seeds.student: [1, 2]}}\n")
    for seed in (1, 2):
        make("evaluate_student", run=f"seed-{seed}", partition=f"{PARTITION}.seeds.student-{seed}")
    command("report", "seeds")
    reports = [place.root / "report.html", place.root / "seeds.html"]
    paths = [*reports, *(place.root / "registry").rglob("*.html"), log, gone]
    assert len(paths) == 7
    with chromium() as shown:
        assert serious(shown, paths) == []


def test_the_page_of_differences(required: None, place: Place, command: Command) -> None:
    different(place)
    assert command("diff", "before", "after", "--output", "changes.html").code == 0
    with chromium() as shown:
        assert serious(shown, [place.root / "changes.html"]) == []
