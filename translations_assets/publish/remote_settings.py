"""Remote Settings as the destination of a model: records with attachments, from which Firefox fetches models.

A language pair has one model there. Its files are made one by one, the model last; what is left of an earlier
model is removed before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from translations_assets.common.errors import StoreError
from translations_assets.common.settings import remote_settings_login
from translations_assets.config.languages import find_language
from translations_assets.publish.destination import Copy, Destination, State
from translations_assets.publish.kinto import LOGIN, Kinto, NotAccepted
from translations_assets.stages.firefox import firefox_code

if TYPE_CHECKING:
    from translations_assets.publish.model import PublishedModel

COLLECTION = "translations-models-v2"
WORKSPACE = "main-workspace"  # the bucket from which a server with reviews makes what Firefox sees
UNASKED = (None, "work-in-progress")  # states of a collection that nobody asked to review
VERSION = "3.0"  # the kind of a model: Firefox takes 3.x, which is compressed by zstd
LANGUAGES = ("sourceLanguage", "targetLanguage")
Record = dict[str, Any]


class RemoteSettingsDestination(Destination):
    """The collection of Firefox's models at `http://server/v1`, or `http://server/v1/buckets/bucket`."""

    def __init__(self, url: str) -> None:
        if "@" in urlsplit(url).netloc:
            raise StoreError(
                "The address of Remote Settings must hold no login, as it is kept and shown. "
                f"Let {LOGIN} hold `user:password`."
            )
        server, _, bucket = url.rstrip("/").partition("/buckets/")
        self._bucket = bucket or WORKSPACE
        self._path = f"/buckets/{self._bucket}/collections/{COLLECTION}"
        self._server, self.url = Kinto(server, remote_settings_login()), f"{server}{self._path}"
        self._wanted: dict[str, Record] = {}

    def address(self, model: PublishedModel) -> str:
        """Return the address of the pair's records."""
        return f"{self.url}/records?{self._pair}"

    def arranged(self, model: PublishedModel, files: Mapping[str, Path]) -> Mapping[str, Path]:
        """Return the compressed files that the export's `records.json` names, the model last."""
        exported = f"{model.folder}/exported"
        told = json.loads(files[f"{exported}/records.json"].read_text(encoding="utf-8"))
        self._wanted = {record["attachment"]["filename"]: _as_firefox_reads(record) for record in told}
        names = sorted(self._wanted, key=lambda name: self._wanted[name]["fileType"] == "model")
        return {name: files[f"{exported}/{name}"] for name in names}

    def state(self, name: str, source: Path) -> State:
        """Compare a file's record with those of its kind that the server has."""
        wanted = self._wanted[name]
        found = [one for one in self._records.values() if one.get("fileType") == wanted["fileType"]]
        if not found:
            return "new"
        return "same" if len(found) == 1 and _is_same(found[0], wanted) else "different"

    def put(self, copies: Sequence[Copy]) -> None:
        """Make the records that are not there, in order."""
        self._make_collection()
        *others, last = [one for one in copies if one.state != "same"]
        for one in others:
            self._put_record(one)
        self._remove_strangers()
        self._put_record(last)

    def conclude(self) -> None:
        """Ask for a review where the server has those, and what was changed waits for one."""
        if self._bucket.endswith("-workspace") and self._ask("GET", "")["data"].get("status") in UNASKED:
            self._ask("PATCH", "", json={"data": {"status": "to-review"}})

    def _put_record(self, one: Copy) -> None:
        wanted = self._wanted[one.name]
        there = self._records.get(wanted["id"])
        condition = {"If-Match": _etag(there)} if there else {"If-None-Match": "*"}
        data = {key: value for key, value in wanted.items() if key != "attachment"}
        attached = (one.name, one.source.read_bytes(), wanted["attachment"]["mimetype"])
        path = f"/records/{wanted['id']}"
        try:
            self._ask(
                "POST",
                f"{path}/attachment",
                condition,
                data={"data": json.dumps(data)},
                files={"attachment": attached},
            )
        except NotAccepted as error:
            # An answer that got lost was asked for again: the record is there
            if error.status != 412 or not _is_same(self._ask("GET", path)["data"], wanted):
                raise

    def _remove_strangers(self) -> None:
        """Remove the pair's records that are none of this model's: Firefox would mix the two.

        Without a file that is to be replaced they are what an interrupted publication has left.
        """
        own = {record["id"] for record in self._wanted.values()}
        for name, record in self._records.items():
            if name not in own:
                with _passed(404):
                    self._ask("DELETE", f"/records/{name}", {"If-Match": _etag(record)})

    def _make_collection(self) -> None:
        with _passed(412):
            self._ask("PUT", "", {"If-None-Match": "*"}, json={"data": {}})

    @property
    def _pair(self) -> str:
        (first, *_) = self._wanted.values()
        return urlencode({key: first[key] for key in LANGUAGES})

    @cached_property
    def _records(self) -> dict[str, Record]:
        """The pair's records by their ids, as they are when they are first asked for."""
        with _passed(404):
            told = self._ask("GET", f"/records?{self._pair}")
            return {record["id"]: record for record in told["data"]}
        return {}

    def _ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, **given: Any) -> Any:
        return self._server.ask(method, f"{self._path}{path}", headers, **given)


def _as_firefox_reads(told: Mapping[str, Any]) -> Record:
    """A record of an export with what a server's record has besides, and Firefox's codes of languages."""
    languages = {key: _firefox_code(told[key]) for key in LANGUAGES}
    name = "-".join([*languages.values(), told["fileType"]])
    return {"id": name, **told, **languages, "version": VERSION, "filter_expression": ""}


def _firefox_code(code: str) -> str:
    spoken = find_language(code)
    return firefox_code(spoken) if spoken else code  # of a language that its config alone describes


def _is_same(found: Mapping[str, Any], wanted: Record) -> bool:
    """True if a server's record tells all that is wanted, of the same file."""
    own = {key: value for key, value in wanted.items() if key != "attachment"}
    attached = found.get("attachment") or {}
    return attached.get("hash") == wanted["attachment"]["hash"] and own.items() <= found.items()


@contextmanager
def _passed(status: int) -> Iterator[None]:
    """Pass over the error that says that something is done already."""
    try:
        yield
    except NotAccepted as error:
        if error.status != status:
            raise


def _etag(record: Record) -> str:
    return f'"{record["last_modified"]}"'
