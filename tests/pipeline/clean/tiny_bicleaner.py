"""Makes a model of Bicleaner-AI's form with random weights; run by the Python of its environment.

TF_USE_LEGACY_KERAS=1 BICLEANER_PYTHON tests/pipeline/clean/tiny_bicleaner.py FOLDER
"""

import random
import sys
from pathlib import Path

import sentencepiece
import tensorflow  # type: ignore[import-untyped]
import yaml
from bicleaner_ai.models import TFXLMRBicleanerAI, XLMRBicleanerAIConfig  # type: ignore[import-not-found]
from transformers import XLMRobertaTokenizerFast  # type: ignore[import-not-found]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PIECES = 120


def main(folder: Path) -> None:
    """Write the files of a model to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(1)
    tensorflow.random.set_seed(1)
    words = ["".join(chance.choices(LETTERS, k=chance.randint(1, 6))) for _ in range(2000)]
    (folder / "text").write_text("\n".join(" ".join(chance.choices(words, k=8)) for _ in range(500)))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "sentencepiece.bpe"),
        vocab_size=PIECES,
        minloglevel=2,
    )
    XLMRobertaTokenizerFast(str(folder / "sentencepiece.bpe.model")).save_pretrained(folder)
    config = XLMRBicleanerAIConfig(
        vocab_size=PIECES + 10,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=160,
        head_hidden_size=8,
        initializer_range=0.5,
        num_labels=2,
        pad_token_id=1,
    )
    model = TFXLMRBicleanerAI(config)
    model(tensorflow.constant([[0, 5, 6, 2]]))
    model.save_pretrained(folder)
    metadata = {
        "source_lang": "en",
        "target_lang": "xx",
        "classifier_type": "xlmr",
        "classifier_settings": {"maxlen": 150, "n_classes": 2, "n_hidden": 8},
    }
    (folder / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    for name in ("text", "sentencepiece.bpe.vocab"):
        (folder / name).unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
