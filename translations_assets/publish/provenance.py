"""The provenance of a published model: an in-toto statement with a predicate of SLSA.

    https://in-toto.io/Statement/v1    https://slsa.dev/spec/v1.0/provenance

All of it is recorded in manifests; what is not known is left out. The same records give the same bytes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from translations_assets.publish.origins import Origins, public_urls
from translations_assets.records.manifest import Manifest

BUILD_TYPE = "urn:translations-assets:training:1"  # docs/evaluation.md describes its fields
BUILDER = "urn:translations-assets:worker:1"
STATEMENT, PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
CHANGED = "+changes"  # after a commit: files differed from it
Descriptor = dict[str, Any]


def statement(experiment: str, origins: Origins) -> str:
    """Return the statement as JSON; its subjects are the exported files, as the model's folder has them."""
    subjects = [
        _described(f"exported/{name}", blob.digest) for name, blob in sorted(origins.export.outputs.items())
    ]
    predicate = {"buildDefinition": _definition(experiment, origins), "runDetails": _details(origins)}
    told = {"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate}
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def moment(seconds: float) -> str:
    """A time, given in seconds since 1970, as RFC 3339 has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _definition(experiment: str, origins: Origins) -> dict[str, Any]:
    known = origins.export.provenance
    parameters = {
        "pair": origins.pair,
        "experiment": experiment,
        "partition": known.partition,
        "config": known.config and _described("config", known.config.digest),
        "options": known.options.to_dict(),
    }
    return {
        "buildType": BUILD_TYPE,
        "externalParameters": _known(parameters),
        "internalParameters": {"steps": [_step(made.manifest) for made in origins.made]},
        "resolvedDependencies": [
            *_contents(origins),
            *_code(origins),
            *({"name": one.name, "uri": one.url or _generic(*one[:2])} for one in origins.libraries),
        ],
    }


def _details(origins: Origins) -> dict[str, Any]:
    export = origins.export
    worker = export.provenance.worker
    others = worker.others.items() if worker else ()
    versions = {name: told for name, told in others if isinstance(told, str)}  # all that the form allows
    metadata = {
        "invocationId": export.provenance.run,
        "startedOn": moment(min(made.manifest.started for made in origins.made)),
        "finishedOn": moment(export.ended),
    }
    version = _known({"translations-assets": export.provenance.revision, **versions})
    return {"builder": _known({"id": BUILDER, "version": version}), "metadata": _known(metadata)}


def _step(step: Manifest) -> dict[str, Any]:
    """Key and generation, by which the store knows a step, and where and when it ran."""
    known = step.provenance
    return _known(
        {
            "label": step.label,
            "key": step.key,
            "generation": step.generation,
            "script": known.parts.script,
            "run": known.run,
            "host": step.host,
            "worker": known.worker.others if known.worker else {},
            "startedOn": moment(step.started),
            "finishedOn": moment(step.ended),
        }
    )


def _contents(origins: Origins) -> Iterator[Descriptor]:
    """Every file that a step read, once: of datasets with their origin."""
    names = {
        blob.digest: f"{made.label}/{name}"
        for made, _ in reversed(origins.made)  # of equal contents those that were made first
        for name, blob in made.outputs.items()
    }
    datasets = {
        blob.digest: {
            "dataset": source.dataset,
            "licence": source.licence,
            "revision": source.revision,
            "urls": public_urls(source),
            "synthetic": source.synthetic,
        }
        for made, source in origins.datasets
        for blob in made.outputs.values()
    }
    read = {
        blob.digest: names.get(blob.digest, f"{made.label}:{path}")
        for made, _ in origins.made
        for path, blob in made.provenance.files.items()
    }
    for digest, name in read.items():
        yield _known({**_described(name, digest), "annotations": _known(datasets.get(digest, {}))})


def _code(origins: Origins) -> Iterator[Descriptor]:
    """The code of each script, as it ran, and the commits of the repository."""
    bundles = {made.bundle.digest: made.provenance.parts.script for made, _ in origins.made}
    for digest, script in bundles.items():
        yield _described(f"code of {script}", digest)
    for revision in origins.revisions:
        commit = {"name": "translations-assets", "digest": {"gitCommit": revision.removesuffix(CHANGED)}}
        yield {**commit, "annotations": {"changes": True}} if revision.endswith(CHANGED) else commit


def _described(name: str, digest: str) -> Descriptor:
    return {"name": name, "digest": {"sha256": digest}}


def _generic(name: str, version: str) -> str:
    return f"pkg:generic/{name}@{version}"


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """The values without those that are empty: nothing is known of them."""
    return {name: value for name, value in values.items() if value not in ("", None, {}, [], False)}
