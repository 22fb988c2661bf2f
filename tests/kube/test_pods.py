"""Tests of pods in the cluster that the tests use, over the fake API server and a real one."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from kubernetes import client, watch

from tests.kube.cluster import Cluster
from tests.kube.made import HOLD, POLITE, TOUGH, Api, wait_for
from tests.kube.nodes import Node
from tests.patience import PATIENCE
from tests.runners.scripts import alive

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module"),
]

SPOT = {"nodeSelector": {"pool": "spot"}, "tolerations": [{"key": "spot", "operator": "Exists"}]}


@pytest.fixture
def api(cluster: Cluster, namespace: str) -> Api:
    """The official client."""
    return Api(cluster, namespace)


def processes(api: Api, job: str) -> list[int]:
    """The process ids that a job's script has printed."""
    return [int(word) for word in api.log(api.pod(job).metadata.name).split()]


def gone(pids: list[int]) -> bool:
    """True if no such process lives."""
    return not any(map(alive, pids))


def test_a_log_can_be_followed_and_read_in_part(api: Api) -> None:
    script = "import time\nfor number in range(25): print(number, flush=True); time.sleep(0.1)"
    api.run("talks", script)
    pod = api.running("talks").rpartition("/")[2]
    pieces = list(api.stream(pod, follow="true").stream(1 << 16))
    assert b"".join(pieces).split() == [b"%d" % number for number in range(25)]
    assert len(pieces) > 5

    assert api.log(pod, tailLines=2).split() == [b"23", b"24"]
    stamped = api.log(pod, timestamps="true").splitlines()
    stamps = [line.split()[0].decode() for line in stamped]
    assert stamps == sorted(stamps)
    assert datetime.fromisoformat(stamps[0][:26]).year >= 2026
    # A server asks the kubelet in whole seconds, so that the lines of that second come again
    since = stamps[20]
    kept = [stamp for stamp in stamps if stamp[:19] >= since[:19]]
    assert len(api.log(pod, sinceTime=since).split()) == len(kept) > 4


def test_a_log_that_is_not_there_is_refused(api: Api) -> None:
    api.cluster.missing_images.add("nowhere")
    api.run("waits", "pass", {"image": "nowhere/image"})
    api.waiting("waits")
    with pytest.raises(client.ApiException, match="is waiting to start"):
        api.log(api.pod("waits").metadata.name)
    with pytest.raises(client.ApiException, match=r"pods .*unknown.* not found"):
        api.log("unknown")


def test_a_container_gets_its_environment_and_nothing_else(api: Api) -> None:
    secret = {"token": base64.b64encode(b"hush").decode()}
    api.core.create_namespaced_secret(api.namespace, {"metadata": {"name": "keys"}, "data": secret})
    environment: list[dict[str, Any]] = [
        {"name": "PLAIN", "value": "text"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "SCRATCH", "value": "/scratch/work"},
    ]
    volumes = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    script = """if True:
        import kubernetes, os, sys
        print(*os.environ)
        print(*map(os.environ.get, ["PLAIN", "TOKEN", "POD", "NODE"]))
        print(*sys.argv[1:])
        os.mkdir(os.environ["SCRATCH"])
    """
    container = {
        "env": environment,
        "args": ["$(PLAIN)", "/scratch/a", "$(OTHER)"],
        "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
    }
    api.run("looks", script, container, volumes)
    assert api.ended("looks").type == "Complete"
    pod = api.pod("looks")
    names, values, arguments = api.log(pod.metadata.name).decode().splitlines()
    given = {"HOME", "HOSTNAME", "PATH", "TMPDIR"} | {item["name"] for item in environment}
    assert set(names.split()) - {"LC_CTYPE"} == given
    assert values == f"text hush {pod.metadata.name} {pod.spec.node_name}"
    plain, mounted, other = arguments.split()
    assert (plain, other) == ("text", "$(OTHER)")
    assert mounted.endswith("/scratch/a")
    assert mounted != "/scratch/a"


def test_a_secret_that_is_not_there_is_told(api: Api) -> None:
    reference = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}}
    api.run("poor", "pass", {"env": [reference]})
    waiting = api.waiting("poor")
    assert (waiting.reason, waiting.message) == ("CreateContainerConfigError", 'secret "keys" not found')


def test_a_missing_image_is_told(api: Api) -> None:
    api.cluster.missing_images.add("nowhere")
    api.run("imageless", "pass", {"image": "nowhere/image:1"})
    wait_for(lambda: api.waiting("imageless").reason == "ImagePullBackOff")
    assert "nowhere/image:1" in api.waiting("imageless").message
    assert api.pod("imageless").status.phase == "Pending"


def test_a_pod_goes_where_it_may_and_fits(api: Api) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": "4"}}}
    tolerant = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    for name in ("gpus-a", "gpus-b"):
        api.run(name, HOLD, gpus, tolerant)
        api.running(name)
        assert api.pod(name).spec.node_name == "gpu-1"
    api.run("gpus-c", HOLD, gpus, tolerant)
    missing = wait_for(lambda: api.pod("gpus-c").status.conditions)[0]
    assert (missing.type, missing.status, missing.reason) == ("PodScheduled", "False", "Unschedulable")
    short = "3 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint {spot: true}"
    assert missing.message == f"0/5 nodes are available: {short}."
    api.batch.delete_namespaced_job("gpus-a", api.namespace, propagation_policy="Background")
    api.running("gpus-c")


def test_a_pod_that_fits_nowhere_waits_for_a_node(api: Api) -> None:
    large = {"resources": {"requests": {"cpu": "12", "memory": "500Mi"}}}
    api.run("large", "pass", large)
    wait_for(lambda: api.pod("large").status.conditions)
    assert api.pod("large").status.phase == "Pending"
    api.cluster.add_node(Node("large-1", cpu="16"))
    assert api.ended("large").type == "Complete"
    api.cluster.remove_node("large-1")


@pytest.mark.parametrize(("kill", "reason"), [("kill", "Error"), ("kill_out_of_memory", "OOMKilled")])
def test_a_killed_container_ends_with_all_that_it_started(api: Api, kill: str, reason: str) -> None:
    api.run("killed", TOUGH)
    pod = api.running("killed")
    getattr(api.cluster, kill)(pod)
    assert api.ended("killed").reason == "BackoffLimitExceeded"
    terminated = api.terminated("killed")
    assert (terminated.exit_code, terminated.reason) == (137, reason)
    assert gone(processes(api, "killed"))


def test_an_evicted_pod_stays_and_says_why(api: Api) -> None:
    api.run("evicted", HOLD)
    api.cluster.evict(api.running("evicted"))
    assert api.ended("evicted").type == "Failed"
    status = api.pod("evicted").status
    assert (status.phase, status.reason) == ("Failed", "Evicted")
    assert "DisruptionTarget" in [condition.type for condition in status.conditions]


def test_a_preempted_pod_may_end_by_itself_and_is_gone(api: Api) -> None:
    version = api.core.list_namespaced_pod(api.namespace).metadata.resource_version
    api.run("preempted", POLITE)
    pod = api.running("preempted").rpartition("/")[2]
    api.cluster.preempt(f"{api.namespace}/{pod}")
    states = last_states(api, version, pod)
    assert any(item.type == "DisruptionTarget" for item in states[-1].conditions)
    assert states[-1].container_statuses[0].state.terminated.exit_code == 75
    wait_for(lambda: pod not in [item.metadata.name for item in api.pods("preempted")])


def last_states(api: Api, version: str, pod: str) -> list[client.V1PodStatus]:
    """The statuses that a pod had until it was gone."""
    states = []
    stream: Iterator[Any] = watch.Watch().stream(
        api.core.list_namespaced_pod, api.namespace, resource_version=version, timeout_seconds=round(PATIENCE)
    )
    for event in stream:
        if event["object"].metadata.name == pod:
            states.append(event["object"].status)
            if event["type"] == "DELETED":
                break
    return states


def test_a_deleted_pod_that_does_not_end_is_killed_after_its_grace(api: Api) -> None:
    api.run("tough", TOUGH, pod={"terminationGracePeriodSeconds": 1})
    api.running("tough")
    pids = processes(api, "tough")
    began = time.monotonic()
    api.batch.delete_namespaced_job("tough", api.namespace, propagation_policy="Background")
    wait_for(lambda: not api.pods("tough"))
    assert time.monotonic() - began > 0.9
    assert gone(pids)


def test_a_node_that_vanishes_takes_its_pods_along(api: Api) -> None:
    api.run("unlucky", TOUGH, pod=SPOT)
    pod = api.running("unlucky").rpartition("/")[2]
    pids, node = processes(api, "unlucky"), api.pod("unlucky").spec.node_name
    api.cluster.remove_node(node)
    assert gone(pids)
    assert node not in [item.metadata.name for item in api.core.list_node().items]
    wait_for(lambda: pod not in [item.metadata.name for item in api.pods("unlucky")])


def test_a_node_that_gives_notice_lets_its_pods_end(api: Api) -> None:
    version = api.core.list_namespaced_pod(api.namespace).metadata.resource_version
    api.run("noticed", POLITE, pod=SPOT)
    pod = api.running("noticed").rpartition("/")[2]
    api.cluster.remove_node(api.pod("noticed").spec.node_name, notice=5.0)
    states = last_states(api, version, pod)
    assert states[-1].reason == "Terminated"
    assert states[-1].container_statuses[0].state.terminated.exit_code == 75


@pytest.mark.slow
def test_many_tiny_pods(api: Api) -> None:
    """None is lost where many come and end at once."""
    for number in range(20):
        api.run(f"tiny-{number}", "", {"command": ["/bin/true"]})
    wait_for(lambda: all(job["status"].get("succeeded") for job in api.cluster.jobs(api.namespace)))


def test_containers_beside_the_first_are_told_by_name(api: Api) -> None:
    """As servers do: sorted statuses, no log without a name, sidecars of the cluster end with the others."""
    proxy = {"name": "a-proxy", "image": "image", "command": ["python", "-I", "-c", POLITE]}
    main = {"name": "main", "image": "image", "command": ["python", "-I", "-c", "print('done')"]}
    native = {**proxy, "name": "native", "restartPolicy": "Always"}
    api.run("beside", "", pod={"containers": [main, proxy], "initContainers": [native]})

    def statuses() -> Any:
        found = api.pod("beside", "Running").status.container_statuses or [None, None]
        return found if found[1] and found[1].state.terminated else None

    first, second = wait_for(statuses)
    assert (first.name, second.name, second.state.terminated.exit_code) == ("a-proxy", "main", 0)
    assert first.state.running
    pod = api.pod("beside").metadata.name
    with pytest.raises(client.ApiException, match="a container name must be specified for pod"):
        api.log(pod)
    assert api.log(pod, container="main") == b"done\n"
    assert not api.job("beside").status.conditions  # it goes on without its first container
    knows_sidecars = api.pod("beside").spec.init_containers[0].restart_policy  # servers from 1.29 on
    if knows_sidecars:
        wait_for(lambda: api.log(pod, container="native"))
    api.cluster.kill(f"{api.namespace}/{pod}", "a-proxy")
    assert api.ended("beside").type == "Failed"
    if knows_sidecars:
        (ended,) = api.pod("beside").status.init_container_statuses
        assert (ended.name, ended.state.terminated.exit_code) == ("native", 75)
