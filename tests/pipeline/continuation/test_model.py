"""Fetching a model of an earlier run: from this pipeline's folders and from Mozilla's."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.common.marian import decode, load_model
from pipeline.continuation.addresses import weights_urls
from pipeline.continuation.model import main
from tests.pipeline.continuation.test_vocabulary import SIZE, learned
from tests.pipeline.train import tiny

DESCRIBED = {
    "type": "transformer",
    "dim-emb": 32,
    "enc-depth": 2,
    "transformer-heads": 2,
    "dim-vocabs": [SIZE, SIZE],
    "tied-embeddings-all": False,
    "version": "v1",
}


def write_weights(path: Path, described: Mapping[str, object], bias: float = 0.0) -> None:
    """A file as Marian's weights are, with one parameter."""
    text = yaml.safe_dump(dict(described)).encode() + b"\0"
    arrays: dict[str, Any] = {"special:model.yml": np.frombuffer(text, np.int8), "bias": np.array([bias])}
    with path.open("wb") as file:
        np.savez(file, **arrays)


def write_vocabs(folder: Path, src: str = "source.spm", trg: str = "target.spm") -> None:
    (folder / src).write_bytes(learned(0))
    (folder / trg).write_bytes(learned(1))


def fetch(folder: Path, *options: str, metric: str = "chrf") -> Path:
    """Fetch the model whose folder it is."""
    given = ["--url", folder.as_uri(), "--best-model", metric, *options]
    main(["--src", "en", "--trg", "ru", *given, "--output", str(folder / "out")])
    return folder / "out"


def bias(path: Path) -> float:
    with np.load(path) as arrays:
        return float(arrays["bias"][0])


def read_stats(out: Path) -> Any:
    return json.loads((out / "stats.json").read_text())


def test_a_folder_of_this_pipeline(tmp_path: Path) -> None:
    write_weights(tmp_path / "model.npz", DESCRIBED)
    write_vocabs(tmp_path)
    (tmp_path / "decoder.yml").write_text("relative-paths: true\nmodels: [x]\nbeam-size: 4\nnormalize: 1\n")
    out = fetch(tmp_path)
    assert sorted(path.name for path in out.iterdir()) == [
        *("decoder.yml", "marian-args.yml", "model.npz", "source.spm", "stats.json", "target.spm")
    ]
    model = load_model(out)
    assert model.weights.read_bytes() == (tmp_path / "model.npz").read_bytes()
    assert model.target_vocab.read_bytes() == learned(1)
    assert (model.settings["beam-size"], model.settings["normalize"]) == (4, 1)
    assert yaml.safe_load((out / "decoder.yml").read_text())["models"] == ["model.npz"]


def test_what_shapes_the_model_is_told_as_options(tmp_path: Path) -> None:
    """Sizes of vocabularies and sharing of embeddings follow from the vocabularies."""
    write_weights(tmp_path / "model.npz", DESCRIBED)
    write_vocabs(tmp_path)
    options = yaml.safe_load((fetch(tmp_path) / "marian-args.yml").read_text())
    assert options == {"type": "transformer", "dim-emb": 32, "enc-depth": 2, "transformer-heads": 2}


@pytest.mark.parametrize("vocabs", [("vocab.en.spm", "vocab.ru.spm"), ("vocab.spm", "vocab.spm")])
def test_a_folder_of_mozillas(tmp_path: Path, vocabs: tuple[str, str]) -> None:
    """model.npz is the last save there; the best ones have the metric in their names."""
    for number, name in enumerate(
        ["model.npz", "model.npz.best-bleu-detok.npz", "final.model.npz.best-chrf.npz"]
    ):
        write_weights(tmp_path / name, DESCRIBED, bias=number)
    write_vocabs(tmp_path, *vocabs)
    (tmp_path / "final.model.npz.best-chrf.npz.decoder.yml").write_text("beam-size: 8\nword-penalty: 0.1\n")
    out = fetch(tmp_path)
    assert bias(out / "model.npz") == 2
    assert (out / "source.spm").read_bytes() == (tmp_path / vocabs[0]).read_bytes()
    assert load_model(out).settings["beam-size"] == 8
    assert load_model(out).settings["word-penalty"] == 0.1
    assert [source["url"] for source in read_stats(out)["source"]] == [
        (tmp_path / name).as_uri() for name in ("final.model.npz.best-chrf.npz", *vocabs)
    ]


def test_the_best_model_by_the_configs_metric_is_taken_then_by_another_one(tmp_path: Path) -> None:
    urls = weights_urls("https://example.org/m/", "bleu-detok", "enru")
    *names, alphas, plain = [url.rpartition("/")[2] for url in urls]
    assert (alphas, plain) == ("model.enru.intgemm.alphas.bin", "model.enru.intgemm8.bin")
    assert names[0] == "final.model.npz.best-bleu-detok.npz"
    assert names[-1] == "model.npz"
    for number, name in enumerate(names):
        write_weights(tmp_path / name, DESCRIBED, bias=number)
    write_vocabs(tmp_path)
    taken = []
    for name in names:
        taken.append(bias(fetch(tmp_path, metric="bleu-detok") / "model.npz"))
        (tmp_path / name).unlink()
        shutil.rmtree(tmp_path / "out")
    assert taken == list(range(len(names)))


def test_vocabularies_that_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    write_weights(tmp_path / "m" / "model.npz", DESCRIBED)
    write_vocabs(tmp_path, "v.en", "v.ru")
    with pytest.raises(InputError, match=r"/m has no vocabulary .* \(continuation\.vocab\)"):
        fetch(tmp_path / "m")
    assert list((tmp_path / "m" / "out").iterdir()) == []
    out = fetch(tmp_path / "m", "--vocab-urls", (tmp_path / "v.en").as_uri(), (tmp_path / "v.ru").as_uri())
    assert (out / "source.spm").read_bytes() == learned(0)


def test_a_model_brings_its_own_vocabulary_whatever_the_config_has(tmp_path: Path) -> None:
    write_weights(tmp_path / "model.npz", DESCRIBED)
    write_vocabs(tmp_path)
    (tmp_path / "other").write_bytes(learned(1))
    out = fetch(tmp_path, "--vocab-urls", *[(tmp_path / "other").as_uri()] * 2)
    assert (out / "source.spm").read_bytes() == learned(0)


def test_a_vocabulary_of_another_size_is_of_another_model(tmp_path: Path) -> None:
    write_weights(tmp_path / "model.npz", {**DESCRIBED, "dim-vocabs": [SIZE, 32000]})
    write_vocabs(tmp_path)
    with pytest.raises(InputError, match=r"model\.npz was trained with .* \[320, 32000\] .* \[320, 320\]"):
        fetch(tmp_path)


@pytest.mark.parametrize("content", [b"moved", b""])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.npz").write_bytes(content)
    write_vocabs(tmp_path)
    with pytest.raises(InputError, match=r"model\.npz is no model of Marian \(.*\)\. Check the address"):
        fetch(tmp_path)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_model_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    write_weights(tmp_path / "whole", DESCRIBED)
    (tmp_path / "model.npz").write_bytes((tmp_path / "whole").read_bytes()[:-30])
    write_vocabs(tmp_path)
    with pytest.raises(InputError, match="is no model of Marian"):
        fetch(tmp_path)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"None of these .*final\.model\.npz\.best-chrf\.npz, .*/model\.npz\."
    ):
        fetch(tmp_path)


def test_what_a_training_saved_last_is_fetched_to_go_on(tmp_path: Path) -> None:
    write_weights(tmp_path / "model.npz", DESCRIBED, bias=1)
    write_weights(tmp_path / "final.model.npz.best-chrf.npz", DESCRIBED, bias=2)
    write_vocabs(tmp_path)
    (tmp_path / "model.npz.progress.yml").write_text("batches: 5\n")
    with pytest.raises(InputError, match=r"does not have all .*optimizer\.npz.* mode: init"):
        fetch(tmp_path, "--state")
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "model.npz.optimizer.npz").write_bytes(b"adam")
    out = fetch(tmp_path, "--state")
    assert (bias(out / "last.npz"), bias(out / "model.npz")) == (1, 2)
    assert (out / "last.optimizer.npz").read_bytes() == b"adam"
    assert (out / "last.progress.yml").read_text() == "batches: 5\n"


@pytest.mark.marian
def test_a_fetched_model_translates_as_the_one_that_was_trained(tmp_path: Path) -> None:
    folder = shutil.copytree(tiny.model(), tmp_path / "model")
    out = fetch(folder)
    write_lines(tmp_path / "text", [source for source, _ in tiny.pairs(20, seed=3)])
    for number, model in enumerate((tiny.model(), out)):
        decode([model], tmp_path / "text", tmp_path / f"{number}.txt")
    assert (tmp_path / "0.txt").read_text() == (tmp_path / "1.txt").read_text()
