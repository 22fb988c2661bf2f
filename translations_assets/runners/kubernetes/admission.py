"""Jobs that the API server does not let in, and pods, of which nothing but events of their Job tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from translations_assets.background import CLOCK, Clock
from translations_assets.runners.kubernetes.cluster import DENIED, Cluster, NotAdmitted
from translations_assets.runners.kubernetes.state import Verdict

LOOK_SECONDS = 30.0
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


class Refusal(NamedTuple):
    """Why a Job has no pod.

    text      in the API server's words
    is_news   whether it was another one when last looked for
    for_good  what that means, when it does not pass
    """

    text: str
    is_news: bool
    for_good: Verdict | None


class Admission:
    """Looks for what keeps a Job from getting its pod."""

    def __init__(self, cluster: Cluster, job: str, clock: Clock = CLOCK) -> None:
        self._cluster, self._job, self._clock = cluster, job, clock
        self._varies = re.compile(rf"{re.escape(job)}-\w*|\d+")  # the pod's name, what a quota has left
        self._looked = clock.monotonic()
        self._same, self._since = "", 0.0

    def look(self) -> Refusal | None:
        """What refuses the pod, asked for each half minute; None in between, and when nothing does."""
        now = self._clock.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return None
        self._looked = now
        text = last_refusal(self._cluster.events(self._job))
        if not text:
            return None
        same = self._varies.sub("", text)
        is_news = same != self._same
        if is_news:
            self._same, self._since = same, now
        lasts = now - self._since >= REFUSED_SECONDS and _FOR_GOOD.search(text)
        message = (
            f"the cluster refuses the pod: {text}. Change the worker class in the deployment file, or the "
            f"limits of the namespace"
        )
        return Refusal(text, is_news, Verdict("start", message, failed=True) if lasts else None)


class JobAdmission:
    """A Job that is asked for again and again while it is refused: without end where a quota is used up."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._since: float | None = None
        self._is_told = False

    def refused(self, error: NotAdmitted) -> str:
        """What people are to be told of it, once, after half a minute; empty else.

        Raises the error when it does not pass.
        """
        now = self._clock.monotonic()
        if self._since is None:
            self._since = now
        lasts = now - self._since
        if lasts >= REFUSED_SECONDS and not error.by_quota:
            raise error
        if lasts < LOOK_SECONDS or self._is_told:
            return ""
        self._is_told = True
        return f"the cluster refuses the job, and is asked again: {error.text}"


def last_refusal(events: Sequence[str]) -> str:
    """What the newest event says of a pod that could not be created; "" without one.

    >>> last_refusal(['FailedCreate: Error creating: pods "a-x7" is forbidden: exceeded quota: team'])
    'exceeded quota: team'
    """
    refused = [event.removeprefix(_FAILED) for event in events if event.startswith(_FAILED)]
    return _ERROR.sub("", refused[-1]) if refused else ""
