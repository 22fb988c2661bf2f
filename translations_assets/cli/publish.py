"""`translations publish`: an exported model, copied to where others fetch it."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli import common
from translations_assets.cli.common import Json, Partition
from translations_assets.cli.output import print_answer, print_note
from translations_assets.cli.report import gathered
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import sign_password
from translations_assets.config.model_names import EXPORTED
from translations_assets.project import this_project
from translations_assets.publish.destination import Copy, compared, copy
from translations_assets.publish.open import open_destination
from translations_assets.records.manifest import Publication
from translations_assets.results.scores import METRICS

if TYPE_CHECKING:
    from translations_assets.checks.gates import Finding
    from translations_assets.publish.signing import Signer
    from translations_assets.report.facts import Report

_SAID = {"new": "new", "same": "there already", "different": "other contents"}


@common.reads
def publish(
    partition: Partition,
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION",
            help="A folder; a bucket: gs://bucket/folder or s3://bucket/folder; a repository of the Hugging "
            "Face hub: hf://owner/name; a server of Remote Settings: http://localhost:8888/v1.",
        ),
    ],
    write: Annotated[
        bool, typer.Option("--write", help="Copy the files. Without this, list what would be copied.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace files that have other contents.")
    ] = False,
    failed_gates: Annotated[
        bool, typer.Option("--failed-gates", help="Publish the model even if it failed quality gates.")
    ] = False,
    sign_key: Annotated[
        Path | None,
        typer.Option(
            "--sign-key",
            metavar="FILE",
            help="Sign the model and its provenance with this private key, in PEM, of the curve P-256. The "
            "password of an encrypted one is in TRANSLATIONS_SIGN_PASSWORD.",
            dir_okay=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Publish an exported model with its metadata, scores, report and training config.

    The layout is Mozilla's: models/PAIR/EXPERIMENT_ID/exported/, with the evaluation/ beside it; the ID
    follows from the export's contents. Existing files are not copied again, and those that differ are
    replaced only with --replace. metadata.json is written last: if it exists, the copy is complete. In a
    repository of the Hugging Face hub the model stands alone, and one commit has all of its files. Remote
    Settings gets what Firefox needs: the compressed files, as attachments of records.

    Beside the model are its provenance (in-toto, SLSA) and its bill of materials (CycloneDX).
    """
    from translations_assets.publish.model import SIGNATURES, published_model, write_files

    signer = _signer(sign_key)
    target, store = open_destination(destination), this_project().store
    if f"{target.url}/".startswith(f"{store.url.partition('?')[0]}/"):
        raise TranslationsError(f"{destination} is in the store, which keeps its own files only.")
    report = gathered(partition, None)
    target.require(report.session.config)
    model = published_model(report)
    _require_highest_level(report, is_refused=write)
    failed = _failed_gates(report, is_refused=write and not failed_gates)
    warned = [_name(found) for found in report.gates if found.state == "failed" and not found.is_error]
    _tell_quality(report, warned)
    with tempfile.TemporaryDirectory(prefix="translations-publish-") as work:
        files = write_files(model, report, this_project().configs.text(partition)[0], Path(work), signer)
        arranged = target.arranged(model, files)
        if signer and not any(name.endswith(SIGNATURES) for name in arranged):
            raise TranslationsError(f"{target.url} takes no signatures. Publish there without --sign-key.")
        copies = compared(target, arranged)
        if write:
            copy(target, copies, replace=replace)
    url = target.address(model)
    if write:
        made = model.manifest
        store.add_publication(Publication(made.key, made.generation, url, time.time()))
    answer = {
        "url": url,
        "files": [{"name": one.name, "bytes": one.size, "state": one.state} for one in copies],
        "failed_gates": failed,
        "warning_gates": warned,
        "scores": _scores(report),
        "is_written": write,
    }
    print_answer(json, answer, *_lines(copies, url, is_written=write))


def _signer(key: Path | None) -> Signer | None:
    if key is None:
        return None
    from translations_assets.publish.signing import Signer

    return Signer(key, sign_password())


def _require_highest_level(report: Report, *, is_refused: bool) -> None:
    """Refuse, or name, results of lower levels of trust; results of levels below one's own are never seen."""
    levels = this_project().levels
    if not levels:
        return
    known = {label: report.levels.get(label, "no known level") for label in report.results}
    lower = {label: level for label, level in known.items() if level != levels.highest}
    if not lower:
        return
    counted = ", ".join(f"{number} of {level}" for level, number in Counter(lower.values()).items())
    said = f"{counted} among {len(known)} results of {report.session.partition}, such as {next(iter(lower))}"
    if is_refused:
        raise TranslationsError(
            f"Only results of the level {levels.highest} are published, and there are {said}. Make them "
            f"there, with the rights of that level: TRANSLATIONS_LEVEL={levels.highest} "
            f"{report.session.command('train')}"
        )
    print_note(f"results of lower levels of trust, which are not published: {said}")


def _failed_gates(report: Report, *, is_refused: bool) -> list[str]:
    """The gates of level `error` that failed; they are printed, or refused with a TranslationsError."""
    failed = [_name(found) for found in report.gates if found.is_error]
    if failed and is_refused:
        raise TranslationsError(
            f"{report.session.partition} failed quality gates: {', '.join(failed)}. Why: "
            f"{report.session.command('checks')}. To publish it all the same: --failed-gates"
        )
    if failed:
        print_note(f"failed quality gates: {', '.join(failed)}")
    if unknown := [_name(found) for found in report.gates if found.state == "not computed"]:
        print_note(f"quality gates that were not computed: {', '.join(unknown)}")
    return failed


def _tell_quality(report: Report, warned: Sequence[str]) -> None:
    """Print the scores, and the gates that failed but only warn."""
    if warned:
        print_note(f"quality gates that failed and only warn: {', '.join(warned)}")
    if not (tests := _scores(report)):
        print_note("the exported model was not evaluated")
    for test, scores in tests.items():
        told = ", ".join(f"{METRICS[metric]} {score:.1f}" for metric, score in scores.items())
        print_note(f"its scores on {test}: {told}")


def _scores(report: Report) -> dict[str, dict[str, float]]:
    """Test set → metric → score of the exported model."""
    return {
        test: {metric: found.score for metric, found in scores.by_metric.items()}
        for test, scores in report.evaluations.get(EXPORTED, {}).items()
    }


def _name(found: Finding) -> str:
    return f"{found.gate.stage} {found.gate.name}"


def _lines(copies: Sequence[Copy], url: str, *, is_written: bool) -> list[str]:
    wanted = [one for one in copies if one.state != "same"]
    amount = f"{len(wanted)} of {len(copies)} files, {sum(one.size for one in wanted) / 1e6:,.1f} MB"
    if not wanted:
        return [f"All {len(copies)} files are there: {url}"]
    if is_written:
        return [f"{amount}, copied: {url}"]
    listed = [f"{one.size:>13,}  {_SAID[one.state]:14}  {one.name}" for one in copies]
    return [*listed, f"{amount}, would be copied to {url}; to do so: --write"]
