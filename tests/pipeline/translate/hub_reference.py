"""Translate with Transformers what tests translate with the converted models; in an environment with PyTorch.

    python -m tests.pipeline.translate.hub_models models
    env-with-transformers/bin/python tests/pipeline/translate/hub_reference.py models > …/hub_expected.json

Tokens are looked up in the vocabularies of the files, as tokenizers of Transformers want more of them than
a model needs to translate. Prints, by model, the tokens that each line was cut into, and for beams of 1 and
4 the tokens of its best translation with their log-probability.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch  # type: ignore[import-not-found]
import transformers  # type: ignore[import-not-found]
from sentencepiece import SentencePieceProcessor

LINES = [
    "The old woman has bought 12 apples at the market of the small town.",
    "My brother",
    "Our neighbour has bought letters before the summer.",
    "An unknown 猫 here.",
]
PREFIXES = {"marian": ([">>fra<<"], []), "m2m_100": (["__en__"], ["__fr__"]), "t5": ([], [])}
MOST = 12  # tokens


def main() -> None:
    """Print what is expected."""
    found = {folder.name: translate(folder) for folder in sorted(Path(sys.argv[1]).iterdir())}
    print(json.dumps(found, ensure_ascii=False, indent=1))


def translate(folder: Path) -> list[dict[str, Any]]:
    """The translations of the lines by one model."""
    config = json.loads((folder / "config.json").read_text())
    spm = next(
        folder / name
        for name in ("source.spm", "sentencepiece.bpe.model", "spiece.model")
        if (folder / name).exists()
    )
    pieces = SentencePieceProcessor(model_file=str(spm))
    numbers = tokens_of(folder, pieces)
    names = {number: token for token, number in numbers.items()}
    before, begin = PREFIXES[folder.name]
    model = getattr(transformers, config["architectures"][0]).from_pretrained(folder).eval()
    lines = []
    for line in LINES:
        cut = [*before, *pieces.encode(line, out_type=str), "</s>"]
        source = torch.tensor([[numbers.get(token, numbers["<unk>"]) for token in cut]])
        start = [config["decoder_start_token_id"], *(numbers[token] for token in begin)]
        best: dict[str, Any] = {}
        for beam in (1, 4):
            made = model.generate(
                source, decoder_input_ids=torch.tensor([start]), num_beams=beam, max_new_tokens=MOST,
                min_new_tokens=MOST, length_penalty=0.0, do_sample=False, early_stopping=True,
                suppress_tokens=[numbers["<unk>"]],
                forced_eos_token_id=None, return_dict_in_generate=True, output_scores=True,
            )  # fmt: skip
            tokens = made.sequences[0][len(start) :]
            with torch.no_grad():
                whole = torch.cat([torch.tensor(start), tokens])[None]
                logits = model(input_ids=source, decoder_input_ids=whole[:, :-1]).logits[0]
            scores = torch.log_softmax(logits, -1)[len(start) - 1 :]
            score = sum(float(scores[place, token]) for place, token in enumerate(tokens))
            best[str(beam)] = {
                "tokens": [names.get(int(token), f"<no token {int(token)}>") for token in tokens],
                "score": round(score, 4),
            }
        lines.append({"cut": cut, **best})
    return lines


def tokens_of(folder: Path, pieces: SentencePieceProcessor) -> dict[str, int]:
    """The numbers of a model's tokens."""
    if (folder / "vocab.json").exists():
        numbers: dict[str, int] = json.loads((folder / "vocab.json").read_text())
        more = folder / "special_tokens_map.json"
        extra = json.loads(more.read_text())["additional_special_tokens"] if more.exists() else []
        return numbers | {token: len(numbers) + place for place, token in enumerate(extra)}
    return {pieces.id_to_piece(number): number for number in range(pieces.get_piece_size())}


if __name__ == "__main__":
    main()
