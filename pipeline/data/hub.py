"""Datasets of the Hugging Face hub (https://huggingface.co/datasets), without a library of its own.

A dataset is named `repository[:subset]:split:field…[@revision]`. The hub's API says which commit a revision
is, which files that commit has, and what its card declares: the licence, and which files belong to which
split of which subset. A name without a subset means the card's default one, or its only one. Where the card
says nothing, names of folders and files tell the split, as they do for the hub itself. Datasets that a
program makes, the hub keeps converted to Parquet on a branch of its own, in their newest revision.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.web import NotFound, Source

HOST = "https://huggingface.co"
MAIN = "main"
CONVERTED = "refs/convert/parquet"
DEFAULT = "default"
DATA_FILE = re.compile(r"\.(parquet|(jsonl|json|ndjson|csv|tsv|txt)(\.gz|\.zst)?)$")
# Hidden files and folders, and what the hub's own library passes over
NO_ROWS = re.compile(
    r"(?:^|/)(?:\.|__|(?:README\.md|config\.json|dataset_infos?\.json|dataset_dict\.json|dummy_data\.zip)$)"
)
WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
GLOB = re.compile(r"\*\*/?|\[(?P<others>!?)(?P<letters>\]?[^]]*)\]|.", re.DOTALL)
SPLIT_WORDS = {  # words in names of files and folders that stand for a split
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}


@dataclass(frozen=True)
class Name:
    """What a dataset's name asks for."""

    repository: str
    subset: str
    split: str
    fields: tuple[str, ...]
    revision: str


@dataclass(frozen=True)
class Commit:
    """One commit of a dataset: its files, and what its card declares."""

    repository: str
    sha: str
    files: tuple[str, ...]
    card: Mapping[str, Any]

    @property
    def licence(self) -> str:
        """The licences as the card has them, joined by commas."""
        declared = self.card.get("license") or ""
        return declared if isinstance(declared, str) else ", ".join(map(str, declared))

    def fetch(self, file: str, target: Path) -> Source:
        """Copy a file of the commit to `target`."""
        return fetch(f"{HOST}/datasets/{self.repository}/resolve/{self.sha}/{quote(file)}", target)


def parse_name(name: str, fields: int) -> Name:
    """Take a name with so many fields apart. Raises InputError when it has another form."""
    rest, _, revision = name.partition("@")
    repository, *parts = rest.split(":")
    if len(parts) == fields + 1:
        parts = [DEFAULT, *parts]
    if len(parts) != fields + 2 or not all((repository, *parts)) or not re.fullmatch(r"[\w./-]*", revision):
        form = "field" if fields == 1 else "source-field:target-field"
        raise InputError(
            f"{name!r} is no dataset of the hub. Give repository[:subset]:split:{form}[@revision]."
        )
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", repository) or ".." in repository:
        raise InputError(f"{repository!r} is no repository of the hub, such as Helsinki-NLP/europarl.")
    return Name(repository, parts[0], parts[1], tuple(parts[2:]), revision or MAIN)


def find_files(name: Name, scratch: Path) -> tuple[Commit, list[str]]:
    """The commit, and its files that hold the split.

    Raises InputError when the hub has no such split, and for a name without a subset where there are several.
    """
    commit = _commit(name.repository, name.revision, scratch)
    name = replace(name, subset=_subset(commit, name))
    files = _declared(commit, name) or _by_name(commit.files, name)
    if files:
        return commit, files
    try:
        converted = _commit(name.repository, CONVERTED, scratch)
    except NotFound:
        converted = None
    folders = (f"{name.subset}/{name.split}/", f"{name.subset}/partial-{name.split}/")
    files = [file for file in converted.files if file.startswith(folders)] if converted else []
    if converted is None or not files:
        known = ", ".join(_data(commit.files)) or "none at all"
        raise InputError(
            f"No file of {name.repository} is known to hold the split {name.split!r} of {name.subset!r}. Its "
            f"data files: {known[:500]}. Correct subset and split."
        )
    if name.revision != MAIN and commit.sha != _commit(name.repository, MAIN, scratch).sha:
        raise InputError(
            f"No file of {name.repository} is known to hold the split at {name.revision}, and the hub "
            f"converts the newest revision alone. Leave out @{name.revision}."
        )
    return Commit(name.repository, converted.sha, converted.files, commit.card), files


def _commit(repository: str, revision: str, scratch: Path) -> Commit:
    url = f"{HOST}/api/datasets/{repository}/revision/{quote(revision, safe='')}"
    answer = scratch / "commit.json"
    fetch(url, answer)
    try:
        told = json.loads(answer.read_bytes())
        files = tuple(str(sibling["rfilename"]) for sibling in told["siblings"])
        sha, card = str(told["sha"]), told.get("cardData") or {}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"The answer of {url} cannot be understood ({error!r}).") from error
    if not re.fullmatch(r"[0-9a-f]{40}", sha) or not isinstance(card, dict):
        raise InputError(f"The answer of {url} cannot be understood: no commit, or no card.")
    return Commit(repository, sha, files, card)


def _subset(commit: Commit, name: Name) -> str:
    """The subset that a name means. Raises InputError for a name without one where there are several."""
    subsets = {config_name: config.get("default") is True for config_name, config in _configs(commit)}
    if name.subset != DEFAULT or DEFAULT in subsets or not subsets:
        return name.subset
    chosen = [subset for subset, is_default in subsets.items() if is_default] or [*subsets]
    if len(chosen) == 1:
        return chosen[0]
    example = ":".join((name.repository, chosen[0], name.split, *name.fields))
    raise InputError(
        f"{name.repository} has the subsets {', '.join(subsets)[:500]}, and no one of them is the default. "
        f"Name the one that you mean before the split: {example}."
    )


def _configs(commit: Commit) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The subsets that the card declares: their names, and what it says of each."""
    configs = commit.card.get("configs")
    for config in configs if isinstance(configs, list) else ():
        if isinstance(config, dict):
            yield str(config.get("config_name", DEFAULT)), config


def _declared(commit: Commit, name: Name) -> list[str]:
    """The files that the card's `configs` give to the split."""
    for config_name, config in _configs(commit):
        if config_name == name.subset:
            folder = str(config.get("data_dir", "")).strip("./")
            inside = [file for file in commit.files if file.startswith(f"{folder}/" if folder else "")]
            if "data_files" not in config:
                return _by_split(inside, name.split)
            patterns = [
                str(PurePosixPath(folder) / pattern)
                for split, pattern in _data_files(config["data_files"])
                if split == name.split
            ]
            matching = [file for file in inside if any(_matches(file, pattern) for pattern in patterns)]
            return _data(matching) or matching
    return []


def _data_files(declared: Any) -> Iterator[tuple[str, str]]:
    """(split, pattern) of a config: a pattern or a list of them (all train), or of objects with a split."""
    for entry in declared if isinstance(declared, list) else [declared]:
        split, paths = (
            (entry.get("split"), entry.get("path")) if isinstance(entry, dict) else ("train", entry)
        )
        for path in paths if isinstance(paths, list) else [paths]:
            yield str(split), str(path)


def _matches(file: str, pattern: str) -> bool:
    """True if a path matches a pattern with `*`, `?`, `[0-9]`, and `**` for any number of folders.

    Files that hold no rows must be named as such. Raises InputError for a pattern that is none.
    """
    if len(NO_ROWS.findall(file)) > len(NO_ROWS.findall(pattern)):
        return False
    try:
        return re.fullmatch(GLOB.sub(_as_expression, pattern), file) is not None
    except re.error as error:
        raise InputError(f"The card's pattern {pattern!r} cannot be understood ({error}).") from error


def _as_expression(part: re.Match[str]) -> str:
    """A part of a pattern as a regular expression."""
    if part["letters"]:
        letters = re.sub(r"[\\\[\]^&~|]", r"\\\g<0>", part["letters"])
        return f"[{'^/' if part['others'] else ''}{letters}]"
    return WILD.get(part[0], re.escape(part[0]))


def _by_name(files: Sequence[str], name: Name) -> list[str]:
    if name.subset == DEFAULT:
        return _by_split(files, name.split)
    inside = [file for file in files if name.subset in re.split(r"[/]|\.(?=[a-z])", file)]
    return _by_split(inside, name.split)


def _by_split(files: Sequence[str], split: str) -> list[str]:
    """The data files whose names have a word for the split; all of them, for train, when none has any."""
    data = _data(files)
    chosen = [file for file in data if _words(file) & set(SPLIT_WORDS.get(split, (split,)))]
    named = {word for words in SPLIT_WORDS.values() for word in words}
    return data if split == "train" and not any(_words(file) & named for file in data) else chosen


def _data(files: Sequence[str]) -> list[str]:
    """The files of known formats that hold rows."""
    return [file for file in files if DATA_FILE.search(file) and not NO_ROWS.search(file)]


def _words(file: str) -> set[str]:
    return set(re.split(r"[/._ -]|(?<=[a-z])(?=\d)", file.lower()))
