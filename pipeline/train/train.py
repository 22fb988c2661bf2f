"""Train a model with Marian by a curriculum: backwards model, teacher or student, as the configs say.

    python -m pipeline.train.train --src ru --trg en \\
        --source-vocab vocab.ru.spm --target-vocab vocab.en.spm \\
        --original pairs --dev-src devset.ru.zst --dev-trg devset.en.zst \\
        --model-config pipeline/train/configs/model/backward.yml \\
        --training-config pipeline/train/configs/training/backward.train.yml \\
        --curriculum pipeline/train/configs/curriculum/backward.yml \\
        --marian-args '{"after": "5000u"}' --seed 1 --best-model chrf --output backwards

It reads pairs that pipeline.train.training_pairs has made for these vocabularies, and has their max-length.
The output is a model's folder, model.npz source.spm target.spm decoder.yml, with the vocabularies in the
order of training; marian-args.yml, the options that were laid over the configs; metrics.json: the curve, the
best scores, what was derived for this machine; and last.*, what Marian saved last. To train a model further,
give its folder and these options (--pretrained-shape for those that shape the model, or --pretrained-args for
all), over which --marian-args are laid; with --state, the folder with last.*, its optimizer and the count of
its updates go on, too. When TRANSLATIONS_CHECKPOINTS names a folder, the newest two saves are kept there, and
training goes on from the newest set in it that is whole. SIGTERM saves and exits with status 75.
"""

import argparse
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from pipeline.common import resources
from pipeline.common.errors import InputError
from pipeline.common.marian import (
    DECODER_CONFIG,
    SOURCE_VOCAB,
    TARGET_VOCAB,
    decoder_config,
    load_model,
)
from pipeline.common.marian_options import Options, parse_marian_args, read_options, write_options
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.train import settings
from pipeline.train.batches import plan_batch, sample_lengths
from pipeline.train.checkpoints import (
    MODEL,
    Checkpoints,
    Place,
    decided_by,
    make_up_for_validation,
    read_progress,
)
from pipeline.train.continuing import leave_state, take_state
from pipeline.train.curriculum import Curriculum, add_curriculum_arguments, given_curriculum
from pipeline.train.curve import Curve
from pipeline.train.feed import WORKER_MB, Feed
from pipeline.train.gpu_memory import OutOfGpuMemory, halve, out_twice
from pipeline.train.pair_facts import ALIGNED, LINKED, PairFacts, common_facts, read_facts
from pipeline.train.pairs import write_dev_pairs
from pipeline.train.stage import CURVE, Stage
from pipeline.train.stopping import StopSwitch

DERIVED = ("mini-batch-words", "mini-batch", "optimizer-delay", "devices", "cpu-threads", "workspace")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Training:
    """What is trained, and how, before a machine is looked at."""

    args: argparse.Namespace
    work: Path
    curriculum: Curriculum
    pairs: dict[str, Path]
    facts: PairFacts
    merged: Options
    expanded: Options
    marian_args: Options

    @property
    def vocabs(self) -> list[Path]:
        """The vocabularies in the model's order: source, target."""
        return [self.args.source_vocab, self.args.target_vocab]

    @property
    def model(self) -> Path:
        """Folder in which Marian keeps its model and all that belongs to it."""
        return self.work / "model"


@dataclass(frozen=True)
class Trained:
    """The curve of a training, the options that it ended with, and `halved_at` as in Place."""

    curve: Curve
    options: Options
    halved_at: int | None


def main(argv: Sequence[str] | None = None) -> None:
    """Write a model's folder and metrics.json."""
    stop = StopSwitch()
    stop.install()
    args = parse_arguments(argv)
    with staged(args.output.absolute()) as (output, work):
        training = prepare(args, work)
        data = write_dev(training)
        options = complete_options(training)
        trained = train(training, options, stop)
        write_result(training, output)
        write_options(output / "marian-args.yml", dict(sorted(training.marian_args.items())))
        write_json(output / "metrics.json", metrics(training, trained, data))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="language the model translates from")
    parser.add_argument("--trg", required=True, help="language the model translates to")
    parser.add_argument("--source-vocab", required=True, type=_file, help="SentencePiece model of the source")
    parser.add_argument("--target-vocab", required=True, type=_file, help="SentencePiece model of the target")
    parser.add_argument("--original", required=True, type=_file, metavar="DIR", help="pairs of genuine text")
    parser.add_argument("--backtranslated", type=_file, metavar="DIR", help="pairs of back-translated text")
    parser.add_argument("--finetune", type=_file, metavar="DIR", help="pairs of the text to finetune on")
    parser.add_argument(
        "--old-text",
        type=_share,
        default=0.0,
        help="share of other pairs, where there are some to finetune on",
    )
    parser.add_argument("--dev-src", required=True, type=_file, help="text to validate on, source")
    parser.add_argument("--dev-trg", required=True, type=_file, help="text to validate on, target")
    parser.add_argument("--model-config", required=True, type=_file, help="Marian's model options, YAML")
    parser.add_argument(
        "--training-config", required=True, type=_file, help="Marian's training options, YAML"
    )
    add_curriculum_arguments(parser)
    parser.add_argument(
        "--marian-args", default="{}", help='JSON; overrides both configs, e.g. \'{"after": "50u"}\''
    )
    parser.add_argument("--seed", required=True, type=_positive, help="of Marian and of the feed, at least 1")
    parser.add_argument(
        "--best-model", required=True, choices=settings.METRICS, help="what the result is best at"
    )
    parser.add_argument("--pretrained", type=_file, metavar="MODEL_DIR", help="model to begin with")
    inherited = parser.add_mutually_exclusive_group()
    inherited.add_argument("--pretrained-args", type=_file, help="marian-args.yml that its training wrote")
    inherited.add_argument("--pretrained-shape", type=_file, help="the same, for the model's shape alone")
    parser.add_argument("--state", type=_file, metavar="DIR", help="what its training saved last, to go on")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def prepare(args: argparse.Namespace, work: Path) -> Training:
    """Read the configs and check that everything fits together, before hours are spent."""
    names = {"source-vocab": str(args.source_vocab), "target-vocab": str(args.target_vocab)}
    names |= {"old-text": f"{args.old_text:g}", "new-text": f"{1 - args.old_text:g}"}
    curriculum = given_curriculum(args, {"src": args.src, "trg": args.trg, **names})
    (work / "model").mkdir()  # Marian does not
    configs = read_options(args.model_config), read_options(args.training_config)
    earlier = read_options(args.pretrained_args) if args.pretrained_args else {}
    if args.pretrained_shape:
        earlier = settings.shape(read_options(args.pretrained_shape))
    given = parse_marian_args(args.marian_args)
    marian_args = settings.inherit(earlier, given)
    merged = settings.merge(*configs, marian_args)
    merged |= settings.tied_embeddings(args.source_vocab, args.target_vocab)
    folders = {"original": args.original, "backtranslated": args.backtranslated, "finetune": args.finetune}
    pairs = {name: folder for name, folder in folders.items() if folder}
    facts = common_facts(list(pairs.values()), [args.source_vocab, args.target_vocab])
    merged["max-length"] = facts.length_for(given)
    expanded = settings.expand(merged, work)
    training = Training(args, work, curriculum, pairs, facts, merged, expanded, marian_args)
    _check(training)
    return training


def write_dev(training: Training) -> dict[str, object]:
    """Write the development set as TSV; returns what was kept and dropped of it and of the pairs."""
    dev = write_dev_pairs(training.args.dev_src, training.args.dev_trg, training.work / "dev.tsv")
    counts = {name: read_facts(training.pairs[name]).lines for name in training.curriculum.datasets}
    return {**counts, "dev": dev.to_dict()}


def complete_options(training: Training) -> Options:
    """Marian's options for all stages on this machine."""
    sizes = [SentencePieceProcessor(model_file=str(vocab)).get_piece_size() for vocab in training.vocabs]
    pairs = [training.pairs[name] for name in training.curriculum.datasets]
    lengths = sample_lengths(pairs, training.vocabs, training.facts.columns >= ALIGNED)
    batch = plan_batch(training.expanded, max(sizes), lengths)
    options = settings.training_options(
        training.merged, training.expanded, training.vocabs, training.args.seed, batch
    )
    options |= {
        "model": str(training.model / MODEL),
        "tsv-fields": 3 if _guided(training.expanded) else 2,
        "valid-sets": [str(training.work / "dev.tsv")],
        "valid-metrics": list(settings.validation_metrics(training.args.best_model)),
        "valid-translation-output": str(training.work / "dev.out"),
        "tempdir": str(training.work),
    }
    if training.args.pretrained:
        options["pretrained-model"] = str(load_model(training.args.pretrained).weights)
    return options


def train(training: Training, options: Options, stop: StopSwitch) -> Trained:
    """Go through the curriculum's stages, from where the newest whole checkpoint stands.

    When a GPU's memory runs out, go on from there with micro-batches half as large: once, also over attempts.
    Raises InputError the second time.
    """
    checkpoints = Checkpoints(
        resources.checkpoints(), decided_by(training.args, training.pairs, training.merged)
    )
    again = False
    while True:
        place, curve = _begin(training, checkpoints)
        if again and place.halved_at is None:
            place = replace(place, halved_at=place.update)
        fitted = options if place.halved_at is None else halve(options)
        stop.hold()
        try:
            _train_from(place, training, fitted, checkpoints, curve, stop)
        except OutOfGpuMemory as error:
            stop.release()
            if place.halved_at is not None or fitted.get("mini-batch-fit"):
                raise out_twice(error, fitted) from error
            log.warning("%s: going on from the last save, with micro-batches half as large", error)
            _clear(training)
            again = True
            continue
        stop.release()
        return Trained(curve, fitted, place.halved_at)


def _begin(training: Training, checkpoints: Checkpoints) -> tuple[Place, Curve]:
    """Where training begins, its files in the model's folder, and the curve until there."""
    place = checkpoints.restore(training.model)
    metrics = settings.validation_metrics(training.args.best_model)
    curve = Curve(training.model / CURVE, metrics, resources.progress_file())
    if place:
        place = make_up_for_validation(training.model, place) if place.unvalidated else place
        curve.restore(place.update)
    elif training.args.state:
        place = take_state(training.args, training.model, training.expanded)
    return place or Place(update=0, stage=0, feed=None), curve


def _train_from(
    place: Place,
    training: Training,
    options: Options,
    checkpoints: Checkpoints,
    curve: Curve,
    stop: StopSwitch,
) -> None:
    for number in range(place.stage, len(training.curriculum.stages)):
        resumed = place.feed if number == place.stage else None
        log.info("Stage %d of %d", number + 1, len(training.curriculum.stages))
        feed = feed_of(training, number, resumed)
        stage = Stage(number, training.model, feed, checkpoints, place.halved_at)
        if not stage.run(_stage_options(training, options, number, resumed is None), curve, stop):
            break


def _clear(training: Training) -> None:
    """Remove what a training has left that is to go on from a checkpoint, or anew."""
    for folder in (training.model, *training.work.glob("feed.*")):
        shutil.rmtree(folder)
    training.model.mkdir()


def feed_of(training: Training, number: int, resume: dict[str, object] | None) -> Feed:
    """How a stage, counted from 0, is fed on this machine; `resume` as in Place.

    Curricula without modifiers only unpack lines, for which one worker does.
    """
    curriculum = training.curriculum
    scratch = training.work / f"feed.{number + 1}"
    return Feed(
        config=curriculum.stage_config(
            number, training.pairs, training.facts.columns >= ALIGNED, training.args.seed
        ),
        batch_size=curriculum.batch_size,
        workers=resources.at_once(WORKER_MB) if curriculum.modifiers else 1,
        scratch=scratch,
        resume=resume,
    )


def write_result(training: Training, output: Path) -> None:
    """Write the best model, its vocabularies and a decoder.yml that can move with them."""
    progress = read_progress(training.model)
    if progress is None or not progress.update:
        raise InputError("Training ended without an update. Is there enough text, and is it short enough?")
    shutil.copyfile(best_or_last(training.model, training.args.best_model), output / MODEL)
    shutil.copyfile(training.args.source_vocab, output / SOURCE_VOCAB)
    shutil.copyfile(training.args.target_vocab, output / TARGET_VOCAB)
    leave_state(training.model, output)
    defaults: Options = {"beam-size": 12, "normalize": 0}  # Marian's
    decoding = {name: training.expanded.get(name, value) for name, value in defaults.items()}
    batches: Options = {"mini-batch": 32, "maxi-batch": 100, "maxi-batch-sort": "src"}
    write_options(output / DECODER_CONFIG, decoder_config(MODEL, {**decoding, **batches}))


def best_or_last(folder: Path, metric: str) -> Path:
    """The weights that validated best by a metric, else, when there was no validation, the last ones."""
    best = folder / f"{MODEL}.best-{metric}.npz"
    if best.exists():
        return best
    log.warning("No validation was reached: the last model is taken instead of the best")
    return folder / MODEL


def metrics(training: Training, trained: Trained, data: dict[str, object]) -> dict[str, object]:
    """What metrics.json holds."""
    progress = read_progress(training.model)
    derived: dict[str, object] = {name: trained.options[name] for name in DERIVED if name in trained.options}
    if trained.halved_at is not None:
        derived["out-of-memory-at"] = trained.halved_at
    return {
        "updates": progress.update if progress else 0,
        "best-model": training.args.best_model,
        "best": trained.curve.best(),
        "derived": derived,
        "pairs": data,
        "curve": trained.curve.points,
    }


def _check(training: Training) -> None:
    args, curriculum, columns = training.args, training.curriculum, training.facts.columns
    for name in curriculum.datasets:
        if name not in training.pairs:
            raise InputError(f"{args.curriculum} mixes {name}; give --{name}, its pairs")
    if bool(curriculum.tags) != (columns >= ALIGNED):
        raise InputError(
            f"{args.curriculum} {'has' if curriculum.tags else 'lacks'} the modifier Tags, which puts "
            f"tokenised text together again, and the pairs in {args.original} are "
            f"{'tokenised' if columns >= ALIGNED else 'not'}: they were made with --alignments, or were not"
        )
    if _guided(training.expanded) != curriculum.aligns_pieces:
        raise InputError(
            f"guided-alignment in {args.training_config} and Tags with spm_vocab_src and spm_vocab_trg in "
            f"{args.curriculum} belong together: one is set without the other"
        )
    if curriculum.aligns_pieces != (columns == LINKED):
        raise InputError(
            f"Guided alignment goes with pairs made with --link-pieces, and only then: {args.original}"
        )
    if args.pretrained:
        _check_pretrained(training)
    elif args.state:
        raise InputError("--state goes with --pretrained, the model that its training came to")


def _check_pretrained(training: Training) -> None:
    model = load_model(training.args.pretrained)
    for own, given in zip((model.source_vocab, model.target_vocab), training.vocabs, strict=True):
        if own.read_bytes() != given.read_bytes():
            raise InputError(f"The pretrained model has another vocabulary: {own} differs from {given}")


def _guided(expanded: Options) -> bool:
    return expanded.get("guided-alignment", "none") != "none"


def _stage_options(training: Training, options: Options, number: int, first: bool) -> Options:
    """Marian's options for a stage: only the last one may stop early, with the patience counted anew."""
    own: Options = {"valid-reset-stalled": first}
    if number + 1 < len(training.curriculum.stages):
        own["early-stopping"] = 0
    return {**options, **own}


def _file(text: str) -> Path:
    path = Path(text).absolute()
    if not path.exists():
        raise argparse.ArgumentTypeError(f"{path} does not exist")
    return path


def _share(text: str) -> float:
    if not 0 <= float(text) < 1:
        raise argparse.ArgumentTypeError("must be a share from 0 to less than 1")
    return float(text)


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1; Marian takes 0 for a new seed each time")
    return int(text)


if __name__ == "__main__":
    run(main)
