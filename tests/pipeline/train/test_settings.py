"""Tests of pipeline.train.settings, and of the configs it reads."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.marian_options import Options, parse_marian_args, read_options
from pipeline.train.settings import (
    expand,
    inherit,
    merge,
    tied_embeddings,
    training_options,
    validation_metrics,
)
from tests.pipeline.train import tiny


def merged(model: str, training: str, marian_args: str = "{}") -> Options:
    return merge(
        read_options(tiny.CONFIGS / f"model/{model}.yml"),
        read_options(tiny.CONFIGS / f"training/{training}.yml"),
        parse_marian_args(marian_args),
    )


def grant(monkeypatch: pytest.MonkeyPatch, gpus: str = "", threads: int = 2, workspace: int = 512) -> None:
    monkeypatch.setenv("TRANSLATIONS_GPUS", gpus)
    monkeypatch.setenv("TRANSLATIONS_THREADS", str(threads))
    monkeypatch.setenv("TRANSLATIONS_WORKSPACE", str(workspace))


@pytest.mark.parametrize("config", sorted(tiny.CONFIGS.glob("training/*.yml")), ids=lambda path: path.stem)
def test_no_training_samples_pieces_that_alignments_guide(config: Path) -> None:
    assert not {"guided-alignment", "sentencepiece-alphas"} <= set(read_options(config))


def test_later_sources_override_earlier_ones() -> None:
    options = merged("teacher", "teacher.train", '{"task": "transformer-base", "early-stopping": "30"}')
    assert options["task"] == "transformer-base"
    assert options["early-stopping"] == 30
    assert options["valid-max-length"] == 300


def test_a_batch_in_sentences_replaces_one_in_words() -> None:
    assert merged("teacher", "teacher.train", '{"mini-batch": "64"}')["mini-batch-words"] == 0
    both = merged("teacher", "teacher.train", '{"mini-batch": 64, "mini-batch-words": 500}')
    assert both["mini-batch-words"] == 500


@pytest.mark.parametrize(
    ("given", "words"), [({}, 25000), ({"mini-batch": 500}, 0), ({"mini-batch-words": 700}, 700)]
)
def test_a_batch_replaces_that_of_the_training_before(given: Options, words: int) -> None:
    earlier: Options = {"mini-batch-words": 25000, "learn-rate": 0.1}
    merged = merge({}, {"mini-batch-words": 9}, inherit(earlier, given))
    assert merged == {"mini-batch-fit": False, "learn-rate": 0.1, **given, "mini-batch-words": words}


def test_what_is_the_vocabularies_and_the_pairs_is_not_inherited() -> None:
    """Trainings of before wrote it down where it was given, and set it by themselves."""
    assert inherit({"max-length": 70, "tied-embeddings": True, "tied-embeddings-all": False}, {}) == {}


@pytest.mark.parametrize(
    "name", ["model", "vocabs", "seed", "sync-sgd", "devices", "train-sets", "tied-embeddings-all"]
)
def test_what_the_script_decides_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"must not set {name}"):
        merge({}, {}, {name: "x"})


def test_an_end_in_epochs_is_refused() -> None:
    for refused in ("10e", "300Ku,10e", "10e,300Ku", "10e, 300Ku"):
        with pytest.raises(InputError, match=f"{refused} counts epochs"):
            merge({}, {}, {"after": refused})
    for allowed in ("0e", "50u", "1Gt", "0e,50u"):
        assert merge({}, {}, {"after": allowed})["after"] == allowed


def test_embeddings_are_tied_according_to_the_bytes_of_the_vocabularies(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in "abc")
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    three.write_bytes(b"other")
    assert tied_embeddings(one, two) == {"tied-embeddings-all": True, "tied-embeddings": False}
    assert tied_embeddings(one, three) == {"tied-embeddings-all": False, "tied-embeddings": True}


def test_the_best_metric_comes_first() -> None:
    assert validation_metrics("ce-mean-words") == ["ce-mean-words", "chrf", "bleu-detok"]


@pytest.mark.marian
def test_transformer_big_keeps_what_is_not_overridden(tmp_path: Path) -> None:
    options = expand(merged("teacher", "teacher.train"), tmp_path)
    assert options["lr-warmup"] == 8000
    assert (options["dim-emb"], options["enc-depth"], options["max-length"]) == (1024, 6, 100)
    assert options["learn-rate"] == 0.0003


@pytest.mark.marian
def test_an_unknown_option_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not expected: lern-rate"):
        expand({"type": "transformer", "lern-rate": 0.1}, tmp_path)


def test_training_on_a_cpu_is_synchronous_and_without_16_bit_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    grant(monkeypatch, threads=2, workspace=1000)
    asked: Options = {"precision": ["float16", "float32"], "cost-scaling": [8, 10000, 1, 8], "mini-batch": 64}
    vocabs = [Path("a.spm"), Path("b.spm")]
    options = training_options(asked, {}, vocabs, seed=3, batch={"optimizer-delay": 2})
    assert options["sync-sgd"] is True
    assert (options["cpu-threads"], options["workspace"], options["optimizer-delay"]) == (2, 500, 2)
    assert not {"precision", "cost-scaling", "devices"} & set(options)
    assert options["vocabs"] == ["a.spm", "b.spm"]


@pytest.mark.parametrize("path", sorted(tiny.CONFIGS.glob("training/*.yml")), ids=lambda path: path.stem)
def test_configs_say_the_batch_of_an_update(path: Path) -> None:
    options = read_options(path)
    assert int(str(options["mini-batch-words"])) >= 25000
    assert not {"mini-batch-fit", "optimizer-delay", "max-length-crop"} & set(options)
