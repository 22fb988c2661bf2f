"""A tiny pair, trained once through every stage for all tests that look at what came out."""

import pytest

from tests.end_to_end.tiny import PARTITION, Place, make_place


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The tiny pair with every stage made by `translations train`."""
    place = make_place(tmp_path_factory.mktemp("tiny"))
    done = place.run("translations", "train", PARTITION, "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    return place
