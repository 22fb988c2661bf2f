"""Scripts that take hours are killed in the middle, or told to end: the next attempt makes the same bytes.

Their blocks are a few lines here, and each is saved. What works on lines notes these, and waits where it
comes to a line `wait`, as long as there is a file of this name.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.alignments import eflomal_runs, priors
from pipeline.common.lines import read_lines, write_lines
from pipeline.common.script import EX_TEMPFAIL
from tests.pipeline.alignments.small_corpus import sentence_pairs, write_corpus
from tests.pipeline.common.test_marian import empty_model
from tests.pipeline.translate.converted import converted

LINES = [f"line number {number}" for number in range(20)] + ["wait"] + [f"more {n}" for n in range(8)]
BEFORE = 16  # lines in whole blocks of four before the one that waits
CONFIGS = Path("pipeline/translate/configs").absolute()

STAND_IN = """\
#!{python}
import sys, time, yaml
from pathlib import Path

options = yaml.safe_load(Path(sys.argv[3]).read_text())
files = options.get("input") or options["train-sets"]
rows = list(zip(*(Path(file).read_text().splitlines() for file in files)))
with open(options["output"], "w") as output, open("{folder}/noted", "a") as noted:
    for number, row in enumerate(rows):
        if "wait" in row and Path("{folder}/wait").exists():
            time.sleep(300)
        print(*row, file=noted, flush=True)
        for _ in range(options["beam-size"] if options.get("n-best") else 0):
            print(f"{{number}} ||| {{row[0].upper()}} ||| F0= -1 ||| -1", file=output, flush=True)
        if not options.get("n-best"):
            print(-len(" ".join(row)) if "{command}" == "score" else row[0].upper(), file=output, flush=True)
"""
# What a script is run by: its own lines, and those that make blocks small, note and wait.
PROGRAM = """
import sys, time
from pathlib import Path
from pipeline.common import finished
from pipeline.common.script import run
finished.BLOCK_ROWS, finished.SAVE_SECONDS = 4, 0.0
def note(line):
    if line == "wait" and Path("{folder}/wait").exists():
        time.sleep(300)
    with open("{folder}/noted", "a") as noted:
        print(line, file=noted)
{patch}
from {module} import main
run(main)
"""


@dataclass(frozen=True)
class Case:
    """A script, its options, what makes it note and wait, and the command of Marian's that it runs."""

    module: str
    arguments: Sequence[object]
    patch: str = ""
    marian: str = ""


def texts(folder: Path) -> tuple[Path, Path]:
    write_lines(folder / "text.zst", LINES)
    write_lines(folder / "other.zst", [f"other of {line}" for line in LINES])
    return folder / "text.zst", folder / "other.zst"


def translate(folder: Path, *more: object) -> Case:
    text, _ = texts(folder)
    decoding = [
        "--decoding-config",
        CONFIGS / "teacher.yml",
        "--marian-args",
        '{"beam-size": 3, "maxi-batch": 2}',
    ]
    arguments = ["--models", empty_model(folder), "--text", text, *decoding, *more]
    return Case("pipeline.translate.translate", arguments, marian="decode")


def nbest(folder: Path) -> Case:
    return translate(folder, "--nbest")


def score(folder: Path) -> Case:
    source, target = texts(folder)
    arguments = ["--model", empty_model(folder), "--model-source", source, "--model-target", target]
    patch = "from pipeline.common import marian; marian.SCORING |= {'mini-batch': 2, 'maxi-batch': 2}"
    return Case("pipeline.cefilter.score", arguments, patch, marian="score")


def ctranslate2(folder: Path) -> Case:
    text, _ = texts(folder)
    args = '{"beam-size": 2, "mini-batch": 2, "mini-batch-words": 0, "maxi-batch": 2}'
    decoding = ["--decoding-config", CONFIGS / "teacher.yml", "--marian-args", args, "--nbest"]
    patch = """
from pipeline.translate.ctranslate2_decoder import Decoder
start = Decoder._start
Decoder._start = lambda self, lines: start(self, [note(line) or line for line in lines])
"""
    return Case(
        "pipeline.translate.with_ctranslate2", ["--model", converted(), "--text", text, *decoding], patch
    )


def extract_best(folder: Path) -> Case:
    _, references = texts(folder)
    entries = [
        f"{number} ||| {line}{end} ||| F0= -1 ||| -1"
        for number, line in enumerate(LINES)
        for end in ("", "!")
    ]
    write_lines(folder / "nbest.zst", entries)
    patch = """
from pipeline.translate import extract_best
extract_best.BLOCK_SENTENCES = 4
nearest = extract_best.nearest
extract_best.nearest = lambda found, text: note(text.removeprefix("other of ")) or nearest(found, text)
"""
    arguments = ["--nbest", folder / "nbest.zst", "--references", references]
    return Case("pipeline.translate.extract_best", arguments, patch)


def mbr(folder: Path) -> Case:
    text, _ = texts(folder)
    extract_best(folder)  # for its n-best lists
    patch = """
from pipeline.translate import mbr
mbr.BLOCK_SENTENCES = 4
choose = mbr.choose
mbr.choose = lambda found: note(found[0]) or choose(found)
"""
    return Case("pipeline.translate.mbr", ["--nbest", folder / "nbest.zst", "--text", text], patch)


def command(case: Case, folder: Path, name: str) -> list[str]:
    program = PROGRAM.format(folder=folder, patch=case.patch, module=case.module)
    return [sys.executable, "-c", program, *map(str, case.arguments), "--output", str(folder / name)]


def environment(case: Case, folder: Path) -> dict[str, str]:
    if case.marian:
        stand_in = folder / "marian"
        stand_in.write_text(STAND_IN.format(python=sys.executable, folder=folder, command=case.marian))
        stand_in.chmod(0o755)
    granted = {
        "TRANSLATIONS_CHECKPOINTS": folder / "kept",
        "TRANSLATIONS_MARIAN": folder / "marian",
        "TRANSLATIONS_THREADS": 2,
    }
    return {**os.environ, **{name: str(value) for name, value in granted.items()}}


def noted(folder: Path) -> list[str]:
    path = folder / "noted"
    return path.read_text().splitlines() if path.exists() else []


def results(output: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in output.iterdir()}


def until(done: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    """Wait until a function says that it is so, for two minutes at most."""
    for _ in range(1200):
        if done():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    pytest.fail("waited for two minutes")


def newest(folder: Path) -> str:
    return max((path.name for path in (folder / "kept").glob("rows-*")), default="")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("make", [translate, nbest, score, ctranslate2, extract_best, mbr])
def test_the_next_attempt_goes_on_to_the_same_bytes(
    tmp_path: Path, make: Callable[[Path], Case], number: signal.Signals
) -> None:
    case = make(tmp_path)
    environ = environment(case, tmp_path)
    whole = {**environ, "TRANSLATIONS_CHECKPOINTS": ""}
    subprocess.run(command(case, tmp_path, "whole"), env=whole, check=True, capture_output=True)
    (tmp_path / "noted").unlink()
    (tmp_path / "wait").touch()
    rows = BEFORE * (3 if make is nbest else 2 if make is ctranslate2 else 1)
    with subprocess.Popen(command(case, tmp_path, "first"), env=environ, stderr=subprocess.PIPE) as first:
        until(lambda: newest(tmp_path) >= f"rows-{rows:012d}", first)
        first.send_signal(number)
        said = first.communicate(timeout=60)[1].decode()  # nothing that waits is waited for
    assert first.returncode == (EX_TEMPFAIL if number == signal.SIGTERM else -number), said
    assert ("Stopped by SIGTERM" in said) == (number == signal.SIGTERM)
    (tmp_path / "wait").unlink()
    (tmp_path / "noted").unlink()
    subprocess.run(command(case, tmp_path, "second"), env=environ, check=True, capture_output=True)
    assert results(tmp_path / "second") == results(tmp_path / "whole")
    again = {line.partition(" other of")[0] for line in noted(tmp_path)}
    assert again.isdisjoint(LINES[:BEFORE])
    assert {*LINES[20:]} <= again


def leave_sets(case: Case, folder: Path) -> dict[str, str]:
    """Run a case to its end and leave its sets; the environment in which another run finds them."""
    environ = environment(case, folder)
    subprocess.run(command(case, folder, "first"), env=environ, check=True, capture_output=True)
    return environ


@pytest.mark.parametrize("make", [translate, nbest, score, ctranslate2, extract_best, mbr])
def test_the_sets_of_another_text_are_refused(tmp_path: Path, make: Callable[[Path], Case]) -> None:
    case = make(tmp_path)
    environ = leave_sets(case, tmp_path)
    before = sorted(path.name for path in (tmp_path / "kept").iterdir())
    for name in ("text.zst", "other.zst"):
        write_lines(tmp_path / name, LINES[:5])
    if make in (extract_best, mbr):
        write_lines(tmp_path / "nbest.zst", [f"{n} ||| a ||| F0= -1 ||| -1" for n in range(5)])
    again = subprocess.run(command(case, tmp_path, "second"), env=environ, check=False, capture_output=True)
    assert again.returncode == 1, again.stderr
    assert "of another input: the " in again.stderr.decode()
    assert "Traceback" not in again.stderr.decode()
    assert not any((tmp_path / "second").iterdir())
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == before


@pytest.mark.parametrize(
    ("make", "difference"),
    [(translate, "beam-size is 5, and was 3"), (ctranslate2, "beam is 5, and was 2")],
)
def test_the_sets_of_other_options_are_refused(
    tmp_path: Path, make: Callable[[Path], Case], difference: str
) -> None:
    case = make(tmp_path)
    environ = leave_sets(case, tmp_path)
    arguments = [str(argument).replace('"beam-size": 3', '"beam-size": 5') for argument in case.arguments]
    arguments = [argument.replace('"beam-size": 2', '"beam-size": 5') for argument in arguments]
    other = Case(case.module, arguments, case.patch, case.marian)
    again = subprocess.run(command(other, tmp_path, "second"), env=environ, check=False, capture_output=True)
    assert again.returncode == 1
    assert difference in again.stderr.decode()


@pytest.mark.parametrize("make", [translate, nbest, score, ctranslate2, extract_best, mbr])
def test_more_lines_than_the_text_has_are_no_result(tmp_path: Path, make: Callable[[Path], Case]) -> None:
    """1,536 lines came out for a text of 50 once; here is a set of this text that has too many."""
    case = make(tmp_path)
    environ = leave_sets(case, tmp_path)
    facts = max((tmp_path / "kept").glob("rows-*")) / "made-from.json"
    forged = tmp_path / "kept" / "rows-000000001536"
    forged.mkdir()
    write_lines(forged / "000000000000-000000001536.zst", ["0.5 line"] * 1536)
    (forged / "made-from.json").write_bytes(facts.read_bytes())
    again = subprocess.run(command(case, tmp_path, "second"), env=environ, check=False, capture_output=True)
    assert again.returncode == 1
    wanted = len(LINES) * (3 if make is nbest else 2 if make is ctranslate2 else 1)
    assert f"1,536 lines were made of {tmp_path}" in again.stderr.decode()
    assert f"which wants {wanted:,}; none is kept" in again.stderr.decode()
    assert not any((tmp_path / "second").iterdir())


WRAPPER = """\
#!/bin/sh
case "$(head -1 "$2")" in 37*) [ -e {folder}/wait ] && sleep 300;; esac
echo "$2" >> {folder}/noted
exec {program} "$@"
"""
SITE = """
from pathlib import Path
from pipeline.alignments import eflomal_runs
eflomal_runs.PROGRAM = Path("{folder}/eflomal")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_aligned_blocks_are_not_aligned_again(tmp_path: Path, number: signal.Signals) -> None:
    """Two blocks of 100 pairs, and one of 37 that waits. Links are sampled: those that are kept stay."""
    source, target = write_corpus(tmp_path, sentence_pairs(237))
    texts = ["--src", "en", "--trg", "eo", "--corpus-src", str(source), "--corpus-trg", str(target)]
    priors.main([*texts, "--sample-size", "1000", "--output", str(tmp_path / "priors")])
    (tmp_path / "eflomal").write_text(WRAPPER.format(folder=tmp_path, program=eflomal_runs.PROGRAM))
    (tmp_path / "eflomal").chmod(0o755)
    (tmp_path / "sitecustomize.py").write_text(
        SITE.format(folder=tmp_path)
    )  # for processes that it starts, too
    patch = """
from functools import partial
from pipeline.alignments import align, blocks
align.align_blocks = partial(blocks.align_blocks, block_lines=100)
"""
    arguments = [*texts, "--priors", tmp_path / "priors" / "corpus.priors"]
    case = Case("pipeline.alignments.align", arguments, patch)
    environ = environment(case, tmp_path) | {"PYTHONPATH": f"{tmp_path}:{Path.cwd()}"}
    (tmp_path / "wait").touch()
    with subprocess.Popen(command(case, tmp_path, "first"), env=environ, stderr=subprocess.PIPE) as first:
        until(lambda: newest(tmp_path) == "rows-000000000200", first)
        first.send_signal(number)
        said = first.communicate(timeout=60)[1].decode()  # ends when all that it has started has ended
    assert first.returncode == (EX_TEMPFAIL if number == signal.SIGTERM else -number), said
    (tmp_path / "wait").unlink()
    for name in ("second", "third"):  # from the same sets
        (tmp_path / "noted").unlink()
        subprocess.run(command(case, tmp_path, name), env=environ, check=True, capture_output=True)
        assert len(noted(tmp_path)) == 2  # one block, in both directions
        for saved in (tmp_path / "kept").glob("rows-*237"):
            saved.rename(tmp_path / f"{name}-set")
    aligned = [[*read_lines(tmp_path / name / "corpus.aln.zst")] for name in ("second", "third")]
    assert aligned[0][:200] == aligned[1][:200]
    assert len(aligned[0]) == 237
    assert sum(map(bool, aligned[0])) > 200
