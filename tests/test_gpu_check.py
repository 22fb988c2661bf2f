"""`make gpu-check`: what it says without a GPU and of one, and the same way on a CPU, from end to end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import gpu_check
from benchmarks.gpu_check import NO_GPU, Row, main
from tests.runners.test_machine import nvidia_smi

SMI = """case "$*" in
*index,uuid,memory.total*) echo '0, GPU-a, 16384'; echo '1, GPU-b, 24576' ;;
*compute_cap*) echo 'Tesla V100, 535.1, 7.0, 16384 MiB' ;;
esac"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine of the tests, and less text."""
    monkeypatch.setattr(gpu_check, "cpu_count", lambda: 2)


def test_without_a_gpu_it_says_what_it_did_not_check(programs: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == NO_GPU  # a text is exit code 1
    assert "Not checked: training of a teacher" in NO_GPU


def test_gpus_are_given_as_workers_give_them(programs: Path) -> None:
    nvidia_smi(programs, SMI)
    machine = gpu_check.on_gpus(None)
    assert machine
    assert machine.gpus == ["0", "1"]
    assert machine.environment["TRANSLATIONS_GPUS"] == "0 1"
    assert machine.environment["TRANSLATIONS_WORKSPACE"] == "12288"
    only = gpu_check.on_gpus(["1"])
    assert only
    assert only.environment["TRANSLATIONS_GPUS"] == "1"
    assert gpu_check.on_gpus(["7"]) is None


def test_the_table_tells_the_gpus_and_how_busy_they_were(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nvidia_smi(programs, SMI)
    rows = [
        Row("teacher, training", 54321.4, 0.876, 11 << 30, 180, ["9 updates"]),
        Row("x", notes=["failed: a|b"]),
    ]
    monkeypatch.setattr(gpu_check, "check", lambda *_: rows)
    with pytest.raises(SystemExit) as ended:
        main(["--gpus", "0", "--output", str(tmp_path / "found.md")])
    assert ended.value.code == 1  # one has failed
    found = (tmp_path / "found.md").read_text()
    assert found == capsys.readouterr().out
    assert "Tesla V100 (driver 535.1, compute capability 7.0, 16384 MiB); " in found
    assert "workspace 12288 MB" in found
    assert "| teacher, training | 54,321 | 88% | 11,264 MB | 9 updates |" in found
    assert r"| x | – | – | – | failed: a\|b |" in found


def test_words_for_the_money(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """50,000 words a second are 180 million an hour, which costs 2.50."""
    nvidia_smi(programs, SMI)
    rows = [Row("teacher, training", 50_000, 0.9, 1 << 30), Row("student, training", 1.25)]
    monkeypatch.setattr(gpu_check, "check", lambda *_: rows)
    main(["--price", "2.50", "--currency", "EUR"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4:-2] == [
        "| what | words/s | words per EUR | GPU use | GPU memory | notes |",
        "|---|---|---|---|---|---|",
    ]
    assert lines[-2] == "| teacher, training | 50,000 | 72.00 million | 90% | 1,024 MB |  |"
    with pytest.raises(SystemExit):
        main(["--price", "0"])


@pytest.mark.marian
@pytest.mark.slow
def test_the_same_way_on_a_cpu(small: None, tmp_path: Path) -> None:
    main(["--cpu", "--minutes", "0", "--output", str(tmp_path / "found.md")])
    lines = (tmp_path / "found.md").read_text().splitlines()
    assert lines[0].startswith("CPU, 2 cores: small models, the command tried without a GPU. 0 minutes each")
    found = [re.fullmatch(r"\| (.*) \| ([\d,]+) \| – \| – \| (.*) \|", line) for line in lines[4:]]
    assert [row[1] for row in found if row] == [
        "teacher, training",
        "teacher, decoding by Marian",
        "teacher, decoding by CTranslate2",
        "student, training",
        "student, finetuning",
    ]
    assert all(row and int(row[2].replace(",", "")) > 0 for row in found)
    for number in (0, 3, 4):
        trained = re.fullmatch(
            r"(\d+) updates of 500 words in 1 micro-batch a device", (found[number] or [""] * 4)[3]
        )
        assert trained
        assert int(trained[1]) > 15


@pytest.mark.slow
def test_what_fails_is_told_and_the_rest_is_tried(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_MARIAN", "/bin/false")
    with pytest.raises(SystemExit):
        main(["--cpu", "--minutes", "0", "--output", str(tmp_path / "found.md")])
    found = (tmp_path / "found.md").read_text()
    assert re.search(
        r"teacher, training .* failed: .*error: marian train --dump-config failed \(status 1\)", found
    )
    assert "| teacher, decoding by Marian | – | – | – | failed: there is no teacher |" in found
    assert "| student, finetuning | – | – | – | failed: there is no student |" in found
    assert len(re.findall("failed: ", found)) >= 5
