"""`config generate --files`, and docs/own-corpus.md, whose commands test_command_line parses."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Said
from tests.cli.shapes import check_shape
from tests.cli.test_generate import call
from tests.configs.conftest import network
from translations_assets.config.load import load_config
from translations_assets.configs.generate import pair_of
from translations_assets.configs.own_corpus import LARGE, MEDIUM, Split, write

__all__ = ["call", "network"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "own-corpus.md"
GENERATE = ("config", "generate", "en", "lt", "--files", "a.en", "a.lt")
CONFIG = Path("configs/en-lt.own.yml")


@pytest.fixture(autouse=True)
def files(call: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files in the current folder; a search would fail."""
    for lang, word in (("en", "Sentence"), ("lt", "Sakinys")):
        Path(f"a.{lang}").write_text("".join(f"{word} {n} of the corpus.\n" for n in range(1200)))
    monkeypatch.setattr("translations_assets.configs.generate.search", None)


def test_two_files_become_a_config_that_is_right_at_once(call: Callable[..., Said]) -> None:
    said = call(*GENERATE)
    assert (said.code, said.err) == (0, "")
    told, text = said.out.splitlines()
    sizes = "1,080 pairs to train on, 60 in the dev set, 60 in the test set, 0 left out"
    assert told == f"{CONFIG.absolute()}: {sizes}"
    assert text.startswith(f"{CONFIG.absolute().with_suffix('')}: the text;")
    checked = call("config", "check", "en-lt.own")
    assert (checked.code, checked.out, checked.err) == (0, "en-lt.own: no problems\n", "")
    assert (
        call("config", "check", "en-lt.own", "--online").out.count(f"{CONFIG.with_suffix('').absolute()}/")
        == 3
    )
    graph = call("graph", "en-lt.own", "--show", "tasks").out
    assert "dataset-train-file_train-en-lt" in graph
    assert "export-en-lt" in graph
    assert "translate-mono-trg" not in graph
    assert not re.search("fetch|bicleaner", graph)  # nothing comes from the network
    assert sorted(path.name for path in CONFIG.parent.iterdir()) == ["en-lt.own", "en-lt.own.yml"]
    planned = call("plan", "en-lt.own", "--target", "dataset_train")
    assert (planned.code, "1 run" in planned.out) == (0, True), planned


def test_the_same_again_changes_nothing_and_what_differs_stays(call: Callable[..., Said]) -> None:
    call(*GENERATE)
    folder = CONFIG.with_suffix("")
    before = CONFIG.read_bytes(), (folder / "train.en.zst").stat().st_ino
    said = call(*GENERATE, "--json")
    check_shape("config generate", json.loads(said.out))
    assert said.code == 0
    assert (CONFIG.read_bytes(), (folder / "train.en.zst").stat().st_ino) == before
    for lang in ("en", "lt"):
        with Path(f"a.{lang}").open("a") as file:
            file.write("One more line.\n")
    said = call(*GENERATE)
    assert said.code == 1
    assert f"{folder.absolute()}: exists, and holds other text; remove it, or give another --name" in said.err
    assert CONFIG.read_bytes() == before[0]
    assert call(*GENERATE, "--name", "more").code == 0


def test_a_config_is_a_yaml_file(call: Callable[..., Said]) -> None:
    """Of another one the folder with the text would have the file's own name."""
    for name in ("en-lt", "en-lt.own"):
        said = call(*GENERATE, "--output", f"configs/{name}")
        assert said.code == 1
        assert f"configs/{name}: give a file as --output that ends in .yml or .yaml" in said.err
    assert list(CONFIG.parent.iterdir()) == []
    assert call(*GENERATE, "--output", "configs/en-lt.own.yaml").code == 0
    assert (CONFIG.with_suffix("") / "train.en.zst").is_file()


def test_files_that_cannot_be_used_leave_nothing(call: Callable[..., Said]) -> None:
    Path("a.lt").write_text("Sakinys.\n")
    said = call(*GENERATE)
    assert said.code == 1
    assert "Unequal numbers of lines: a.en has 1,200, a.lt has 1." in said.err
    assert list(CONFIG.parent.iterdir()) == []


def test_options_that_need_files(call: Callable[..., Said]) -> None:
    assert "go with --files" in call("config", "generate", "en", "lt", "--trial").err
    assert "give --name for a search, or --files" in call("config", "generate", "en", "lt").err


def test_sets_and_text_of_ones_own(call: Callable[..., Said]) -> None:
    for name in ("d", "t", "m"):
        for lang in ("en", "lt"):
            Path(f"{name}.{lang}").write_text(f"The line of {name} in {lang}.\n")
    own = ("--dev", "d.en", "d.lt", "--test", "t.en", "t.lt", "--mono-src", "m.en", "--mono-trg", "m.lt")
    said = call(*GENERATE, *own)
    assert "1,200 pairs to train on, 1 in the dev set, 1 in the test set, 0 left out" in said.out
    datasets = load_config(CONFIG).datasets
    folder = CONFIG.absolute().with_suffix("")
    assert datasets.mono_src[0].name == datasets.mono_trg[0].name == f"{folder}/mono.[LANG].zst"
    assert "translate-mono-trg-en-lt" in call("graph", "en-lt.own").out


@pytest.mark.parametrize("pairs", [1000, 30_000, MEDIUM, LARGE])
@pytest.mark.parametrize("codes", [("en", "lt"), ("zh", "en"), ("xh", "sr_latn")])
def test_configs_of_all_sizes_are_right(tmp_path: Path, pairs: int, codes: tuple[str, str]) -> None:
    stats = {name: {"lines": pairs, "characters": 50 * pairs} for name in ("train", "dev", "test")}
    path = tmp_path / f"{'-'.join(codes)}.own.yml"
    text = write("own", pair_of(*codes, ""), Split(tmp_path, stats), path, trial=False)
    values = yaml.safe_load(text)
    trainings = [values.get("marian-args", {}).get(f"training-{name}") for name in ("teacher", "student")]
    assert (pairs == LARGE) == (trainings == [None, None])
    for options in filter(None, trainings):
        updates = int(options["after"].removesuffix("u"))
        batch = options["mini-batch-words"]
        assert updates * batch >= 10 * stats["train"]["characters"] / 4  # at least ten epochs
        assert 40 <= updates / options["valid-freq"] <= 60
        assert 1000 * options["maxi-batch"] <= 10 * pairs  # sentences that are read ahead


def test_the_pages_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https:)([^)#]+)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []
