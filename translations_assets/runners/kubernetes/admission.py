"""Jobs that the API server does not let in, and pods, of which nothing but events of their Job tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from translations_assets.common.background import CLOCK, Clock
from translations_assets.runners.kubernetes.cluster import DENIED, NotAdmitted
from translations_assets.runners.kubernetes.state import PodVerdict

FIRST_SECONDS, LOOK_SECONDS = 10.0, 30.0
REFUSED_SECONDS = 300.0  # of the same refusal: somebody may be setting up the namespace
_FAILED = "FailedCreate: "
# Events that differ in nothing but their words are put together from the tenth on
_ERROR = re.compile(
    r'^(?:\(combined from similar events\): )?(?:Error creating: )?(?:pods "[^"]*" is forbidden: )?'
)
# Limits of a namespace, PodSecurity and policies: they let the pod in when a person changes them or it. A
# quota, a webhook that does not answer and an account that is not there yet may pass by themselves.
_FOR_GOOD = re.compile(
    rf"violates PodSecurity|{DENIED}|failed quota: .* must specify"
    r"|(?:maximum|minimum) .* usage per (?:Container|Pod)|limit to request ratio per (?:Container|Pod)"
)
_NO_PRIORITY = re.compile(r"no PriorityClass with name (\S+) was found")


class Refusal(NamedTuple):
    """The reason that a Job has no pod.

    text      in the API server's words
    for_good  what that means, when it does not pass
    """

    text: str
    for_good: PodVerdict | None


class Admission:
    """Finds out of a Job's events what keeps it from getting its pod."""

    def __init__(self, job: str, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._varies = re.compile(rf"{re.escape(job)}-\w*|\d+")  # the pod's name, what a quota has left
        self._due = clock.monotonic() + FIRST_SECONDS
        self._same, self._since = "", 0.0

    def is_due(self) -> bool:
        """True if it is time to ask for the events: after ten seconds, then each half minute."""
        return self._clock.monotonic() >= self._due

    def look(self, events: Sequence[str]) -> Refusal | None:
        """Find the refusal of the pod in the events of now; None when there is none."""
        now = self._clock.monotonic()
        self._due = now + LOOK_SECONDS
        text = last_refusal(events)
        if not text:
            return None
        if found := _NO_PRIORITY.search(text):
            return Refusal(text, _no_priority(found[1]))
        same = self._varies.sub("", text)
        if same != self._same:
            self._same, self._since = same, now
        lasts = now - self._since >= REFUSED_SECONDS and _FOR_GOOD.search(text)
        message = (
            f"the cluster refuses the pod: {text}. Change the worker class in the deployment file, or the "
            f"limits of the namespace"
        )
        return Refusal(text, PodVerdict("start", message, failed=True) if lasts else None)


def _no_priority(name: str) -> PodVerdict:
    """Refuse at once what no waiting mends: nobody makes a priority class in passing."""
    message = (
        f"the cluster has no priority class {name}, which the deployment file gives to the pod. Make it "
        "(deploy/kubernetes/base/limits.yaml has ours), or name another one there (priority-class)"
    )
    return PodVerdict("start", message, failed=True)


class JobAdmission:
    """A Job that is asked for again and again while it is refused: without end where a quota is used up."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._since: float | None = None

    def refused(self, error: NotAdmitted) -> None:
        """Take note of a refusal. Raises the error when it does not pass."""
        now = self._clock.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since >= REFUSED_SECONDS and not error.by_quota:
            raise error


def last_refusal(events: Sequence[str]) -> str:
    """Return the message of the newest event on a pod that could not be created; "" without one.

    >>> last_refusal(['FailedCreate: Error creating: pods "a-x7" is forbidden: exceeded quota: team'])
    'exceeded quota: team'
    """
    refused = [event.removeprefix(_FAILED) for event in events if event.startswith(_FAILED)]
    return _ERROR.sub("", refused[-1]) if refused else ""
