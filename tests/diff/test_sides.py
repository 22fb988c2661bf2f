"""Names of what is compared: runs, partitions, variants, times; and names that mean nothing."""

import re
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.diff.values import SPACE, publish, run
from tests.store.values import finish
from translations_assets.common.errors import TranslationsError
from translations_assets.diff.sides import Side, find_side
from translations_assets.store.local import LocalStore

DAY = datetime(2026, 11, 20).timestamp()
HOUR = 3600.0


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    """Results of a partition on two days, and of two variants of it."""
    store = LocalStore(tmp_path)
    publish(store, "0a-first", DAY + 10 * HOUR, finish(store, "first", {"a": b"1"}))
    publish(store, "0b-second", DAY + 34 * HOUR, finish(store, "second", {"a": b"2"}))
    publish(
        store, "0c-variant", DAY + 36 * HOUR, finish(store, "third", {"a": b"3"}), {"experiment.name": "x"}
    )
    return store


def labels(side: Side) -> list[str]:
    return [*side.results]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("", "second"),
        (":2026-11-20", "first"),  # its end
        (":2026-11-21", "second"),
        (":2026-11-20T10:00", "first"),
        (":2026-11-21T09:59", "first"),
        (":2026-11-21T10:00", "second"),
    ],
)
def test_a_partition_is_what_it_was_at_a_time(store: LocalStore, at: str, expected: str) -> None:
    side = find_side(store, SPACE, f"en-ru{at}")
    assert labels(side) == [expected]
    assert (side.name, side.is_run, side.pair) == (f"en-ru{at}", False, ("en", "ru"))


def test_a_time_may_have_a_zone(store: LocalStore) -> None:
    utc = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(DAY + 20 * HOUR))
    assert labels(find_side(store, SPACE, f"en-ru:{utc}Z")) == ["first"]


def test_a_variant_has_results_of_its_own_and_may_be_named_by_a_beginning(store: LocalStore) -> None:
    (variant,) = (ref.partition for ref in _variants(store))
    for name in (variant, variant[: len("en-ru@") + 3]):
        side = find_side(store, SPACE, name)
        assert (labels(side), side.partition) == (["third"], variant)
        assert side.overrides == '--set=experiment.name="x"'
    publish(store, "0d-other", DAY, finish(store, "fourth", {"a": b"4"}), {"experiment.name": "y"})
    with pytest.raises(
        TranslationsError, match=r"Several variants begin with en-ru@: en-ru@\w+, en-ru@\w+\."
    ):
        find_side(store, SPACE, "en-ru@")


def _variants(store: LocalStore) -> list[Side]:
    return [side for side in (find_side(store, SPACE, run) for run in store.runs()) if "@" in side.partition]


def test_a_run_may_be_named_by_a_beginning(store: LocalStore) -> None:
    side = find_side(store, SPACE, "0a")
    assert (side.name, side.is_run, labels(side)) == ("0a-first", True, ["first"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("en-lt", r"no run, partition or variant 'en-lt'\. It has results of: .*en-ru.* The newest runs: 0"),
        ("ffff", r"no run, partition or variant 'ffff'\. .* To list them: translations status"),
        (
            "en-ru:2026-11-19",
            r"en-ru had no results then: the first that are known are of 2026-11-20 10:00\.",
        ),
        ("en-ru:yesterday", r"'yesterday' is no time\. Write a time as 2026-11-20T12:00, or a day as 2026"),
        ("0a:2026-11-20", r"0a is a run, which has one state: leave out :2026-11-20"),
        ("0", r"Several runs begin with 0: 0a-first, 0b-second, 0c-variant\. Give more of the id\."),
        ("", r"no run, partition or variant ''"),
    ],
)
def test_a_name_that_means_nothing_is_told_what_there_is(store: LocalStore, name: str, said: str) -> None:
    with pytest.raises(TranslationsError, match=said):
        find_side(store, SPACE, name)


def test_results_of_another_space_are_pointed_at(store: LocalStore) -> None:
    with pytest.raises(
        TranslationsError, match=r"The space ann has no results of en-ru\. .* TRANSLATIONS_SPACE=here"
    ):
        find_side(store, "ann", "en-ru")


def test_a_run_without_results_and_an_empty_store_are_said(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with pytest.raises(TranslationsError, match=re.escape("There is no run yet.")):
        find_side(store, SPACE, "en-ru")
    with pytest.raises(TranslationsError, match="Run 1a has no results yet"):
        run(store, "1a")


def test_what_the_store_has_lost_is_named(store: LocalStore) -> None:
    made, gone = finish(store, "first", {"a": b"1"}), finish(store, "gone", {"a": b"2"})
    (path,) = (path for path in (store.root / "steps").rglob("*.json") if gone.key in str(path))
    path.unlink()
    assert run(store, "1a", made, gone).gone == ["gone"]
