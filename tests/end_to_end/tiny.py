"""Tiny pairs: a few hundred generated sentences, models of a few thousand parameters, a few updates each.

English-Esperanto has a joint vocabulary; English-Turkish, another order of words, has one for each language.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import forked
from tests.patience import TRAINING_PATIENCE
from tests.session import once
from translations_assets.store.durable import DurableStore
from translations_assets.store.local import LocalStore

PARTITION = "en-eo.tiny"
SPLIT_PARTITION = "en-tr.tiny"
SPLIT_SIZE = 352  # pieces, 256 of them bytes: a language has less than the two
BIN = Path(sys.executable).parent

NOUNS = {"dog": "hundo", "cat": "kato", "bird": "birdo", "horse": "ĉevalo", "fish": "fiŝo", "cow": "bovino"}
ADJECTIVES = {"big": "granda", "small": "malgranda", "old": "maljuna", "young": "juna", "good": "bona"}
VERBS = {"sees": "vidas", "likes": "ŝatas", "hears": "aŭdas", "finds": "trovas"}

# Nouns as subject and as object; adjectives as they begin sentences
TURKISH = {
    "dog": "köpek köpeği",
    "cat": "kedi kediyi",
    "bird": "kuş kuşu",
    "horse": "at atı",
    "fish": "balık balığı",
    "cow": "inek ineği",
    "big": "Büyük",
    "small": "Küçük",
    "old": "Yaşlı",
    "young": "Genç",
    "good": "İyi",
    "sees": "görüyor",
    "likes": "seviyor",
    "hears": "duyuyor",
    "finds": "buluyor",
}

CONFIG = """\
experiment:
  name: tiny
  src: en
  trg: eo
  spm-vocab-size: 400
  spm-norm-rule: nfc # learned in half the time of the default
  student-model: tiny
  teacher-mode: one-stage
  bicleaner: {{default-threshold: 0}} # its environment and its model are far too large
datasets:
  train: ["url_file://{folder}/train.[LANG].gz"]
  devtest: ["url_file://{folder}/dev.[LANG].gz"]
  test: ["url_file://{folder}/test.[LANG].gz"]
  mono-src: ["url_file://{folder}/mono.[LANG].gz"]
  mono-trg: ["url_file://{folder}/mono.[LANG].gz"]
marian-args:
  training-backward: &model
    type: transformer
    dim-emb: 64
    transformer-dim-ffn: 64
    transformer-heads: 2
    enc-depth: 1
    dec-depth: 1
    mini-batch: 32
    maxi-batch: 10
    mini-batch-fit: false
    learn-rate: 0.003
    lr-warmup: 20
    disp-freq: 10
    save-freq: 20
    valid-freq: 20
    after: 20u
  training-teacher: *model
  training-student: *model
  training-student-finetuned:
    mini-batch: 32
    maxi-batch: 10
    learn-rate: 0.003
    lr-warmup: 20
    disp-freq: 10
    save-freq: 20
    valid-freq: 20
    after: 20u # not those of the others, which learn longer in some tests
  decoding-backward: {{beam-size: 2, mini-batch: 16, maxi-batch: 4}}
  decoding-teacher: {{beam-size: 2, mini-batch: 16, maxi-batch: 4}}
checks: # after so few updates the models cannot translate, and differ by chance
  training-collapse: {{level: warn}}
  teacher-floor: {{level: warn}}
  teacher-margin: {{margin: -20}}
  translation-collapse: {{level: warn}}
  quantized-gap: {{level: warn}}
  exported-gap: {{level: warn}}
  export: {{level: warn}}
  agreement: {{level: warn}} # all sentences have one pattern
target-stage: all
taskcluster:
  split-chunks: 2
"""


def sentences(language: str = "eo") -> list[tuple[str, str]]:
    """Every sentence of the grammar, English and the other language, in a fixed order that mixes them."""
    say = {"eo": _esperanto, "tr": _turkish}[language]
    pairs = [
        (f"The {adjective} {noun} {verb} the {other}.", say(adjective, noun, verb, other))
        for noun, other, verb, adjective in itertools.product(NOUNS, NOUNS, VERBS, ADJECTIVES)
        if noun != other
    ]
    return [pairs[(number * 7919) % len(pairs)] for number in range(len(pairs))]


def _esperanto(adjective: str, noun: str, verb: str, other: str) -> str:
    return f"La {ADJECTIVES[adjective]} {NOUNS[noun]} {VERBS[verb]} la {NOUNS[other]}n."


def _turkish(adjective: str, noun: str, verb: str, other: str) -> str:
    subject, thing = TURKISH[noun].split()[0], TURKISH[other].split()[1]
    return f"{TURKISH[adjective]} {subject} {thing} {TURKISH[verb]}."


def unseen(language: str) -> list[tuple[str, str]]:
    """The sentences that stand in none of the files."""
    return sentences(language)[500:]


def write_data(folder: Path, language: str = "eo") -> None:
    """400 pairs to train, 20 dev, 20 test, 60 lines of mono text a side; none stands in two files."""
    from pipeline.common.lines import write_lines

    pairs = sentences(language)
    parts = {"train": pairs[:400], "dev": pairs[400:420], "test": pairs[420:440], "mono": pairs[440:500]}
    for name, part in parts.items():
        write_lines(folder / f"{name}.en.gz", (english for english, _ in part))
        write_lines(folder / f"{name}.{language}.gz", (other for _, other in part))


UPDATES = 600  # with half of them the teacher had learned half of the grammar in some trainings


def learning(config: str) -> str:
    """The config with the updates that its models need to learn the grammar, and gates at their defaults."""
    start, end = config.index("checks:"), config.index("target-stage:")
    checks = "checks: {teacher-margin: {margin: -20}, agreement: {level: warn}}\n"
    config = f"{config[:start]}{checks}{config[end:]}"
    for old, new in (
        ("    after: 20u\n", f"    after: {UPDATES}u\n"),
        ("-freq: 20", "-freq: 100"),
        ("mini-batch: 32", "mini-batch: 16"),  # OpusTrainer modifies each line that is read
    ):
        assert old in config, old
        config = config.replace(old, new)
    return config


@dataclass(frozen=True)
class Place:
    """A state folder, a folder of configs and one of data, apart from everything else on the machine."""

    root: Path

    @property
    def store(self) -> DurableStore[Any]:
        """The store of the runs here."""
        return LocalStore(self.root / "state" / "store")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of commands that work here."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("TRANSLATIONS_")},
            "TRANSLATIONS_STATE": str(self.root / "state"),
            "TRANSLATIONS_CONFIGS": str(self.root / "configs"),
            "TRANSLATIONS_SPACE": "test",
            "TRANSLATIONS_FILES": "/",  # copies of a place name the data of the first one
            "DAGSTER_HOME": str(self.root / "dagster"),
            "DAGSTER_MODULE_NAME": "translations_assets.definitions",
        }

    def run(
        self, *command: str, text: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment here and give what it printed."""
        environment = self.environment | environment
        if command[:2] == ("python", "-c"):
            return forked.run(("translations", *command[1:]), environment, self.root, text, TRAINING_PATIENCE)
        if command[0] in forked.PROGRAMS:
            return forked.run(command, environment, self.root, text, TRAINING_PATIENCE)
        return subprocess.run(
            [str(BIN / command[0]), *command[1:]],
            env=environment,
            cwd=self.root,
            input=text,
            capture_output=True,
            text=True,
            timeout=TRAINING_PATIENCE,
            check=False,
        )


def make_place(root: Path) -> Place:
    """A place with the tiny data and its config."""
    write_place(root)
    return Place(root)


def make_split_place(root: Path) -> Place:
    """A place with English-Turkish, with a vocabulary for each language, and updates enough to learn it."""
    write_place(root, "tr")
    path = root / "configs" / f"{SPLIT_PARTITION}.yml"
    config = learning(path.read_text(encoding="utf-8")).replace("trg: eo", "trg: tr")
    path.write_text(
        config.replace("  spm-vocab-size: 400", f"  spm-vocab-split: true\n  spm-vocab-size: {SPLIT_SIZE}")
    )
    return Place(root)


def remember_keys(place: Place) -> Place:
    """The place as an earlier command leaves it, which has taken the scripts' code apart.

    Else that is most of what the first process does that is not forked.
    """
    shutil.copytree(once("keys", _find_keys) / "keys", place.root / "state" / "keys", dirs_exist_ok=True)
    return place


def _find_keys(folder: Path) -> None:
    from translations_assets.common.settings import repository_root
    from translations_assets.config.load import load_config
    from translations_assets.graph.stage import build_graph
    from translations_assets.keys.key import KeyMaker
    from translations_assets.stages import STAGES

    write_place(folder)
    keys = KeyMaker(repository_root(), memory=folder / "keys")
    for step in build_graph(load_config(folder / "configs" / f"{PARTITION}.yml"), STAGES).steps:
        keys.recipe(step)


def write_place(root: Path, language: str = "eo") -> None:
    """Write the tiny data and its config to a folder."""
    (root / "configs").mkdir(parents=True)
    (root / "data").mkdir()
    write_data(root / "data", language)
    config = CONFIG.format(folder=root / "data")
    (root / "configs" / f"en-{language}.tiny.yml").write_text(config, encoding="utf-8")
