"""Mistakes that people make in configs: generated from a seed, each with the line where it should be told.

A kind of mistake changes the text of a config in one place. It takes the page and a source of random choices,
and returns the new text and the line of the mistake, or None where the config has no place for it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from translations_assets.config.load import keys_of
from translations_assets.config.old_spellings import rewrite
from translations_assets.config.old_spellings.generations import is_old
from translations_assets.config.yaml_reader import KeyPath, at, read_yaml

Planted: TypeAlias = "tuple[str, int] | None"
PARALLEL, MONO = ("train", "devtest", "test"), ("mono-src", "mono-trg")


@dataclass(frozen=True)
class Page:
    """A config's lines, values and places, where keys are written as today's."""

    text: str
    lines: list[str]
    values: dict[str, Any]
    places: dict[KeyPath, int]

    @classmethod
    def read(cls, path: Path) -> Page:
        """The page of a file; what has an old spelling, or stands in brackets, is no place for mistakes."""
        text = path.read_text(encoding="utf-8")
        document, new = read_yaml(text, path.name), read_yaml(text, path.name)
        rewrite(new)
        lines = text.split("\n")
        places = {
            place: line
            for place, line in document.lines.items()
            if new.lines.get(place) == line
            and at(new.value, place) == at(document.value, place)
            and _stands_alone(lines[line - 1], place)
        }
        return cls(text, lines, document.value, places)

    def with_line(self, line: int, new: str) -> str:
        """The text with another line in place of one."""
        return "\n".join([*self.lines[: line - 1], new, *self.lines[line:]])

    def with_value(self, place: KeyPath, value: str) -> Planted:
        """Another value for a key whose value is on its line."""
        line = self.places.get(place)
        if line is None or not re.search(r":\s+\S", self.lines[line - 1].partition("#")[0]):
            return None
        key = self.lines[line - 1].partition(":")[0]
        return self.with_line(line, f"{key}: {value}"), line

    def with_item(self, place: KeyPath, value: str) -> Planted:
        """Another item of a list."""
        line = self.places.get(place)
        if line is None:
            return None
        margin = self.lines[line - 1].partition("-")[0]
        return self.with_line(line, f"{margin}- {value}"), line

    def with_new_item(self, place: KeyPath, value: str) -> Planted:
        """One more item, after one of a list."""
        line = self.places.get(place)
        if line is None:
            return None
        margin = self.lines[line - 1].partition("-")[0]
        return "\n".join([*self.lines[:line], f"{margin}- {value}", *self.lines[line:]]), line + 1

    def some(self, rng: random.Random, pattern: str) -> KeyPath | None:
        """A place whose path, joined by spaces, fits a pattern."""
        fitting = [place for place in self.places if re.fullmatch(pattern, " ".join(map(str, place)))]
        return rng.choice(fitting) if fitting else None


def _stands_alone(line: str, place: KeyPath) -> bool:
    if place and isinstance(place[-1], int):
        return line.strip().startswith("- ")
    return bool(place) and bool(re.match(rf"\s*{re.escape(str(place[-1]))}:", line))


def _typo(rng: random.Random, word: str) -> str:
    """A word with a slip of the finger."""
    place = rng.randrange(len(word) - 1)
    first, second = word[place], word[place + 1]
    slips = [
        word[:place] + second + first + word[place + 2 :],
        word[:place] + word[place + 1 :],
        word[:place] + first + first + word[place + 1 :],
        word[:place] + rng.choice("qxzj") + word[place + 1 :],
    ]
    return rng.choice([slip for slip in slips if slip != word])


def typo_in_key(page: Page, rng: random.Random) -> Planted:
    """`spm-vocab-sise`"""
    sections = [place for place in page.places if place[-1] in keys_of(place[:-1])]
    place = rng.choice(sections)
    wrong = _typo(rng, str(place[-1]))
    if wrong in keys_of(place[:-1]):
        return None
    line = page.places[place]
    return page.with_line(line, page.lines[line - 1].replace(f"{place[-1]}:", f"{wrong}:", 1)), line


def typo_in_marian_option(page: Page, rng: random.Random) -> Planted:
    """`early-stoping`"""
    place = page.some(rng, r"marian-args (training|decoding)-\S+ \S+")
    if place is None:
        return None
    line, wrong = page.places[place], _typo(rng, str(place[-1]))
    return page.with_line(line, page.lines[line - 1].replace(str(place[-1]), wrong, 1)), line


def typo_in_dataset_of_a_number(page: Page, rng: random.Random) -> Planted:
    """A threshold or a weight of a dataset that is not listed; an old config loses it, with a note."""
    if is_old(page.values):
        return None
    place = page.some(rng, r"experiment \S+( \S+)? (dataset-thresholds|dataset-weights \S+) \S+")
    if place is None:
        return None
    line, wrong = page.places[place], f"{place[-1]}{rng.randrange(10)}"
    return page.with_line(line, page.lines[line - 1].replace(str(place[-1]), wrong, 1)), line


def typo_in_choice(page: Page, rng: random.Random) -> Planted:
    """`student-model: tyni`"""
    keys = "best-model|opuscleaner-mode|spm-norm-rule|teacher-mode|teacher-decoder|student-model|src|trg"
    place = page.some(
        rng, rf"experiment ({keys})|target-stage|taskcluster (upload-bucket|worker-classes \S+)"
    )
    if place is None:
        return None
    wrong = _typo(rng, f"{at(page.values, place)}") + "q"
    return page.with_value(place, wrong)


def typo_in_stage_of_a_machine(page: Page, rng: random.Random) -> Planted:
    """`defualt: gcp-spot`"""
    place = page.some(rng, r"taskcluster worker-classes \S+")
    if place is None:
        return None
    line = page.places[place]
    return page.with_line(line, page.lines[line - 1].replace(str(place[-1]), f"{place[-1]}q", 1)), line


def wrong_type(page: Page, rng: random.Random) -> Planted:
    """Text for numbers, numbers for truth, a word for a section."""
    candidates = [place for place in page.places if place[-1] in keys_of(place[:-1])]
    place = rng.choice(candidates)
    value = at(page.values, place)
    if isinstance(value, bool):
        return page.with_value(place, rng.choice(["yes", "1", "'true'", "[]"]))
    if isinstance(value, int | float):
        return page.with_value(place, rng.choice(["many", "'10'", "true", "[1]", "{}", ""]))
    if isinstance(value, str):
        return page.with_value(place, rng.choice(["3", "true", "[a]", "{a: b}", ""]))
    return None


def wrong_number(page: Page, rng: random.Random) -> Planted:
    """Below the least, above the most, not a multiple."""
    wrong = {
        "spm-vocab-size": ["0", "-8", "32001", "1.5"],
        "spm-sample-size": ["0", "-1"],
        "teacher-ensemble": ["0", "10", "-1"],
        "dev-max-sentences": ["0", "-5"],
        "corpus-max-sentences": ["0"],
        "default-threshold": ["1.5", "-0.1", "50"],
        "total": ["0", "-1", "2.5"],
        "per-dataset": ["0", "-3"],
        "split-chunks": ["0", "-2"],
        "mono-src": ["11.0", "-1"],
        "mono-trg": ["10.5"],
    }
    place = page.some(rng, rf"(experiment|taskcluster)( \S+)* ({'|'.join(wrong)})")
    if place is None or not isinstance(at(page.values, place), int | float):
        return None
    return page.with_value(place, rng.choice(wrong[str(place[-1])]))


def wrong_dataset(page: Page, rng: random.Random) -> Planted:
    """A provider, a modifier, a set or a form that there is not."""
    category = rng.choice([*PARALLEL, *MONO])
    place = page.some(rng, rf"datasets {category} \d+")
    wrong = [
        "opsu_Books/v1",
        "Books/v1",
        "opus_Books",
        "opus_Books /v1",
        "5",
        "url_ftp://example.org/x.zst",
        "''",
    ]
    if category in MONO:
        wrong += ["news-crawl_2021", "newscrawl_news.2021", "mtdata_a-b-1-eng-rus", "opus_aug-upper_Books/v1"]
    else:
        wrong += ["flores_tset", "flores_aug-uper_dev", "sacrebleu_wmt91", "url_https://example.org/x.zst"]
        wrong += ["mtdata_airbaltic", "ntrex_dev", "news-crawl_news.2021"]
        if category == "train" or not is_old(page.values):  # which loses such a dev or test set, with a note
            wrong.append("mtdata_Tilde-airbaltic-1-xho-guj")
    return page.with_item(place, rng.choice(wrong)) if place else None


def dataset_of_another_purpose(page: Page, rng: random.Random) -> Planted:
    """A test set among the training data, or a validation set among the test sets."""
    origin, target = rng.choice(
        [("test", "train"), ("devtest", "train"), ("devtest", "test"), ("test", "devtest")]
    )
    keys, place = at(page.values, ("datasets", origin)), page.some(rng, rf"datasets {target} \d+")
    usable = [key for key in keys or () if not key.startswith(("ntrex", "tmx"))]
    return page.with_new_item(place, rng.choice(usable)) if usable and place else None


def key_twice(page: Page, rng: random.Random) -> Planted:
    """A key that is there already."""
    place = page.some(rng, r"experiment (name|src|trg|best-model|spm-sample-size|teacher-ensemble)")
    if place is None:
        return None
    line = page.places[place]
    return page.with_line(line, f"{page.lines[line - 1]}\n{page.lines[line - 1]}"), line + 1


def missing_key(page: Page, rng: random.Random) -> Planted:
    """A missing key is reported where its section begins."""
    place = page.some(rng, r"experiment (name|src|trg)")
    if place is None:
        return None
    line, section = page.places[place], page.lines.index("experiment:") + 1
    text = "\n".join([*page.lines[: line - 1], *page.lines[line:]])
    return text, section - (line < section)


def tab(page: Page, rng: random.Random) -> Planted:
    """Indentation by a tab."""
    place = page.some(rng, r"experiment (src|trg|best-model|teacher-ensemble)")
    if place is None:
        return None
    line = page.places[place]
    return page.with_line(line, "\t" + page.lines[line - 1].lstrip()), line


def same_language(page: Page, rng: random.Random) -> Planted:
    """From a language into itself."""
    return page.with_value(("experiment", "trg"), str(at(page.values, ("experiment", "src"))))


def wrong_marian_value(page: Page, rng: random.Random) -> Planted:
    """A value that is not of the option's type, or that the scripts give."""
    wrong = {
        "early-stopping": ["soon", "'-1'", "2.5"],
        "beam-size": ["wide", "1.5", "'four'"],
        "mini-batch-words": ["big", "''"],
        "learn-rate": ["fast", "'3e'"],
        "disp-freq": ["{}"],
        "dim-vocabs": ["1008 1008", "[24, 24]"],
    }
    place = page.some(rng, rf"marian-args \S+ ({'|'.join(wrong)})")
    return page.with_value(place, rng.choice(wrong[str(place[-1])])) if place else None


def option_of_the_script(page: Page, rng: random.Random) -> Planted:
    """An option that the scripts set, or of another command, in place of one."""
    place = page.some(rng, r"marian-args (training|decoding)-\S+ \S+")
    if place is None:
        return None
    line = page.places[place]
    margin = page.lines[line - 1][: len(page.lines[line - 1]) - len(page.lines[line - 1].lstrip())]
    training = str(place[1]).startswith("training")
    options = ["devices: 0", "workspace: 9000", "vocabs: a", "--seed: 1"]
    wrong = rng.choice([*options, "after: 3e" if training else "learn-rate: 0.1"])
    return page.with_line(line, margin + wrong), line


def wrong_continuation(page: Page, rng: random.Random) -> Planted:
    """A path for a URL, or a mode that there is not."""
    place = page.some(rng, r"continuation .* (src|trg|url|mode|type)")
    return page.with_value(place, rng.choice(["vocab.spm", "ftp://example.org/x"])) if place else None


KINDS: tuple[Callable[[Page, random.Random], Planted], ...] = (
    typo_in_key,
    typo_in_marian_option,
    typo_in_dataset_of_a_number,
    typo_in_choice,
    typo_in_stage_of_a_machine,
    wrong_type,
    wrong_number,
    wrong_dataset,
    dataset_of_another_purpose,
    key_twice,
    missing_key,
    tab,
    same_language,
    wrong_marian_value,
    option_of_the_script,
    wrong_continuation,
)


def plant(pages: list[Page], seed: int) -> tuple[str, Page, str, int]:
    """The mistake of a seed: its kind, the page, the page's new text, and the line of the mistake."""
    rng = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    while True:
        page = rng.choice(pages)
        planted = kind(page, rng)
        if planted:
            return kind.__name__, page, *planted
