"""The documentation site."""

import re
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from tests.docs_site import site

ROOT = Path(__file__).parents[1]
DECISIONS = ROOT / "docs" / "decisions"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
OURS = ("benchmarks", "corpora", "deploy", "pipeline", "tests", "translations_assets")
# With the commit that still has it
REMOVED = re.compile(r"`python -m (benchmarks\.\w+)[^`]*`\s+as\s+of\s+6a21aef\b")


# Blocks that begin with a key and nothing after it, in both forms of Markdown
CONFIGS = re.compile(r"(?:^ {4}[a-z-]+:\n(?:(?: {4}.*)?\n)+)|(?<=^```yaml\n)[^`]+", re.MULTILINE)


def test_examples_of_configs_are_yaml() -> None:
    examples = [dedent(found[0]) for found in CONFIGS.finditer(TEXT)]
    assert len(examples) > 10
    for example in examples:
        assert isinstance(yaml.safe_load(example), dict), example


@pytest.mark.slow
def test_the_site_is_built_without_a_warning() -> None:
    """A page that no other leads to, a link or an anchor that is not there, is a warning."""
    assert (site() / "first-hour.html").is_file()
    pages = "".join(page.read_text(encoding="utf-8") for page in site().rglob("*.html"))
    assert 'src="http' not in pages  # it fetches nothing


def test_the_modules_and_targets_that_pages_name_are_there() -> None:
    """CI and people run them; tests/cli/test_docs_commands.py runs `translations` itself."""
    present = REMOVED.sub("", TEXT)
    modules = {name for name in re.findall(r"python -m ([\w.]+\w)", present) if name.split(".")[0] in OURS}
    assert len(modules) > 10
    for name in modules - {"pipeline.family.name"}:  # the script contract's example
        path = ROOT.joinpath(*name.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), name
    targets = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", TEXT, re.MULTILINE))
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(targets) > 10
    assert targets <= set(made)


def test_a_benchmark_with_a_commit_is_one_that_was_removed() -> None:
    removed = set(REMOVED.findall(TEXT))
    assert len(removed) > 5
    for name in removed:
        assert not ROOT.joinpath(*name.split(".")).with_suffix(".py").exists(), name


def test_every_decision_is_listed_with_its_title() -> None:
    listed = (DECISIONS / "README.md").read_text(encoding="utf-8").splitlines()
    for page in sorted(DECISIONS.glob("0*.md")):
        number, title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").split(". ", 1)
        assert f"| {number} | [{title}]({page.name}) |" in listed


def test_every_picture_is_shown_is_there_and_is_small() -> None:
    """With words for those who do not see it."""
    shown = {
        (page.parent / path).resolve(): words
        for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for words, path in re.findall(r"!\[(.*?)\]\((.*?)\)", page.read_text(encoding="utf-8"))
    }
    pictures = {*(ROOT / "docs" / "images").iterdir()}
    assert shown.keys() == pictures
    assert all(shown.values())
    sizes = [path.stat().st_size for path in pictures]
    assert max(sizes) <= 150_000
    assert sum(sizes) <= 1_000_000
