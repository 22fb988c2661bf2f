"""Variants of the tiny pair that name translators, trained by the commands; each form as the net has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.chat_server import KEY, Chat
from tests.end_to_end.defects import ended, train, variant
from tests.end_to_end.tiny import PARTITION, Place
from tests.pipeline.translate.hub_models import write_model
from tests.pipeline.translate.metricx_models import write_whole

TEACHER = "  teacher-mode: one-stage\n"
TARGET = "target-stage: all\n"
GATE = "checks: {"
PRICES = {
    "currency": "EUR",
    "worker-classes": {"cpu": {"price": 0}},
    "models": {"tiny": {"read": 1000, "written": 4000}, "google": {"characters": 1000}},
}
_HOST = "huggingface.co"
REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB = (
    f"hugging-face: {{model: own/m2m, revision: {REVISION}, "
    "source-prefix: [__en__], target-prefix: [__fr__]}"
)


@dataclass(frozen=True)
class Run:
    """The tiny pair, trained, and a service that translates its sentences both ways."""

    place: Place
    chat: Chat
    url: str

    def train(
        self,
        partition: str,
        target: str,
        translators: str,
        experiment: str,
        more: str = "",
        *others: tuple[str, str],
        **environment: str,
    ) -> set[str]:
        """Train a variant with some translators; the labels of the steps that were made."""
        changes = [
            (TEACHER, f"{TEACHER}  {experiment}\n"),
            (TARGET, f"{TARGET}{more}translators:\n{translators}\n"),
            *others,
        ]
        variant(self.place, partition, *changes)
        deployment = self.place.root / "deployment.yml"
        deployment.write_text(json.dumps({"costs": PRICES}))
        done = train(
            self.place,
            partition,
            target,
            LOCAL_BASE_URL=self.url,
            LOCAL_API_KEY=KEY,
            TRANSLATIONS_DEPLOYMENT=str(deployment),
            **environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        is_paid = ("ask-" in done.stdout or "judge-" in done.stdout) and "microsoft" not in translators
        assert ("EUR" in done.stdout) == is_paid  # machines cost nothing
        return ended(done)


def artifacts(place: Place, label: str, folder: Path, partition: str = PARTITION) -> Path:
    """The files that a step has made, copied out of the store by the command for it."""
    done = place.run("translations", "artifacts", partition, label, "--download", str(folder / label))
    assert done.returncode == 0, done.stderr
    return folder / label


def write_hub(mirror: Path) -> None:
    """A mirror of the hub with a model of random weights, in the layout of M2M-100."""
    _publish(write_model("m2m_100", mirror / _HOST / "own" / "m2m" / "resolve" / REVISION), mirror, "m2m")


def write_metricx_hub(mirror: Path) -> str:
    """A mirror of the hub with a model of MetricX with random weights; the config's section `metricx`."""
    model, mt5 = (mirror / _HOST / "own" / name / "resolve" / REVISION for name in ("metricx", "mt5"))
    write_whole(model, mt5)
    _publish(model, mirror, "metricx")
    _publish(mt5, mirror, "mt5")
    return (
        f"metricx: {{model: own/metricx, revision: {REVISION}, "
        f"pieces: own/mt5, pieces-revision: {REVISION}}}\n"
    )


def _publish(model: Path, mirror: Path, name: str) -> None:
    told = mirror / _HOST / "api" / "models" / "own" / name / "revision" / f"{REVISION}?blobs=true"
    told.parent.mkdir(parents=True)
    told.write_text(
        json.dumps({"sha": REVISION, "siblings": [{"rfilename": one.name} for one in model.iterdir()]})
    )
