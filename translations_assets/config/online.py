"""Whether the datasets and models of a config exist, and how large they are: asked of their servers.

The mirror is looked at first, as the scripts that fetch do. Only headers are asked for, many at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import requests

from translations_assets.config.addresses import Wanted, addresses, mtdata_names
from translations_assets.config.errors import suggestion
from translations_assets.config.urls import shown
from translations_assets.config.yaml_reader import KeyPath

AT_ONCE = 16
TIMEOUT = (5.0, 15.0)  # seconds to connect, and to answer
TRIES = 2
PAUSE = 1.0  # seconds before the second try
GONE = {403, 404, 410}  # object stores answer 403 for an object that does not exist
NO_HEAD = {405, 501}  # the server answers GET only
GOOGLE_STORAGE = "https://storage.googleapis.com/"
HEADERS = {"User-Agent": "translations-assets", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class Answer:
    """What is known of a file: its size in bytes where the server tells it, or what is wrong with it."""

    size: int | None = None
    problem: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether nothing was learnt, so that the file may well exist."""
        return self.problem.startswith("no answer")


@dataclass(frozen=True)
class Looked:
    """What was found out about a dataset or model; the sizes of several files are added up."""

    path: KeyPath
    name: str
    answer: Answer


def look_up(config: Mapping[str, Any], mirror: str = "") -> list[Looked]:
    """Look up all that a config, as it was read, names; `mirror` is a folder or `gs://bucket/prefix`."""
    names = mtdata_names(config)
    known, unknown = _mtdata_addresses(list(names))
    wanted = list(addresses(config, known))
    files = sorted({tuple(urls) for each in wanted for urls in each.addresses})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(files, pool.map(lambda urls: _first(urls, mirror), files), strict=True))
    missing = [Looked(names[name], f"mtdata_{name}", Answer(problem=said)) for name, said in unknown.items()]
    return [*(Looked(each.path, each.name, _together(each, answers)) for each in wanted), *missing]


def _together(wanted: Wanted, answers: Mapping[tuple[str, ...], Answer]) -> Answer:
    given = [answers[tuple(urls)] for urls in wanted.addresses]
    for answer in given:
        if answer.problem:
            return answer
    sizes = [answer.size for answer in given if answer.size is not None]
    return Answer(sum(sizes) if len(sizes) == len(given) else None)


def _first(urls: Sequence[str], mirror: str) -> Answer:
    """What is known of a file that is at one of some addresses."""
    problems = []
    for url in urls:
        answer = ask(url, mirror)
        if not answer.problem:
            return answer
        problems.append(answer.problem)
    return Answer(problem="; ".join(problems))


def ask(url: str, mirror: str) -> Answer:
    """What is known of the file at a URL, or of its copy in the mirror."""
    if url.startswith("file://"):
        return _of_file(Path(url2pathname(urlsplit(url).path)), url)
    if url.startswith("gs://"):
        url = GOOGLE_STORAGE + url.removeprefix("gs://")
    parts = urlsplit(url)
    name = f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    name = "/".join(map(_fitting, name.split("/")))
    if mirror.startswith("gs://"):
        copy = _of_server(f"{GOOGLE_STORAGE}{mirror.removeprefix('gs://').rstrip('/')}/{name}")
    elif mirror and ".." not in unquote(name).split("/"):
        copy = _of_file(Path(mirror).expanduser() / name, name)
    else:
        copy = Answer(problem="no mirror")
    return _of_server(url) if copy.problem else copy


def _fitting(part: str) -> str:
    """A part of a name in a mirror, as `pipeline.common.mirrors` has it."""
    return part if len(part.encode()) <= 255 else f"sha256-{hashlib.sha256(part.encode()).hexdigest()}"


def _of_file(path: Path, name: str) -> Answer:
    if not path.is_file():
        return Answer(problem=f"there is no file {shown(name)}")
    size = path.stat().st_size
    return Answer(size) if size else Answer(problem=f"{shown(name)} is empty")


def _of_server(url: str) -> Answer:
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE)
        try:
            answer = _judged(_response(url), url)
        except requests.RequestException as error:
            answer = Answer(problem=f"no answer from {shown(url)}: {type(error).__name__}")
        if not answer.is_unknown:
            break
    return answer


def _response(url: str) -> requests.Response:
    """The headers, after redirections; of a server that refuses HEAD, those of a GET that is broken off."""
    response = requests.head(url, allow_redirects=True, timeout=TIMEOUT, headers=HEADERS)
    if response.status_code in NO_HEAD:
        response = requests.get(url, stream=True, timeout=TIMEOUT, headers=HEADERS)
        response.close()
    return response


def _judged(response: requests.Response, url: str) -> Answer:
    status, headers = response.status_code, response.headers
    if status in GONE:
        return Answer(problem=f"does not exist: {shown(url)} answers {status}")
    if status >= 400:
        return Answer(problem=f"no answer from {shown(url)}: status {status}")
    if headers.get("Content-Type", "").startswith("text/html"):
        return Answer(problem=f"{shown(url)} is a web page, not a file of text")
    size = headers.get("Content-Length", "")
    if size == "0":
        return Answer(problem=f"{shown(url)} is empty")
    return Answer(int(size) if size.isdecimal() else None)


def _mtdata_addresses(names: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The addresses of mtdata's datasets, and what is wrong with the names that it does not know."""
    catalogue = mtdata_catalogue() if names else {}
    known = {name: catalogue[name] for name in names if name in catalogue}
    unknown = {}
    for name in set(names) - set(known):
        of_pair = [other for other in catalogue if other.split("-")[-2:] == name.split("-")[-2:]]
        unknown[name] = f"mtdata has no such dataset.{suggestion(name, of_pair)}"
    return known, unknown


def mtdata_catalogue() -> dict[str, list[str]]:
    """The names of mtdata's datasets with their addresses.

    A process of its own builds it (20 s), as mtdata does so when it is imported, in a folder that it reads
    from the environment.
    """
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "MTDATA": folder}
        command = [sys.executable, "-c", _PRINT_CATALOGUE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: [urls] if isinstance(urls, str) else urls for name, urls in found.items()}


_PRINT_CATALOGUE = """
import json
from mtdata.index import INDEX
print(json.dumps({str(did): entry.url for did, entry in INDEX.entries.items()}))
"""
