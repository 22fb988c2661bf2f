"""Reports that are kept in the store, each beside those before it, as artifacts of a stage of their own."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

from translations_assets.common.revision import revision
from translations_assets.common.settings import repository_root
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Manifest, Provenance, Ref
from translations_assets.report.facts import Report
from translations_assets.report.page import as_card, as_html

STAGE = "report"
PAGE, CARD = "report.html", "model-card.md"


class Kept(NamedTuple):
    """A report in the store, and whether it was made now: the newest one did not say the same."""

    manifest: Manifest
    is_new: bool


def keep(report: Report, config: str) -> Kept:
    """Keep a report and its model card, unless the partition's newest one says the same; `config` is a text.

    Raises StoreError.
    """
    session, store = report.session, report.session.store
    files = {PAGE: as_html(report, config), CARD: as_card(report, config)}
    key = json_digest({name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()})
    place = session.space, session.ref_partition, STAGE
    newest = store.refs(*place)[:1]
    label = f"{STAGE}-{session.config.pair}"
    known = store.generation(key, 1) if newest and newest[0].steps == {label: (key, 1)} else None
    if known and all(map(store.has_blob, known.outputs.values())):
        return Kept(known, False)
    now = session.clock.time()
    manifest = store.commit(
        Manifest(
            key=key,
            generation=1,
            outputs={name: store.add_bytes(text.encode()) for name, text in files.items()},
            label=label,
            reason="what it shows has changed" if newest else "the first one",
            bundle=session.config_blob,  # with the results that it shows, all that it is made from
            provenance=Provenance(
                stage=STAGE,
                run=session.run,
                partition=session.partition,
                config=session.config_blob,
                options=session.options,
                revision=revision(repository_root()),
            ),
            attempt=1,
            host=os.uname().nodename,
            started=now,
            ended=now,
        )
    )
    store.add_ref(Ref(*place, session.run, now, {label: (key, 1)}, {label: manifest.outputs}))
    return Kept(manifest, True)
