"""Score with Transformers what tests score with the converted models; in an environment with PyTorch.

    python -m tests.pipeline.translate.metricx_models models
    env-with-transformers/bin/python tests/pipeline/translate/metricx_reference.py models ROWS \\
        > tests/pipeline/translate/metricx_expected.json

ROWS is metricx_models.ROWS as JSON. Prints, by model, the errors of all rows with references and without.
As google-research/metricx does it: the text is cut without its end, the decoder reads token 0, and of its
first outputs the one of a token is clipped to 0 to 25.
"""

import json
import sys
from pathlib import Path

import torch  # type: ignore[import-not-found]
import transformers  # type: ignore[import-not-found]
from sentencepiece import SentencePieceProcessor

TOKEN = 7


def main() -> None:
    """Print what is expected."""
    rows = json.loads(sys.argv[2])
    found = {folder.name: errors(folder, rows) for folder in sorted(Path(sys.argv[1]).iterdir())}
    print(json.dumps(found, indent=1))


def errors(folder: Path, rows: list[list[str]]) -> dict[str, list[float]]:
    """The errors of all rows by one model."""
    model = transformers.MT5ForConditionalGeneration.from_pretrained(folder).eval()
    pieces = SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    found: dict[str, list[float]] = {"reference": [], "qe": []}
    for source, candidate, reference in rows:
        text = f"source: {source} candidate: {candidate}"
        for form, whole in (("reference", f"{text} reference: {reference}"), ("qe", text)):
            cut = torch.tensor([pieces.encode(whole)[:1535]])
            with torch.no_grad():
                output = model(input_ids=cut, decoder_input_ids=torch.tensor([[0]])).logits[0, 0, TOKEN]
            found[form].append(round(float(torch.clamp(output, 0, 25)), 6))
    return found


if __name__ == "__main__":
    main()
