"""The curriculum: which corpora are mixed in which stage, and how OpusTrainer modifies their lines.

A curriculum file is in OpusTrainer's format (see configs/curriculum/teacher.two-stage.yml), without what
differs from training to training: the datasets' files and the seed. OpusTrainer: Bogoychev et al. 2023,
"OpusCleaner and OpusTrainer", arXiv:2311.14838.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from opustrainer import trainer

from pipeline.common.errors import InputError
from pipeline.train import casing

Modifier: TypeAlias = dict[str, Any]

CONDITIONS = ("bicameral", "phonemic")
SHARES = ("UpperCase", "TitleCase", "Typos")  # modifiers whose share of the lines may be another


@dataclass(frozen=True)
class Curriculum:
    """A curriculum for one training: conditions decided, placeholders filled in."""

    stages: dict[str, list[str]]
    modifiers: list[Modifier]
    batch_size: int
    src: str  # languages, as ICU's locales
    trg: str

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets that the stages mix (`original`, `backtranslated`, `finetune`), each once."""
        mixes = (line.split()[0] for mix in self.stages.values() for line in mix[:-1])
        return list(dict.fromkeys(mixes))

    @property
    def tags(self) -> Modifier | None:
        """The modifier that puts tokenised text together again, whatever its probability."""
        return next((modifier for modifier in self.modifiers if "Tags" in modifier), None)

    @property
    def aligns_pieces(self) -> bool:
        """Whether lines come out with alignments of SentencePiece pieces, for guided alignment."""
        return bool(self.tags and self.tags.get("spm_vocab_src") and self.tags.get("spm_vocab_trg"))

    def stage_config(self, stage: int, files: Mapping[str, Path], aligned: bool, seed: int) -> dict[str, Any]:
        """OpusTrainer's configuration for one stage, counted from 0.

        Each stage is a run of its own, so that Marian can be started with other settings for the last one.
        Orders are drawn by the stage's name, too: stages do not repeat each other's.
        """
        name, mix = list(self.stages.items())[stage]
        names = {line.split()[0] for line in mix[:-1]}
        return {
            "datasets": {dataset: str(files[dataset]) for dataset in sorted(names)},
            "stages": [name],
            name: mix,
            "modifiers": [self._told(modifier, aligned) for modifier in self.modifiers],
            "seed": seed,
            "num_fields": 3 if aligned else 2,
        }

    def _told(self, modifier: Modifier, aligned: bool) -> Modifier:
        """A modifier with all that this project's own needs to know; lines with alignments are tokens."""
        if modifier.keys().isdisjoint(casing.MODIFIERS):
            return modifier
        return {**modifier, "src": self.src, "trg": self.trg, "tokens": aligned}


def load(config: Mapping[str, Any]) -> trainer.Curriculum:
    """What OpusTrainer makes of its configuration (`Curriculum.stage_config`), with this project's modifiers
    of case.
    """
    casing.install()
    return trainer.CurriculumLoader().load(dict(config))


def add_curriculum_arguments(parser: argparse.ArgumentParser) -> None:
    """The options by which a script is given a curriculum, for `given_curriculum`."""
    add = parser.add_argument
    add("--curriculum", required=True, type=Path, help="stages and modifiers, YAML")
    add("--modifiers", default="{}", help="JSON; shares of lines in place of those: '{\"Typos\": 0.3}'")
    add("--bicameral", action="store_true", help="the source's script has upper and lower case")
    add("--phonemic", action="store_true", help="the source's script spells sounds")


def given_curriculum(args: argparse.Namespace, names: Mapping[str, str]) -> Curriculum:
    """The curriculum of a script's command line; see `read_curriculum`. Raises InputError."""
    conditions = {"bicameral": args.bicameral, "phonemic": args.phonemic}
    return read_curriculum(args.curriculum, conditions, names, _given_shares(args.modifiers))


def _given_shares(text: str) -> Mapping[str, float]:
    try:
        shares = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise InputError(f"--modifiers is no JSON object ({error}): {text}") from error
    for name, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise InputError(f"--modifiers: the share of {name} is a number from 0 to 1, not {share!r}.")
    return shares


def read_curriculum(
    path: Path,
    conditions: Mapping[str, bool],
    names: Mapping[str, str],
    shares: Mapping[str, float] | None = None,
) -> Curriculum:
    """Read a curriculum file.

    `conditions` says which of CONDITIONS hold for the source language; a modifier whose `when` does not hold
    is left out. `names` are the values of the placeholders: {src} and {trg}, which case follows as well,
    {source-vocab}, …. `shares` of the lines are in place of the file's for the modifiers that it has. Raises
    InputError for anything that OpusTrainer would not understand.
    """
    if other := set(shares or {}) - set(SHARES):
        raise InputError(
            f"The shares of {', '.join(SHARES)} may be given, not of {', '.join(sorted(other))}."
        )
    try:
        template = yaml.safe_load(path.read_text(encoding="utf-8"))
        curriculum = Curriculum(
            stages={stage: [_named(line, names) for line in template[stage]] for stage in template["stages"]},
            modifiers=[
                _shared(_filled(modifier, names), shares or {})
                for modifier in template["modifiers"]
                if _applies(modifier, conditions, path)
            ],
            batch_size=int(template["batch-size"]),
            src=names["src"],
            trg=names["trg"],
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a curriculum: {type(error).__name__} {error}") from error
    _check(curriculum, path)
    return curriculum


def _applies(modifier: Modifier, conditions: Mapping[str, bool], path: Path) -> bool:
    condition = modifier.get("when")
    if condition is None:
        return True
    if condition not in CONDITIONS:
        raise InputError(f"{path}: `when` is one of {', '.join(CONDITIONS)}, not {condition!r}")
    return conditions[condition]


def _filled(modifier: Modifier, names: Mapping[str, str]) -> Modifier:
    filled = {key: value for key, value in modifier.items() if key != "when"}
    return {key: _named(value, names) if isinstance(value, str) else value for key, value in filled.items()}


def _named(text: str, names: Mapping[str, str]) -> str:
    """A text with the values of its placeholders."""
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _shared(modifier: Modifier, shares: Mapping[str, float]) -> Modifier:
    return {key: shares.get(key, value) for key, value in modifier.items()}


def _check(curriculum: Curriculum, path: Path) -> None:
    if curriculum.tags and curriculum.modifiers[-1] is not curriculum.tags:
        raise InputError(f"{path}: Tags must be the last modifier; it puts the text together again")
    anywhere = {dataset: Path(dataset) for dataset in curriculum.datasets}
    for stage in range(len(curriculum.stages)):
        try:
            load(curriculum.stage_config(stage, anywhere, aligned=False, seed=1))
        except ValueError as error:
            raise InputError(f"{path}: {error}") from error
