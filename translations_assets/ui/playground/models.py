"""Exported models, as the playground's page is told of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from translations_assets.common.errors import TranslationsError
from translations_assets.records.inside import inside

RECORDS = "records.json"  # which of the files are what, as Remote Settings keeps it
_MODEL = "model"


@dataclass(frozen=True)
class ExportedModel:
    """An exported model.

    name   what the page calls it
    files  those that the engine reads, and records.json, by name
    """

    name: str
    files: Mapping[str, Path]
    source: str
    target: str
    architecture: str
    bytes: int
    packed_bytes: int

    def about(self, folder: str) -> dict[str, Any]:
        """Describe the model to the page: paths of files, languages, its size, that of a download."""
        return {
            "name": self.name,
            "folder": folder,
            "from": self.source,
            "to": self.target,
            "architecture": self.architecture,
            "bytes": self.bytes,
            "packedBytes": self.packed_bytes,
        }


def read_exported(folder: Path, name: str) -> ExportedModel:
    """The model in a folder that pipeline.quantize.export wrote. Raises TranslationsError when it is none."""
    if not (folder / RECORDS).is_file():
        raise TranslationsError(
            f"{folder} is no exported model: it has no {RECORDS}. To get one: translations artifacts "
            "PARTITION export-SRC-TRG --download FOLDER"
        )
    try:
        records = json.loads((folder / RECORDS).read_text(encoding="utf-8"))
        files = {str(record["name"]): inside(folder, record["name"]) for record in records}
        model = next(record for record in records if record["fileType"] == _MODEL)
        exported = ExportedModel(
            name=name,
            files={RECORDS: folder / RECORDS, **files},
            source=str(model["sourceLanguage"]),
            target=str(model["targetLanguage"]),
            architecture=str(model["architecture"]),
            bytes=int(model["decompressedSize"]),
            packed_bytes=sum(int(record["attachment"]["size"]) for record in records),
        )
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        StopIteration,
    ) as error:
        raise TranslationsError(f"{folder / RECORDS} cannot be read: {error!r}. Export it again.") from error
    if missing := [file for file, path in exported.files.items() if not path.is_file()]:
        raise TranslationsError(f"{folder} lacks {', '.join(missing)}, which its {RECORDS} names.")
    return exported
