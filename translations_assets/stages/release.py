"""Release: quantisation and export for Firefox's engine."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Output
from translations_assets.stages.continuation import has_split_vocabulary
from translations_assets.stages.handles import QUANTIZED_FILES, Model


@stage(group="release", formerly=("distillation-student-model-quantize",))
def quantize(config: TrainingConfig, finetune_student: Model, shortlist: Output) -> Model:
    """The finetuned student with 8-bit weights (intgemm8) and its binary shortlist, as Marian decodes it."""
    quantized = step(
        "pipeline.quantize.quantize",
        label=f"quantize-{config.experiment.src}-{config.experiment.trg}",
        inputs={"model": finetune_student, "shortlist": shortlist},
        outputs=(*QUANTIZED_FILES, "stats.json"),
    )
    return quantized.folder(*QUANTIZED_FILES)


@stage(group="release")
def export(config: TrainingConfig, quantize: Model) -> Folder:
    """What Firefox downloads: model, shortlist and vocabulary, zipped, and metadata.json."""
    src, trg = config.experiment.src, config.experiment.trg
    pair, split = f"{src}{trg}", has_split_vocabulary(config)
    vocabularies = ["srcvocab", "trgvocab"] if split else ["vocab"]
    exported = step(
        "pipeline.quantize.export",
        label=f"export-{src}-{trg}",
        args={"src": src, "trg": trg, "architecture": config.experiment.student_model, "split": split},
        inputs={"model": quantize},
        outputs=[
            f"model.{pair}.intgemm8.bin.gz",
            f"lex.50.50.{pair}.s2t.bin.gz",
            *(f"{name}.{pair}.spm.gz" for name in vocabularies),
            "metadata.json",
        ],
    )
    return exported.folder()
