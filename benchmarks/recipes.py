"""What the recipes of docs/recipes.md bring on the demo's text: chrF of students, over several seeds.

    python -m benchmarks.recipes --work FOLDER [--seeds 3] [--only baseline noise …]

Each recipe is the demo's config with a few keys more. All of them share a store in the folder, so that only
what differs is made, and a run that was cut off goes on. A seed decides what a student begins with and the
order of its text; teachers are the same for all.

The text to finetune on, and its own test set, are sentences of a domain: the demo's, with twelve words that
are not in its training text.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from pipeline.data.demo_corpus import parallel_part
from translations_assets.common.settings import repository_root

ROOT = repository_root()
DEMO = ROOT / "configs" / "en-eo.demo.yml"
# A domain: its words in both languages, by those of the training text, which has none of them
ENGLISH = {
    "box": "crate", "boxes": "crates", "student": "pupil", "students": "pupils", "teacher": "tutor",
    "teachers": "tutors", "friend": "mate", "friends": "mates", "doctor": "medic", "doctors": "medics",
    "girl": "lass", "girls": "lasses", "small": "tiny", "beautiful": "lovely", "book": "volume",
    "books": "volumes", "table": "desk", "tables": "desks", "chair": "seat", "chairs": "seats",
    "new": "fresh",
}  # fmt: skip
# Of Esperanto the stems
ESPERANTO = {
    "skatol": "kest", "student": "lernant", "instruist": "edukist", "amik": "kunul", "kuracist": "medikist",
    "knabin": "junulin", "malgrand": "et", "bel": "allog", "libr": "volum", "tabl": "labortabl",
    "seĝ": "sidil", "nov": "freŝ",
}  # fmt: skip
ENDINGS = {kind + plural + case for kind in "oa" for plural in ("", "j") for case in ("", "n")}
TESTS = ("demo_test", "demo_aug-upper_test", "demo_aug-typos_test", "demo_aug-documents_test", "domain")
# A config has no seeds: students get theirs where the stages ask for their training.
RUN = """
import sys
from translations_assets.stages import training
seed, train = int(sys.argv.pop(1)), training.train_model
def seeded(config, **options):
    more = seed if options["model"].startswith("student") else 0
    return train(config, **{**options, "seed": options["seed"] + more})
training.train_model = seeded
from translations_assets.cli.main import main
main()
"""
MODEL = "student"


def recipes(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """The keys of each recipe; `baseline` has none, and so typos in the student's feed alone."""
    domain = {"dataset": str(folder / "domain-train.[LANG]"), "alias": "domain-train"}
    finetune = {
        "datasets.finetune": [domain],
        "marian-args.training-on-finetune": {
            "after": "300u",
            "learn-rate": 0.0005,
            "valid-freq": 100,
            "save-freq": 100,
        },
    }
    clean_feed = {"experiment.modifiers": {"typos": 0.0}}  # of the teacher, too
    noise = {"distillation.noise": {"typos": 0.3}}
    return {
        "baseline": {},
        "finetune, old text 0 %": {**finetune, "finetuning.old-text": 0.0},
        "finetune, old text 50 %": {**finetune, "finetuning.old-text": 0.5},
        "typos in the feed and before the teacher": noise,
        "back-translations": {"distillation.backtranslated-max-sentences": 10_000},
        "back-translations, half sampled": {
            "distillation.backtranslated-max-sentences": 10_000,
            "experiment.sampled-backtranslations": 0.5,
        },
        "half of the parallel text": {"distillation.corpus-max-sentences": 9_000},
        "a quarter of it": {"distillation.corpus-max-sentences": 4_500},
        "no typos at all": clean_feed,
        "typos before the teacher alone": {**clean_feed, **noise},
        "documents": {"documents": {"datasets": ["demo_train"], "share": 0.1, "max-words": 30}},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Train, and print the table; see the module's text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", required=True, type=Path, help="folder for the store, configs and results")
    parser.add_argument("--seeds", type=int, default=3, help="students of each recipe")
    parser.add_argument("--only", nargs="*", help="recipes, by the beginnings of their names")
    args = parser.parse_args(argv)
    work = args.work.absolute()
    (work / "configs").mkdir(parents=True, exist_ok=True)
    _write_domain(work)
    chosen = {
        name: keys for name, keys in recipes(work).items() if name.startswith(tuple(args.only or ("",)))
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in chosen}
    for seed in range(1, args.seeds + 1):  # all recipes with one seed, then with the next
        for name, keys in chosen.items():
            found[name].append(_student(work, write_config(work, name, keys, seed), seed))
    print(f"| recipe | {' | '.join(TESTS)} |\n|---|{'---|' * len(TESTS)}")
    for name, students in found.items():
        print(f"| {name} | {' | '.join(_cell([scores[test] for scores in students]) for test in TESTS)} |")


def _write_domain(work: Path) -> None:
    """Text of the domain: sentences of the training text and of the test set that have such words."""
    for part, name, most in (("train", "domain-train", 1000), ("test", "domain-test", 200)):
        pairs = parallel_part(part)[0]
        changed = [(_with(pair.en, _english), _with(pair.eo, _esperanto), pair) for pair in pairs]
        kept = [(en, eo) for en, eo, pair in changed if en != pair.en and eo != pair.eo][:most]
        for lang, side in (("en", 0), ("eo", 1)):
            text = "".join(f"{pair[side]}\n" for pair in kept)
            (work / f"{name}.{lang}").write_text(text, encoding="utf-8")


def _with(text: str, other: Callable[[str], str]) -> str:
    """The text with other words; those that begin with a capital still do."""

    def replaced(match: re.Match[str]) -> str:
        word = other(match[0].lower())
        return word.capitalize() if match[0][0].isupper() else word

    return re.sub(r"\w+", replaced, text)


def _english(word: str) -> str:
    return ENGLISH.get(word, word)


def _esperanto(word: str) -> str:
    for stem, other in ESPERANTO.items():
        if word.startswith(stem) and word[len(stem) :] in ENDINGS:
            return other + word[len(stem) :]
    return word


def write_config(work: Path, name: str, keys: Mapping[str, Any], seed: int) -> str:
    """Write the demo's config with other keys, and return its partition."""
    config = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    domain = {"dataset": str(work / "domain-test.[LANG]"), "alias": "domain"}
    config["datasets"]["test"] += ["demo_aug-documents_test", domain]
    for key, value in keys.items():
        *path, last = key.split(".")
        section = config
        for part in path:
            section = section.setdefault(part, {})
        section[last] = {**section.get(last, {}), **value} if isinstance(value, Mapping) else value
    letters = "".join(character if character.isalnum() else "-" for character in name)
    partition = f"en-eo.{letters}.{seed}"
    config["experiment"]["name"] = f"{letters}.{seed}"  # so that no graph of another seed is remembered
    (work / "configs" / f"{partition}.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return partition


def _student(work: Path, partition: str, seed: int) -> dict[str, float]:
    """The chrF of a student on each test set."""
    kept = work / f"{partition}.json"
    if not kept.exists():
        translations(work, seed, "train", partition, "--target", "evaluate_student", "--yes")
        kept.write_text(translations(work, seed, "results", partition, "--json"))
    results: dict[str, Any] = json.loads(kept.read_text())
    return {test: _score(results, test) for test in TESTS}


def translations(work: Path, seed: int, *words: str) -> str:
    """Run the command line with students of a seed; return its output, its messages are in log.txt."""
    env = {
        **os.environ,
        "TRANSLATIONS_CONFIGS": str(work / "configs"),
        "TRANSLATIONS_STATE": str(work / "state"),
    }
    with (work / "log.txt").open("a") as log:
        return subprocess.run(
            [sys.executable, "-c", RUN, str(seed), *words],
            check=True, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True,
        ).stdout  # fmt: skip


def _score(results: Mapping[str, Any], test: str) -> float:
    return float(results[MODEL][test]["chrf"])


def _cell(scores: Sequence[float]) -> str:
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    return f"{statistics.mean(scores):.1f} ± {spread:.1f}"


if __name__ == "__main__":
    main()
