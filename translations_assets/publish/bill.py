"""The bill of materials of a published model, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).

It is written here, as the library of that form knows no model cards. The same records give the same bytes, as
long as the same libraries are installed, whose licences it tells.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from translations_assets.config.model_names import EXPORTED
from translations_assets.config.translators import Translator
from translations_assets.publish.origins import (
    Library,
    Origins,
    OriginStep,
    library,
    names_of_tests,
    public_urls,
)
from translations_assets.publish.provenance import moment
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.report.facts import Report
from translations_assets.results.lines import Source
from translations_assets.results.scores import METRICS

ENGINE = "fxtranslate"  # Firefox's engine as a library: exports are evaluated in it
EVALUATION = "evaluate_exported"  # the stage
SERVICES = ("endpoint", "google", "microsoft")  # forms of translators of which nothing is fetched
MODEL = "machine-learning-model"
LONGEST = 100  # characters of a licence's name; some libraries write the whole licence there
Component = dict[str, Any]


def bill_of_materials(name: str, report: Report, origins: Origins) -> str:
    """Return the bill as JSON: the model of a name, and all that it was made from, with known licences."""
    parts = list(_parts(report, origins))
    datasets = [part["bom-ref"] for part in parts if part["bom-ref"].startswith("dataset:")]
    exported = {
        **_component(MODEL, f"model:{name}", name, licence=report.session.config.experiment.licence),
        "components": list(_files("model", origins.export.outputs)),
        "modelCard": _card(origins.pair, report, datasets),
    }
    told = {
        "metadata": {"timestamp": moment(origins.export.ended), "component": exported},
        "components": parts,
        "dependencies": [{"ref": exported["bom-ref"], "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    form = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
    serial = uuid.uuid5(uuid.NAMESPACE_OID, json_digest(told))
    return json.dumps({**form, "serialNumber": serial.urn, **told}, indent=2, ensure_ascii=False) + "\n"


def _parts(report: Report, origins: Origins) -> Iterator[Component]:
    """Datasets, models of others, this code, libraries and the engine."""
    for made, source in origins.datasets:
        yield _dataset(made, source)
    given = {one.name: one.translator for one in report.given}
    for one in origins.fetched:
        yield _fetched(one, _stated(one.manifest.label, given))
    for name, translator in given.items():
        if translator.form in SERVICES:
            yield _component(MODEL, f"service:{name}", translator.identity, licence=translator.licence)
    for revision in origins.revisions:
        yield _component("application", f"code:{revision}", "translations-assets", revision)
    for pin in dict.fromkeys((*origins.libraries, *_engine(report))):
        yield _library(pin)


def _stated(label: str, given: Mapping[str, Translator]) -> str:
    """The licence of the translator that a step such as fetch-nllb-en-ru fetched, as the config states it."""
    names = (name for name in given if label.startswith(f"fetch-{name}-"))
    name = max(names, key=len, default="")
    return given[name].licence or "" if name else ""


def _dataset(made: Manifest, source: Source) -> Component:
    reference = f"dataset:{made.key}.{made.generation}"
    known = _component("data", reference, source.dataset, source.revision, source.licence)
    description = {"description": "generated text"} if source.synthetic else {}
    addresses = _addresses(public_urls(source))
    kind = {"data": [{"type": "dataset", "name": source.dataset}]}
    return {**known, **description, **kind, **addresses, "components": list(_files(reference, made.outputs))}


def _fetched(one: OriginStep, licence: str) -> Component:
    """A model or a text of others, with its licence as its provider states it, else as the config does."""
    made, told = one
    kind = MODEL if any(name.startswith(("model", "tf_model")) for name in made.outputs) else "data"
    reference = f"fetched:{made.key}.{made.generation}"
    stated = told.licence if told else None
    known = _component(kind, reference, made.label, told.revision if told else "", stated or licence)
    addresses = _addresses(public_urls(told)) if told else {}
    return {**known, **addresses, "components": list(_files(reference, made.outputs))}


def _engine(report: Report) -> Iterator[Library]:
    """The engine in which the export was evaluated, if it was."""
    steps = report.session.graph.stages.get(EVALUATION, ())
    for known in filter(None, (report.results.get(step.label) for step in steps)):
        if version := known.manifest.provenance.parts.libraries.get(ENGINE):
            yield library(ENGINE, version)


def _library(pin: Library) -> Component:
    kind, reference = (
        ("library", pin.url) if pin.url else ("application", f"program:{pin.name}@{pin.version}")
    )
    known = _component(kind, reference, pin.name, pin.version, _licence_of(pin) if pin.url else "")
    return {**known, "purl": pin.url} if pin.url else known


def _licence_of(pin: Library) -> str:
    """The licence of a library as the installed one states it; empty where another version is installed."""
    try:
        told = metadata(pin.name)
    except PackageNotFoundError:
        return ""
    if told["Version"] != pin.version:
        return ""
    named = [*(told.get_all("License-Expression") or ()), *(told.get_all("License") or ())]
    classifiers = [text for text in told.get_all("Classifier") or () if text.startswith("License ::")]
    named.append(", ".join(text.rpartition(" :: ")[2] for text in classifiers))
    short = (text for text in named if text and len(text) <= LONGEST and "\n" not in text)
    return next(short, "")


def _card(pair: str, report: Report, datasets: Iterable[str]) -> dict[str, Any]:
    """The model's card: pair, architecture, datasets, and the scores of the exported model."""
    text, names = [{"format": "text"}], names_of_tests(report)
    parameters = {
        "task": "translation",
        "modelArchitecture": report.session.config.experiment.student_model,
        "datasets": [{"ref": reference} for reference in datasets],
        "inputs": text,
        "outputs": text,
    }
    metrics = [
        {"type": METRICS[name], "value": str(score.score), "slice": names.get(dataset, dataset)}
        for dataset, scores in report.evaluations.get(EXPORTED, {}).items()
        for name, score in scores.by_metric.items()
    ]
    card = {"modelParameters": parameters, "properties": [{"name": "pair", "value": pair}]}
    return {**card, "quantitativeAnalysis": {"performanceMetrics": metrics}} if metrics else card


def _component(
    kind: str, reference: str, name: str, version: str = "", licence: str | None = None
) -> Component:
    known = {"type": kind, "bom-ref": reference, "name": name}
    licences = {"licenses": [_as_licence(licence)]} if licence else {}
    return {**known, **({"version": version} if version else {}), **licences}


def _as_licence(stated: str) -> dict[str, Any]:
    """A licence by SPDX where its name is one of theirs, else as it was stated."""
    try:
        return {"expression": canonicalize_license_expression(stated)}
    except InvalidLicenseExpression:
        return {"license": {"name": stated}}


def _files(owner: str, outputs: Mapping[str, Blob]) -> Iterator[Component]:
    for name, blob in sorted(outputs.items()):
        hashes = [{"alg": "SHA-256", "content": blob.digest}]
        yield {"type": "file", "bom-ref": f"{owner}/{name}", "name": name, "hashes": hashes}


def _addresses(urls: Iterable[str]) -> dict[str, Any]:
    found = [{"type": "distribution", "url": url} for url in urls]
    return {"externalReferences": found} if found else {}
