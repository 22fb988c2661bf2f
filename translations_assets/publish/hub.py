"""A repository of the Hugging Face hub as the destination of a model: one commit holds all of its files.

    README.md        the model card, which the hub checks
    exported/        the export, as the card's example reads it
    evaluation/<model>/<test set>.metrics.json
    report.html, config.yml, provenance.intoto.json, sbom.cdx.json
    model.sig, provenance.sigstore.json     where they are signed

A repository holds one model; earlier ones stay in its history.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import httpx2
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from translations_assets.common.errors import StoreError, StoreUnreachable, TranslationsError
from translations_assets.publish.destination import Copy, Destination, State
from translations_assets.store.contents import digest_file

if TYPE_CHECKING:
    from translations_assets.config.schema import TrainingConfig
    from translations_assets.publish.model import PublishedModel

NAME = re.compile(r"[\w.-]+/[\w.-]+")
# Folders and files of which nothing of another model may stay
OF_ONE_MODEL = ("exported", "evaluation", "model.sig", "provenance.sigstore.json")
LOGIN = "Set HF_TOKEN to a token that may write to it, or type `hf auth login`."


class HubDestination(Destination):
    """The repository `owner/name`, as its branch `main` is when it is first asked."""

    def __init__(self, name: str) -> None:
        if not NAME.fullmatch(name):
            raise StoreError(f"hf://{name} is no repository of models. Write hf://owner/name.")
        self._name, self.url = name, f"hf://{name}"
        self._api = HfApi()
        disable_progress_bars()

    def require(self, config: TrainingConfig) -> None:
        """Raise TranslationsError for a model without a licence, which nobody may use."""
        if not config.experiment.licence:
            raise TranslationsError(
                "The training config states no licence of the model, which the hub shows to everybody. Write "
                "it into the section `experiment`, as the hub does: `licence: cc-by-4.0`, for example. "
                "Nothing is trained again. The licences of the data: translations report --card"
            )

    def address(self, model: PublishedModel) -> str:
        """Return the address of the repository's page."""
        return f"{self._api.endpoint}/{self._name}"

    def arranged(self, model: PublishedModel, files: Mapping[str, Path]) -> Mapping[str, Path]:
        """Return the files by their names in a repository that has this model alone."""
        own = f"{model.folder}/"
        return {
            name.removeprefix(own) if name.startswith(own) else PurePosixPath(name).name: path
            for name, path in files.items()
        }

    def state(self, name: str, source: Path) -> State:
        """Compare a name's contents with a file by the digests that the hub tells: nothing is fetched."""
        found = self._files.get(name)
        if found is None:
            return "new"
        digest = digest_file(source).digest if found.lfs else _git_digest(source)
        return "same" if digest == (found.lfs.sha256 if found.lfs else found.blob_id) else "different"

    def put(self, copies: Sequence[Copy]) -> None:
        """Commit all that is not there; with what is replaced, files of the earlier model go."""
        with _in_words(self._name):
            self._api.create_commit(
                self._name,
                [*_additions(copies), *self._removals(copies)],
                commit_message="Publish a model by translations-assets",
                parent_commit=self._commit,
            )

    def _removals(self, copies: Sequence[Copy]) -> Iterator[CommitOperationDelete]:
        names = {one.name for one in copies}
        if any(one.state == "different" for one in copies):
            for name in self._files:
                if name.split("/")[0] in OF_ONE_MODEL and name not in names:
                    yield CommitOperationDelete(name)

    @cached_property
    def _commit(self) -> str:
        with _in_words(self._name):
            return str(self._api.model_info(self._name).sha)

    @cached_property
    def _files(self) -> dict[str, RepoFile]:
        """The files of the commit, by name."""
        commit = self._commit
        with _in_words(self._name):
            tree = self._api.list_repo_tree(self._name, recursive=True, revision=commit)
            return {found.path: found for found in tree if isinstance(found, RepoFile)}


def _additions(copies: Sequence[Copy]) -> Iterator[CommitOperationAdd]:
    for one in copies:
        if one.state != "same":
            yield CommitOperationAdd(one.name, str(one.source))


def _git_digest(path: Path) -> str:
    """The SHA-1 by which git, and the hub for small files, know contents."""
    contents = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(contents) + contents, usedforsecurity=False).hexdigest()


@contextmanager
def _in_words(name: str) -> Iterator[None]:
    """Turn errors of the hub and its library into a StoreError, StoreUnreachable when it may pass."""
    try:
        yield
    except RepositoryNotFoundError as error:
        raise StoreError(
            f"The hub has no repository of models {name} that this token can see. Make it at "
            f"{constants.ENDPOINT}/new. {LOGIN}"
        ) from error
    except HfHubHTTPError as error:
        raise _explained(name, error) from error
    except httpx2.HTTPError as error:
        raise StoreUnreachable(
            f"The Hugging Face hub cannot be reached ({type(error).__name__}: {error}). Nothing was "
            "published. Publish again later."
        ) from error
    except RuntimeError as error:  # of a large file, whatever the cause
        raise StoreUnreachable(
            f"{_short(error)} The cause: {_short(error.__cause__ or error)} Nothing was published. Publish "
            "again later."
        ) from error
    except ValueError as error:  # what the hub says of the model card
        raise StoreError(f"The hub refuses what is published to {name}: {_short(error)}") from error


def _explained(name: str, error: HfHubHTTPError) -> StoreError:
    status = error.response.status_code
    if status in (401, 403):
        return StoreError(f"The hub does not let you write to {name} ({status}). {LOGIN}")
    if status in (409, 412):
        return StoreError(f"Somebody else writes to {name} at this moment. Publish again.")
    said = f"The hub answered {status} for {name}: {_short(error)}"
    if status == 429 or status >= 500:
        return StoreUnreachable(f"{said} Publish again later.")
    return StoreError(said)


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())
