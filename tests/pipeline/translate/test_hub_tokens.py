"""Tokens of models of the Hugging Face hub, in the order of their embeddings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.common.errors import InputError
from pipeline.translate.hub_model import read_tokens

ADDED = [{"id": 4, "content": "fra_Latn"}, {"id": 5, "content": "<mask>"}]


def tokens(folder: Path, rows: int, kind: str = "m2m_100", side: str = "source", **config: Any) -> list[str]:
    weights = {"model.shared.weight": np.zeros((rows, 2), np.float32)}
    return read_tokens(folder, {"model_type": kind, **config}, weights, side)


@pytest.mark.parametrize(
    "vocabulary",
    [{"<s>": 0, "</s>": 1, "a": 2, "b": 3}, [["<s>", 0.0], ["</s>", 0.0], ["a", -1.5], ["b", -2]]],
)
def test_a_tokenizer_tells_its_vocabulary_and_what_was_added(tmp_path: Path, vocabulary: Any) -> None:
    told = {"model": {"vocab": vocabulary}, "added_tokens": ADDED}
    (tmp_path / "tokenizer.json").write_text(json.dumps(told))
    assert tokens(tmp_path, 7) == ["<s>", "</s>", "a", "b", "fra_Latn", "<mask>", "<no token 6>"]
    assert tokens(tmp_path, 3) == ["<s>", "</s>", "a"]  # embeddings count


def test_opus_mt_has_no_embedding_of_padding_and_may_have_two_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}))
    (tmp_path / "target_vocab.json").write_text(json.dumps({"</s>": 0, "<unk>": 1, "b": 2, "<pad>": 3}))
    assert tokens(tmp_path, 4, "marian") == ["</s>", "<unk>", "a"]
    assert tokens(tmp_path, 4, "marian", "target") == ["</s>", "<unk>", "a"]
    own = {"share_encoder_decoder_embeddings": False}
    assert tokens(tmp_path, 4, "marian", "target", **own) == ["</s>", "<unk>", "b"]


def test_languages_of_m2m_100_come_after_its_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"<s>": 0, "a": 1}))
    special = {"additional_special_tokens": ["__en__", "<s>", "__fr__"]}
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(special))
    assert tokens(tmp_path, 5) == ["<s>", "a", "__en__", "__fr__", "<no token 4>"]


def test_without_any_vocabulary_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no tokenizer\.json, vocab\.json or spiece\.model"):
        tokens(tmp_path, 3)
    (tmp_path / "vocab.json").write_text("{")
    with pytest.raises(InputError, match=r"vocab\.json is no JSON"):
        tokens(tmp_path, 3)
