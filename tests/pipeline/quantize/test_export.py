"""The exported files: names, bytes, metadata; and the engines that load them."""

import hashlib
import io
import json
import re
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
import zstandard
from fxtranslate import Translator
from sacrebleu import corpus_chrf

from pipeline.common.errors import InputError
from pipeline.common.vocabulary import load_vocabulary
from pipeline.quantize.alphas import browser_model
from pipeline.quantize.calibration import activation_maxima, multiplier
from pipeline.quantize.export import for_browsers, main, model_statistics
from pipeline.quantize.marian_binary import (
    CONFIG,
    FLOAT32,
    INT8,
    INTGEMM8,
    INTGEMM8_BROWSER,
    Tensor,
    float_tensor,
    parse,
    renumber,
    serialize,
)
from pipeline.quantize.student import END, Student, read_weights
from pipeline.train.vocab import learn
from tests.browsers import in_node, missing
from tests.pipeline.alignments.small_corpus import sentence_pairs
from tests.pipeline.quantize.random_model import model_folder
from tests.pipeline.quantize.tiny_model import EMOJI, Tiny


def arguments(model: Path, output: Path, *more: str) -> list[str]:
    options = {"--model": model, "--src": "en", "--trg": "eo", "--architecture": "tiny", "--output": output}
    names = ["--src-name", "English", "--trg-name", "Esperanto"]
    return [str(part) for option in options.items() for part in option] + [*names, *more]


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
    scalar = float_tensor("encoder_l1_W_QuantMultA", [[10.0]])
    alphas = [Tensor("Wemb", INTGEMM8_BROWSER, (1, 64), bytes(256)), scalar]
    matrix = replace(matrix, type=INTGEMM8_BROWSER)
    tensors = [*alphas, matrix, Tensor(CONFIG, INT8, (256,), config)]
    (folder / "model.intgemm.alphas.bin").write_bytes(serialize(tensors))
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(b"vocabulary")
    (folder / "lex.bin").write_bytes(b"shortlist")
    return folder


def test_names_and_contents_with_one_vocabulary(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    names = ["lex.50.50.eneo.s2t.bin", "model.eneo.intgemm.alphas.bin", "vocab.eneo.spm"]
    attachments = [f"{name}.zst" for name in names]
    jsons = ["metadata.json", "records.json", "stats.json"]
    locally = ["model_info.json", "config.intgemm8bitalpha.yml"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [*names, *attachments, *jsons, *locally]
    )
    originals = [joint / name for name in ("lex.bin", "model.intgemm.alphas.bin", "source.spm")]
    for name, original in zip(names, originals, strict=True):
        content = (tmp_path / "out" / name).read_bytes()
        assert content == original.read_bytes()
        packed = (tmp_path / "out" / f"{name}.zst").read_bytes()
        assert zstandard.ZstdDecompressor().decompress(packed) == content


def test_records_are_those_of_remote_settings(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    records = json.loads((tmp_path / "out" / "records.json").read_text())
    assert [record["fileType"] for record in records] == ["model", "lex", "vocab"]
    vocabulary, packed = records[-1], (tmp_path / "out" / "vocab.eneo.spm.zst").read_bytes()
    assert vocabulary == {
        "name": "vocab.eneo.spm",
        "fileType": "vocab",
        "sourceLanguage": "en",
        "targetLanguage": "eo",
        "architecture": "tiny",
        "decompressedHash": hashlib.sha256(b"vocabulary").hexdigest(),
        "decompressedSize": len(b"vocabulary"),
        "attachment": {
            "hash": hashlib.sha256(packed).hexdigest(),
            "size": len(packed),
            "filename": "vocab.eneo.spm.zst",
            "mimetype": "application/zstd",
        },
    }


# What translateLocally's `ModelManager::parseModelInfo` reads of model_info.json, and of which type
MODEL_INFO = {
    **dict.fromkeys(("modelName", "shortName", "type", "src", "trg", "trgTag"), str),
    **dict.fromkeys(("version", "API"), int),
    "srcTags": dict,
}


@pytest.mark.parametrize("has_shortlist", [True, False])
def test_translate_locally_finds_all_files_of_its_model(
    has_shortlist: bool, joint: Path, tmp_path: Path
) -> None:
    if not has_shortlist:
        (joint / "lex.bin").unlink()
    main(arguments(joint, tmp_path / "out"))
    info = json.loads((tmp_path / "out" / "model_info.json").read_text())
    assert {key: type(value) for key, value in info.items()} == MODEL_INFO
    assert (info["modelName"], info["shortName"]) == ("English-Esperanto tiny", "en-eo-tiny")
    assert (info["srcTags"], info["trgTag"]) == ({"en": "English"}, "eo")
    config = yaml.safe_load((tmp_path / "out" / "config.intgemm8bitalpha.yml").read_text())
    assert config["relative-paths"] is True
    assert config["gemm-precision"] == "int8shiftAlphaAll"  # with the multipliers that the model holds
    assert config["vocabs"] == ["vocab.eneo.spm"] * 2
    assert config.get("shortlist") == (["lex.50.50.eneo.s2t.bin", False] if has_shortlist else None)
    for name in (*config["models"], *config["vocabs"], *config.get("shortlist", [])[:1]):
        assert (tmp_path / "out" / name).is_file()


def test_two_vocabularies_and_a_language_with_a_script(joint: Path, tmp_path: Path) -> None:
    more = ("--split", "--trg", "zh_hant", "--trg-name", "Chinese")
    main(arguments(joint, tmp_path / "out", *more))
    config = yaml.safe_load((tmp_path / "out" / "config.intgemm8bitalpha.yml").read_text())
    assert config["vocabs"] == ["srcvocab.enzh_hant.spm", "trgvocab.enzh_hant.spm"]
    info = json.loads((tmp_path / "out" / "model_info.json").read_text())
    assert (info["shortName"], info["trgTag"], info["trg"]) == ("en-zh-hant-tiny", "zh-hant", "Chinese")


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
    main(arguments(joint, tmp_path / "out", "--intgemm8"))
    items = items_of_browsers((tmp_path / "out" / "model.eneo.intgemm.alphas.bin").read_bytes())
    assert items["Wemb"] == ("intgemm8", (1, 64), bytes(256))
    assert items["encoder_l1_W"] == ("intgemm8", (1, 64), bytes(range(256)))
    assert items["encoder_l1_W_QuantMultA"] == ("float32", (1, 1), struct.pack("<f", 10) + bytes(252))
    kind, shape, data = items["special:model.yml"]
    assert (kind, shape) == ("int8", (256,))
    assert yaml.safe_load(data.rstrip(b"\0")) == {"type": "transformer", "dim-emb": 64}
    items = items_of_browsers((tmp_path / "out" / "model.eneo.intgemm8.bin").read_bytes())
    assert items["Wemb"] == ("float32", (1, 64), bytes(256))
    assert items["encoder_l1_W"] == ("intgemm8", (1, 64), bytes(range(256)))


def test_two_vocabularies_need_the_option(joint: Path, tmp_path: Path) -> None:
    (joint / "target.spm").write_bytes(b"another")
    with pytest.raises(InputError, match="--split"):
        main(arguments(joint, tmp_path / "out"))
    main(arguments(joint, tmp_path / "split", "--split"))
    assert (tmp_path / "split" / "srcvocab.eneo.spm").read_bytes() == b"vocabulary"
    assert (tmp_path / "split" / "trgvocab.eneo.spm").read_bytes() == b"another"
    assert not (tmp_path / "split" / "vocab.eneo.spm").exists()


def test_metadata_describes_the_model(joint: Path, tmp_path: Path) -> None:
    main(arguments(joint, tmp_path / "out"))
    model = (tmp_path / "out" / "model.eneo.intgemm.alphas.bin").read_bytes()
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


def test_a_model_without_a_shortlist(joint: Path, tmp_path: Path) -> None:
    (joint / "lex.bin").unlink()
    main(arguments(joint, tmp_path / "out"))
    records = json.loads((tmp_path / "out" / "records.json").read_text())
    assert [record["fileType"] for record in records] == ["model", "vocab"]
    assert not [*(tmp_path / "out").glob("lex*")]


def test_a_folder_that_is_not_whole_is_refused(joint: Path, tmp_path: Path) -> None:
    (joint / "target.spm").unlink()
    with pytest.raises(InputError, match=r"target\.spm"):
        main(arguments(joint, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.marian
@pytest.mark.slow
def test_only_type_numbers_differ_from_marians_file(quantized: Path, tmp_path: Path) -> None:
    main(arguments(quantized, tmp_path / "out", "--split", "--intgemm8"))
    exported = (tmp_path / "out" / "model.eneo.intgemm8.bin").read_bytes()
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
    assert found["modelStatistics"]["embeddings_bytes"] >= 2 * 360 * 64
    parts = found["modelStatistics"]
    assert parts["parameters"] == parts["encoder_parameters"] + parts["decoder_parameters"] + 2 * 360 * 64


def with_emoji(tiny: Tiny) -> tuple[list[str], list[str]]:
    """Sentences of the test set and their translations, each with an emoji."""
    pairs = [
        (f"{source} {EMOJI[line % 3]}", f"{target} {EMOJI[line % 3]}")
        for line, (source, target) in enumerate(tiny.test_pairs[:30])
    ]
    return [source for source, _ in pairs], [target for _, target in pairs]


@pytest.mark.marian
@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "shortlist"), [("intgemm.alphas", True), ("intgemm.alphas", False), ("intgemm8", True)]
)
def test_the_engine_of_browsers_translates_with_it(
    tiny: Tiny, quantized: Path, tmp_path: Path, form: str, shortlist: bool
) -> None:
    if reason := missing("node"):
        pytest.skip(reason)
    model = shutil.copytree(quantized, tmp_path / "model")
    if not shortlist:
        (model / "lex.bin").unlink()
    main(arguments(model, tmp_path / "out", "--split", "--intgemm8"))
    sentences, references = with_emoji(tiny)
    translations = in_node(tmp_path / "out", sentences, form).translations
    assert corpus_chrf(translations, [references]).score > 80


@pytest.mark.marian
@pytest.mark.slow
@pytest.mark.parametrize("shortlist", [True, False])
def test_firefoxs_engine_in_native_code_translates_with_it(
    tiny: Tiny, quantized: Path, tmp_path: Path, shortlist: bool
) -> None:
    main(arguments(quantized, tmp_path / "out", "--split"))
    read = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    translator = Translator(
        read["model.eneo.intgemm.alphas.bin"],
        read["srcvocab.eneo.spm"],
        read["trgvocab.eneo.spm"],
        read["lex.50.50.eneo.s2t.bin"] if shortlist else None,
    )
    sentences, references = with_emoji(tiny)
    translations = [by_characters(translator.translate(sentence)) for sentence in sentences]
    assert corpus_chrf(translations, [references]).score > 80


def by_characters(translation: str) -> str:
    """A translation without names of byte pieces: fxtranslate 0.5.0 writes `<0xF0><0x9F>…` for an emoji."""
    return re.sub(
        "(?:<0x[0-9A-F]{2}>)+",
        lambda names: bytes.fromhex(re.sub("<0x|>", "", names[0])).decode(errors="replace"),
        translation,
    )


def test_firefoxs_engine_reads_text_as_the_vocabulary_normalises_it(tmp_path: Path) -> None:
    """Marks of direction inside and around words change nothing, while a space does."""
    model = model_folder(tmp_path / "model", "tiny", True)
    sentences = [sentence for sentence, _ in sentence_pairs(200)]
    (model / "source.spm").write_bytes(learn(sentences, 320, "nfd"))
    spelled = load_vocabulary(model / "source.spm")
    maxima = activation_maxima(model / "model.npz", [([*spelled.encode(sentences[0]), END],) * 2])
    alphas = {matrix: multiplier(values) for matrix, values in maxima.items()}
    weights = serialize(browser_model(read_weights(model / "model.npz"), alphas))
    translator = Translator(weights, *((model / "source.spm").read_bytes() for _ in range(2)))
    plain = sentences[:20]
    translations = [translator.translate(sentence) for sentence in plain]
    marked = [f"\u202b{sentence[:5]}\u200f{sentence[5:]}\u202c\u200e" for sentence in plain]
    assert [translator.translate(sentence) for sentence in marked] == translations
    spaced = [f"{sentence[:5]} {sentence[5:]}" for sentence in plain]
    assert [translator.translate(sentence) for sentence in spaced] != translations  # so that it could differ


@pytest.mark.parametrize("joint", [True, False], ids=["joint", "split"])
@pytest.mark.parametrize("name", ["tiny", "base", "base-memory"])
def test_firefoxs_engine_translates_as_the_student_does(tmp_path: Path, name: str, joint: bool) -> None:
    """The first pieces are mostly the same, though with random weights they differ little in likelihood.

    fxtranslate 0.5.0 writes byte pieces by their names.
    """
    model = model_folder(tmp_path / "model", name, joint)
    source, target = load_vocabulary(model / "source.spm"), load_vocabulary(model / "target.spm")
    sentences = [sentence for sentence, _ in sentence_pairs(20)]
    lines = [[*source.encode(sentence), END] for sentence in sentences]
    maxima = activation_maxima(model / "model.npz", [(line, line) for line in lines])
    alphas = {matrix: multiplier(values) for matrix, values in maxima.items()}
    weights = read_weights(model / "model.npz")
    vocabularies = [(model / f"{side}.spm").read_bytes() for side in ("source", "target")]
    translator = Translator(serialize(browser_model(weights, alphas)), *vocabularies)
    student = Student(weights)
    same = 0
    for sentence, line in zip(sentences, lines, strict=True):
        first = "".join(target.id_to_piece(piece) for piece in student.translate(line)[:1])
        same += translator.translate(sentence).startswith(first.removeprefix("\u2581"))
    assert same >= 12
