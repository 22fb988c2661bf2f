"""The worth of guided alignment when Marian samples the segmentation, and when it does not.

    python -m benchmarks.guided_alignment
    python -m benchmarks.guided_alignment --langs en fr --vocab-size 4000 \\
        --corpus kde.en.gz gnome.en.gz kde.fr.gz gnome.fr.gz \\
        [--pairs 60000] [--max-words 20] [--updates 2000] [--ways off exact]

OpusTrainer links the pieces of the best segmentation. With sentencepiece-alphas 0.5 Marian reads another one.
A student of the demo's shape is trained by the pipeline's scripts in each way, with the same pairs, seed and
number of updates. For each: chrF on 500 pairs held out, as they are and with slips of the finger, and the
alignment error: the share of their linked target pieces whose strongest source piece, by the model, is none
of those that the aligner links them with. By default the demo's text; of a corpus a sample of the pairs that
are short enough.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from unittest.mock import patch

from opustrainer.alignments import format_alignments, parse_alignments
from opustrainer.modifiers.retokenize import RetokenizeModifier
from sacrebleu import corpus_chrf
from sentencepiece import SentencePieceProcessor

from pipeline.alignments import align, priors
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.marian import SCORING, decode, run_marian
from pipeline.common.marian_options import Options, fit_to_machine
from pipeline.data.demo_corpus import parallel_part
from pipeline.data.modifiers import Languages, modify
from pipeline.train import train, training_pairs, vocab
from pipeline.train.feed import Feed
from pipeline.train.modifying import Modifying
from translations_assets.config.languages import language
from translations_assets.settings import repository_root
from translations_assets.stages.languages import letters

CONFIGS = repository_root() / "pipeline" / "train" / "configs"
HELD_OUT = 500
ALPHA = 0.5
SEED = 1
STUDENT: Options = {
    "dim-emb": 128,
    "transformer-dim-ffn": 512,
    "enc-depth": 2,
    "dec-depth": 2,
    "learn-rate": 0.002,
    "lr-warmup": 100,
    "lr-decay-inv-sqrt": 400,
    "mini-batch": 64,
    "maxi-batch": 100,
    "disp-freq": 100,
    "valid-freq": 1_000_000,  # the last model is judged
    "save-freq": 1_000_000,
}
SAMPLING: Options = {"sentencepiece-alphas": [ALPHA, ALPHA]}
WAYS: Mapping[str, tuple[str, Options]] = {
    "sampled": ("links of the best segmentation, Marian samples another", SAMPLING),
    "off": ("links of the best segmentation, which Marian reads", {"sentencepiece-alphas": [0, 0]}),
    "starts": ("the same links at word starts only, Marian samples", SAMPLING),
    "exact": ("the feed samples, and links what it sampled", {"no-spm-encode": True}),
    "none": ("no guided alignment, Marian samples", {**SAMPLING, "guided-alignment-weight": 0}),
}
REFED = ("starts", "exact")

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Pieces:
    """A vocabulary, and how a text is cut by it."""

    model: Path

    @cached_property
    def vocabulary(self) -> SentencePieceProcessor:
        return SentencePieceProcessor(model_file=str(self.model))

    def best(self, text: str) -> Any:
        """The pieces of the best segmentation, with their places in the text."""
        return self.vocabulary.encode(text, out_type="immutable_proto").pieces

    def sampled(self, text: str) -> Any:
        """The pieces of one that is drawn as Marian draws it."""
        options = {"enable_sampling": True, "nbest_size": -1, "alpha": ALPHA}
        return self.vocabulary.encode(text, out_type="immutable_proto", **options).pieces


def counterparts(pieces: Any, others: Any) -> list[list[int]]:
    """For each piece the numbers of those, in another segmentation of the same text, that it overlaps."""
    owners = {place: number for number, piece in enumerate(others) for place in range(piece.begin, piece.end)}
    return [
        sorted({owners[place] for place in range(piece.begin, piece.end) if place in owners})
        for piece in pieces
    ]


class Changing(Modifying):
    """Modifies a batch, and then changes its lines in one of WAYS."""

    def __init__(self, config: Mapping[str, Any], way: str, vocabularies: tuple[Pieces, Pieces]) -> None:
        super().__init__(config)
        self._change = {"starts": self._starts, "exact": self._exact}[way]
        self._vocabularies = vocabularies

    def batch(self, lines: Iterable[str], seed: str) -> list[str]:
        """A batch's lines, changed."""
        return [self._change(line) for line in super().batch(lines, seed)]

    def _segmented(self, line: str) -> tuple[list[str], list[Any], list[Any]]:
        *texts, links = line.split("\t")
        best = [pieces.best(text) for pieces, text in zip(self._vocabularies, texts, strict=True)]
        return texts, best, parse_alignments(links)

    def _starts(self, line: str) -> str:
        texts, best, links = self._segmented(line)
        starts = [[piece.piece.startswith("▁") for piece in pieces] for pieces in best]
        kept = [link for link in links if starts[0][link.src] and starts[1][link.trg]]
        return "\t".join((*texts, format_alignments(kept or links)))

    def _exact(self, line: str) -> str:
        texts, best, links = self._segmented(line)
        drawn = [pieces.sampled(text) for pieces, text in zip(self._vocabularies, texts, strict=True)]
        source, target = (counterparts(*sides) for sides in zip(best, drawn, strict=True))
        moved = {(src, trg) for link in links for src in source[link.src] for trg in target[link.trg]}
        columns = [" ".join(piece.piece for piece in pieces) for pieces in drawn]
        return "\t".join((*columns, " ".join(f"{src}-{trg}" for src, trg in sorted(moved))))


@dataclass(frozen=True)
class Refeed(Feed):
    """A feed whose lines are changed on their way to Marian, in one of WAYS."""

    way: str = ""
    vocabularies: tuple[Pieces, Pieces] | None = None

    def modifying(self) -> Modifying:
        """The stage's modifiers, and the change."""
        assert self.vocabularies
        return Changing(self.config, self.way, self.vocabularies)


@dataclass(frozen=True)
class Material:
    """Files that every way shares: text for training, and the pairs held out, with links of pieces."""

    args: argparse.Namespace
    folder: Path
    vocabularies: tuple[Pieces, Pieces]
    held_out: list[Pair]
    links: list[list[Any]]

    def file(self, name: str, side: int) -> Path:
        return self.folder / f"{name}.{self.args.langs[side]}.zst"


def main(argv: Sequence[str] | None = None) -> None:
    """Print a line for each way."""
    args = parse_arguments(argv)
    logging.getLogger().setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="guided-") as name:
        material = prepare(args, Path(name))
        print_facts(material)
        for way in args.ways:
            model = trained(material, way)
            clean, typos = chrf(material, model)
            print(
                f"{way:8} chrF {clean:5.2f}, with typos {typos:5.2f}, "
                f"alignment error {alignment_error(material, model):5.1%}: {WAYS[way][0]}",
                flush=True,
            )


def prepare(args: argparse.Namespace, folder: Path) -> Material:
    """Choose the pairs, align them all, and learn the vocabularies of those that are trained on."""
    pairs = chosen(args)
    parts = {"corpus": pairs, "held-out": pairs[:HELD_OUT], "train": pairs[HELD_OUT:]}
    for name, part in parts.items():
        for lang, lines in zip(args.langs, zip(*part, strict=True), strict=True):
            write_lines(folder / f"{name}.{lang}.zst", lines)
    tokens = aligned(args, folder)
    for file, name in zip(tokens, (*args.langs, "links"), strict=True):
        write_lines(folder / f"tokens.{name}.zst", list(read_lines(file))[HELD_OUT:])
    learned(args, folder)
    models = [folder / "vocab" / f"vocab.{lang}.spm" for lang in args.langs]
    paired(args, folder, models)
    to_pieces = RetokenizeModifier(
        **{
            side: {"detokenize": f"icu:{lang}", "tokenize": f"spm:{model}"}
            for side, lang, model in zip(("src", "trg"), args.langs, models, strict=True)
        }
    )
    rows = zip(*(list(read_lines(file))[:HELD_OUT] for file in tokens), strict=True)
    retokenized = [line.split("\t") for line in to_pieces(["\t".join(row) for row in rows])]
    vocabularies = (Pieces(models[0]), Pieces(models[1]))
    held_out = [(source, target) for source, target, _ in retokenized]
    links = [parse_alignments(row[2]) for row in retokenized]
    return Material(args, folder, vocabularies, held_out, links)


def chosen(args: argparse.Namespace) -> list[Pair]:
    """Distinct pairs in a random order, the ones held out first."""
    pairs: Iterable[Pair] = parallel_part("train")[0]
    if args.corpus:
        half = len(args.corpus) // 2
        sources, targets = (
            chain(*map(read_lines, side)) for side in (args.corpus[:half], args.corpus[half:])
        )
        pairs = zip(sources, targets, strict=True)
    short = [
        pair for pair in dict.fromkeys(pairs) if all(0 < len(side.split()) <= args.max_words for side in pair)
    ]
    Random(SEED).shuffle(short)
    return short[: args.pairs + HELD_OUT]


def _sides(args: argparse.Namespace, folder: Path, name: str) -> list[str]:
    sides = zip(("src", "trg"), args.langs, strict=True)
    return [
        option
        for side, lang in sides
        for option in (f"--{side}={lang}", f"--corpus-{side}={folder / f'{name}.{lang}.zst'}")
    ]


def aligned(args: argparse.Namespace, folder: Path) -> list[Path]:
    """The corpus as tokens, source and target, and its links."""
    sides = _sides(args, folder, "corpus")
    priors.main([*sides, "--sample-size", "1000000", "--output", str(folder / "priors")])
    output = folder / "alignments"
    align.main([*sides, "--priors", str(folder / "priors" / "corpus.priors"), "--output", str(output)])
    tokens = [output / f"corpus.tok-icu.{lang}.zst" for lang in args.langs]
    return [*tokens, output / "corpus.aln.zst"]


def learned(args: argparse.Namespace, folder: Path) -> None:
    """Learn the vocabulary from the pairs that are trained on."""
    alphabets = [
        f"--{side}-letters={letters(language(lang))}"
        for side, lang in zip(("src", "trg"), args.langs, strict=True)
    ]
    sizes = ["--vocab-size", str(args.vocab_size), "--sample-size", "1000000"]
    options = [*alphabets, *sizes, "--norm-rule", "nmt_nfkc", "--seed", str(SEED)]
    output = ["--output", str(folder / "vocab")]
    vocab.main([*_sides(args, folder, "train"), *reading(args, "teacher.one-stage"), *options, *output])


def paired(args: argparse.Namespace, folder: Path, models: Sequence[Path]) -> None:
    """Make the pairs that the students read."""
    options = {
        "corpus-src": folder / f"tokens.{args.langs[0]}.zst",
        "corpus-trg": folder / f"tokens.{args.langs[1]}.zst",
        "alignments": folder / "tokens.links.zst",
        "source-vocab": models[0],
        "target-vocab": models[1],
        "max-length": 200,
        "output": folder / "pairs",
    }
    training_pairs.main(["--link-pieces", *(f"--{name}={value}" for name, value in options.items())])


def reading(args: argparse.Namespace, name: str) -> list[str]:
    """Options of the scripts that say what a model reads."""
    spoken = language(args.langs[0])
    flags = {"--bicameral": spoken.bicameral, "--phonemic": spoken.phonemic}
    curriculum = CONFIGS / "curriculum" / f"{name}.yml"
    return [f"--curriculum={curriculum}", *(flag for flag, holds in flags.items() if holds)]


def print_facts(material: Material) -> None:
    """Print how often a sampled segmentation differs from the best one, and what indices point at then."""
    other = wrong = indices = 0
    source, _ = material.vocabularies
    for (text, _), links in zip(material.held_out, material.links, strict=True):
        best, drawn = source.best(text), source.sampled(text)
        other += [piece.piece for piece in best] != [piece.piece for piece in drawn]
        matches = counterparts(best, drawn)
        linked = {link.src for link in links}
        indices += len(linked)
        wrong += sum(number not in matches[number] for number in linked)
    lines = len(material.held_out)
    print(
        f"{lines} pairs held out; sampled with alpha {ALPHA}, {other / lines:.0%} of the source lines "
        f"are cut otherwise, and {wrong / indices:.0%} of the linked indices point at other text",
        flush=True,
    )


def trained(material: Material, way: str) -> Path:
    """Train a student in one of WAYS; returns the model's folder."""
    args, output = material.args, material.folder / f"student-{way}"
    marian_args = {**STUDENT, **WAYS[way][1], "after": f"{args.updates}u"}
    options: dict[str, object] = {
        "src": args.langs[0],
        "trg": args.langs[1],
        "source-vocab": material.vocabularies[0].model,
        "target-vocab": material.vocabularies[1].model,
        "original": material.folder / "pairs",
        "dev-src": material.file("held-out", 0),
        "dev-trg": material.file("held-out", 1),
        "model-config": CONFIGS / "model" / "student.tiny.yml",
        "training-config": CONFIGS / "training" / "student.train.yml",
        "marian-args": json.dumps(marian_args),
        "seed": SEED,
        "best-model": "chrf",
        "output": output,
    }
    command = [f"--{name}={value}" for name, value in options.items()]
    changed = partial(Refeed, way=way, vocabularies=material.vocabularies)
    with patch.object(train, "Feed", changed if way in REFED else Feed):
        train.main([*reading(args, "student"), *command])
    return output


def chrf(material: Material, model: Path) -> tuple[float, float]:
    """Of the pairs held out: as they are, and with slips of the finger."""
    source, reference = zip(*material.held_out, strict=True)
    languages = Languages(*material.args.langs)
    slips = [modify(pair, "typos", number, languages)[0][0] for number, pair in enumerate(material.held_out)]
    found = []
    for text in (source, slips):
        write_lines(material.folder / "text", text)
        decode([model], material.folder / "text", material.folder / "translated")
        found.append(corpus_chrf(list(read_lines(material.folder / "translated")), [reference]).score)
    return found[0], found[1]


def alignment_error(material: Material, model: Path) -> float:
    """The share of linked target pieces whose strongest source piece is none of the linked ones."""
    wrong = linked = 0
    for strongest, links in zip(strongest_pieces(material, model), material.links, strict=True):
        reference: dict[int, set[int]] = {}
        for link in links:
            reference.setdefault(link.trg, set()).add(link.src)
        linked += len(reference)
        wrong += sum(strongest[piece] not in sources for piece, sources in reference.items())
    return wrong / linked


def strongest_pieces(material: Material, model: Path) -> Iterator[dict[int, int]]:
    """For each pair held out: the source piece that the model attends to most, for each target piece."""
    files = [material.folder / "score.source", material.folder / "score.target"]
    for file, lines in zip(files, zip(*material.held_out, strict=True), strict=True):
        write_lines(file, lines)
    output = material.folder / "scores"
    options = fit_to_machine(
        {
            **SCORING,
            "model": str(model / "model.npz"),
            "vocabs": [str(pieces.model) for pieces in material.vocabularies],
            "train-sets": [str(file) for file in files],
            "alignment": "hard",
            "output": str(output),
        }
    )
    run_marian("score", options, material.folder)
    for line in read_lines(output):
        yield {link.trg: link.src for link in parse_alignments(line.rpartition("|||")[2])}


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--corpus", nargs="+", type=Path, default=[], help="files of the source, then of the target"
    )
    parser.add_argument("--langs", nargs=2, default=["en", "eo"], help="source and target language")
    parser.add_argument("--pairs", type=int, default=60_000, help="pairs to train on, at most")
    parser.add_argument("--max-words", type=int, default=20, help="words of a side, at most")
    parser.add_argument("--vocab-size", type=int, default=1000, help="number of pieces")
    parser.add_argument("--updates", type=int, default=1100, help="of each training")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="ways to train")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
