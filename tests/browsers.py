"""The engine of browsers, in Node.js and in Chromium: what tests and benchmarks run exports in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

ENGINE = "BERGAMOT_TRANSLATOR"  # environment: folder of the npm package @browsermt/bergamot-translator
SCRIPT = Path(__file__).with_name("browser_engine.mjs")
TRANSLATIONS = Path(sys.executable).with_name("translations")
SECONDS = 120

_EACH = """async lines => {
    const engine = await (await import('/page.mjs')).engine;
    const translations = [];
    for (const line of lines)
        translations.push(await engine.translate(line));
    return translations;
}"""


class Translated(NamedTuple):
    """Translations, and the seconds of processors that they took, without those to load."""

    translations: list[str]
    seconds: float


class Playground(NamedTuple):
    """A running `translations serve`."""

    url: str
    process: subprocess.Popen[str]


def missing(program: Literal["node", "chromium"]) -> str:
    """Name what the engine lacks to run in a program, and the command that installs it; empty for none."""
    lacking = [
        name for name, found in {program: shutil.which(program), ENGINE: _package()}.items() if not found
    ]
    return f"needs {' and '.join(lacking)}: make ci-environments" if lacking else ""


def in_node(
    exported: Path, lines: Sequence[str], form: str = "intgemm.alphas", html: bool = False
) -> Translated:
    """Translate lines, one at a time, in Node.js; with `html` each is well-formed HTML."""
    with TemporaryDirectory() as folder:
        package = shutil.copytree(_package(), Path(folder) / "package")
        # The package calls itself a module, but its worker is none.
        (package / "worker" / "package.json").write_text('{"type": "commonjs"}')
        done = subprocess.run(
            ["node", str(SCRIPT), str(package), str(exported), form, *(["html"] if html else [])],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    assert done.returncode == 0, done.stderr
    return Translated(**json.loads(done.stdout))


@contextmanager
def playground(*names: str | Path, environment: Mapping[str, str] | None = None) -> Iterator[Playground]:
    """`translations serve` of a partition or folder, and of others beside it, as long as it runs."""
    name, *others = map(str, names)
    beside = [word for other in others for word in ("--beside", other)]
    command = [str(TRANSLATIONS), "serve", name, *beside, "--engine", _package(), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout
        try:
            yield Playground(server.stdout.readline().strip(), server)
        finally:
            server.terminate()


@contextmanager
def chromium() -> Iterator[Page]:
    """A new tab of a headless Chromium."""
    with browser() as started, tab(started) as page:
        yield page


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium without a tab."""
    with sync_playwright() as playwright:
        # Its sandbox refuses root, who runs CI
        options = [] if os.geteuid() else ["--no-sandbox"]
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        yield started
        started.close()


@contextmanager
def tab(started: Browser) -> Iterator[Page]:
    """A new tab, which shares no state with others of its browser."""
    page = started.new_page()
    page.set_default_timeout(SECONDS * 1000)
    yield page
    page.close()


def typed(page: Page, text: str) -> str:
    """The translation that the playground's page shows when a text is put in."""
    page.fill("#source", text)
    page.wait_for_selector("#target[aria-busy=false]")
    shown: str = page.eval_on_selector("#target", "it => it.value")
    return shown


def pasted(page: Page, text: str) -> str:
    """The same of a text that is there at once: Chromium types thousands of lines in minutes."""
    page.eval_on_selector(
        "#source", "(it, text) => { it.value = text; it.dispatchEvent(new Event('input')); }", text
    )
    page.wait_for_selector("#target[aria-busy=false]")
    shown: str = page.eval_on_selector("#target", "it => it.value")
    return shown


def in_chromium(exported: Path, lines: Sequence[str]) -> Translated:
    """Translate lines, one at a time, in the playground's page."""
    with playground(exported) as served, chromium() as page:
        page.goto(served.url)
        page.evaluate(_EACH, [])  # loads the engine
        began = processors()
        return Translated(page.evaluate(_EACH, [*lines]), processors() - began)


def processors() -> float:
    """Seconds of this process's children: of Chromium's processes, and the server, which only waits."""
    children = psutil.Process().children(recursive=True)
    return sum(sum(child.cpu_times()[:2]) for child in children)


def _package() -> str:
    return os.environ.get(ENGINE, "")
