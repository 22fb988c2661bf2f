"""200 mistakes in configs of all years: every one refused, each naming the right line."""

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.config.mistakes import KINDS, Page, plant
from tests.config.test_real_configs import ALL, ROOT
from tests.config.texts import SMALL
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import config_notes, parse_config, read_values
from translations_assets.config.migrate import migrated
from translations_assets.config.old_spellings.generations import is_old
from translations_assets.config.providers import mtdata
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.sources import addresses

OWN = [
    *sorted((Path(__file__).parent / "generations").glob("*.yml")),
    *sorted((ROOT / "configs").glob("*.yml")),
]
PAGES = [Page.read(path) for path in [*OWN, *ALL]]
MISTAKES = 200


def problems_of(text: str) -> list[Problem]:
    try:
        parse_config(text, "my.yml")
    except ConfigError as error:
        return error.problems
    return []


@pytest.mark.parametrize("seed", range(MISTAKES))
def test_a_mistake_is_refused_at_its_line(seed: int) -> None:
    kind, page, text, line = plant(PAGES, seed)
    before = {(problem.key, problem.message) for problem in problems_of(page.text)}
    found = [problem for problem in problems_of(text) if (problem.key, problem.message) not in before]
    told = [f"{problem.line}: {problem}" for problem in found]
    if not found and is_old(
        page.values
    ):  # in which thresholds of datasets that are not listed were passed over
        notes = config_notes(text, "my.yml")
        found += [note for note in notes if "lists no such dataset. Did you mean" in note.message]
    if kind == "typo_in_choice":  # the code of a language with a typing error may be that of another language
        notes = config_notes(text, "my.yml")
        found += [note for note in notes if "taken to be written in" in note.message]
    assert line in [problem.line for problem in found], (kind, text.split("\n")[line - 1], told)


def test_every_kind_of_mistake_is_made() -> None:
    assert {plant(PAGES, seed)[0] for seed in range(MISTAKES)} == {kind.__name__ for kind in KINDS}


JUNK: list[Any] = [None, 5, -1, 1.5, True, "x", "", [], {}, [1, None], {"a": {"b": [1]}}, [[]], "opus_a/b"]


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_junk_in_place_of_a_section_is_never_a_crash(junk: Any) -> None:
    for section in TrainingConfig.model_fields.values():
        values = {**yaml.safe_load(SMALL), section.alias or "": junk}
        problems_of(yaml.safe_dump(values))


@pytest.mark.parametrize("seed", range(100))
def test_junk_in_place_of_values_is_never_a_crash(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mtdata, "catalogue", dict)  # mtdata's own takes 20 s
    rng = random.Random(seed)
    values = copy.deepcopy(yaml.safe_load(rng.choice(PAGES).text))
    for _ in range(rng.randint(1, 3)):
        section, key = rng.choice(list(_places(values)))
        section[key] = copy.deepcopy(rng.choice(JUNK))
    text = yaml.safe_dump(values, sort_keys=False, width=1000)
    problems_of(text)
    config_notes(text, "my.yml")
    list(addresses(read_values(text, "my.yml").value))
    new, _ = migrated(text, "my.yml")
    assert migrated(new, "my.yml") == (new, [])


def _places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in some values: what holds it, and its key or number there."""
    pairs = (
        values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    )
    for key, inner in pairs:
        yield values, key
        yield from _places(inner)
