"""A model as it is published, in the layout of Mozilla's bucket of models.

    models/en-ru/spring_<id>/exported/          the export: model, shortlist, vocabularies
    models/en-ru/spring_<id>/exported/metadata.json     written last: where it stands, everything stands
    models/en-ru/spring_<id>/evaluation/<model>/<test set>.metrics.json
    models/en-ru/spring_<id>/report.html, README.md     the report, and the model card
    models/en-ru/spring_<id>/provenance.intoto.json, sbom.cdx.json     where it comes from; what is in it
    models/en-ru/spring_<id>/provenance.sigstore.json, model.sig       the first, and exported/, signed
    experiments/en-ru/spring_<id>/config.yml    the training config

Mozilla's scripts take the last 22 characters of a folder's name for the id of a Taskcluster group. Here they
are a digest of the export's files: other contents never stand under the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translations_assets.common.errors import TranslationsError
from translations_assets.config.model_names import BACKWARDS, FINETUNED, OTHERS, RELEASED, TEACHERS
from translations_assets.publish.bill import bill_of_materials
from translations_assets.publish.origins import names_of_tests, origins_of
from translations_assets.publish.provenance import statement
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Manifest
from translations_assets.report.facts import Report
from translations_assets.report.page import as_card, as_html
from translations_assets.results.scores import Scores

if TYPE_CHECKING:
    from translations_assets.publish.signing import Signer

EXPORT = "export"
METADATA = "metadata.json"
PROVENANCE, BILL = "provenance.intoto.json", "sbom.cdx.json"
SIGNATURES = ("model.sig", "provenance.sigstore.json")  # as `Signatures` has them
ID_LENGTH = 22
DIGITS = 4
OWN = {*OTHERS} - {RELEASED}  # besides teachers
SHARES = ("comet", "unaligned", "unaligned_src")  # metrics that Mozilla has from 0 to 1
MOZILLAS_METRICS = {"unaligned": "unaligned-ratio", "metricx24_qe": "metricx24-qe"}
FOLDERS = {BACKWARDS: "backward", FINETUNED: "student-finetuned"}  # of other models: their names


@dataclass(frozen=True)
class PublishedModel:
    """An export's result, and what its folders are called.

    name  `<experiment>_<id>`
    """

    manifest: Manifest
    pair: str
    name: str

    @property
    def folder(self) -> str:
        """The folder of its files below the destination."""
        return f"models/{self.pair}/{self.name}"


def published_model(report: Report) -> PublishedModel:
    """The model of a report's partition. Raises TranslationsError when it is not exported yet."""
    session = report.session
    (step,) = session.graph.stages[EXPORT]
    known = report.results.get(step.label)
    if known is None:
        raise TranslationsError(
            f"not made: {step.label}. To make it: {session.command('train', '--target', EXPORT)}"
        )
    digests = {name: blob.digest for name, blob in known.manifest.outputs.items()}
    identity = json_digest(digests)[:ID_LENGTH]
    experiment = session.config.experiment
    return PublishedModel(known.manifest, session.config.pair, f"{experiment.name}_{identity}")


def write_files(
    model: PublishedModel, report: Report, config: str, work: Path, signer: Signer | None = None
) -> dict[str, Path]:
    """Put all files of a model into a folder: name at the destination → file, in the order of copying."""
    exported, last = f"{model.folder}/exported", f"{model.folder}/exported/{METADATA}"
    origins = origins_of(report, model.manifest, model.pair)
    told = statement(report.session.config.experiment.name, origins)
    texts = {
        **dict(_metrics(model, report)),
        f"{model.folder}/{PROVENANCE}": told,
        f"{model.folder}/{BILL}": bill_of_materials(model.name, report, origins),
        f"{model.folder}/report.html": as_html(report, config),
        f"{model.folder}/README.md": as_card(report, config),
        f"experiments/{model.pair}/{model.name}/config.yml": config,
    }
    blobs = {f"{exported}/{name}": blob for name, blob in model.manifest.outputs.items()}
    (work / exported).mkdir(parents=True)
    for name, blob in blobs.items():
        report.session.store.place_blob(blob, work / name)
    if signer:
        signed = signer.sign(work / exported, told)
        texts |= {f"{model.folder}/{name}": text for name, text in zip(SIGNATURES, signed, strict=True)}
    files = {name: work / name for name in (*blobs, *texts)}
    for name, text in texts.items():
        files[name].parent.mkdir(parents=True, exist_ok=True)
        files[name].write_text(text, encoding="utf-8", newline="")
    return {name: files[name] for name in (*(name for name in files if name != last), last)}


def _metrics(model: PublishedModel, report: Report) -> Iterator[tuple[str, str]]:
    """The scores of the partition's own models, a file for each model and test set."""
    names = names_of_tests(report)
    for evaluated, tests in report.evaluations.items():
        if evaluated in OWN or evaluated.startswith(TEACHERS):
            for dataset, scores in tests.items():
                test = re.sub(r"[^\w.-]+", "_", names.get(dataset, dataset)).strip("_")
                path = f"{model.folder}/evaluation/{_evaluation_folder(evaluated)}/{test}.metrics.json"
                yield path, json.dumps(_as_mozillas(scores), indent=2, ensure_ascii=False) + "\n"


def _evaluation_folder(model: str) -> str:
    """Name Mozilla's folder of a model's evaluations; teachers are counted from 0 there."""
    number = model.removeprefix(TEACHERS)
    return f"teacher{int(number) - 1}" if number.isdecimal() else FOLDERS.get(model, model)


def _as_mozillas(scores: Scores) -> dict[str, dict[str, Any]]:
    """Scores as Mozilla's evaluations write them: COMET and shares from 0 to 1; the rest are details."""
    found = {}
    for metric, score in scores.by_metric.items():
        details = {key: value for key, value in score.to_dict().items() if key != "score"}
        value = score.score / 100 if metric in SHARES else score.score
        found[MOZILLAS_METRICS.get(metric, metric)] = {"score": round(value, DIGITS), "details": details}
    return found
