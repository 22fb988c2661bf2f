"""The playground of the finished demo: seconds until it translates, and how fast browser and teacher are.

    python -m benchmarks.playground

From opening the page in a new headless Chromium to the first translation, from loading it again in the same
one, and from the command to its address; words a second as the page shows them, of 60 sentences. Needs the
demo to be finished (`make demo`), Chromium and the engine of browsers (`make ci-environments`).
"""

from __future__ import annotations

import statistics
import sys
import time

from playwright.sync_api import Page

from benchmarks.timing import report
from tests.browsers import chromium, missing, playground, typed

PARTITION = "en-eo.demo"
RUNS = 5
EXAMPLES = 15  # times some of them: what the teacher takes at once
_TRANSLATED = """() => new Promise(found => new PerformanceObserver((list, observer) => {
    const mark = list.getEntriesByName('translated')[0];
    if (mark) { observer.disconnect(); found(mark.startTime / 1000); }
}).observe({type: 'mark', buffered: true}))"""  # seconds since the navigation began


def main() -> None:
    """Print the figures."""
    if reason := missing("chromium"):
        sys.exit(f"error: {reason}")
    starts, new, again = list[float](), list[float](), list[float]()
    for number in range(RUNS):
        began = time.perf_counter()
        with playground(PARTITION) as served:
            starts.append(time.perf_counter() - began)
            with chromium() as page:
                page.goto(served.url)
                new.append(page.evaluate(_TRANSLATED))
                page.reload()
                again.append(page.evaluate(_TRANSLATED))
                if number == RUNS - 1:
                    _print_speeds(page)
    report("command to address", starts, "none")
    report("page to first translation, new browser", new, "2 s")
    report("page to first translation, loaded again", again, "2 s")


def _print_speeds(page: Page) -> None:
    sentences = page.locator("#examples button").all_text_contents()[:4]
    text = "\n".join(sentences * EXAMPLES)
    for card in ("target", "teacher"):
        rates = []
        for ending in (".", "!", "?"):  # another text each time
            typed(page, f"{text}\n{ending}")
            page.wait_for_selector(f"#{card}[aria-busy=false]")
            shown = page.locator(f"article:has(#{card}) .speed").text_content() or ""
            rates.append(float(shown.split()[0].replace(",", "")))  # 2,118 (360 words in 170 ms)
        print(f"{card}: {statistics.median(rates):,.0f} words/s (median of {len(rates)} runs)")


if __name__ == "__main__":
    main()
