"""Text as models read it in training: with what OpusTrainer's modifiers make of it."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pipeline.train.curriculum import Curriculum, load

Modifier: TypeAlias = Callable[[list[str]], Iterable[str]]
Texts: TypeAlias = tuple[str, ...]

CASE = ("UpperCase", "TitleCase")  # modifiers


def modifiers_of(curriculum: Curriculum, names: Sequence[str] | None = None) -> list[Modifier]:
    """The modifiers of a curriculum for text that is not tokenised; those with the given names, or all."""
    chosen = [
        modifier
        for modifier in curriculum.modifiers
        if modifier is not curriculum.tags and (names is None or next(iter(modifier)) in names)
    ]
    files = {dataset: Path(dataset) for dataset in curriculum.datasets}
    config = replace(curriculum, modifiers=chosen).stage_config(0, files, aligned=False, seed=1)
    return list(load(config).modifiers)


def as_read(lines: Iterable[Texts], modifiers: Sequence[Modifier], seed: int) -> Iterator[Texts]:
    """Pairs as modifiers leave them, and the noise that they add; one with an empty side stays as it is."""
    random.seed(seed)  # modifiers draw from Python's global generator
    for line in lines:
        yield from _modified(line, modifiers)


def as_read_alone(
    lines: Iterable[Texts], modifiers: Mapping[str, Sequence[Modifier]], seed: int
) -> Iterator[Texts]:
    """Single lines, each followed by its language, as the language's modifiers leave them; see `as_read`."""
    random.seed(seed)
    for line, language in lines:
        yield from _modified((line,), modifiers[language])


def _modified(line: Texts, modifiers: Sequence[Modifier]) -> Iterator[Texts]:
    joined = ["\t".join(side.replace("\t", " ") for side in line)]
    if all(map(str.strip, line)):
        for modifier in modifiers:
            joined = [*modifier(joined)]
    yield from (tuple(text.split("\t")) for text in joined)
