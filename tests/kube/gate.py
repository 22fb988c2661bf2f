"""Jobs that the fake API server does not let into a namespace."""

from __future__ import annotations

from tests.kube.objects import ApiError, Objects


class Gate:
    """Rules that refuse or hold back the Jobs of namespaces.

    quotas    how many Jobs there may be, whether they run or not
    policies  the status and the words with which a webhook or a policy refuses each
    """

    def __init__(self) -> None:
        self.quotas: dict[str, int] = {}
        self.policies: dict[str, tuple[int, str]] = {}

    def check(self, objects: Objects, namespace: str, name: str) -> None:
        """Raise the refusal of a Job that does not come in."""
        if policy := self.policies.get(namespace):
            status, words = policy
            raise ApiError(status, "Forbidden", words.format(job=name))
        used, quota = len(objects.all("jobs", namespace)), self.quotas.get(namespace)
        if quota is not None and used >= quota and ("jobs", namespace, name) not in objects.all("jobs"):
            numbers = f"requested: count/jobs.batch=1, used: count/jobs.batch={used}"
            message = f'jobs.batch "{name}" is forbidden: exceeded quota: steps, {numbers}'
            raise ApiError(403, "Forbidden", f"{message}, limited: count/jobs.batch={quota}")
