"""Command lines of `translations` that ask for the same as a run, to type or to start."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from translations_assets.records.run import RunOptions


def command(verb: str, partition: str, *words: str) -> str:
    """A command about a partition, as a shell reads it.

    command("train", "en-lt", "--target", "export") == "translations train en-lt --target export"
    """
    return shlex.join(["translations", verb, partition, *words])


def override_words(options: RunOptions) -> list[str]:
    """The words that ask a command about the partition as it is in a run, `--set=…` for each override."""
    return [*RunOptions(overrides=options.overrides).words()]


class TrainRequest(NamedTuple):
    """A request to train: the last stage, the options, and the Dagster server that is to do it."""

    target: str | None
    options: RunOptions
    server: str | None = None

    def words(self, *more: str) -> list[str]:
        """The words of `translations train` that ask for the same, and for more."""
        target = ["--target", self.target] if self.target else []
        options = [word for word in self.options.words() if word not in more]
        server = [] if self.server is None else ["--server", self.server]
        return [*target, *options, *more, *server]
