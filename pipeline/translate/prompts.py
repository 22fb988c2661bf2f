"""Prompts for several sentences at once, and what the answers say of each.

Sentences, or what else is asked about, are the values of a JSON object, whose keys number them. An answer
must have the same keys, each once: then it is certain which value is whose, whatever order they come in.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.translate.chat import Message

# Of models that reason before they answer. Some have `<think>` in the prompt: without it the answer's end of
# the thoughts counts before an object alone, as a sentence may have it, too.
_THOUGHTS = re.compile(r'^\s*<think>.*?</think>|^(?!\s*(?:```\w*\s*)?\{).*?</think>(?=[^"]*\{)', re.DOTALL)


@dataclass(frozen=True)
class Prompt:
    """A prompt for a pair of languages; examples are sentences with their translations."""

    system: str
    user: str
    examples: Sequence[tuple[str, str]] = ()

    def messages(self, lines: Sequence[object]) -> list[Message]:
        """The messages that ask about lines, each as JSON has it; the examples are an earlier exchange."""
        messages: list[Message] = [{"role": "system", "content": self.system}] if self.system else []
        if self.examples:
            sources, targets = zip(*self.examples, strict=True)
            messages += [
                {"role": "user", "content": self._asked(sources)},
                {"role": "assistant", "content": _numbered(targets)},
            ]
        return [*messages, {"role": "user", "content": self._asked(lines)}]

    def _asked(self, lines: Sequence[object]) -> str:
        return self.user.replace("{lines}", _numbered(lines))


def read_prompt(path: Path, examples: Path | None, source: str, target: str) -> Prompt:
    """Read a prompt (YAML: `system` and `user`) and its examples (a sentence, a tab, its translation).

    `source` and `target` are the names of the languages. Raises InputError.
    """
    try:
        told = dict(yaml.safe_load(path.read_text(encoding="utf-8")))
        system, user = str(told.get("system") or ""), str(told["user"])
    except (yaml.YAMLError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no prompt ({error}). Give `user`, and `system` if you like.") from error
    if user.count("{lines}") != 1:
        raise InputError(f"{path}: `user` must have {{lines}} once, where the sentences go.")
    names = (("{source}", source), ("{target}", target))
    for place, name in names:
        system, user = system.replace(place, name), user.replace(place, name)
    return Prompt(system, user, _read_examples(examples) if examples else ())


def _read_examples(path: Path) -> list[tuple[str, str]]:
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        sentence, tab, translation = line.partition("\t")
        if not (tab and sentence.strip() and translation.strip()) or "\t" in translation:
            raise InputError(f"{path}, line {number}: write a sentence, a tab and its translation.")
        pairs.append((sentence, translation))
    return pairs


def _numbered(lines: Sequence[object]) -> str:
    return json.dumps(dict(enumerate(lines, start=1)), ensure_ascii=False)


def read_answer(text: str, number: int) -> list[str | None]:
    """The translations of so many sentences; None for one that the answer leaves out, or has as no text.

    Raises as `read_values`.
    """
    return [value if isinstance(value, str) else None for value in read_values(text, number)]


def read_values(text: str, number: int) -> list[Any]:
    """The values of so many lines, as JSON has them; None for one that the answer leaves out.

    Thoughts before the object, and words or a fence around it, are passed over. Raises ValueError for what
    holds no such object, or one with keys that were not asked, or the same twice.
    """
    answer = _THOUGHTS.sub("", text)
    begin = answer.find("{")
    if begin < 0:
        raise ValueError("no JSON object")
    told, _ = json.JSONDecoder(object_pairs_hook=_without_twins).raw_decode(answer, begin)
    keys = [str(key) for key in range(1, number + 1)]
    if unknown := told.keys() - set(keys):
        raise ValueError(f"keys that were not asked: {', '.join(sorted(unknown))}")
    return [told.get(key) for key in keys]


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
