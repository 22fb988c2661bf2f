"""The command lines that the pages show are run, in a place where a pair is trained with made-up results."""

import gzip
import re
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Command, make
from tests.cli.test_command_line import PAGES, ROOT, written
from tests.end_to_end.tiny import PARTITION, Place
from tests.publish.keys import make_key
from tests.store.gcs_server import serve

PAIR = "en-lt"  # the pages' usual example; other pairs and experiments stand for it here
OTHERS = re.compile(
    r"\ben-(?:ru|eo)(?:\.(?:sample|demo))?\b|\ben-lt\.spring\b|\b(?:corpora/)?(?:en-fr|fr-en)\.(?:debian|direct)\b(?:\.yml)?"
)
WRITTEN = re.compile(
    r"\ben-lt\.(?:own|trial)\b"
)  # configs that commands of the pages write, and nobody trains here
RUN, BUCKET = "1a2b3c4d", "bucket"
LABEL = f"train-student-{PAIR}"

# What is not run here, by how a command begins or an option of it, and why.
NOT_RUN = {
    "rerun": "trains: tests/cli/test_train.py",
    "cancel": "ends a run that is under way: tests/cli/test_train.py",
    "shell": "opens a shell: tests/cli/test_shell.py",
    "translate": "runs Marian: tests/end_to_end/test_tiny_pipeline.py",
    "evaluate": "runs models, and fetches test sets: tests/cli/test_evaluate.py",
    "trace": "makes an index of each text: tests/cli/test_trace.py",
    "serve": "serves until Ctrl-C: tests/cli/test_serve.py",
    "hf://owner/name": "writes to the hub: tests/cli/test_publish_hub.py",
    "http://localhost:8888/v1": "needs a server: tests/cli/test_publish_remote_settings.py",
    "wandb": "imports W&B's package: tests/cli/test_tracking.py",
    "sample": "draws from text that real scripts have cleaned: tests/cli/test_sample.py",
    "uses": "asks for datasets that the tiny pair has not: tests/cli/test_uses.py",
    "rates": "needs a sweep whose variants have scores: tests/cli/test_sweep.py",
    "levels": "needs a deployment file with levels: tests/cli/test_levels.py",
    "find-corpus": "asks providers: tests/configs/test_search.py",
    "config generate en lt --name": "asks providers: tests/configs/test_config.py",
    "diff en-ru:2026-11-20": "asks for another time: tests/diff/test_sides.py",
    "diff en-lt:2026-11-20": "asks for another time: tests/diff/test_sides.py",
    "diff en-ru en-ru@": "needs overrides: tests/diff/test_sides.py",
    "diff en-lt en-lt@": "needs overrides: tests/diff/test_sides.py",
    "5e6f7a8b": "needs a second run: tests/diff/test_scores.py",
    "cache forget": "lets go of what the other commands show: tests/cli/test_cache_usage.py",
    "cache accept": "writes to the checkout: tests/cli/test_cache_accept.py",
    "--budget": "needs prices: tests/cli/test_costs.py",
    "--make": "runs steps: tests/cli/test_checks.py",
    "--online": "asks providers: tests/cli/test_config.py",
    "--web": "needs a web server: tests/cli/test_watch.py",
    "--": "an option of the program itself: tests/cli/test_completion.py",
}
# `train` trains: the demo does so in CI. Here `plan` is given its place, which takes the same options.
TRAINING = {"--yes": 1, "--server": 2}
# Exit codes besides 0 that mean what the page says.
ENDS = {"checks": {1}}


@pytest.fixture
def trained(command: Command, place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """The command, where en-lt is trained, with a bucket, and the files that the pages name."""
    for file in (place.root / "data").glob("*.eo.gz"):
        file.with_name(file.name.replace(".eo.", ".lt.")).write_bytes(file.read_bytes())
    config = place.root / "configs" / f"{PARTITION}.yml"
    text = config.read_text().replace("trg: eo", "trg: lt")
    config.unlink()
    (place.root / "configs" / f"{PAIR}.yml").write_text(text)
    (place.root / "old.yml").write_text(text + "previous_group_ids: [abc]\n")
    for lang, word in (("en", "Sentence"), ("lt", "Sakinys")):
        text = "".join(f"{word} {n} of the corpus.\n" for n in range(1200))
        (place.root / f"a.{lang}").write_text(text)
        (place.root / f"a.{lang}.gz").write_bytes(gzip.compress(text.encode()))
    make_key(place.root / "model.key")
    make("evaluate_exported", run=f"{RUN}-0000", partition=PAIR)
    with serve(BUCKET) as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        yield command


def here(words: list[str], place: Place) -> list[str]:
    """A page's words as they are typed in the place."""
    text = OTHERS.sub(PAIR, "\0".join(words)).replace("/srv/", f"{place.root}/srv/")
    if words[0] in ("results", "artifacts"):
        text = WRITTEN.sub(PAIR, text)
    text = re.sub(r"\bRUN\b", RUN, text)
    found = [word.removesuffix("/") for word in re.sub(r"\bLABEL\b", LABEL, text).split("\0")]
    if found[0] != "train":
        return found
    for option, length in TRAINING.items():
        if option in found:
            del found[found.index(option) : found.index(option) + length]
    return ["plan", *found[1:]]


def reason(words: list[str]) -> str:
    """Give the reason not to run a command here; "" for none."""
    said = " ".join(words)
    named = (why for begin, why in NOT_RUN.items() if said.startswith(begin) or begin in words)
    return next(named, "")


def test_what_is_not_run_is_tested_elsewhere() -> None:
    shown = [words for page in PAGES for words in written(page)]
    for begin, why in NOT_RUN.items():
        assert any(reason(words) == why for words in shown if words), f"no page shows {begin} any more"
        assert (ROOT / why.rpartition(": ")[2]).is_file()


@pytest.mark.slow
def test_the_command_lines_of_the_pages_do_what_they_say(trained: Command, place: Place) -> None:
    ran, failed = set[tuple[str, ...]](), []
    for page in PAGES:
        for words in written(page):
            typed = here(words, place) if words else []
            if not typed or reason(words) or tuple(typed) in ran:
                continue
            ran.add(tuple(typed))
            said = trained(*typed)
            if said.code not in {0} | ENDS.get(typed[0], set()):
                failed.append((page.name, typed, said.code, said.err))
    assert failed == []
    assert len(ran) > 50
