"""A training config for a language pair: searched, chosen, written, and read again to be sure of it.

Which datasets there are of a pair, which of them go into a config, for which use, and why others do not. The
rules of choosing are those of Mozilla's generator, and: no two sets that share sentences are used for two
purposes, as far as their names tell. Comments in the config have sizes, licences, and what is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version

import yaml
from pydantic import ValidationError
from rich.filesize import decimal

from translations_assets.common.errors import TranslationsError
from translations_assets.config.cleaning import MonoLimits
from translations_assets.config.datasets import check_mono, check_parallel, parse_dataset
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.experiment import Experiment
from translations_assets.config.languages import language
from translations_assets.config.load import describe, parse_config
from translations_assets.config.providers import PROVIDERS
from translations_assets.config.providers.provider import Found, Query, one_line
from translations_assets.config.providers.provider import Search as Source

SOURCES: Mapping[str, Source] = {
    name: find for provider in PROVIDERS for name, find in provider.searches.items()
}
# huggingface_any finds what the two others find, and much else: it is asked only by name.
USUAL = tuple(name for name in SOURCES if name != "huggingface_any")

FEWEST = 200  # sentences; less adds steps, and nothing to a model
CATEGORIES = ("devtest", "test", "train", "mono-src", "mono-trg")
WIDE_VARIANTS = ("mix", "noise", "inline-noise", "punct")
CASE_VARIANTS = ("title", "upper")
SPELLING_VARIANTS = ("typos",)
# huggingface_mono finds nothing that could stand in a config as it is.
IMPORTERS = tuple(name for name in USUAL if name != "huggingface_mono")
WIDEST_KEY = 60  # of those that comments are lined up behind
JOINT_VOCABULARY = 64_000  # pieces, where one of the scripts has thousands of characters
HPLT_SCORE = 8.0  # of target text that HPLT has plenty of
# Mozilla's students that serve as backwards models, by the pair of the config; back-translation is then good
# from the start, and one stage of training enough for the teacher.
BACKWARDS = {
    ("en", "ru"): "https://storage.googleapis.com/releng-translations-dev/models/ru-en/better-teacher/student"
}
# A teacher (transformer-big, beam 8, 16 bits) that translates 2,500 source words a second on an L4 takes four
# and a half hours for them, at 20 words a line. That rate was not measured: public figures differ by a factor
# of two (benchmarks/scale/rates.py has a source for each rate). Aligning takes half an hour, scoring less.
PART_LINES = 2_000_000
MOST_PARTS = 1000  # as the schema has it
WELL_COVERED = frozenset({"en", "es", "de", "cs", "nl", "it", "fr", "pt", "ja", "zh"})


@dataclass(frozen=True)
class Search:
    """Results of a search, in the order of the sources, and the problems that it met."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]


def search(query: Query, importers: Sequence[str] = USUAL) -> Search:
    """Ask the sources with these names, all at once; one that is down does not stop the others."""
    importers = [name for name in SOURCES if name in importers]
    with ThreadPoolExecutor(len(importers)) as pool:
        answers = [*pool.map(lambda name: list(SOURCES[name](query)), importers)]
    told = [each for answer in answers for each in answer]
    return Search(
        tuple(each for each in told if isinstance(each, Found)),
        tuple(each for each in told if isinstance(each, Problem)),
    )


@dataclass(frozen=True)
class Chosen:
    """A dataset key as it goes into a config, and the dataset behind it."""

    key: str
    found: Found


@dataclass(frozen=True)
class Choice:
    """The keys of each category, and the datasets that are left out, `skipped` saying why."""

    chosen: dict[str, list[Chosen]]
    skipped: list[Found]


def choose(found: Iterable[Found], query: Query) -> Choice:
    """Choose among datasets; the order of those that are chosen is kept."""
    judged = list(judge(found))
    choice = Choice({category: [] for category in CATEGORIES}, [each for each in judged if each.skipped])
    for each in judged:
        if not each.skipped:
            choice.chosen[each.use] += [Chosen(key, each) for key in _keys(each, query)]
    return choice


def judge(found: Iterable[Found]) -> Iterator[Found]:
    """The datasets, marked with why they are left out; those of OPUS must come before those of mtdata."""
    slugs: set[tuple[str, str]] = set()
    corpora: set[str] = set()  # of OPUS, by their bare names
    for each in found:
        skipped = each.skipped or _unfit(each) or _doubled(each, corpora)
        if each.importer == "opus" and each.use == "train":
            corpora.add(bare_name(each.key.removeprefix("opus_").partition("/")[0]))
        if not skipped:
            slug = (each.use, parse_dataset(each.key).short_name)
            skipped = "another dataset has the same short name" if slug in slugs else ""
            slugs.add(slug)
        yield replace(each, skipped=skipped)


def _unfit(each: Found) -> str:
    if each.sentences is not None and each.sentences < FEWEST:
        return "not enough data"
    try:
        (check_mono if each.use.startswith("mono") else check_parallel)(each.key)
    except ConfigError as error:
        return f"its name cannot be a dataset key: {error}"
    return "" if each.key.isprintable() else "its name cannot be a dataset key"


def _doubled(each: Found, corpora: set[str]) -> str:
    """Note that OPUS has a corpus of mtdata; for a dev or test set, name the corpus it may be part of."""
    if each.importer != "mtdata":
        return ""
    group, corpus = each.key.removeprefix("mtdata_").split("-", 1)
    corpus = corpus.rsplit("-", 3)[0]
    if not {bare_name(corpus), bare_name(group + corpus)} & corpora:
        return ""
    return "OPUS has it" if each.use == "train" else "OPUS has the corpus that it is of"


def bare_name(corpus: str) -> str:
    """The letters of a corpus's name, so that those of OPUS and mtdata compare.

    `NeuLab-TedTalks` and mtdata's group Neulab with `tedtalks_train` are `neulabtedtalks`, `books_wmt17` is
    `books`, and `hallituskausi_2011_2015` is what `Hallituskausi` of another year is.
    """
    corpus = re.sub(r"_(train|training|dev|devtest|test|valid|val|tune|wmt\d\d)$", "", corpus.lower())
    return re.sub(r"[^a-z]", "", corpus)


def _keys(each: Found, query: Query) -> list[str]:
    """The keys under which a set is used: dev sets in the mix that models meet, FLORES in all variants."""
    if each.importer == "pontoon":
        return [_variant(each.key, "short")]
    if each.use == "devtest":
        return [_variant(each.key, "mix")]
    if each.key == "flores_devtest":
        return [each.key, *(_variant(each.key, name) for name in _variants(query))]
    return [each.key]


def _variants(query: Query) -> Sequence[str]:
    """The modifiers that change text in the scripts of the pair."""
    spelt = query.src.phonemic and query.trg.phonemic
    return (
        *WIDE_VARIANTS,
        *(CASE_VARIANTS if spelt and query.src.bicameral else ()),
        *(SPELLING_VARIANTS if spelt else ()),
    )


def _variant(key: str, modifier: str) -> str:
    provider, _, name = key.partition("_")
    return f"{provider}_aug-{modifier}_{name}"


@dataclass(frozen=True)
class Generated:
    """The text of a config, what was chosen for it, and what could not be learnt."""

    text: str
    choice: Choice
    problems: Sequence[Problem]


def pair_of(src: str, trg: str, mirror: str) -> Query:
    """Make the query. Raises ConfigError for codes of no known language, and for one language twice."""
    query = Query(language(src), language(trg), mirror)
    if src == trg:
        raise ConfigError.of(f"{src} is both languages of the pair; give two")
    return query


def check_name(name: str, query: Query) -> None:
    """Raise ConfigError unless an experiment may have the name: before a search that takes a while."""
    try:
        Experiment.model_validate({"name": name, "src": query.src.code, "trg": query.trg.code})
    except ValidationError as error:
        details = error.errors(include_url=False)
        raise ConfigError([Problem(describe(each, Experiment), key="--name") for each in details]) from error


def generate(name: str, query: Query) -> Generated:
    """A config from a search; raises TranslationsError when it finds no training data."""
    check_name(name, query)
    return compose(name, query, search(query, IMPORTERS))


def compose(name: str, query: Query, searched: Search) -> Generated:
    """The config that a search leads to."""
    held_out = (each for provider in PROVIDERS for each in provider.held_out(query))
    choice = choose([*held_out, *searched.found], query)
    if not choice.chosen["train"]:
        problems = "".join(f"\n  {each}" for each in searched.problems)
        raise TranslationsError(
            f"no training data was found for {query.src.name} and {query.trg.name}"
            + (f". Try again when these can be reached:{problems}" if problems else "")
        )
    text = write(name, query, choice, searched.problems)
    parse_config(text, f"the config made for {query.src.code}-{query.trg.code}")
    return Generated(text, choice, searched.problems)


def write(name: str, query: Query, choice: Choice, problems: Sequence[Problem]) -> str:
    """The YAML text of the config; the same choice gives the same text."""
    blocks = [
        [*_head(name, query, problems), *_experiment(name, query, choice)],
        ["datasets:", *_datasets("devtest", choice)],
        *(_datasets(category, choice) for category in CATEGORIES[1:]),
        ["target-stage: all # evaluate-teacher, the default, makes no student"],
        [*taskcluster_section(_lines(category, choice) for category in ("train", "mono-src", "mono-trg"))],
        *_continuation(query),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _head(name: str, query: Query, problems: Sequence[Problem]) -> Iterator[str]:
    src, trg = query.src, query.trg
    yield f"# {src.name} to {trg.name}, made by translations-assets {version('translations-assets')}:"
    yield f"#   translations config generate {src.code} {trg.code} --name {name}"
    yield "#"
    yield "# What is not set here is as in production: see docs/config.md."
    yield "# Figures with ~ are estimates from sizes of files."
    yield f"# Catalogues: mtdata {version('mtdata')}, sacreBLEU {version('sacrebleu')}."
    if problems:
        yield "#"
        yield "# Not all could be learnt, so datasets or their licences may be missing:"
        yield from (f"#   {one_line(str(problem))}" for problem in problems)


def _experiment(name: str, query: Query, choice: Choice) -> Iterator[str]:
    src, trg = query.src, query.trg
    yield "experiment:"
    yield f"  name: {scalar(name)}"
    yield f"  src: {scalar(src.code)}"
    yield f"  trg: {scalar(trg.code)}"
    yield "  dev-max-sentences: 8000 # as in production: validation takes time"
    yield "  teacher-decoder: ctranslate2 # twice as fast as Marian; marian for several teachers"
    yield "  student-model: base-memory # or tiny, or base: see docs/config.md"
    if not src.phonemic:
        yield f"  spm-vocab-split: true # the script of {src.name} has many characters"
    elif not trg.phonemic:
        yield f"  spm-vocab-size: {JOINT_VOCABULARY} # the script of {trg.name} has many characters"
    if "en" not in (src.code, trg.code):
        yield "  bicleaner:"
        yield "    default-threshold: 0 # few models are of pairs without English; 0.5 if there is one"
    has_hplt = any(each.found.importer == "hplt-mono" for each in choice.chosen["mono-trg"])
    if has_hplt and trg.code in WELL_COVERED:
        yield "  hplt-min-doc-score:"
        yield f"    mono-trg: {HPLT_SCORE} # there is plenty of text in {trg.name}"
    if (src.code, trg.code) in BACKWARDS:
        yield "  teacher-mode: one-stage # the backwards model is good from the start"


def _continuation(query: Query) -> Iterator[list[str]]:
    """The backwards model that need not be trained, if there is one."""
    url = BACKWARDS.get((query.src.code, query.trg.code))
    if url:
        yield [
            *("continuation:", "  models:", "    backwards: # a student of an earlier run"),
            *(f"      url: {url}", "      mode: use"),
        ]


def _datasets(category: str, choice: Choice) -> list[str]:
    chosen = choice.chosen[category]
    left_out = _left_out([each for each in choice.skipped if each.use == category])
    comments = left_out if category in ("devtest", "test") else [_totals(category, chosen), *left_out]
    lines = "\n\n".join(comments).splitlines()
    return [*(f"  # {line}".rstrip() for line in lines), *_list(category, chosen)]


def _totals(category: str, chosen: Sequence[Chosen]) -> str:
    """The sums of the sizes, those that are known and those that are estimated."""
    told = [each.found for each in chosen if each.found.sentences is not None and not each.found.estimated]
    estimated = [each.found for each in chosen if each.found.sentences is not None and each.found.estimated]
    unknown = len(chosen) - len(told) - len(estimated)
    parts = [_sum(told, "")] if told else []
    parts += [_sum(estimated, "~")] if estimated else []
    parts += [f"{_number(unknown, 'dataset')} of unknown size"] if unknown else []
    text = "; ".join(parts) or "nothing was found"
    if category.startswith("mono"):
        limits = MonoLimits()
        text += f"\nOf each at most {limits.per_dataset:,} are used, and {limits.total:,} in all."
    return text


def _sum(datasets: Sequence[Found], about: str) -> str:
    sentences = sum(each.sentences or 0 for each in datasets)
    return f"{about}{_number(sentences, 'sentence')} in {_number(len(datasets), 'dataset')}"


def _lines(category: str, choice: Choice) -> int:
    """The most lines of a category that are used, as far as sizes are known."""
    sizes = [each.found.sentences or 0 for each in choice.chosen[category]]
    if category == "train":
        return sum(sizes)
    limits = MonoLimits()
    return min(limits.total, sum(min(limits.per_dataset, size) for size in sizes))


def _left_out(skipped: Sequence[Found]) -> list[str]:
    """Describe what is left out, in a text of several lines for each reason."""
    texts = []
    for reason in dict.fromkeys(each.skipped for each in skipped):
        datasets = (each for each in skipped if each.skipped == reason)
        lines = (f"  {one_line(each.key)}  {_size_and_licence(each)}" for each in datasets)
        texts.append("\n".join([f"Left out: {one_line(reason)}", *lines]))
    return texts


def _list(category: str, chosen: Sequence[Chosen]) -> Iterator[str]:
    if not chosen:
        yield f"  {category}: []"
        return
    yield f"  {category}:"
    width = min(WIDEST_KEY, max(len(each.key) for each in chosen))
    told: set[Found] = set()
    for each in chosen:
        comment = "" if each.found in told else _size_and_licence(each.found)  # once for all its variants
        told.add(each.found)
        key = scalar(each.key)
        yield f"    - {key:<{width}} # {comment}" if comment else f"    - {key}"


def _size_and_licence(found: Found) -> str:
    return ", ".join(filter(None, (size_text(found), found.licence)))


def size_text(found: Found) -> str:
    """Describe the size of a dataset: `35,000 sentences`, `~35,000 sentences (4.0 MB)`, or in other words."""
    size = f"({decimal(found.bytes)})" if found.bytes and (found.estimated or found.extent) else ""
    if found.sentences is None:
        return " ".join(filter(None, (found.extent, size)))
    about = "~" if found.estimated else ""
    return " ".join(filter(None, (f"{about}{_number(found.sentences, 'sentence')}", size)))


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def scalar(text: str) -> str:
    """Text as a YAML value: quoted where YAML would read it as something else (`no`, `1.0`)."""
    return text if yaml.safe_load(f"- {text}") == [text] else json.dumps(text)


def parts_of(lines: Iterable[int]) -> int:
    """The number of parts that texts of so many lines are split into, by the longest; 1 without any.

    A config's `taskcluster.split-chunks` has it and always counts: the graph follows from the config alone.
    """
    return min(MOST_PARTS, max(1, -(-max(lines, default=0) // PART_LINES)))


def taskcluster_section(lines: Iterable[int]) -> Iterator[str]:
    """The section of a config, for texts of so many lines."""
    yield "taskcluster:"
    most = f"{PART_LINES:,} lines at most, some hours of a GPU each"
    yield f"  split-chunks: {parts_of(lines)} # parts of {most}"
