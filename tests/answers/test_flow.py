"""The way of text through the results of a store: which of them it went into, and which it only judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.values import finish
from translations_assets.answers.flow import Flow, made_of, merged_numbers
from translations_assets.records.manifest import Manifest
from translations_assets.running.protocols import Store
from translations_assets.store.local import LocalStore

MODEL = "model.npz"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return LocalStore(tmp_path)


def imported(store: Store, name: str) -> Manifest:
    texts = {f"corpus.{lang}.zst": f"{name} in {lang}".encode() for lang in ("en", "ru")}
    return finish(store, f"dataset-train-{name}-en-ru", texts)


def trained(store: Store, name: str, text: Manifest, vocabulary: bytes, **others: Manifest) -> Manifest:
    """A model that was trained on a text; `dev` is one by which it was judged."""
    inputs = {}
    for role, made in {"corpus": text, **others}.items():
        for side, lang in (("src", "en"), ("trg", "ru")):
            inputs[f"{role}_{side}/corpus.{lang}.zst"] = made.outputs[f"corpus.{lang}.zst"]
    files = {MODEL: name.encode(), "vocab.spm": vocabulary}
    return finish(store, f"train-{name}-en-ru", files, inputs, stage="train_teacher")


def test_text_goes_into_models_and_what_they_make(store: Store) -> None:
    text = imported(store, "books")
    model = trained(store, "teacher", text, b"a vocabulary")
    made = finish(
        store,
        "translate-en-ru",
        {"corpus.ru.zst": b"other words"},
        {f"model/0/{MODEL}": model.outputs[MODEL]},
    )
    flow = Flow([text, model, made])
    assert flow.holding([made_of(text)]) == {made_of(text), made_of(model), made_of(made)}


def test_a_model_holds_no_text_that_judges_it(store: Store) -> None:
    text, dev = imported(store, "books"), imported(store, "news")
    model = trained(store, "teacher", text, b"a vocabulary", dev=dev)
    flow = Flow([text, dev, model])
    assert flow.holding([made_of(dev)]) == {made_of(dev)}


def test_a_vocabulary_that_is_the_same_carries_no_text(store: Store) -> None:
    first, second = imported(store, "books"), imported(store, "news")
    models = [trained(store, name, text, b"the same") for name, text in (("one", first), ("two", second))]
    reader = finish(
        store, "align-en-ru", {"corpus.aln.zst": b"0-0"}, {"vocab/vocab.spm": models[1].outputs["vocab.spm"]}
    )
    flow = Flow([first, second, *models, reader])
    assert flow.holding([made_of(first)]) == {made_of(first), made_of(models[0])}


def test_text_is_alone_up_to_the_merge_which_knows_it_by_its_number(store: Store) -> None:
    texts = [imported(store, name) for name in ("books", "news")]
    cleaned = [
        finish(
            store,
            f"clean-{number}-en-ru",
            {"corpus.ru.zst": f"cleaned {number}".encode()},
            {"corpus_trg/corpus.ru.zst": text.outputs["corpus.ru.zst"]},
        )
        for number, text in enumerate(texts)
    ]
    merged = finish(
        store,
        "merge-corpus-en-ru",
        {"corpus.ru.zst": b"all"},
        {
            f"corpus_trg/{number}/corpus.ru.zst": one.outputs["corpus.ru.zst"]
            for number, one in enumerate(cleaned)
        },
        args={"datasets": ["books", "news"]},
    )
    flow = Flow([*texts, *cleaned, merged])
    assert flow.alone([made_of(texts[1])]) == {made_of(texts[1]), made_of(cleaned[1])}
    assert flow.holding([made_of(texts[1])]) == {made_of(texts[1]), made_of(cleaned[1]), made_of(merged)}
    assert merged_numbers(merged, [cleaned[1].outputs["corpus.ru.zst"].digest]) == [1]
