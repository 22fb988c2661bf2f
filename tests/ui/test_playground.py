"""The playground: exported files in the engine of browsers, in real Chromium, as someone types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from sacrebleu import corpus_chrf

from pipeline.quantize.export import main as export
from tests.browsers import chromium, missing, playground, typed
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny
from translations_assets.errors import TranslationsError
from translations_assets.ui.playground.server import application

__all__ = ["one_thread", "quantized", "tiny"]


@pytest.fixture
def exported(quantized: Path, tmp_path: Path) -> Path:
    """The tiny student as browsers get it."""
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(tmp_path / "exported")])
    return tmp_path / "exported"


@pytest.fixture
def required() -> None:
    """What the page needs to run is there."""
    if reason := missing("chromium"):
        pytest.skip(reason)


@pytest.fixture
def page(required: None, exported: Path) -> Iterator[Page]:
    """The page in Chromium; it asks no other server and reports no error."""
    with playground(exported) as url, chromium() as page:
        troubles: list[str] = []
        page.on("request", lambda it: troubles.extend([] if it.url.startswith((url, "data:")) else [it.url]))
        page.on("console", lambda it: troubles.append(it.text))
        page.on("pageerror", lambda it: troubles.append(str(it)))
        page.goto(url)
        yield page
        assert troubles == []


@pytest.mark.marian
@pytest.mark.slow
def test_what_is_typed_is_translated(page: Page, tiny: Tiny) -> None:
    pairs = tiny.test_pairs
    assert typed(page, "") == ""
    assert page.title() == "en → eo"

    lines = [f"{source} {EMOJI[number % 3]}" for number, (source, _) in enumerate(pairs[:30])]
    first, rest = "\n".join(lines[:15]), "\n".join(lines[15:])
    found = typed(page, f"{first}\n\n{rest}").split("\n")
    assert found.pop(15) == ""
    expected = [f"{target} {EMOJI[number % 3]}" for number, (_, target) in enumerate(pairs[:30])]
    assert corpus_chrf(found, [expected]).score > 80
    assert sum(line.endswith(expected[number][-1]) for number, line in enumerate(found)) >= 25

    assert typed(page, pairs[0][0].upper())


@pytest.mark.parametrize(
    ("folder", "told"), [("exported", "npm ci --prefix .*browser"), ("engine", "translations artifacts")]
)
def test_what_is_missing_is_told(tmp_path: Path, folder: str, told: str) -> None:
    """One of both is there."""
    (tmp_path / folder).mkdir()
    (tmp_path / folder / {"exported": "records.json", "engine": "translator.js"}[folder]).touch()
    with pytest.raises(TranslationsError, match=told):
        application(tmp_path / "exported", tmp_path / "engine")
