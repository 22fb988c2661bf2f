"""Nothing of a cluster outlives the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.kube.made import wait_for
from tests.runners.scripts import alive


def test_pods_of_a_cluster_end_with_the_process_that_started_it(tmp_path: Path) -> None:
    script = (
        "import os, signal\nfrom tests.kube.cluster import Cluster\nfrom tests.kube.made import Api, TOUGH\n"
        "cluster = Cluster('fake')\napi = Api(cluster, cluster.make_namespace())\n"
        "api.run('job', TOUGH)\nprint(api.log(api.running('job').rpartition('/')[2]).decode(), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    wait_for(lambda: not any(map(alive, pids)))
