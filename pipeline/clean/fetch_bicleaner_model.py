"""Fetch the model of Bicleaner-AI for a pair of languages from the Hugging Face hub.

    python -m pipeline.clean.fetch_bicleaner_model --src en --trg hbs --output model

    model/config.json, metadata.yaml, sentencepiece.bpe.model, special_tokens_map.json, tf_model.h5,
    model/tokenizer.json, tokenizer_config.json    the model, as bicleaner-ai-classify reads it
    model/model.json                               which one: repository, revision, licence, files

The first of these that the hub has: the full model of the pair, that of the pair the other way round, and for
pairs with English the large model of English and 49 other languages. Languages are named by Bicleaner-AI's
codes: hbs for Serbian, Bosnian, Croatian and Montenegrin.
"""

import argparse
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from pipeline.common.downloads import fetch, is_mirrored
from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import NeedsLogin, NotFound

HOST = "https://huggingface.co"
# What is needed without Bicleaner's hard rules, whose files take 400 MB more.
FILES = (
    *("config.json", "metadata.yaml", "sentencepiece.bpe.model", "special_tokens_map.json"),
    *("tf_model.h5", "tokenizer.json", "tokenizer_config.json"),
)

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fetch Bicleaner-AI's model for a pair of languages.")
    parser.add_argument("--src", required=True, help="source language, by Bicleaner-AI's code, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. hbs")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def repositories(src: str, trg: str) -> list[str]:
    """The repositories that may hold a model for the pair, best first."""
    names = [f"full-{src}-{trg}", f"full-{trg}-{src}"]
    if "en" in (src, trg):
        names.append("full-large-en-xx")
    return [f"bitextor/bicleaner-ai-{name}" for name in names]


def main(argv: Sequence[str] | None = None) -> None:
    """Fetch a model; see the module's text."""
    args = parse_arguments(argv)
    with staged(args.output) as (folder, scratch):
        repository, commit = _find(args.src, args.trg, scratch)
        revision = str(commit["sha"])
        sources = {
            name: fetch(f"{HOST}/{repository}/resolve/{revision}/{name}", folder / name) for name in FILES
        }
        _check(folder / "metadata.yaml")
        model = {
            "repository": repository,
            "revision": revision,
            "licence": _licence(commit),
            "files": {name: asdict(source) for name, source in sources.items()},
        }
        write_json(folder / "model.json", model)
    logger.info("%s, revision %s, licence %s", repository, revision, model["licence"] or "not declared")


def _find(src: str, trg: str, scratch: Path) -> tuple[str, dict[str, Any]]:
    """The first repository that there is, and what the hub says of its newest commit.

    One that the mirror has comes before those that it lacks, so that a machine without a network needs no
    other. Of a repository that does not exist the hub says that a login is needed (401), not that it is gone.
    Raises what `fetch` raises for any other reason.
    """
    addresses = {f"{HOST}/api/models/{name}/revision/main": name for name in repositories(src, trg)}
    answer = scratch / "commit.json"
    for url in sorted(addresses, key=lambda url: not is_mirrored(url)):
        try:
            fetch(url, answer)
        except (NotFound, NeedsLogin) as error:
            logger.info("%s: %s", addresses[url], error)
        else:
            return addresses[url], _commit(answer, url)
    raise InputError(
        f"Bicleaner-AI has no model for {src} and {trg}; looked for {', '.join(addresses.values())}. "
        "Write `bicleaner: {default-threshold: 0}` (and no dataset-thresholds above 0) into the training "
        "config: the corpus is then cleaned by filters alone."
    )


def _commit(answer: Path, url: str) -> dict[str, Any]:
    try:
        told = json.loads(answer.read_bytes())
        if re.fullmatch(r"[0-9a-f]{40}", told["sha"]):
            return dict(told)
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"The answer of {url} cannot be understood: it names no commit.")


def _licence(commit: dict[str, Any]) -> str:
    """The licences as the card has them, joined by commas; empty when it says nothing."""
    card = commit.get("cardData")
    declared = card.get("license") if isinstance(card, dict) else None
    return ", ".join(map(str, declared)) if isinstance(declared, list) else str(declared or "")


def _check(metadata: Path) -> None:
    try:
        told = yaml.safe_load(metadata.read_bytes())
        known = isinstance(told, dict) and {"source_lang", "target_lang", "classifier_settings"} <= set(told)
    except yaml.YAMLError:
        known = False
    if not known:
        raise InputError("The model's metadata.yaml does not say its languages: is it one of Bicleaner-AI?")


if __name__ == "__main__":
    run(main)
