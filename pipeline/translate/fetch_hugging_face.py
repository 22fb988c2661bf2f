"""Fetch a sequence-to-sequence model of the Hugging Face hub.

    python -m pipeline.translate.fetch_hugging_face --model Helsinki-NLP/opus-mt-en-ru \\
        --revision 2df6e8f --output fetched

Writes model.tar, with the files that `pipeline.translate.convert_hugging_face` needs, and stats.json: the
commit, the licence as the card states it, and each file's address, SHA-256 and size. Weights are those in
safetensors where the model has them, else PyTorch's. HF_TOKEN is sent, for models that ask for a login. A
file that has not the digest that the hub lists is refused.
"""

import argparse
import hashlib
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
from pipeline.common.web import Source
from pipeline.translate.hub_weights import INDEX, parts_of, weight_files

HOST = "https://huggingface.co"
REFUSED = re.compile("the server answered 40[134] ")  # for what is private, gated or not there
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
        listed = {str(sibling["rfilename"]): sibling for sibling in commit["siblings"]}
        files = scratch / "files"
        files.mkdir()
        base = f"{HOST}/{args.model}/resolve/{commit['sha']}"
        if missing := [name for name in args.files if name not in listed]:
            raise InputError(f"{args.model} has no {', '.join(missing)}. Check its name and its revision.")
        wanted = args.files or [name for name in FILES if name in listed] + weight_files(set(listed))
        sources = [fetch_listed(args.model, base, listed[name], files) for name in wanted]
        if wanted[-1].endswith(INDEX):
            more = parts_of(files / wanted[-1])
            if missing := [name for name in more if name not in listed]:
                raise InputError(f"{wanted[-1]} names {', '.join(missing)}, which {args.model} lacks.")
            sources += [fetch_listed(args.model, base, listed[name], files) for name in more]
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
    add("--files", nargs="*", default=[], help="these files alone, not those of a whole model")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def ask(model: str, revision: str, scratch: Path) -> dict[str, Any]:
    """What the hub says of a revision: its commit `sha`, its files `siblings`, its card `cardData`.

    Of each file it has the name, `rfilename`, and the digest. Raises InputError when that is something else.
    """
    url = f"{HOST}/api/models/{model}/revision/{quote(revision, safe='')}?blobs=true"
    _fetch(model, url, scratch / "commit.json")
    try:
        told = dict(json.loads((scratch / "commit.json").read_bytes()))
        if re.fullmatch(r"[0-9a-f]{40}", told["sha"]) and all("rfilename" in one for one in told["siblings"]):
            return told
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"The answer of {url} cannot be understood: it names no commit, or no files.")


def fetch_listed(model: str, base: str, listed: dict[str, Any], folder: Path) -> Source:
    """Fetch a file of a commit. Raises InputError for another file than the hub lists.

    The hub lists the SHA-256 of a large file, and of a small one the name that git gives to its contents: the
    SHA-1 of `blob`, a space, their length in bytes, a zero byte and the contents.
    """
    name = str(listed["rfilename"])
    url, target = f"{base}/{quote(name)}", folder / Path(name).name
    large, blob = (listed.get("lfs") or {}).get("sha256"), listed.get("blobId")
    source = _fetch(model, url, target, large or "")
    if blob and not large:
        contents = target.read_bytes()
        found = hashlib.sha1(b"blob %d\0" % len(contents) + contents, usedforsecurity=False).hexdigest()
        if found != blob:
            raise InputError(
                f"{url} is not the file that was published: git calls it {found}, and should call it {blob}. "
                "Try again; if it stays so, look whether a mirror (TRANSLATIONS_MIRROR) has another file."
            )
    return source


def _fetch(model: str, url: str, target: Path, sha256: str = "") -> Source:
    try:
        return fetch(url, target, sha256)
    except InputError as error:
        if not REFUSED.search(str(error)):
            raise
        raise InputError(
            f"{error} The hub answers so when there is no such model, revision or file, and when a model is "
            f"private or gated: then accept its licence at {HOST}/{model}, and set HF_TOKEN to a token of "
            "the account that did."
        ) from error


def _licence(commit: dict[str, Any]) -> str:
    """The licences as the card has them, joined by commas; empty when it says nothing.

    The hub has no name for some: then that which the card gives.
    """
    card = commit.get("cardData")
    declared = card.get("license") if isinstance(card, dict) else None
    if declared == "other" and isinstance(card, dict):
        declared = card.get("license_name") or declared
    return ", ".join(map(str, declared)) if isinstance(declared, list) else str(declared or "")


if __name__ == "__main__":
    run(main)
