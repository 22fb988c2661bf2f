"""The contents of all that a step reads, in the store: a worker anywhere finds them there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from translations_assets.common.errors import TranslationsError
from translations_assets.graph.step import GivenFile, LocalFile, Output, RepoFile, Step, placed
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, KeyParts
from translations_assets.running.protocols import Store


def stored_contents(
    step: Step, parts: KeyParts, inputs: Mapping[Output, Blob], keys: KeyMaker, store: Store
) -> dict[Output | GivenFile, Blob]:
    """The contents of a step's inputs, whose digests are among the parts of its key; files are stored here.

    Raises TranslationsError for a file that is gone, or is not any more what the key stands for.
    """
    contents: dict[Output | GivenFile, Blob] = {}
    for name, handles in step.inputs.items():
        for path, handle in placed(handles):
            if isinstance(handle, Output):
                contents[handle] = inputs[handle]
            elif isinstance(handle, RepoFile):
                contents[handle] = store.add_bytes(keys.repo_bytes(handle))
            else:
                contents[handle] = _stored(handle, parts.inputs[f"{name}/{path}"], store)
    return contents


def _stored(file: LocalFile, digest: str, store: Store) -> Blob:
    path = Path(file.path)
    if not path.is_file():
        raise TranslationsError(f"{path}, which the training config names, is gone. Put it back.")
    blob = store.add_blob(path)
    if blob.digest != digest:
        raise TranslationsError(f"{path} changed while the run went on. Start the run again.")
    return blob
