"""Old spellings that are more than another name: a rule for each, Snakemake's of 2021 and 2022 first.

Those of Taskcluster, 2023 to 2025, follow, and what configs of all years carry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from translations_assets.config.datasets import CATEGORIES, THRESHOLDS, listed, pair_of, parse_dataset
from translations_assets.config.edits import Edit, Put, dropped, is_free, renamed
from translations_assets.config.errors import ConfigError, suggestion
from translations_assets.config.old_spellings.generations import is_of_upstream, is_old
from translations_assets.config.old_spellings.history import HISTORY
from translations_assets.config.providers import PARALLEL
from translations_assets.config.yaml_reader import KeyPath, at, has, mapping_at

TEACHER_BASE = "training-teacher-base"
MODELS_OF_2021: Mapping[str, str] = HISTORY["models-of-2021"]

NOT_YET = "NOT-YET-SUPPORTED"  # what the first configs for Taskcluster say in place of a path

BACKWARD_EPOCHS = 10  # as in pipeline/train/configs/curriculum/backward.yml
EPOCHS = "the curriculum says how many epochs there are, and early stopping ends training"
BASE_EPOCHS = 2  # of back-translations, as in pipeline/train/configs/curriculum/teacher.two-stage.yml

MODELS: Mapping[str, str] = HISTORY["pretrained"]
FROM_TEMPLATES = frozenset(HISTORY["thresholds-from-templates"])


def training_of_2021(values: dict[str, Any]) -> Iterator[Edit]:
    """`training.s2s.after-epochs: 10` → `marian-args.training-backward.after: 10e`."""
    section = values.get("training")
    if not isinstance(section, Mapping) or not set(section) <= set(MODELS_OF_2021):
        return
    puts, lost = [], []
    for model, options in section.items():
        for option, value in options.items() if isinstance(options, Mapping) else ():
            unit = {"after-epochs": "e", "after-batches": "u"}.get(option)
            name, new = ("after", f"{value}{unit}") if unit else (option, value)
            path = ("marian-args", MODELS_OF_2021[model], name)
            if name == "after" and _counts_other_epochs(MODELS_OF_2021[model], new):
                lost.append(f"{model}.{option}: {value}")
            else:
                puts.append(Put(path, new, ("training", model, option)))
    if all(is_free(values, put.path) for put in puts):
        said = f" without {', '.join(lost)}: {EPOCHS}" if lost else ""
        yield Edit(("training",), f"a section of 2021; read as marian-args{said}", tuple(puts))


def perplexity(values: dict[str, Any]) -> Iterator[Edit]:
    """The metric of the best model in 2021, the exponential of the cross-entropy: the same model is best."""
    path = ("experiment", "best-model")
    if at(values, path) == "perplexity":
        said = "perplexity of 2021; read as ce-mean-words, of which it is the exponential"
        yield Edit(path, said, (Put(path, "ce-mean-words", path),))


def bicleaner_threshold(values: dict[str, Any]) -> Iterator[Edit]:
    """One threshold for all datasets, before each could have its own."""
    old, new = ("experiment", "bicleaner-threshold"), ("experiment", "bicleaner", "default-threshold")
    if has(values, old) and has(values, new):
        yield Edit(old, "a key of 2021; removed, as bicleaner.default-threshold is there")
    yield from renamed(values, old, new, "a key of 2021")


def earlier_models(values: dict[str, Any]) -> Iterator[Edit]:
    """`backward-model` and `vocab`: a path, or an empty text for none."""
    for key, taken in (("backward-model", ("models", "backwards")), ("vocab", ("vocab",))):
        old, new = ("experiment", key), ("continuation", *taken)
        given = at(values, old)
        if has(values, old) and given in ("", None, NOT_YET):
            yield Edit(old, "a key of 2022; removed, as it names nothing")
        elif isinstance(given, str) and is_free(values, new):
            said = f"a key of 2022; read as continuation.{'.'.join(taken)}"
            if key == "vocab":
                puts = tuple(Put((*new, side), given, old) for side in ("src", "trg"))
            else:
                puts = (
                    Put((*new, "url"), given, old),
                    Put((*new, "mode"), "use", old),
                    Put((*new, "type"), "default", old),
                )
            yield Edit(old, said, puts)


def other_epochs(values: dict[str, Any]) -> Iterator[Edit]:
    """Epochs of an old config that are not those of a curriculum: early stopping ends training then."""
    sections = at(values, ("marian-args",)) if is_old(values) else None
    for section, options in sections.items() if isinstance(sections, Mapping) else ():
        after = options.get("after") if isinstance(options, Mapping) else None
        if _counts_other_epochs(section, after):
            yield Edit(("marian-args", section, "after"), f"{after}: removed: {EPOCHS}")


def _counts_other_epochs(section: str, after: object) -> bool:
    told = section == TEACHER_BASE or (section, after) == ("training-backward", f"{BACKWARD_EPOCHS}e")
    return not told and re.fullmatch(r"[1-9]\d*e", str(after)) is not None


def epochs_of_the_backwards_model(values: dict[str, Any]) -> Iterator[Edit]:
    """Epochs are counted by the curriculum now, as Marian sees an endless stream."""
    path = ("marian-args", "training-backward", "after")
    if at(values, path) == f"{BACKWARD_EPOCHS}e":
        yield Edit(
            path, f"removed: the backwards model's curriculum ends after {BACKWARD_EPOCHS} epochs, too"
        )


def teacher_in_two_runs(values: dict[str, Any]) -> Iterator[Edit]:
    """Until 2023 a teacher was trained twice: on all text, then on the parallel corpus alone.

    Now one run does both (teacher-mode: two-stage); it ends as the second run did.
    """
    base, tuned, new = (("marian-args", f"training-teacher{name}") for name in ("-base", "-finetuned", ""))
    if has(values, new) or not isinstance(at(values, ("marian-args",)), Mapping):
        return
    after = (*base, "after")
    if at(values, after) == f"{BASE_EPOCHS}e":
        yield Edit(after, f"removed: two-stage teachers see back-translations for {BASE_EPOCHS} epochs, too")
    elif has(values, after):
        said = "removed, as the first stage's length is that of teacher-mode: two-stage"
        yield Edit(after, f"{at(values, after)}: {said}")
    yield from _joined(values, base, tuned, new)


def _joined(values: Any, base: Any, tuned: Any, new: Any) -> Iterator[Edit]:
    first, second = at(values, base), at(values, tuned)
    if isinstance(first, Mapping) and not isinstance(second, Mapping):
        put = Put(new, {name: value for name, value in first.items() if name != "after"}, base)
        yield Edit(base, "a key of 2022; read as training-teacher", (put,))
    elif isinstance(second, Mapping):
        yield Edit(tuned, "a key of 2022; read as training-teacher", (Put(new, dict(second), tuned),))
        if isinstance(first, Mapping):
            kept = [name for name in first if name not in second and name != "after"]
            puts = tuple(Put((*new, name), first[name], (*base, name)) for name in kept)
            other = [
                f"{name}: {first[name]}" for name in first if second.get(name, first[name]) != first[name]
            ]
            lost = f" without {', '.join(other)}, which training-teacher-finetuned overrides" if other else ""
            yield Edit(base, f"a key of 2022; read as training-teacher{lost}", puts)


def parameters(values: dict[str, Any]) -> Iterator[Edit]:
    """A file of Taskcluster's parameters, which holds the config as `training_config`."""
    path = ("training_config",)
    config = at(values, path)
    if not isinstance(config, Mapping) or "experiment" in values:
        return
    puts = tuple(Put((key,), value, (*path, key)) for key, value in config.items())
    if all(is_free(values, put.path) for put in puts):
        yield Edit(path, "a file of Taskcluster's parameters; read as the config in it", puts)
        for key in values:
            if (key,) != path:
                yield Edit((key,), "a parameter of Taskcluster; removed")


def opuscleaner(values: dict[str, Any]) -> Iterator[Edit]:
    """A text, "true" or "false"; without OpusCleaner the scripts of 2024 cleaned."""
    path, mode = ("experiment", "use-opuscleaner"), ("experiment", "opuscleaner-mode")
    given = str(at(values, path)).lower()
    if given == "true":
        yield from dropped(values, path, "a key of 2024; removed: corpora are always cleaned by filters")
    elif given == "false":
        if has(values, mode):
            yield Edit(mode, "removed, as it has no meaning with use-opuscleaner: false")
        put = Put(mode, "legacy", path)
        yield Edit(path, "a key of 2024; read as opuscleaner-mode: legacy", (put,))


def limits(values: dict[str, Any]) -> Iterator[Edit]:
    """One number, that limited each dataset and their sum alike."""
    for side in ("src", "trg"):
        path = ("experiment", f"mono-max-sentences-{side}")
        given = at(values, path)
        if isinstance(given, int) and not isinstance(given, bool):
            puts = tuple(Put((*path, key), given, path) for key in ("total", "per-dataset"))
            yield Edit(path, "one number; read as both total and per-dataset", puts)


def pretrained_models(values: dict[str, Any]) -> Iterator[Edit]:
    """Models of an earlier run: `train-teacher` and `train-backwards`, each with a list of URLs."""
    path = ("experiment", "pretrained-models")
    given = at(values, path)
    for empty in (path, path[-1:]):
        if not at(values, empty):
            yield from dropped(values, empty, "a key of 2024; removed, as it names nothing")
    if not isinstance(given, Mapping) or not given:
        return
    puts: list[Put] = []
    for name, model in given.items():
        found = _continued(name, model, (*path, name))
        if not found or not all(is_free(values, put.path) for put in found):
            return
        puts += found
    yield Edit(path, "a key of 2024; read as continuation.models", tuple(puts))


def models_of_opus_mt(values: dict[str, Any]) -> Iterator[Edit]:
    """Models of OPUS-MT, which are used as they are, are translators."""
    for role, key in (("teacher", ("urls", 0)), ("backwards", ("url",))):
        path: KeyPath = ("continuation", "models", role)
        model, name = at(values, path), f"opus-mt-{role}"
        if not isinstance(model, Mapping) or (model.get("type"), model.get("mode")) != ("opusmt", "use"):
            continue
        url, several = at(values, (*path, *key)), len(model.get("urls") or ()) > 1
        new, use = ("translators", name, "opus-mt", "url"), ("experiment", role)
        if isinstance(url, str) and not several and is_free(values, new) and is_free(values, use):
            puts = (Put(new, url, (*path, *key)), Put(use, name, path))
            yield Edit(path, f"a model of OPUS-MT; read as experiment.{role} and translators.{name}", puts)


def _continued(name: str, model: Any, path: KeyPath) -> list[Put]:
    """The entries of `continuation.models` for a pretrained model; none when its form is unknown."""
    if name not in MODELS or not isinstance(model, Mapping) or not isinstance(model.get("urls"), list):
        return []
    new = ("continuation", "models", MODELS[name])
    puts = [Put((*new, key), value, (*path, key)) for key, value in model.items()]
    if MODELS[name] == "backwards":
        if len(model["urls"]) != 1:
            return []
        url = Put((*new, "url"), model["urls"][0], (*path, "urls", 0))
        puts = [url, *(put for put in puts if put.path[-1] != "urls")]
    return puts


def no_thresholds(values: dict[str, Any]) -> Iterator[Edit]:
    """An empty list for no thresholds."""
    for path in THRESHOLDS:
        if at(values, path) == []:
            yield Edit(path, "an empty list; read as {}", (Put(path, {}, path),))


def thresholds_without_dataset(values: dict[str, Any]) -> Iterator[Edit]:
    """Thresholds of datasets that a config does not list: of an old one, or from the templates of configs.

    Upstream has always passed over them.
    """
    old = is_old(values)
    for path, category, given in _thresholds(values):
        datasets = [dataset for _, dataset in listed(values, category)]
        names, slugs = {each.short_name for each in datasets}, {each.slug for each in datasets}
        for name in given:
            slug = _slug(name)
            if old and names.isdisjoint({name, slug}):
                said = f"removed: datasets.{category} lists no such dataset.{suggestion(str(name), names)}"
                yield Edit((*path, name), said.rstrip("."))
            elif slug in FROM_TEMPLATES - slugs:
                said = f"removed: it came with a template, and datasets.{category} lists no such dataset"
                yield Edit((*path, name), said)


def sets_of_other_pairs(values: dict[str, Any]) -> Iterator[Edit]:
    """Sets of other languages, whose steps fail at upstream: sacreBLEU's, and in an old config mtdata's, too.

    In a config for this project they are an error, as is a config that would be left without a set.
    """
    src, trg = pair_of(values)
    if not src or not trg or not is_of_upstream(values):
        return
    providers = ("sacrebleu", "mtdata") if is_old(values) else ("sacrebleu",)
    for category in ("devtest", "test"):
        datasets = list(listed(values, category))
        concerned = [(path, each) for path, each in datasets if each.provider in providers]
        lacking = [each for each in concerned if PARALLEL[each[1].provider].misfit(each[1].name, src, trg)]
        for path, dataset in reversed(lacking if len(lacking) < len(datasets) else []):
            yield Edit(path, f"{dataset.key!r} is not of {src.name} and {trg.name}; removed")


def ensemble_of_ctranslate2(values: dict[str, Any]) -> Iterator[Edit]:
    """CTranslate2 decodes with one teacher; upstream finds that out when it translates."""
    path = ("experiment", "teacher-decoder")
    ensemble = at(values, ("experiment", "teacher-ensemble"))
    is_one = not isinstance(ensemble, int) or ensemble <= 1
    if at(values, path) == "ctranslate2" and not is_one and is_of_upstream(values):
        said = f"ctranslate2 decodes with one teacher, not with {ensemble}; read as marian"
        yield Edit(path, said, (Put(path, "marian", path),))


def names_of_thresholds(values: dict[str, Any]) -> Iterator[Edit]:
    """Dataset keys with `/`, `.` and `:`, before thresholds were named as datasets are in labels."""
    for path, _, given in _thresholds(values):
        for name in given:
            slug = _slug(name)
            if slug and slug != name and slug not in given:
                yield from renamed(values, (*path, name), (*path, slug), "a dataset key")


def strict_variants(values: dict[str, Any]) -> Iterator[Edit]:
    """In 2023 `aug-title` changed 10 % of the lines and `aug-title-strict` all, as `aug-title` does now."""
    for category in ("devtest", "test"):
        path = ("datasets", category)
        found = at(values, path)
        keys = found if isinstance(found, list) else []
        strict = {_of_today(key): key for key in keys if isinstance(key, str) and _of_today(key) != key}
        for index in reversed(range(len(keys))):  # so that the numbers of the others stay
            key, where = str(keys[index]), (*path, index)
            if key in strict:
                said = f"{key!r} changed 10 % of the lines, which nothing does now"
                yield Edit(where, f"{said}; removed, as {strict[key]!r} is there, which is read as it")
            elif key in strict.values():
                new = _of_today(key)
                yield Edit(where, f"a modifier of 2023; read as {new!r}", (Put(where, new, where),))


def _of_today(key: str) -> str:
    for old, new in HISTORY["strict-modifiers"].items():
        key = key.replace(f"_aug-{old}_", f"_aug-{new}_", 1)
    return key


def doubles(values: dict[str, Any]) -> Iterator[Edit]:
    """Datasets that are in a list twice: lists were read as sets."""
    for category in CATEGORIES:
        keys = at(values, ("datasets", category))
        if not isinstance(keys, list):
            continue
        first = {key: index for index, key in reversed([*enumerate(keys)]) if isinstance(key, str)}
        again = [index for index, key in enumerate(keys) if isinstance(key, str) and index != first[key]]
        for index in reversed(again):  # so that the numbers of the others stay
            said = f"{keys[index]!r} stands in the list twice; this one is removed"
            yield Edit(("datasets", category, index), said)


def _thresholds(values: dict[str, Any]) -> Iterator[tuple[KeyPath, str, Mapping[str, Any]]]:
    """The thresholds of datasets: their path, the category of the datasets, and their values."""
    for path, category in THRESHOLDS.items():
        yield path, category, mapping_at(values, path)


def _slug(key: str) -> str:
    try:
        return parse_dataset(key).slug
    except ConfigError:
        return ""


# The first look for what the others take away.
FIRST_RULES = (
    *(parameters, thresholds_without_dataset, sets_of_other_pairs, ensemble_of_ctranslate2),
    other_epochs,
)
RULES = (
    *(training_of_2021, perplexity, bicleaner_threshold, earlier_models),
    *(epochs_of_the_backwards_model, teacher_in_two_runs),
    *(strict_variants, opuscleaner, limits, pretrained_models, models_of_opus_mt),
    *(no_thresholds, names_of_thresholds, doubles),
)
