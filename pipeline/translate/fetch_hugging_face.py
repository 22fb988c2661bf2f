"""Fetch a sequence-to-sequence model of the Hugging Face hub.

    python -m pipeline.translate.fetch_hugging_face --model Helsinki-NLP/opus-mt-en-ru \\
        --revision 2df6e8f --output fetched

Writes model.tar, with the files that `pipeline.translate.convert_hugging_face` needs, and stats.json: the
commit, the licence as the card states it, and each file's address, SHA-256 and size. Weights are those in
safetensors where the model has them, else PyTorch's. HF_TOKEN is sent, for models that ask for a login.
"""

import argparse
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.packed import pack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.hub_weights import INDEX, parts_of, weight_files

HOST = "https://huggingface.co"
# Of which a model has some: its options, and what cuts text into tokens
FILES = (
    *("config.json", "tokenizer.json", "vocab.json", "target_vocab.json", "special_tokens_map.json"),
    *("source.spm", "target.spm", "sentencepiece.bpe.model", "spiece.model"),
)

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        commit = ask(args.model, args.revision, scratch)
        names = {str(sibling["rfilename"]) for sibling in commit["siblings"]}
        files = scratch / "files"
        files.mkdir()
        base = f"{HOST}/{args.model}/resolve/{commit['sha']}"
        wanted = [name for name in FILES if name in names] + weight_files(names)
        sources = [fetch(f"{base}/{quote(name)}", files / name) for name in wanted]
        if wanted[-1].endswith(INDEX):
            more = parts_of(files / wanted[-1])
            sources += [fetch(f"{base}/{quote(name)}", files / Path(name).name) for name in more]
        pack(files, output / "model.tar")
        stats = {
            "revision": commit["sha"],
            "licence": _licence(commit),
            "source": [asdict(source) for source in sources],
        }
        log.info("%s at %s, licence %s", args.model, commit["sha"], stats["licence"] or "not declared")
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, help="name on the hub, owner/name")
    add("--revision", required=True, help="commit, or a branch or tag, of which the newest commit is taken")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def ask(model: str, revision: str, scratch: Path) -> dict[str, Any]:
    """What the hub says of a revision: its commit `sha`, its files `siblings`, its card `cardData`.

    Raises InputError when that is something else.
    """
    url = f"{HOST}/api/models/{model}/revision/{quote(revision, safe='')}"
    fetch(url, scratch / "commit.json")
    try:
        told = dict(json.loads((scratch / "commit.json").read_bytes()))
        if re.fullmatch(r"[0-9a-f]{40}", told["sha"]) and all("rfilename" in one for one in told["siblings"]):
            return told
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"The answer of {url} cannot be understood: it names no commit, or no files.")


def _licence(commit: dict[str, Any]) -> str:
    """The licences as the card has them, joined by commas; empty when it says nothing."""
    card = commit.get("cardData")
    declared = card.get("license") if isinstance(card, dict) else None
    return ", ".join(map(str, declared)) if isinstance(declared, list) else str(declared or "")


if __name__ == "__main__":
    run(main)
