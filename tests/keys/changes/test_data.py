"""Changes of files that steps read, of libraries, of the training config, of Python: who is concerned runs.

Which steps are concerned is found without keys: by the files that steps name, by what the installed
distributions say that they require, by comparing the steps of two graphs.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.keys.changes.states import LOCK, ROOT, SCRIPTS, Repository, graph_steps
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config
from translations_assets.graph.step import Output, RepoFile, Step, placed
from translations_assets.keys.code.libraries import DISTRIBUTIONS, normal_name
from translations_assets.running.job import command

DEMO = ROOT / "configs" / "en-eo.demo.yml"


def files(step: Step) -> set[str]:
    """The files of the repository that a step names."""
    handles = (handle for given in step.inputs.values() for _, handle in placed(given))
    return {handle.path for handle in handles if isinstance(handle, RepoFile)}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values that hold no others."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from leaves(one, (*path, number))
    else:
        yield path


def with_another(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy with another value in one place."""
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    old = holder[path[-1]]
    holder[path[-1]] = old + 8 if isinstance(old, (int, float)) else f"{old}x"  # sizes are multiples of 8
    return changed


def named_files(repository: Repository, *suffixes: str) -> dict[str, str]:
    """The files with certain endings that steps name, and their texts."""
    names = sorted({name for step in repository.steps for name in files(step)})
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names if name.endswith(suffixes)}


@pytest.mark.slow
def test_values_of_files(repository: Repository) -> None:
    """The first, a middle and the last value of every structured file that a step names."""
    texts = named_files(repository, ".yml", ".json")
    assert {name.rpartition(".")[2] for name in texts} == {"yml", "json"}
    for name, text in texts.items():
        value = yaml.safe_load(text)
        paths = list(leaves(value))
        expected = repository.expected(lambda step, name=name: name in files(step))  # type: ignore[misc]
        for path in {paths[0], paths[len(paths) // 2], paths[-1]}:
            changed = with_another(value, path)
            is_json = name.endswith(".json")
            new = json.dumps(changed) if is_json else yaml.safe_dump(changed, sort_keys=False)
            assert repository.plan({name: new}) == expected, (name, path)


def test_lines_of_files(repository: Repository) -> None:
    """One line more in every other file that a step names."""
    structured = named_files(repository, ".yml", ".json")
    texts = {name: text for name, text in named_files(repository, "").items() if name not in structured}
    assert texts
    for name, text in texts.items():
        expected = repository.expected(lambda step, name=name: name in files(step))  # type: ignore[misc]
        assert repository.plan({name: f"{text}one more\n"}) == expected, name


def test_formatting_of_files(repository: Repository) -> None:
    """Other comments, quotes and order of keys in all structured ones."""
    changed = {
        name: "# new\n" + yaml.safe_dump(yaml.safe_load(text), default_style='"', indent=6)
        for name, text in named_files(repository, ".yml").items()
    }
    for name, text in named_files(repository, ".json").items():
        changed[name] = json.dumps(json.loads(text), indent=6, sort_keys=True)
    assert set(repository.plan(changed).values()) == {"cached"}


GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
EXTRAS = {
    normal_name(requirement.name): requirement.extras
    for group in GROUPS.values()
    for requirement in map(Requirement, filter(lambda one: isinstance(one, str), group))
    if requirement.extras
}


# The lock says where a distribution is there, not where one requires another: some is counted without need.
PLATFORMS: tuple[dict[str, str], ...] = (
    {},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
    {"sys_platform": "darwin", "platform_system": "Darwin"},
    {"python_version": "3.10", "python_full_version": "3.10.0"},
)


@cache
def needs(distribution: str) -> frozenset[str]:
    """A distribution and all that it requires, as the installed ones say themselves."""
    found: set[str] = set()
    waiting = [distribution]
    while waiting:
        name = waiting.pop()
        if name not in found and _is_installed(name):
            found.add(name)
            waiting += _direct(name)
    return frozenset(found)


def _is_installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:  # one that only other platforms have
        return False


def _direct(name: str) -> Iterator[str]:
    for requirement in map(Requirement, requires(name) or ()):
        extras = ("", *EXTRAS.get(name, ()))
        places = [{**platform, "extra": extra} for extra in extras for platform in PLATFORMS]
        if not requirement.marker or any(map(requirement.marker.evaluate, places)):
            yield normal_name(requirement.name)


def distributions(repository: Repository, script: str) -> set[str]:
    """The distributions that a script's bundle imports or runs, with all that they require."""
    texts = repository.bundles[script].values()
    modules = {
        match for text in texts for match in re.findall(r"^\s*(?:import|from) +(\w+)", text, re.MULTILINE)
    }
    modules |= {"pymarian"} if any("def marian_command(" in text for text in texts) else set()
    direct = {normal_name(DISTRIBUTIONS.get(module, module)) for module in modules}
    return set().union(*(needs(name) for name in direct if name in _pins()))


@cache
def _pins() -> frozenset[str]:
    lock = (ROOT / LOCK).read_text(encoding="utf-8")
    return frozenset(
        normal_name(name) for name in re.findall(r"^([\w.-]+)(?:\[.*?\])?==", lock, re.MULTILINE)
    )


@pytest.mark.slow
def test_versions_of_libraries(repository: Repository) -> None:
    """Another version of each distribution of the lock; of those that no script uses all at once."""
    used = {script: distributions(repository, script) for script in SCRIPTS}
    names = set().union(*used.values())
    lock = (ROOT / LOCK).read_text(encoding="utf-8")
    tried = 0
    for some in [_pins() - names, *({name} for name in sorted(_pins() & names))]:
        pins = "|".join(map(re.escape, some))
        text = re.sub(rf"^((?:{pins})(?:\[.*?\])?==[^\s;\\]+)", r"\1.post9", lock, flags=re.MULTILINE)
        if text == lock:
            continue
        expected = repository.expected(lambda step, some=some: bool(some & used[step.script]))  # type: ignore[misc]
        assert repository.plan({LOCK: text}) == expected, some
        tried += 1
    assert tried > 10


def test_what_else_stands_in_the_lock(repository: Repository) -> None:
    """Hashes, comments and what is pinned for other platforms."""
    lock = (ROOT / LOCK).read_text(encoding="utf-8")
    changed = re.sub(r"sha256:\w{8}", "sha256:00000000", lock) + "\n# the end\n"
    changed = re.sub(r"==(\S+) ; sys_platform == 'win32'", r"==\1.post9 ; sys_platform == 'win32'", changed)
    assert set(repository.plan({LOCK: changed}).values()) == {"cached"}


def test_another_python(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    python = SimpleNamespace(version_info=SimpleNamespace(major=3, minor=99))
    monkeypatch.setattr("translations_assets.keys.key.sys", python)
    assert repository.plan({}) == repository.expected(lambda step: True)


def facts(step: Step) -> tuple[object, ...]:
    """Everything about a step, apart from the contents of its inputs."""
    given = {
        (name, path): (handle.step.label, handle.name) if isinstance(handle, Output) else handle.path
        for name, handles in step.inputs.items()
        for path, handle in placed(handles)
    }
    return step.script, sorted(command(step)), sorted(given.items()), step.outputs


def test_values_of_a_training_config(repository: Repository) -> None:
    """Each number of the demo's config: as many steps run as have become others."""
    config = yaml.safe_load(DEMO.read_text(encoding="utf-8"))
    before = {step.label: facts(step) for step in repository.steps}
    paths = [path for path in leaves(config) if _is_number(config, path)]
    assert len(paths) > 40
    refused = 0
    for path in paths:
        text = yaml.safe_dump(with_another(config, path), sort_keys=False)
        try:
            steps = graph_steps(parse_config(text, DEMO.name), DEMO.stem)
        except ConfigError:  # a threshold of more than 1
            refused += 1
            continue
        expected = repository.expected(lambda step: facts(step) != before.get(step.label), steps)
        assert repository.plan({}, steps) == expected, path
    assert refused < 5


def _is_number(value: Any, path: tuple[Any, ...]) -> bool:
    for key in path:
        value = value[key]
    return isinstance(value, (int, float)) and not isinstance(value, bool)
