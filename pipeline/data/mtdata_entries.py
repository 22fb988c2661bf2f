"""mtdata's catalogue of corpora and the files behind its entries, without a trace in the user's home.

mtdata knows where a corpus stands, which members of an archive belong to it, and how its format is read. The
files come through this project's downloads and archives instead: mirror, resuming, checks of names and UTF-8.
"""

import bz2
import lzma
import os
import shutil
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from pipeline.common.archives import extract, members
from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.limits import bounded
from pipeline.common.lines import write_lines
from pipeline.common.web import Source
from pipeline.data.texts import file_lines

if TYPE_CHECKING:
    from mtdata.entry import Entry

UNSUPPORTED = {
    "opus_xces": "It comes from OPUS: use the provider opus.",
    "hfds": "It lies at the Hugging Face hub: use the provider hfp.",
}
TEXT_FORMATS = ("txt", "raw", "tsv", "csv", "sgm")
OPENERS: dict[str, Callable[[Path], IO[bytes]]] = {".bz2": bz2.open, ".xz": lzma.open}


def find_entry(name: str, folder: Path) -> "Entry":
    """The catalogue's entry for an id such as `Statmt-commoncrawl_wmt13-1-rus-eng`.

    mtdata builds its catalogue when it is imported (about 20 s), and keeps 140 MB of it in the folder.
    """
    folder.mkdir()
    os.environ["MTDATA"] = str(folder)  # read once, when mtdata is imported
    from mtdata.index import INDEX

    entries: dict[str, Entry] = {str(did): entry for did, entry in INDEX.entries.items()}
    if name not in entries:
        group = [other for other in entries if other.split("-")[0] == name.split("-")[0]]
        near = get_close_matches(name, group, n=5, cutoff=0.5)
        raise InputError(f"mtdata has no such dataset. Near it: {', '.join(near) or 'none'}.")
    return entries[name]


def entry_files(entry: "Entry", scratch: Path) -> tuple[list[Path], list[Source]]:
    """The files that hold the entry's text, unpacked and checked, and what was downloaded for them."""
    for kind in (entry.in_ext, entry.ext):
        if kind in UNSUPPORTED:
            raise InputError(f"mtdata has it in a form that is not imported ({kind}). {UNSUPPORTED[kind]}")
    downloads, sources = _fetch_all(entry, scratch)
    files = _chosen_members(downloads[0], entry.in_paths, scratch) if entry.is_archive else downloads
    return [_plain(file, entry) for file in files], sources


def _fetch_all(entry: "Entry", scratch: Path) -> tuple[list[Path], list[Source]]:
    if isinstance(entry.url, str):
        names = {entry.url: entry.filename}
    else:
        names = {url: url.rsplit("/", 1)[-1] for url in entry.url}
    paths = [_numbered(scratch, number, name) for number, name in enumerate(names.values())]
    return paths, [fetch(url, path) for url, path in zip(names, paths, strict=True)]


def _chosen_members(archive: Path, patterns: Sequence[str], scratch: Path) -> list[Path]:
    names = members(archive)
    chosen = {}
    for number, pattern in enumerate(patterns):
        matching = [pattern] if pattern in names else [name for name in names if fnmatch(name, pattern)]
        name = matching[0] if matching else pattern  # when there is none, extract says what is there
        if len(matching) > 1:
            raise InputError(f"{archive.name} holds several files like {pattern}: {', '.join(matching[:5])}.")
        chosen[name] = _numbered(scratch, number, f"member-{Path(name).name}")
    extract(archive, chosen)
    return list(chosen.values())


def _numbered(scratch: Path, number: int, name: str) -> Path:
    folder = scratch / f"file-{number}"
    folder.mkdir(exist_ok=True)
    return folder / name


def _plain(file: Path, entry: "Entry") -> Path:
    """The file without compression; text is checked, for mtdata replaces what is not UTF-8 and goes on."""
    if file.suffix in OPENERS:
        file = _decompressed(file)
    if not any(kind in (entry.in_ext or entry.ext) for kind in TEXT_FORMATS):
        return file
    plain = file.with_name(f"plain-{file.name.removesuffix('.gz').removesuffix('.zst')}")
    write_lines(plain, file_lines(file))
    return plain


def _decompressed(file: Path) -> Path:
    target = file.with_suffix("")
    size = file.stat().st_size
    try:
        packed = bounded(cast(BinaryIO, OPENERS[file.suffix](file)), file.name, lambda: size)
        with packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
    except (lzma.LZMAError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the disk's fault, not the file's
        raise InputError(f"{file.name} is damaged ({error}). Fetch it again.") from error
    return target
