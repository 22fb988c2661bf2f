"""Pairs of production: how much text they have, and the training config that names it."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000
WORDS = 19  # of a line on the average, as of benchmarks.scale.text; web corpora have 15 to 25

# The share of lines that each kind of step lets through: public web corpora, as an order of magnitude.
KEPT = {
    "pipeline.clean.clean_parallel": 0.85,
    "pipeline.clean.filter_parallel": 0.85,
    "pipeline.clean.merge_parallel": 0.8,
    "pipeline.clean.clean_mono": 0.9,
    "pipeline.clean.filter_mono": 0.9,
    "pipeline.clean.merge_mono": 0.9,
    "pipeline.clean.merge_translated": 0.98,
    "pipeline.cefilter.filter": 0.95,
}
TEST_SETS = (
    *("flores_devtest", "flores_aug-mix_devtest", "flores_aug-title_devtest", "flores_aug-upper_devtest"),
    *("flores_aug-typos_devtest", "flores_aug-noise_devtest", "flores_aug-inline-noise_devtest"),
    *("ntrex_test", "sacrebleu_wmt19", "sacrebleu_wmt20"),
)
DEV_SETS = ("flores_dev", "flores_aug-mix_dev", "sacrebleu_wmt18")
TEST_LINES = 1_000
CONFIG = """\
experiment:
  name: production
  src: en
  trg: ru
  language-identification: heliport
  monocleaner: {{mono-src: {{default-threshold: 0.5}}, mono-trg: {{default-threshold: 0.5}}}}
  mono-max-sentences-src: {{total: {mono}, per-dataset: {mono}}}
  mono-max-sentences-trg: {{total: {mono}, per-dataset: {mono}}}
datasets:
  train:
{train}
  devtest: [{dev}]
  test: [{test}]
  mono-src:
{mono_src}
  mono-trg:
{mono_trg}
target-stage: all
taskcluster: {{split-chunks: {chunks}}}
"""


@dataclass(frozen=True)
class Pair:
    """Lines of a pair when they are clean and merged: parallel, and monolingual in each language.

    datasets  parallel ones, the largest with a third of the lines
    """

    name: str
    parallel: int
    mono: int
    datasets: int
    mono_datasets: int = 4

    def train(self) -> list[int]:
        """Lines of the parallel datasets as they are downloaded."""
        kept = KEPT["pipeline.clean.clean_parallel"] * KEPT["pipeline.clean.filter_parallel"]
        return _divided(self.parallel / (kept * KEPT["pipeline.clean.merge_parallel"]), self.datasets)

    def monolingual(self) -> list[int]:
        """Lines of a side's monolingual datasets as they are downloaded."""
        kept = KEPT["pipeline.clean.clean_mono"] * KEPT["pipeline.clean.filter_mono"]
        return _divided(self.mono / (kept * KEPT["pipeline.clean.merge_mono"]), self.mono_datasets)

    def config(self, chunks: int) -> str:
        """The training config; the names of its datasets say how many lines they have (`lines_named`)."""

        def listed(kind: str, sizes: list[int]) -> str:
            named = (f"{kind}-{n}.{lines}" for n, lines in enumerate(sizes, start=1))
            return "\n".join(f"    - url_https://data.example.org/{name}.[LANG].zst" for name in named)

        return CONFIG.format(
            mono=self.mono,
            train=listed("train", self.train()),
            mono_src=listed("mono-src", self.monolingual()),
            mono_trg=listed("mono-trg", self.monolingual()),
            dev=", ".join(DEV_SETS),
            test=", ".join(TEST_SETS),
            chunks=chunks,
        )


PAIRS = {
    "1": Pair("1 + 2 million", MILLION, 2 * MILLION, 8),
    "10": Pair("10 + 20 million", 10 * MILLION, 20 * MILLION, 20),
    "160": Pair("60 + 100 million", 60 * MILLION, 100 * MILLION, 40),
    "300": Pair("300 + 200 million", 300 * MILLION, 200 * MILLION, 60),
}


def lines_named(dataset: str) -> int:
    """The lines of a dataset by its name; test sets have a thousand.

    >>> lines_named("https://data.example.org/train-1.24000.[LANG].zst")
    24000
    """
    number = dataset.split(".")[-3] if dataset.endswith(".[LANG].zst") else ""
    return int(number) if number.isdecimal() else TEST_LINES


def _divided(lines: float, parts: int) -> list[int]:
    """A number of lines, divided among datasets as unevenly as the public ones are."""
    weights = [1 / rank**1.2 for rank in range(1, parts + 1)]
    return [round(lines * weight / sum(weights)) for weight in weights]
