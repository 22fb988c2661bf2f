"""Tests of the fake API server beside a real one: all that the rest of the tests rely on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client, watch

from tests.kube.cluster import Cluster
from tests.kube.made import HOLD, Api, wait_for

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module"),
]


@pytest.fixture
def api(cluster: Cluster, namespace: str) -> Api:
    """The official client."""
    return Api(cluster, namespace)


def refused(code: int) -> Any:
    """Expects an answer with that code."""
    return pytest.raises(client.ApiException, match=rf"\({code}\)")


def test_a_job_runs_to_its_end(api: Api) -> None:
    api.run("works", "print('done')")
    assert api.ended("works").type == "Complete"
    assert api.job("works").status.succeeded == 1
    assert api.pod("works").status.phase == "Succeeded"
    assert api.log(api.pod("works").metadata.name) == b"done\n"


def test_a_job_whose_script_fails_has_failed_and_is_not_tried_again(api: Api) -> None:
    api.run("fails", "import sys; sys.exit(3)")
    ended = api.ended("fails")
    assert (ended.type, ended.reason) == ("Failed", "BackoffLimitExceeded")
    assert [pod.status.phase for pod in api.pods("fails")] == ["Failed"]
    assert (api.terminated("fails").exit_code, api.terminated("fails").reason) == (3, "Error")


def test_a_name_is_taken_until_its_job_is_deleted(api: Api) -> None:
    api.run("taken", "pass")
    with refused(409):
        api.run("taken", "pass")
    api.batch.delete_namespaced_job("taken", api.namespace, propagation_policy="Background")
    with refused(404):
        api.job("taken")
    api.run("taken", "pass")


@pytest.mark.parametrize("name", ["Upper", "a" * 64, "a_b"])
def test_names_are_checked(api: Api, name: str) -> None:
    with refused(422):
        api.run(name, "pass")


def test_an_unknown_namespace_is_refused(api: Api) -> None:
    with refused(404):
        Api(api.cluster, "nowhere").run("job", "pass")


def test_background_deletion_removes_the_pods(api: Api) -> None:
    api.run("doomed", HOLD)
    pod = api.running("doomed")
    api.batch.delete_namespaced_job("doomed", api.namespace, propagation_policy="Background")
    wait_for(lambda: not api.pods("doomed"))
    assert pod not in api.cluster.live_pods()


def test_deletion_without_a_policy_leaves_the_pods(api: Api) -> None:
    api.run("parent", HOLD)
    pod = api.running("parent")
    api.batch.delete_namespaced_job("parent", api.namespace)
    wait_for(lambda: not api.pods("parent")[0].metadata.owner_references)
    assert pod in api.cluster.live_pods()


def test_a_finished_job_expires_with_its_pods(api: Api) -> None:
    api.run("brief", "pass", ttlSecondsAfterFinished=1)
    wait_for(lambda: not api.cluster.jobs(api.namespace) and not api.pods("brief"))


def test_a_deadline_ends_a_job(api: Api) -> None:
    api.run("late", HOLD, activeDeadlineSeconds=1)
    ended = api.ended("late")
    assert (ended.type, ended.reason) == ("Failed", "DeadlineExceeded")
    wait_for(lambda: not api.cluster.live_pods(api.namespace))


def test_lists_are_selected_by_labels_and_fields(api: Api) -> None:
    for name, labels in {"one": {"stage": "train"}, "two": {"stage": "clean"}}.items():
        body = {"metadata": {"name": name, "labels": labels}, "type": "Opaque"}
        api.core.create_namespaced_secret(api.namespace, body)

    def names(**query: str) -> list[str]:
        found = api.core.list_namespaced_secret(api.namespace, **query)
        return [item.metadata.name for item in found.items]

    assert names(label_selector="stage=train") == ["one"]
    assert names(label_selector="stage in (train, clean)") == ["one", "two"]
    assert names(label_selector="stage!=train,stage") == ["two"]
    assert names(label_selector="!stage") == []
    assert names(field_selector="metadata.name=two") == ["two"]


def test_a_watch_goes_on_where_a_list_or_another_watch_ended(api: Api) -> None:
    version = api.batch.list_namespaced_job(api.namespace).metadata.resource_version
    api.run("first", "pass")
    api.ended("first")
    seen = events(api, version, until=("first", 1))
    assert [event["type"] for event in seen][:2] == ["ADDED", "MODIFIED"]
    last = seen[-1]["object"].metadata.resource_version
    api.batch.delete_namespaced_job("first", api.namespace, propagation_policy="Background")
    types = [event["type"] for event in events(api, last, until=None)]
    assert "ADDED" not in types
    assert types[-1] == "DELETED"


def test_a_watch_from_before_a_restart_is_too_old(api: Api) -> None:
    version = api.batch.list_namespaced_job(api.namespace).metadata.resource_version
    api.run("job", "pass")
    api.ended("job")
    api.cluster.stop_api()
    api.cluster.start_api()
    with refused(410):
        events(api, version, until=("job", 1))


def events(api: Api, version: str, until: tuple[str, int] | None) -> list[Any]:
    """A watch's events until a job has succeeded, or is deleted."""
    stream: Iterator[Any] = watch.Watch().stream(
        api.batch.list_namespaced_job, api.namespace, resource_version=version, timeout_seconds=20
    )
    seen = []
    for event in stream:
        seen.append(event)
        job = event["object"]
        if event["type"] == "DELETED" or (until and (job.metadata.name, job.status.succeeded) == until):
            return seen
    raise AssertionError(f"only {[event['type'] for event in seen]}")


def test_a_change_of_an_object_that_has_changed_is_refused(api: Api) -> None:
    body = {"metadata": {"name": "shared"}, "type": "Opaque"}
    first = api.core.create_namespaced_secret(api.namespace, body)
    api.core.patch_namespaced_secret("shared", api.namespace, {"metadata": {"annotations": {"by": "other"}}})
    with refused(409):
        api.core.replace_namespaced_secret("shared", api.namespace, first)


def test_deletion_of_one_of_the_same_name_is_refused(api: Api) -> None:
    api.run("again", "pass")
    options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid="another"))
    with refused(409):
        api.batch.delete_namespaced_job("again", api.namespace, body=options)


def test_while_the_api_is_away_pods_go_on_and_are_told_of_later(api: Api) -> None:
    api.run("steady", "import time; print('begun', flush=True); time.sleep(1); print('done')")
    api.running("steady")
    with api.cluster.api_away(2.0), pytest.raises(Exception, match="refused|reset|aborted|Max retries"):
        api.job("steady")
    assert api.ended("steady").type == "Complete"
    assert api.log(api.pod("steady").metadata.name) == b"begun\ndone\n"
