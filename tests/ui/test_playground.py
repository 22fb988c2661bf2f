"""The playground: exported files in the engine of browsers, in real Chromium, as someone types."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sacrebleu import corpus_chrf

from pipeline.quantize.export import main as export
from tests.browsers import SECONDS, Playground, browser, missing, pasted, playground, tab, typed
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny

__all__ = ["one_thread", "quantized", "tiny"]


@pytest.fixture(scope="module")
def required() -> None:
    """Skip unless the page's requirements are installed."""
    if reason := missing("chromium"):
        pytest.skip(reason)


@pytest.fixture(scope="module")
def exported(required: None, quantized: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny student as browsers get it."""
    folder = tmp_path_factory.mktemp("playground") / "exported"
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(folder)])
    return folder


@pytest.fixture(scope="module")
def started(required: None) -> Iterator[Browser]:
    """The browser of all tests; each has a tab of its own."""
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def served(exported: Path) -> Iterator[Playground]:
    """The page, which shows one model twice."""
    with playground(exported, exported) as served:
        yield served


@pytest.fixture
def page(started: Browser, served: Playground) -> Iterator[Page]:
    """The page in a new tab of Chromium."""
    with opened(started, served) as page:
        yield page


@contextmanager
def opened(started: Browser, served: Playground) -> Iterator[Page]:
    """The page in a new tab; it asks no other server and reports no error."""
    with tab(started) as page:
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
    started: Browser, exported: Path, tiny: Tiny, tmp_path: Path
) -> None:
    with (
        playground(exported, exported, environment={**os.environ, "TMPDIR": str(tmp_path)}) as served,
        opened(started, served) as page,
    ):
        check_without_a_network(page, served, tiny, tmp_path)


def check_without_a_network(page: Page, served: Playground, tiny: Tiny, temporary: Path) -> None:
    """Translate with the server's help, then without; it leaves nothing in its folder of temporary files."""
    pairs = tiny.test_pairs
    assert typed(page, "") == ""
    assert page.title() == "en → eo: exported"
    page.get_by_text("Everything is loaded").wait_for()

    page.context.set_offline(True)
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(SECONDS) == 0
    assert not [*temporary.iterdir()]

    source = f"{pairs[0][0]} & <svg onload=alert(1)>"
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


@pytest.mark.marian
@pytest.mark.slow
def test_html_keeps_its_tags(page: Page, tiny: Tiny) -> None:
    """Each block is translated as its text is; what is no well-formed HTML becomes it, and ends no engine."""
    source, _ = tiny.test_pairs[0]
    other, _ = tiny.test_pairs[1]
    one, two = (typed(page, text) for text in (source, other))
    assert one != two
    assert not page.is_checked("#markup")
    blocks = f'<ul>\n<li data-x="1 < 2">{source}</li><li>{other}</ul><hr><pre translate="no">{source}</pre>'
    assert typed(page, blocks) == (
        f'<ul>\n<li data-x="1 &lt; 2">{one}</li><li>{two}</li></ul><hr><pre translate="no">{source}</pre>'
    )
    assert page.is_checked("#markup")
    first, *rest = source.split()
    inline = typed(page, f'<p><a href="x?a=1&b=2">{first}</a> {" ".join(rest)}</p></div> & <i>{other}')
    assert re.sub("<[^>]*>", "", inline).startswith(one)
    assert re.search(r'^<p>.*<a href="x\?a=1&amp;b=2">[^<]+</a>.*</p> .*<i>[^<]+</i>$', inline)
    whole = typed(
        page, f"<!doctype html><title>{source}</title><script>1 < {first}</script>{other}<br>{source}"
    )
    assert whole == (
        f"<!DOCTYPE html>\n<html><head><title>{one}</title><script>1 < {first}</script></head>"
        f"<body>{two}<br>{one}</body></html>"
    )

    page.uncheck("#markup")
    page.wait_for_selector("#target[aria-busy=false]")
    assert page.eval_on_selector("#target", "it => it.value") != whole
    assert typed(page, f"{source} {other}")
    page.check("#markup")
    assert typed(page, f"{source} &amp;") == typed(page, f"{source} &")
    assert page.is_checked("#markup")  # as people chose, until the text is another
    typed(page, "")
    assert typed(page, f"{source}") == one
    assert not page.is_checked("#markup")


@pytest.mark.marian
@pytest.mark.slow
def test_what_the_model_has_no_letters_for_stays_and_is_named(page: Page, tiny: Tiny) -> None:
    sentence = f"{tiny.test_pairs[0][0].capitalize()}."
    one = typed(page, sentence)
    note = page.locator("#cards .note").first
    assert note.text_content() == ""
    russian, chinese = "Собака видит кошку.", "大狗看见小猫。"
    assert typed(page, russian) == russian
    assert typed(page, f"{sentence} {russian} {sentence}\n{chinese}") == f"{one} {russian} {one}\n{chinese}"
    told = note.text_content() or ""
    assert "does not know the letters of Собака видит кошку 大狗看见小猫." in told
    assert typed(page, f"<p>{russian}</p><p><b>{russian}</b></p><p>{sentence}</p>") == (
        f"<p>{russian}</p><p><b>{russian}</b></p><p>{one}</p>"
    )
    assert "кошку" in (note.text_content() or "")
    typed(page, f"{sentence[:-1]} кошку.")  # one word of a sentence: it is told
    assert "letters of кошку." in (note.text_content() or "")
    assert typed(page, sentence) == one
    assert note.is_hidden()


@pytest.mark.marian
@pytest.mark.slow
def test_what_is_no_character_ends_no_engine(page: Page, tiny: Tiny) -> None:
    """A zero byte, or half of a pair of UTF-16, ended the engine where words are aligned."""
    source, _ = tiny.test_pairs[0]
    page.get_by_text("Everything is loaded").wait_for()
    for odd in ("\\0", "\\ud83d"):
        page.eval_on_selector(
            "#source",
            '(it, [text, odd]) => { it.value = `${text} ${JSON.parse(`"${odd}"`)}`; '
            "it.dispatchEvent(new Event('input')); }",
            [source, odd.replace("\\0", "\\u0000")],
        )
        page.wait_for_selector("#target[aria-busy=false]")
        page.wait_for_selector("#target-1[aria-busy=false]")
    assert typed(page, source)
    page.locator("#target [data-word]").first.wait_for()
    assert page.locator(".trouble:visible").count() == 0


@pytest.mark.marian
@pytest.mark.slow
def test_a_model_that_fails_says_what_to_do(started: Browser, served: Playground) -> None:
    with tab(started) as page:
        page.route("**/models/1/model*", lambda route: route.abort())
        page.goto(served.url)
        page.locator("#status").get_by_text("A model has failed: below it stands what to do.").wait_for()
        failed = page.locator("article").nth(1).locator(".trouble").text_content() or ""
        assert "Try another text, or load the page again" in failed
        assert typed(page, "a cat")
