"""The exported files: names, bytes, metadata; and the engine of browsers, where it is installed."""

import gzip
import hashlib
import io
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
import yaml
from sacrebleu import corpus_chrf

from pipeline.common.errors import InputError
from pipeline.quantize.export import for_browsers, main, model_statistics
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    parse,
    renumber,
    serialize,
)
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny

PACKAGE = "BERGAMOT_TRANSLATOR"  # environment: folder of the npm package @browsermt/bergamot-translator 0.4.9


def arguments(model: Path, output: Path, *more: str) -> list[str]:
    options = {"--model": model, "--src": "en", "--trg": "eo", "--architecture": "tiny", "--output": output}
    return [str(part) for option in options.items() for part in option] + [*more]


def tensor(name: str, kind: int = FLOAT32, size: int = 64) -> Tensor:
    return Tensor(name, kind, (1, size), bytes(256))


@pytest.fixture
def joint(tmp_path: Path) -> Path:
    """A quantised model by hand, with one vocabulary."""
    folder = tmp_path / "joint"
    folder.mkdir()
    config = b"type: transformer\ndim-emb: 64\n".ljust(256, b"\0")
    matrix = Tensor("encoder_l1_W", INTGEMM8, (1, 64), bytes(range(256)))
    tensors = [tensor("Wemb"), matrix, Tensor(CONFIG, INT8, (256,), config)]
    (folder / "model.intgemm8.bin").write_bytes(serialize(tensors))
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(b"vocabulary")
    (folder / "lex.bin").write_bytes(b"shortlist")
    return folder


def test_names_and_contents_with_one_vocabulary(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "lex.50.50.eneo.s2t.bin.gz",
        "metadata.json",
        "model.eneo.intgemm8.bin.gz",
        "stats.json",
        "vocab.eneo.spm.gz",
    ]
    assert gzip.decompress((tmp_path / "out" / "vocab.eneo.spm.gz").read_bytes()) == b"vocabulary"
    assert gzip.decompress((tmp_path / "out" / "lex.50.50.eneo.s2t.bin.gz").read_bytes()) == b"shortlist"


# How the engine of browsers reads a model, after its source, browsermt/marian-dev: the numbers of types in
# src/common/types.h (a class and the bytes of an element), and loadItems in src/common/binary.cpp.
SIGNED, FLOAT, INTGEMM = 0x0100, 0x0400, 0x4000
TYPES_OF_BROWSERS = {SIGNED + 1: "int8", FLOAT + 4: "float32", SIGNED + 1 + INTGEMM: "intgemm8"}


def items_of_browsers(content: bytes) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Name → type, shape and data of each tensor."""
    stream = io.BytesIO(content)

    def numbers(code: str, count: int) -> tuple[int, ...]:
        layout = struct.Struct(f"<{count}{code}")
        return layout.unpack(stream.read(layout.size))

    version, count = numbers("Q", 2)
    assert version == 1
    headers = [numbers("Q", 4) for _ in range(count)]
    names = [stream.read(length).rstrip(b"\0").decode() for length, _, _, _ in headers]
    shapes = [numbers("i", dimensions) for _, _, dimensions, _ in headers]
    stream.read(*numbers("Q", 1))
    assert stream.tell() % 256 == 0
    items = {
        name: (TYPES_OF_BROWSERS[kind], shape, stream.read(size))
        for name, shape, (_, kind, _, size) in zip(names, shapes, headers, strict=True)
    }
    assert stream.read() == b""
    return items


def test_browsers_read_what_is_exported(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    model = gzip.decompress((tmp_path / "out" / "model.eneo.intgemm8.bin.gz").read_bytes())
    items = items_of_browsers(model)
    assert items["Wemb"] == ("float32", (1, 64), bytes(256))
    assert items["encoder_l1_W"] == ("intgemm8", (1, 64), bytes(range(256)))
    kind, shape, data = items["special:model.yml"]
    assert (kind, shape) == ("int8", (256,))
    assert yaml.safe_load(data.rstrip(b"\0")) == {"type": "transformer", "dim-emb": 64}


def test_zipped_files_hold_no_date_and_no_name(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    for file in (tmp_path / "out").glob("*.gz"):
        head = file.read_bytes()[:10]
        assert head[3] == 0, "flags: a file name follows"
        assert head[4:8] == bytes(4), "time of the last change"


def test_two_vocabularies_need_the_option(joint: Path, tmp_path: Path) -> None:
    (joint / "target.spm").write_bytes(b"another")
    with pytest.raises(InputError, match="--split"):
        main(arguments(joint, tmp_path / "out"))
    main(arguments(joint, tmp_path / "split", "--split"))
    assert gzip.decompress((tmp_path / "split" / "srcvocab.eneo.spm.gz").read_bytes()) == b"vocabulary"
    assert gzip.decompress((tmp_path / "split" / "trgvocab.eneo.spm.gz").read_bytes()) == b"another"
    assert not (tmp_path / "split" / "vocab.eneo.spm.gz").exists()


def test_metadata_describes_the_unzipped_model(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    model = gzip.decompress((tmp_path / "out" / "model.eneo.intgemm8.bin.gz").read_bytes())
    assert json.loads((tmp_path / "out" / "metadata.json").read_text()) == {
        "sourceLanguage": "en",
        "targetLanguage": "eo",
        "architecture": "tiny",
        "byteSize": len(model),
        "hash": hashlib.sha256(model).hexdigest(),
        "modelConfig": {"type": "transformer", "dim-emb": 64},
        "modelStatistics": {
            "parameters": 128,
            "encoder_parameters": 64,
            "decoder_parameters": 0,
            "encoder_bytes": 256,
            "decoder_bytes": 0,
            "embeddings_bytes": 256,
        },
    }


@pytest.mark.parametrize(
    ("embeddings", "count"),
    [
        (["Wemb"], 1),
        (["encoder_Wemb", "decoder_Wemb"], 2),
        (["encoder_Wemb", "decoder_Wemb", "decoder_ff_logit_out_W"], 3),
    ],
)
def test_every_embedding_counts_and_only_once(embeddings: list[str], count: int) -> None:
    layers = [tensor("encoder_l1_W"), tensor("decoder_l1_W"), tensor("decoder_ff_logit_out_b")]
    statistics = model_statistics([*map(tensor, embeddings), *layers, tensor(CONFIG, INT8)])
    assert statistics == {
        "parameters": 64 * (count + 3),
        "encoder_parameters": 64,
        "decoder_parameters": 128,
        "encoder_bytes": 256,
        "decoder_bytes": 512,
        "embeddings_bytes": 256 * count,
    }


def test_a_type_that_browsers_may_number_otherwise_is_refused() -> None:
    with pytest.raises(InputError, match="0x10002"):
        for_browsers([tensor("Wemb"), tensor("W", 0x10002)])


def test_a_folder_that_is_not_whole_is_refused(joint: Path, tmp_path: Path) -> None:
    (joint / "lex.bin").unlink()
    with pytest.raises(InputError, match=r"lex\.bin"):
        main(arguments(joint, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.marian
@pytest.mark.slow
def test_only_type_numbers_differ_from_marians_file(quantized: Path, tmp_path: Path) -> None:
    main(arguments(quantized, tmp_path / "out", "--split"))
    exported = gzip.decompress((tmp_path / "out" / "model.eneo.intgemm8.bin.gz").read_bytes())
    original = (quantized / "model.intgemm8.bin").read_bytes()
    tensors = parse(exported)
    assert {found.type for found in tensors} == {FLOAT32, INT8, INTGEMM8_BROWSER}
    assert serialize(renumber(tensors, {INTGEMM8_BROWSER: INTGEMM8})) == original
    assert sum(a != b for a, b in zip(exported, original, strict=True)) == 2 * sum(
        found.type == INTGEMM8_BROWSER for found in tensors
    )


@pytest.mark.marian
@pytest.mark.slow
def test_metadata_of_a_real_student(quantized: Path, tmp_path: Path) -> None:
    main(arguments(quantized, tmp_path / "out", "--split"))
    found = json.loads((tmp_path / "out" / "metadata.json").read_text())
    assert found["modelConfig"]["dim-vocabs"] == [360, 360]
    assert found["modelStatistics"]["embeddings_bytes"] >= 2 * 360 * 64 * 4
    parts = found["modelStatistics"]
    assert parts["parameters"] == parts["encoder_parameters"] + parts["decoder_parameters"] + 2 * 360 * 64


@pytest.mark.marian
@pytest.mark.slow
def test_the_engine_of_browsers_translates_with_it(tiny: Tiny, quantized: Path, tmp_path: Path) -> None:
    package, node = os.environ.get(PACKAGE), shutil.which("node")
    if not package or not node:
        pytest.skip(
            f"needs node, and {PACKAGE}: the folder of the npm package @browsermt/bergamot-translator"
        )
    shutil.copytree(package, tmp_path / "package")
    # The package calls itself a module, but its worker is none.
    (tmp_path / "package" / "worker" / "package.json").write_text('{"type": "commonjs"}')
    main(arguments(quantized, tmp_path / "out", "--split"))
    text = "".join(f"{source} {EMOJI[line % 3]}\n" for line, (source, _) in enumerate(tiny.test_pairs[:30]))
    script = Path(__file__).with_name("browser_engine.mjs")
    command = [node, str(script), str(tmp_path / "package"), str(tmp_path / "out"), "eneo"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    references = [f"{target} {EMOJI[line % 3]}" for line, (_, target) in enumerate(tiny.test_pairs[:30])]
    assert corpus_chrf(result.stdout.splitlines(), [references]).score > 80
