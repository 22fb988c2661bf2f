"""A mirror that answers as Mozilla's Remote Settings does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

RECORDS = "firefox.settings.services.mozilla.com/v1/buckets/main/collections/translations-models-v2"
ATTACHMENTS = "firefox-settings-attachments.cdn.mozilla.net"


def released_as(exported: Path, mirror: Path, src: str, trg: str) -> None:
    """Fill a mirror with what is told if Firefox shipped an exported model for these languages."""
    records = json.loads((exported / "records.json").read_text())
    for number, record in enumerate(records):
        location = f"main-workspace/translations-models-v2/{src}-{trg}-{number}.zst"
        record |= {"version": "3.0", "filter_expression": "", "sourceLanguage": src, "targetLanguage": trg}
        record["attachment"]["location"] = location
        (mirror / ATTACHMENTS / location).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(exported / record["attachment"]["filename"], mirror / ATTACHMENTS / location)
    (mirror / RECORDS).mkdir(parents=True, exist_ok=True)
    name = f"records?sourceLanguage={src}&targetLanguage={trg}"
    (mirror / RECORDS / name).write_text(json.dumps({"data": records}))
