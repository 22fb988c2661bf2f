"""Kinds, tags and links to code, which the UI shows of an asset besides its description."""

import warnings
from collections.abc import Sequence
from typing import Any

import dagster as dg

from translations_assets.common.revision import commit, web_address
from translations_assets.defs.shared import PROJECT
from translations_assets.graph.stage import Stage
from translations_assets.stages.facts import largest_machine, scripts_of

MACHINE_TAG = "translations/machine"  # the worker class with the largest machines that a step may ask for
FAMILY_TAG = "translations/family"
# Scripts that run another program than Python's, and its name; an asset has at most three kinds.
KINDS = {
    "pipeline.train.train": "marian",
    "pipeline.translate.translate": "marian",
    "pipeline.cefilter.score": "marian",
    "pipeline.eval.evaluate": "marian",
    "pipeline.quantize.quantize": "marian",
    "pipeline.checks.models": "marian",
    "pipeline.translate.convert": "ctranslate2",
    "pipeline.translate.with_ctranslate2": "ctranslate2",
    "pipeline.eval.exported": "bergamot",
    "pipeline.train.vocab": "sentencepiece",
    "pipeline.alignments.collect": "eflomal",
    "pipeline.clean.score_bicleaner": "bicleaner",
    "pipeline.clean.score_monocleaner": "monocleaner",
}


def kinds_of(stage: Stage) -> set[str]:
    """Return the languages and tools of a stage's scripts."""
    return {"python", *(KINDS[script] for script in scripts_of(stage) if script in KINDS)}


def tags_of(stage: Stage) -> dict[str, str]:
    """The tags by which people find an asset among others."""
    deployment = PROJECT.deployment
    own = deployment.cluster.stages.get(stage.name) if deployment and deployment.cluster else None
    machine = own.worker_class if own and own.worker_class else largest_machine(stage)
    return {MACHINE_TAG: machine, FAMILY_TAG: stage.group}


def code_of(stage: Stage) -> dict[str, Any]:
    """Return the locations of the stage's function and scripts, as metadata of the asset's definition."""
    code = stage.function.__code__
    scripts = {name: PROJECT.root.joinpath(*name.split(".")).with_suffix(".py") for name in scripts_of(stage)}
    with warnings.catch_warnings(action="ignore", category=dg.BetaWarning):
        references: list[Any] = [
            dg.LocalFileCodeReference(
                file_path=code.co_filename, line_number=code.co_firstlineno, label=f"stage {stage.name}"
            ),
            *(
                dg.LocalFileCodeReference(file_path=str(path), line_number=1, label=name)
                for name, path in scripts.items()
            ),
        ]
        return {"dagster/code_references": dg.CodeReferencesMetadataValue(code_references=references)}


def linked_to_repository(assets: Sequence[dg.AssetsDefinition]) -> Sequence[Any]:
    """The assets, whose code is linked to the web pages of the repository, where git knows of them."""
    address = web_address(PROJECT.root)
    if not any(host in address for host in ("github.com", "gitlab.com")):
        return assets
    with warnings.catch_warnings(action="ignore", category=dg.BetaWarning):
        mapping = dg.AnchorBasedFilePathMapping(
            local_file_anchor=PROJECT.root, file_anchor_path_in_repository=""
        )
        return dg.link_code_references_to_git(assets, address, commit(PROJECT.root), mapping)
