"""A pod's log over connections that break: every line once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.runners.kubernetes import pod_log
from translations_assets.runners.kubernetes.cluster import (
    ClusterAway,
    ClusterError,
    Missing,
    Refused,
    Unavailable,
)
from translations_assets.runners.kubernetes.pod_log import PodLog, lines_after


class Log:
    """A pod's log as the API server gives it; each connection brings so many bytes and then breaks."""

    def __init__(
        self, stamped: Sequence[bytes], breaks: Sequence[int | ClusterError] = (), piece: int = 7
    ) -> None:
        self.stamped, self.breaks, self.piece = stamped, list(breaks), piece
        self.asked: list[tuple[str, bool]] = []

    def log(self, pod: str, since: str, *, follow: bool) -> Iterator[bytes]:
        assert pod == "pod"
        self.asked.append((since, follow))
        end = self.breaks.pop(0) if self.breaks else None
        if isinstance(end, ClusterError):
            raise end
        lines = [line for line in self.stamped if line[:19] >= since[:19].encode()]
        data = b"".join(line + b"\n" for line in lines)[:end]
        for at in range(0, len(data), self.piece):
            yield data[at : at + self.piece]
        if end is not None:
            raise ClusterAway("the connection broke")

    def read(self, ended: bool = True) -> list[bytes]:
        """All lines; `ended` says whether the pod had ended before the first connection."""
        states = iter([ended])
        log = PodLog(self, "pod", lambda: next(states, True), lambda seconds: None)  # type: ignore[arg-type]
        return list(log.lines())


def stamp(second: int, part: int, text: bytes) -> bytes:
    return b"2026-01-31T12:00:%02d.%09dZ %b" % (second, part, text)


def test_lines_come_without_their_time() -> None:
    assert Log([stamp(1, 5, b"one"), stamp(1, 5, b""), stamp(2, 0, b"a b")]).read() == [b"one", b"", b"a b"]


@given(
    moments=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12).map(sorted),
    breaks=st.lists(st.integers(0, 200), max_size=6),
    piece=st.integers(1, 90),
)
def test_every_line_comes_once_however_often_the_connection_breaks(
    moments: list[tuple[int, int]], breaks: list[int], piece: int
) -> None:
    stamped = [stamp(second, part, b"%d" % number) for number, (second, part) in enumerate(moments)]
    assert Log(stamped, breaks, piece).read() == [b"%d" % number for number in range(len(moments))]


def test_a_connection_goes_on_where_the_last_one_broke() -> None:
    stamped = [stamp(1, 0, b"a"), stamp(2, 5, b"b"), stamp(3, 0, b"c")]
    log = Log(stamped, [2 * len(stamped[0]) + 4])
    assert log.read(ended=False) == [b"a", b"b", b"c"]
    assert log.asked == [("", True), ("2026-01-31T12:00:02Z", False)]


def test_lines_that_the_node_has_thrown_away_meanwhile_are_told() -> None:
    stamped = [stamp(1, 0, b"a"), stamp(2, 5, b"b"), stamp(3, 0, b"c"), stamp(3, 1, b"d")]
    log = Log(stamped, [len(stamped[0]) + 1])

    def keep_the_end(_seconds: float) -> None:
        log.stamped = stamped[2:]

    first, told, *rest = PodLog(log, "pod", lambda: True, keep_the_end).lines()  # type: ignore[arg-type]
    assert [first, *rest] == [b"a", b"c", b"d"]
    assert told.startswith(
        b"[lines from 2026-01-31T12:00:01.000000000Z to 2026-01-31T12:00:03.000000000Z are"
    )


def test_times_may_have_a_zone() -> None:
    stamped = [b"2026-01-31T12:00:01.5+02:00 a", b"2026-01-31T12:00:02.5+02:00 b"]
    log = Log(stamped, [len(stamped[0]) + 3])
    assert log.read() == [b"a", b"b"]
    assert log.asked[1][0] == "2026-01-31T12:00:01+02:00"


def test_a_log_that_is_followed_is_read_once_more_when_the_pod_has_ended() -> None:
    log = Log([stamp(1, 0, b"a")])
    assert log.read(ended=False) == [b"a"]
    assert [follow for _, follow in log.asked] == [True, False]


@pytest.mark.parametrize("error", [Missing("gone"), ClusterError("400: terminated")])
def test_a_log_that_is_gone_ends(error: ClusterError) -> None:
    breaks = [error] * 9
    assert Log([stamp(1, 0, b"a")], breaks).read() == []


def test_a_node_that_does_not_answer_is_given_up_but_an_api_server_is_not() -> None:
    assert Log([stamp(1, 0, b"a")], [Unavailable("500")] * 9).read() == []
    assert Log([stamp(1, 0, b"a")], [ClusterAway("refused")] * 99).read() == [b"a"]


def test_why_a_log_cannot_be_read_is_known_until_it_can() -> None:
    log = Log([stamp(1, 0, b"a")], [Refused("403: no right to pods/log")] * 3)
    troubles = list[str]()
    states = iter([False])
    reading = PodLog(log, "pod", lambda: next(states, True), lambda _: troubles.append(reading.trouble))  # type: ignore[arg-type]
    assert list(reading.lines()) == [b"a"]
    assert troubles == ["403: no right to pods/log"] * 3
    assert reading.trouble == ""


def test_a_very_long_line_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_log, "LONGEST", 50)
    lines = Log([stamp(1, 0, b"x" * 200), stamp(1, 1, b"y")]).read()
    assert b"".join(lines[:-1]) == b"x" * 200
    assert lines[-1] == b"y"
    assert max(map(len, lines)) <= 60


STORED = [b"a\nb\n", b"a", b"\nc\nd"]


@pytest.mark.parametrize(
    ("seen", "last", "rest"),
    [
        (0, b"", [b"a", b"b", b"a", b"c", b"d"]),
        (3, b"a", [b"c", b"d"]),
        (4, b"a", [b"c", b"d"]),  # the pod had a line more
        (1, b"a", [b"b", b"a", b"c", b"d"]),
        (4, b"x", [b"a", b"b", b"a", b"c", b"d"]),
        (5, b"d", []),
        (7, b"z", []),  # the store has not got all of it
    ],
)
def test_a_stored_log_goes_on_where_the_pods_broke_off(seen: int, last: bytes, rest: list[bytes]) -> None:
    assert list(lines_after(lambda: iter(STORED), seen, last)) == rest
