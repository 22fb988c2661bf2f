"""Indexes of texts: steps that no stage has, made when a sentence is looked for, and kept in the store.

The key of an index is that of its text's contents: one that several partitions share is made once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Output, Step
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.results.files import STATISTICS
from translations_assets.running.session import Session

STAGE = "trace"
SCRIPT = "pipeline.data.text_index"
FILES = ("widths.npy", "signatures.npy")


def index_steps(files: Mapping[Output, Blob]) -> dict[str, Step]:
    """Digest of the contents of some texts' files → the step that makes their index."""
    steps: dict[str, Step] = {}
    for file, blob in files.items():
        if blob.digest not in steps:
            steps[blob.digest] = Step(
                script=SCRIPT,
                label=f"index-{file.step.label}-{file.name.split('.')[1]}",
                stage=STAGE,
                args={},
                inputs={"text": file},
                outputs=(*FILES, STATISTICS),
                worker="large-cpu",
            )
    return steps


def index_session(session: Session, known: Mapping[Step, Manifest], steps: Sequence[Step]) -> Session:
    """A session of a run that makes indexes of texts, whose results are known.

    It has a partition of its own, so that no run of the training config seems to be newer than its last.
    """
    graph = session.graph
    indexing = Graph(
        {**graph.stages, STAGE: tuple(steps)},
        {**graph.upstream, STAGE: tuple(dict.fromkeys(up.stage for step in steps for up in step.upstream()))},
        graph.checks,
    )
    return Session(
        run=str(uuid4()),
        partition=f"{session.config.pair}.{STAGE}",
        space=session.space,
        parse=session.parse,
        graph=indexing,
        store=session.store,
        keys=session.keys,
        options=session.options,
        fixed=known,
        stages=[STAGE],
    )
