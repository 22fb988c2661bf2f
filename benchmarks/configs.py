"""Training configs of a folder that load, and the reasons for the others: upstream's, of any year.

    git clone https://github.com/mozilla/translations /tmp/translations
    python -m benchmarks.configs /tmp/translations/configs /tmp/translations/tests/fixtures
    python -m benchmarks.configs --versions /tmp/translations configs  # of all files all versions on a branch

Of each file that is refused the first reason counts, with names and numbers left out, so that files which are
refused for the same reason stand in one row. Notes are counted by the key that they are on.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.load import config_notes, parse_config

EXAMPLES = 3
SAME = re.compile(r"'[^']*'|\b[\w.-]*\d[\w./-]*|\bline \d+")


class Text(NamedTuple):
    """A config, and where it is from."""

    name: str
    text: str


class Tally:
    """Counts of configs by outcome."""

    def __init__(self) -> None:
        self.loaded = 0
        self.refused: dict[str, list[str]] = {}
        self.notes: Counter[str] = Counter()

    def add(self, config: Text) -> None:
        """Load a config, and count."""
        try:
            keys = {_key(note) for note in config_notes(config.text, config.name)}
            parse_config(config.text, config.name)
        except ConfigError as error:
            problem = error.problems[0]
            reason = f"{_key(problem)}: {SAME.sub('…', problem.message)}"
            self.refused.setdefault(reason, []).append(f"{config.name}: {problem.message}")
            return
        self.loaded += 1
        self.notes.update(keys)

    def rows(self) -> Iterator[str]:
        """The figures, then the reasons, the most frequent first."""
        lost = sum(map(len, self.refused.values()))
        share = self.loaded / max(1, self.loaded + lost)
        yield f"{self.loaded} of {self.loaded + lost} load ({share:.1%})"
        for reason, names in sorted(self.refused.items(), key=lambda item: -len(item[1])):
            yield f"{len(names):6}  {reason}"
            yield from (f"          {name}" for name in names[:EXAMPLES])
        yield "notes by key:"
        yield from (f"{count:6}  {key or '(the file)'}" for key, count in self.notes.most_common())


def _key(problem: Problem) -> str:
    return re.sub(r"\[\d+\]", "", problem.key or "")


def main(argv: Sequence[str] | None = None) -> None:
    """Load and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders", nargs="+", type=Path, help="folders; with --versions paths in the repository"
    )
    parser.add_argument("--versions", type=Path, metavar="REPOSITORY", help="a git clone: load all versions")
    parser.add_argument("--branch", default="HEAD", help="the branch whose versions are loaded")
    args = parser.parse_args(argv)
    tally = Tally()
    found = versions(args.versions, args.branch, args.folders) if args.versions else files(args.folders)
    for config in found:
        tally.add(config)
    print("\n".join(tally.rows()))


def files(folders: Iterable[Path]) -> Iterator[Text]:
    """The YAML files below some folders that are configs, or Taskcluster's parameters with one."""
    for folder in folders:
        for path in sorted(folder.rglob("*.y*ml")):
            text = path.read_text(encoding="utf-8")
            if is_config(text):
                yield Text(str(path.relative_to(folder)), text)


def versions(repository: Path, branch: str, paths: Iterable[Path]) -> Iterator[Text]:
    """Every version of the configs below some paths that a branch's history has, each text once."""
    command = ["log", "--format=%h", "--raw", "--abbrev=40", "--diff-filter=d", "--no-renames", branch, "--"]
    seen: set[str] = set()
    for line in _git(repository, *command, *map(str, paths)).splitlines():
        change = re.fullmatch(r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) \w\t(.+\.ya?ml)", line)
        if change and change[1] not in seen:
            seen.add(change[1])
            text = _git(repository, "cat-file", "blob", change[1])
            if is_config(text):
                yield Text(f"{change[2]}@{change[1][:10]}", text)


def is_config(text: str) -> bool:
    """True if a text looks like a training config: other YAML lies beside them."""
    return all(re.search(rf"^ *{key}:", text, re.MULTILINE) for key in ("experiment", "datasets"))


def _git(repository: Path, *args: str) -> str:
    command = ["git", "-C", str(repository), *args]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", errors="replace").stdout


if __name__ == "__main__":
    main()
