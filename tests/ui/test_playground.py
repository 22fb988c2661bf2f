"""The playground: exported files in the engine of browsers, in real Chromium, as someone types."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from sacrebleu import corpus_chrf

from pipeline.quantize.export import main as export
from tests.browsers import SECONDS, Playground, chromium, missing, pasted, playground, typed
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny

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
def served(required: None, exported: Path, tmp_path: Path) -> Iterator[Playground]:
    """The page, which shows one model twice."""
    (tmp_path / "temporary").mkdir()
    with playground(
        exported, exported, environment={**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    ) as served:
        yield served


@pytest.fixture
def page(served: Playground) -> Iterator[Page]:
    """The page in Chromium; it asks no other server and reports no error."""
    with chromium() as page:
        troubles: list[str] = []
        own = (served.url, "data:")
        page.on("request", lambda it: troubles.extend([] if it.url.startswith(own) else [it.url]))
        page.on("console", lambda it: troubles.append(it.text))
        page.on("pageerror", lambda it: troubles.append(str(it)))
        page.goto(served.url)
        yield page
        assert troubles == []


def marked(page: Page) -> list[str]:
    """The words that are marked: of the text, then of each translation."""
    return page.locator(".marked").all_text_contents()


@pytest.mark.marian
@pytest.mark.slow
def test_the_page_translates_and_aligns_with_and_without_a_network(
    page: Page, served: Playground, tiny: Tiny, tmp_path: Path
) -> None:
    pairs = tiny.test_pairs
    assert typed(page, "") == ""
    assert page.title() == "en → eo: exported"
    page.get_by_text("Everything is loaded").wait_for()

    page.context.set_offline(True)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(SECONDS) == 0
    assert not [*(tmp_path / "temporary").iterdir()]

    source = f"{pairs[0][0]} & <img src=x onerror=alert(1)>"
    translation = typed(page, source)
    first, second = page.locator("#target"), page.locator("#target-1")
    second.locator("span").last.wait_for()
    assert first.text_content() == second.text_content() == translation
    first.locator("span").first.hover()
    in_text, *in_translations = marked(page)
    assert in_text in source.split()
    assert {*in_translations} <= {*translation.split()}
    assert in_translations.count(translation.split()[0]) >= 2  # of each model
    page.mouse.move(0, 0)
    assert marked(page) == []
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert first.locator("[data-word]").nth(1).text_content() in marked(page)[1:]
    page.locator("#source").focus()
    page.keyboard.press("Control+Home")
    page.locator("#mirror .marked").wait_for()  # browsers tell of the cursor a moment later
    assert marked(page)[0] == source.split()[0]
    assert page.locator("article").first.locator(".speed").text_content() != "–"

    lines = [f"{source} {EMOJI[number % 3]}" for number, (source, _) in enumerate(pairs[:30])]
    found = typed(page, "\n".join([*lines[:15], "", *lines[15:]])).split("\n")
    assert found.pop(15) == ""
    expected = [f"{target} {EMOJI[number % 3]}" for number, (_, target) in enumerate(pairs[:30])]
    assert corpus_chrf(found, [expected]).score > 80
    assert (
        sum(line.endswith(expected[number][-1]) for number, line in enumerate(found)) >= 15
    )  # it depends on the processor

    assert typed(page, pairs[0][0].upper())


@pytest.mark.marian
@pytest.mark.slow
def test_ten_thousand_words_are_translated_without_a_loss(page: Page, tiny: Tiny) -> None:
    source, _ = tiny.test_pairs[0]
    times = 10_000 // len(source.split())
    sentence = f"{source.capitalize()}."
    one = typed(page, sentence)
    assert one
    assert pasted(page, f"{sentence} " * times) == f"{one} " * times
    assert pasted(page, f"{sentence}\n" * times) == f"{one}\n" * times

    without_marks = typed(
        page, " ".join([source] * times)
    )  # the model translates the first words of each part
    assert len(without_marks.split()) > 500
    assert typed(page, "\u200b \u2060") == ""
    assert typed(page, sentence) == one
