"""Tests of the number of tasks that a script runs at once: by threads and by memory."""

from __future__ import annotations

import pytest

from pipeline.common.resources import at_once


@pytest.mark.parametrize(
    ("threads", "memory", "tasks"),
    [
        (32, 11_596, 2),  # a pod of 12 GiB on a node of 32 cores
        (32, 12_300, 2),  # 600 MB short of three
        (32, 200_000, 16),
        (4, 200_000, 2),
        (1, 500, 1),
    ],
)
def test_tasks_are_as_many_as_threads_and_memory_allow(
    monkeypatch: pytest.MonkeyPatch, threads: int, memory: int, tasks: int
) -> None:
    monkeypatch.setenv("TRANSLATIONS_THREADS", str(threads))
    monkeypatch.setenv("TRANSLATIONS_MEMORY", str(memory))
    assert at_once(4_000, threads_each=2, besides=600) == tasks
