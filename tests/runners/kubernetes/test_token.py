"""A token that is rotated while a run goes on: the server refuses the old one at once."""

from __future__ import annotations

import pytest

from tests.runners.kubernetes.places import Place
from tests.runners.scripts import COPY, eventually

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.parametrize("cluster", ["fake", "real"], indirect=True, scope="module"),
]


def test_a_run_goes_on_with_the_token_that_its_file_holds_now(place: Place) -> None:
    run = place.run()
    running = run.start(place.talking(number=1))
    assert eventually(lambda: "line 3" in run.lines["step-1"])
    place.cluster.rotate_token()
    with place.cluster.api_away(0.0):  # watches and logs that were open before are begun again
        pass
    assert run.start(place.job(COPY, 2)).result(60).kind == "done"
    place.go()
    assert running.result(60).kind == "done"
    lines = [line for line in run.lines["step-1"] if line.startswith("line")]
    assert lines == [f"line {number}" for number in range(len(lines))]
