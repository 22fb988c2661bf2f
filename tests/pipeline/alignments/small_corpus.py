"""Distinct English-Esperanto sentence pairs, in a fixed order, for tests that train or align."""

from itertools import product
from pathlib import Path
from random import Random

from pipeline.common.lines import write_lines

NOUNS = """
    cat kato  dog hundo  house domo  tree arbo  book libro  bird birdo  girl knabino  king reĝo
    boat boato  fish fiŝo  horse ĉevalo  table tablo  door pordo  window fenestro  garden ĝardeno
    flower floro  river rivero  mountain monto  city urbo  street strato  friend amiko  doctor kuracisto
    teacher instruisto  apple pomo  bread pano  water akvo  letter letero  picture bildo  chair seĝo
    shirt ĉemizo  clock horloĝo  bridge ponto  forest arbaro  island insulo  kitchen kuirejo  lamp lampo
    mirror spegulo  needle kudrilo  orange oranĝo  pencil krajono  queen reĝino  ring ringo  sheep ŝafo
    tower turo  uncle onklo  village vilaĝo  wagon vagono
"""
ADJECTIVES = (
    "big granda  red ruĝa  old malnova  good bona  young juna  beautiful bela  strong forta  clean pura"
)
VERBS = "sees vidas  loves amas  has havas  finds trovas  wants volas  buys aĉetas"


def sentence_pairs(size: int) -> list[tuple[str, str]]:
    """The first `size` pairs of some 100,000 like "the red cat sees a dog", "la ruĝa kato vidas hundon"."""
    nouns, adjectives, verbs = _pairs(NOUNS), _pairs(ADJECTIVES), _pairs(VERBS)
    choices = Random(1).sample([*product(adjectives, nouns, verbs, nouns)], size)
    return [
        (
            f"the {adjective[0]} {noun[0]} {verb[0]} a {thing[0]}",
            f"la {adjective[1]} {noun[1]} {verb[1]} {thing[1]}n",
        )
        for adjective, noun, verb, thing in choices
    ]


def write_corpus(folder: Path, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    """Write pairs as corpus.en.zst and corpus.eo.zst."""
    source, target = folder / "corpus.en.zst", folder / "corpus.eo.zst"
    write_lines(source, [pair[0] for pair in pairs])
    write_lines(target, [pair[1] for pair in pairs])
    return source, target


def _pairs(words: str) -> list[tuple[str, str]]:
    both = words.split()
    return [*zip(both[::2], both[1::2], strict=True)]
