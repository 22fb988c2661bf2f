"""Models in the layout of OPUS-MT's releases: pipeline.translate.fetch_opusmt and convert_opusmt."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.packed import pack, unpack
from pipeline.common.resources import marian_command
from pipeline.common.vocabulary import load_vocabulary
from pipeline.eval.systems import translate
from pipeline.train.vocab import learn
from pipeline.translate import convert_opusmt, fetch_opusmt
from pipeline.translate.convert import CONFIG, read_pieces, read_weights
from pipeline.translate.ctranslate2_decoder import Decoder
from pipeline.translate.ctranslate2_options import read_settings
from tests.pipeline.train import tiny
from tests.pipeline.translate.converted import converted
from tests.pipeline.translate.test_with_ctranslate2 import translated
from tests.session import new_folder, once
from translations_assets.stages.handles import CONVERTED_FILES

WEIGHTS = "opus.spm32k-spm32k.transformer-align.model1.npz.best-perplexity.npz"
VOCABULARY = "opus.spm32k-spm32k.vocab.yml"
FILES = {"decoder.yml", WEIGHTS, VOCABULARY, "source.spm", "target.spm"}
LANGUAGE = ">>xxx<<"
LINES = [source for source, _ in tiny.pairs(100, seed=3)]
NEVER = -1e4  # bias of what the model cannot write


@cache
def release() -> Path:
    """`tiny.model()` as OPUS-MT would release it."""
    return once("opusmt", lambda folder: write_release(folder / "release")) / "release"


def write_release(folder: Path) -> None:
    """Number the pieces of both languages anew, in one vocabulary."""
    folder.mkdir()
    model = tiny.model()
    arrays, options = read_weights(model / "model.npz")
    sides = [read_pieces(model / f"{side}.spm") for side in ("source", "target")]
    pieces = ["</s>", "<unk>", *sorted({*sides[0], *sides[1]} - {"</s>", "<unk>"}), LANGUAGE]
    for name, own in zip(("encoder_Wemb", "decoder_Wemb"), sides, strict=True):
        arrays[name] = placed(arrays[name], own, pieces, 0)
    strongest = arrays["encoder_Wemb"][np.abs(arrays["encoder_Wemb"]).sum(axis=1).argmax()]
    arrays["encoder_Wemb"][pieces.index(LANGUAGE)] = 5 * strongest  # nobody has trained it
    bias = arrays["decoder_ff_logit_out_b"].T
    arrays["decoder_ff_logit_out_b"] = placed(bias, sides[1], pieces, NEVER).T
    options["dim-vocabs"] = [len(pieces)] * 2
    arrays[CONFIG] = np.frombuffer(yaml.safe_dump(options).encode() + b"\0", dtype=np.int8)
    with (folder / WEIGHTS).open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    (folder / VOCABULARY).write_text(
        yaml.safe_dump(numbers, allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    for side in ("source", "target"):
        shutil.copyfile(model / f"{side}.spm", folder / f"{side}.spm")
    (folder / "decoder.yml").write_text(decoder())


def placed(rows: Any, own: list[str], pieces: list[str], other: float) -> Any:
    """Rows of a matrix where their pieces stand in another vocabulary."""
    found = np.full((len(pieces), rows.shape[1]), other, np.float32)
    for row, piece in zip(rows, own, strict=True):
        found[pieces.index(piece)] = row
    return found


def decoder(**options: object) -> str:
    return yaml.safe_dump(
        {
            "models": [WEIGHTS],
            "vocabs": [VOCABULARY, VOCABULARY],
            "beam-size": 6,
            "relative-paths": True,
            **options,
        }
    )


def convert(folder: Path, *prefix: str) -> Path:
    """The converted model of a release."""
    work = new_folder()
    pack(folder, work / "model.tar")
    words = ["--source-prefix", *prefix] if prefix else []
    convert_opusmt.main(["--model", str(work / "model.tar"), *words, "--output", str(work / "out")])
    return work / "out"


@cache
def converted_release() -> Path:
    return convert(release())


def changed(folder: Path) -> Path:
    return Path(shutil.copytree(release(), folder / "release"))


@pytest.mark.marian
def test_the_folder_is_that_of_a_converted_model() -> None:
    output = converted_release()
    assert {path.name for path in output.iterdir()} == {*CONVERTED_FILES, "tokens.json", "stats.json"}
    assert json.loads((output / "tokens.json").read_text()) == {"source-prefix": [], "target-prefix": []}
    with np.load(release() / WEIGHTS) as arrays:
        size = sum(arrays[name].size for name in arrays.files if name != CONFIG)
    assert json.loads((output / "stats.json").read_text())["parameters"] == size
    assert [path.read_bytes() for path in sorted(convert(release()).iterdir())] == [
        path.read_bytes() for path in sorted(output.iterdir())
    ]


@pytest.mark.marian
@pytest.mark.parametrize("beam", [1, 4])
def test_it_translates_as_the_model_whose_pieces_were_numbered_anew(beam: int) -> None:
    options: dict[str, object] = {"beam-size": beam, "normalize": 1}
    expected, found = (
        [*read_lines(translated(model, LINES, options) / "translations.zst")]
        for model in (converted(), converted_release())
    )
    assert found == expected
    assert len({*found}) > len(LINES) / 2


@pytest.mark.marian
@pytest.mark.parametrize("prefix", [[], [LANGUAGE]], ids=["one language", "several languages"])
def test_it_translates_as_marian_does_with_pieces_before_and_after(prefix: list[str]) -> None:
    """OPUS-MT's own way: SentencePiece, Marian with the vocabulary of pieces, SentencePiece."""
    output = convert(release(), *prefix)
    assert json.loads((output / "tokens.json").read_text())["source-prefix"] == prefix
    found = translated(output, LINES, {"beam-size": 1, "normalize": 1}) / "translations.zst"
    # The decoders may bound a translation that does not end by one piece more or less.
    pairs = [*zip(read_lines(found), by_marian(prefix), strict=True)]
    assert sum(ours == marians for ours, marians in pairs) >= 0.95 * len(pairs)
    assert (by_marian([]) == by_marian(prefix)) == (not prefix)


@cache
def _marian(pieces: str) -> str:
    return subprocess.run(
        [
            *(*marian_command(), "decode", "--models", str(release() / WEIGHTS)),
            *("--vocabs", *[str(release() / VOCABULARY)] * 2, "--beam-size", "1", "--normalize", "1"),
            *(
                "--max-length",
                "200",
                "--max-length-crop",
                "--cpu-threads",
                "1",
                "--mini-batch",
                "8",
                "--quiet",
            ),
        ],
        input=pieces,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def by_marian(prefix: list[str]) -> list[str]:
    """The translations of the lines as OPUS-MT's own scripts make them."""
    source, target = (load_vocabulary(release() / f"{side}.spm") for side in ("source", "target"))
    pieces = [" ".join([*prefix, *source.encode(line, out_type=str)]) for line in LINES]
    made = _marian("".join(f"{line}\n" for line in pieces))
    return [target.decode(line.split(" ")) for line in made.splitlines()]


@pytest.mark.marian
def test_a_piece_that_only_the_sources_model_has_is_written(tmp_path: Path) -> None:
    folder = changed(tmp_path)
    arrays, _ = read_weights(folder / WEIGHTS)
    numbers = yaml.safe_load((folder / VOCABULARY).read_text(encoding="utf-8"))
    sides = [{*read_pieces(folder / f"{side}.spm")} for side in ("source", "target")]
    piece = max(one for one in sides[0] - sides[1] if one.startswith("▁"))
    arrays["decoder_ff_logit_out_b"][0, numbers[piece]] = -NEVER
    with (folder / WEIGHTS).open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    found = translated(convert(folder), LINES[:1], {"beam-size": 1, "max-length-factor": 0.5})
    (line,) = read_lines(found / "translations.zst")
    assert {*line.split(" ")} == {piece.removeprefix("▁")}


@pytest.mark.marian
def test_the_token_counts_among_the_pieces_that_are_read() -> None:
    output = convert(release(), LANGUAGE)
    source = load_vocabulary(output / "source.spm")
    kept = {line: source.encode(line)[:4] for line in LINES}
    short = {line: source.decode(pieces) for line, pieces in kept.items()}
    same = [line for line in LINES if source.encode(short[line]) == kept[line]]
    options: dict[str, object] = {"beam-size": 1, "normalize": 1, "mini-batch": 1}
    cropped = translated(output, same, {**options, "max-length": 6}) / "translations.zst"
    expected = translated(output, [short[line] for line in same], options) / "translations.zst"
    assert len(same) > 5
    assert [*read_lines(cropped)] == [*read_lines(expected)]


@pytest.mark.marian
def test_a_length_that_the_tokens_fill_is_told() -> None:
    with pytest.raises(InputError, match=r"max-length 2 leaves no room .*>>xxx<<\. Raise it"):
        Decoder(convert(release(), LANGUAGE), read_settings({"max-length": 2}))
    Decoder(convert(release(), LANGUAGE), read_settings({"max-length": 3}))


@pytest.mark.marian
def test_it_is_compared_with_other_systems(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in LINES[:5]))
    made = translate(converted_release(), tmp_path / "text", tmp_path)
    assert made.engine == "ctranslate2"
    assert made.lines == translate(converted(), tmp_path / "text", tmp_path).lines


@pytest.mark.marian
def test_a_token_that_the_model_lacks_is_told() -> None:
    with pytest.raises(InputError, match=r"no token '>>xx<<'\. Did you mean '>>xxx<<'"):
        convert(release(), ">>xx<<")


@pytest.mark.marian
def test_pieces_of_another_model_are_told(tmp_path: Path) -> None:
    folder = changed(tmp_path)
    rng = random.Random(1)
    text = [" ".join("".join(rng.choices("абвгдежзик", k=4)) for _ in range(6)) for _ in range(600)]
    (folder / "target.spm").write_bytes(learn(text, 720, "nfd"))
    with pytest.raises(InputError, match=r"of the \d+ pieces of target\.spm: they belong to different"):
        convert(folder)


@pytest.mark.marian
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"models": [WEIGHTS, WEIGHTS]}, "must name one model"),
        ({"vocabs": ["source.spm", "target.spm"]}, "write type: default"),
        ({"vocabs": []}, "write type: default"),
        ({"models": ["other.npz"]}, r"has no other\.npz"),
    ],
)
def test_another_layout_is_told(tmp_path: Path, options: dict[str, object], said: str) -> None:
    folder = changed(tmp_path)
    (folder / "decoder.yml").write_text(decoder(**options))
    with pytest.raises(InputError, match=said):
        convert(folder)


@pytest.mark.marian
@pytest.mark.parametrize(
    ("option", "value"), [("transformer-ffn-activation", "gelu"), ("type", "s2s"), ("right-left", True)]
)
def test_a_model_that_would_be_decoded_otherwise_is_told(tmp_path: Path, option: str, value: object) -> None:
    folder = changed(tmp_path)
    arrays, options = read_weights(folder / WEIGHTS)
    arrays[CONFIG] = np.frombuffer(yaml.safe_dump({**options, option: value}).encode() + b"\0", dtype=np.int8)
    with (folder / WEIGHTS).open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=rf"cannot decode {WEIGHTS} as Marian does: (?s:.*){option}"):
        convert(folder)


@pytest.mark.marian
def test_a_vocabulary_of_another_size_is_told(tmp_path: Path) -> None:
    folder = changed(tmp_path)
    lines = (folder / VOCABULARY).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / VOCABULARY).write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(InputError, match=rf"cannot decode {WEIGHTS}"):
        convert(folder)


def fetch(url: str, output: Path) -> tuple[dict[str, bytes], Any]:
    fetch_opusmt.main(["--url", url, "--output", str(output)])
    files = unpack(output / "model.tar", output.with_name("unpacked"))
    return {path.name: path.read_bytes() for path in files.iterdir()}, json.loads(
        (output / "stats.json").read_text()
    )


def write_made_up(folder: Path, **options: object) -> dict[str, bytes]:
    """The files of a release, of which only decoder.yml is one, with others beside them."""
    folder.mkdir()
    contents = {name: name.encode() for name in FILES} | {"decoder.yml": decoder(**options).encode()}
    for name, content in {**contents, "README.md": b"?", "preprocess.sh": b"?"}.items():
        (folder / name).write_bytes(content)
    return contents


@pytest.mark.parametrize("inner", ["", "opus-2021-02-18/"])
def test_a_release_is_fetched_as_an_archive(tmp_path: Path, inner: str) -> None:
    expected = write_made_up(tmp_path / "release")
    with zipfile.ZipFile(tmp_path / "opus-2021-02-18.zip", "w") as archive:
        for path in (tmp_path / "release").iterdir():
            archive.write(path, f"{inner}{path.name}")
    files, stats = fetch(f"file://{tmp_path}/opus-2021-02-18.zip", tmp_path / "out")
    assert files == expected
    assert stats["bytes"] == {name: len(content) for name, content in sorted(expected.items())}
    assert [source["bytes"] for source in stats["source"]] == [
        (tmp_path / "opus-2021-02-18.zip").stat().st_size
    ]


def test_a_release_is_fetched_as_a_folder(tmp_path: Path) -> None:
    expected = write_made_up(tmp_path / "release", vocabs=[f"/home/opus/{VOCABULARY}"])
    files, stats = fetch(f"file://{tmp_path}/release/", tmp_path / "out")
    assert files == expected
    assert sorted(Path(source["url"]).name for source in stats["source"]) == sorted(FILES)


def test_what_a_release_lacks_is_told(tmp_path: Path) -> None:
    write_made_up(tmp_path / "release")
    (tmp_path / "release" / "target.spm").unlink()
    with pytest.raises(InputError, match=r"no file .*target\.spm"):
        fetch(f"file://{tmp_path}/release", tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        archive.write(tmp_path / "release" / "source.spm", "source.spm")
    with pytest.raises(InputError, match=r"holds no decoder\.yml"):
        fetch(f"file://{tmp_path}/release.zip", tmp_path / "out2")
