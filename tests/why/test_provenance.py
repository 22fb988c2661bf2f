"""The output of --provenance is enough to repeat an artifact: here by running the lines that it prints."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.store.values import finish, manifest
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.why.provenance import made_from, provenance

UPPER = """
import argparse, os, pathlib
parser = argparse.ArgumentParser()
for name in ("--text", "--suffix", "--output"):
    parser.add_argument(name)
args = parser.parse_args()
text = pathlib.Path(args.text).read_text().upper() + args.suffix + os.environ["NUMBER"]
pathlib.Path(args.output).mkdir()
(pathlib.Path(args.output) / "text").write_text(text)
"""


def bundle(script: str) -> bytes:
    """A code bundle with one module, `pipeline.upper`."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, text in (("pipeline/__init__.py", ""), ("pipeline/upper.py", script)):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


def upper(store: LocalStore, label: str, text: Blob, outputs: bytes, **more: Any) -> Manifest:
    """A finished step that ran the script."""
    return finish(
        store,
        label,
        {"text": outputs},
        {"text/a file": text},
        script="pipeline.upper",
        args={"suffix": "it's", "seed": 3},
        env={"NUMBER": "7"},
        worker={
            "command": ["pipeline.upper", "--text", "in/text/a file", "--suffix=it's", "--output", "out"],
            "threads": 2,
            "gpus": 0,
            "workspace": 512,
        },
        bundle=bundle(UPPER),
        **more,
    )


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    """An empty store in a folder."""
    return LocalStore(tmp_path / "store")


def test_the_printed_lines_repeat_an_artifact_byte_by_byte(local: LocalStore, tmp_path: Path) -> None:
    """Of the second step the input was collected: it is the first one's output, which is repeated before."""
    source = local.add_bytes(b"a repository file ")
    first = upper(local, "first", source, b"A REPOSITORY FILE it's7")
    second = upper(local, "second", first.outputs["text"], b"A REPOSITORY FILE IT'S7it's7", stage="export")
    told = json.loads(json.dumps(provenance(local, second)))
    assert [step["label"] for step in told["steps"]] == ["first", "second"]
    collect(local, Rules(keep_days=0, keep_refs=0, grace_days=0), delete=True)
    assert not local.has_blob(first.outputs["text"])
    assert json.loads(json.dumps(provenance(local, second))) == told, "known after the collection, too"
    for step in told["steps"]:
        folder = tmp_path / step["label"]
        folder.mkdir()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        subprocess.run(
            ["bash", "-ec", "\n".join(step["repeat"])],
            cwd=folder,
            env={"PATH": path, "STORE": str(local.root)},
            check=True,
            timeout=60,
        )
        data = (folder / "out" / "text").read_bytes()
        assert hashlib.sha256(data).hexdigest() == step["outputs"]["text"]["digest"]
        local.add_bytes(data)


def test_everything_that_counts_is_told(local: LocalStore) -> None:
    first = upper(local, "first", local.add_bytes(b"rules"), b"1", revision="abc", python="3.11")
    second = upper(
        local, "second", first.outputs["text"], b"2", options={"start": "merge_corpus"}, libraries={"x": "1"}
    )
    told = provenance(local, second)
    one, two = told["steps"]
    assert one["code"]["revision"] == "abc"
    assert one["code"]["bundle"] == vars(first.bundle)
    assert one["seeds"] == {"seed": 3}
    assert one["inputs"]["text/a file"]["file"] == "of the repository"
    assert two["inputs"]["text/a file"] == {
        "digest": first.outputs["text"].digest,
        "size": 1,
        "made_by": "first",
        "output": "text",
    }
    assert (two["options"], two["versions"]["libraries"]) == ({"start": "merge_corpus"}, {"x": "1"})
    assert two["command"][:3] == ["python", "-m", "pipeline.upper"]
    assert [source["label"] for source in told["sources"]] == ["first"]
    assert list(told["configs"].values()) == [{"experiment": {"src": "en", "trg": "ru"}}]


def test_makers_are_found_by_the_runs_record_without_reading_all_manifests() -> None:
    store = MemoryStore()
    first = finish(store, "first", {"text": b"1"})
    second = finish(store, "second", {"text": b"2"}, {"text/text": first.outputs["text"]})
    store.write_run("run-1", RunRecord(uses={"first": (first.key, 1), "second": (second.key, 1)}))
    store.manifests = lambda: (_ for _ in ()).throw(AssertionError("all were read"))  # type: ignore[method-assign]
    assert [step["label"] for step in provenance(store, second)["steps"]] == ["first", "second"]


def test_a_manifest_that_records_little_is_told_all_the_same() -> None:
    store = MemoryStore()
    made = manifest({"out": store.add_bytes(b"x")})
    (step,) = provenance(store, made)["steps"]
    assert (step["label"], step["inputs"], step["arguments"]) == (made.label, {}, {"parts": 3})


def test_a_long_chain_is_no_trouble() -> None:
    store = MemoryStore()
    made = finish(store, "0", {"text": b"0"})
    for number in range(1, 1500):
        made = finish(store, str(number), {"text": b"%d" % number}, {"text/text": made.outputs["text"]})
    assert [step["label"] for step in provenance(store, made)["steps"]] == [str(n) for n in range(1500)]


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("collected", [False, True])
def test_a_step_that_hands_on_what_it_reads_is_not_its_own_maker(
    local: LocalStore, recorded: bool, collected: bool
) -> None:
    """An export has the bytes of the quantised model; a training hands on its vocabulary."""
    vocabulary = finish(local, "vocabulary", {"vocab.spm": b"v"}, ended=1)
    given = {"vocab/vocab.spm": vocabulary.outputs["vocab.spm"]}
    student = finish(local, "student", {"vocab.spm": b"v", "model": b"m"}, given, ended=2)
    read = {f"model/{name}": blob for name, blob in student.outputs.items()}
    quantized = finish(local, "quantized", {"vocab.spm": b"v", "model.bin": b"q"}, read, ended=3)
    read = {f"model/{name}": blob for name, blob in quantized.outputs.items()}
    exported = finish(
        local, "exported", {"v.spm": b"v", "model.enru.bin": b"q"}, read, stage="export", ended=4
    )
    steps = (vocabulary, student, quantized, exported)
    if recorded:
        local.write_run("run-1", RunRecord(uses={made.label: (made.key, 1) for made in steps}))
    if collected:
        collect(local, Rules(keep_days=0, keep_refs=0, grace_days=0), delete=True)
        assert {made.label for made in local.retired()} == {"vocabulary", "student", "quantized"}
    assert [made.label for made in made_from(local, exported)] == [made.label for made in steps]


def test_of_steps_that_made_the_same_the_one_before_counts() -> None:
    """Compressing what was decompressed makes the first contents again, from what was made of them."""
    store = MemoryStore()
    first = finish(store, "first", {"text.zst": b"z"}, ended=1)
    plain = finish(store, "plain", {"text": b"t"}, {"text.zst": first.outputs["text.zst"]}, ended=2)
    again = finish(store, "again", {"text.zst": b"z"}, {"text": plain.outputs["text"]}, ended=3)
    for record in ((again, plain, first), (first, plain, again)):
        uses = {made.label: (made.key, 1) for made in record}
        store.write_run("run-1", RunRecord(uses=uses))
        assert [made.label for made in made_from(store, plain)] == ["first", "plain"]
        assert [made.label for made in made_from(store, again)] == ["first", "plain", "again"]
