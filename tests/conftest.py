"""For all tests: order, parts, the session's folder, no fsync, the cluster on demand, allowed skips."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import marian
from tests.allowed_skips import ALLOWED_SKIPS
from tests.session import VARIABLE, begin
from tests.shared_home import share_home
from tests.shared_keys import share_keys

# A loaded machine takes its time, and a change lands or not by the same examples as another
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

if TYPE_CHECKING:
    from tests.kube.cluster import Cluster


@pytest.fixture(autouse=True)
def _another_command_line() -> None:
    """The command line in a test has a project of its own, over what the environment names, and talks."""
    if project := sys.modules.get("translations_assets.project"):
        project.this_project.cache_clear()
    if output := sys.modules.get("translations_assets.cli.output"):
        output.be_quiet(False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that this session's workers share; what this process writes waits for no disk."""
    patch = pytest.MonkeyPatch()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell starts what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # else no child hears of it either
    patch.setattr(os, "fsync", lambda descriptor: None)  # else a third of the time of the store's tests
    marian.start_sooner()
    share_keys()
    share_home()
    config.add_cleanup(patch.undo)
    if not hasattr(config, "workerinput"):
        folder = os.environ[VARIABLE] = mkdtemp(prefix="tests.")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.add_cleanup(partial(os.close, begin(Path(folder))))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--slow-part`, for machines on which all slow tests would take too long."""
    parser.addoption("--slow-part", type=_part, help="of the slow tests those of part K of N: K/N")


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not 1 <= int(number) <= int(parts):
        raise ValueError(text)
    return int(number), int(parts)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests of other parts, and begin with the files that have slow ones.

    No worker is left with a long file at the end. A part has every N-th of these files.
    """
    files = list(dict.fromkeys(item.path for item in items if item.get_closest_marker("slow")))
    number, parts = config.getoption("--slow-part") or (1, 1)
    begun_with = files[number - 1 :: parts]
    left_out = set(files) - set(begun_with)
    gone = [item for item in items if item.path in left_out and item.get_closest_marker("slow")]
    items[:] = [item for item in items if item not in set(gone)]
    items.sort(key=lambda item: item.path not in begun_with)
    if gone:
        config.hook.pytest_deselected(items=gone)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt imported and collected objects from garbage collection, since they stay."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def pytest_report_header() -> str:
    """Say whether the tests marked `cluster` use a real API server."""
    from tests.kube.cluster import BINARIES, best_kind

    if best_kind() == "real":
        return "cluster: a fake of its API, and a real API server"
    return f"cluster: a fake of its API; {BINARIES} names no folder with a real API server's programs"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With REQUIRE_ALL=1 a skip is a failure, but of those that are allowed."""
    report = yield
    name = item.nodeid.partition("[")[0]
    is_allowed = name in ALLOWED_SKIPS or name.partition("::")[0] in ALLOWED_SKIPS
    if (
        report.skipped
        and os.environ.get("REQUIRE_ALL") == "1"
        and not is_allowed
        and not hasattr(report, "wasxfail")
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome, report.longrepr = "failed", f"REQUIRE_ALL=1 allows no skip here. {reason}"
    return report


@pytest.fixture(scope="module")  # a real one that nothing uses still takes a twentieth of a processor
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A Kubernetes cluster; a parameter says which, `fake` or `real`, else the fake one."""
    from tests.kube.cluster import BINARIES, Cluster, Kind, binaries

    kind: Kind = getattr(request, "param", "fake")
    if kind == "real" and not binaries():
        pytest.skip(f"{BINARIES} names no folder with a real API server's programs")
    made = Cluster(kind)
    yield made
    made.close()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the cluster, emptied afterwards; nodes and images are as before then."""
    name = cluster.make_namespace()
    yield name
    cluster.restore()
    cluster.empty(name)
