"""Monocleaner's language packs: an archive of a folder with metadata.yaml and a language model of KenLM."""

from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from pipeline.common.archives import extract, members
from pipeline.common.errors import InputError

METADATA = "metadata.yaml"


def unpack(pack: Path, folder: Path) -> None:
    """Unpack a language pack into a new folder: metadata.yaml and the model that it names.

    Raises InputError when the archive is damaged, or is no language pack.
    """
    folder.mkdir()
    found = [name for name in members(pack) if PurePosixPath(name).name == METADATA]
    if len(found) != 1:
        raise InputError(
            f"{pack} is no language pack of Monocleaner: it has {len(found)} {METADATA}, not one."
        )
    extract(pack, {found[0]: folder / METADATA})
    model = _model_name(folder / METADATA)
    extract(pack, {str(PurePosixPath(found[0]).with_name(model)): folder / model})


def _model_name(metadata: Path) -> str:
    try:
        told: Any = yaml.safe_load(metadata.read_bytes())
        name = PurePosixPath(told["lm_file"]).name
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise InputError(
            f"The {METADATA} of the language pack names no language model ({error!r})."
        ) from error
    return name
