"""Steps that nothing like was made of are estimated: by their text, or by the work of a training."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.memory_store import MemoryStore
from tests.stages.configs import FULL, graph
from tests.store.values import finish, publish
from translations_assets.common.settings import repository_root
from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import KeyParts, Usage
from translations_assets.runners.speed import speed
from translations_assets.running.plan import Plan
from translations_assets.running.prices import ASKING
from translations_assets.running.resolve import StepState
from translations_assets.why.estimates import ASKED, OTHERS, SCRIPTS, SENTENCE, Estimates, TrainingSpeed
from translations_assets.why.forecast import Forecasts, forecast_plan, start_of
from translations_assets.why.history import History
from translations_assets.why.training_work import pieces_of_an_update, updates_of, weights_of

KEYS = KeyMaker(repository_root())
SHAPED = f"""{FULL}
marian-args:
  training-teacher: {{dim-emb: 256, transformer-dim-ffn: 1024, enc-depth: 6, dec-depth: 2, after: 6000u}}
  training-student: {{mini-batch: 64, after: 2ku}}
  training-student-finetuned: {{after: 300u}}
""".replace("marian-args:\n  decoding-teacher: {mini-batch-words: 1000}\n", "")
VOCABULARY = 32_000


def step_of(label: str, text: str = SHAPED) -> Step:
    return graph(text).step(label)


def estimates(gpus: int = 0, flops: float = 100e9, store: MemoryStore | None = None) -> Estimates:
    history = History(store or MemoryStore(), "ann/main", "en-ru")
    return Estimates(KEYS, history, lambda step: gpus, lambda number: TrainingSpeed(flops, "as measured"))


def test_the_weights_of_a_model_are_those_of_its_file() -> None:
    # Of Mozilla's tiny: 6 × (4 × 256² + 2 × 256 × 1536) + 2 × (6 × 256² + 2 × 256 × 1536) + 256 × 32,000
    tiny = 6 * (262_144 + 786_432) + 2 * (393_216 + 786_432) + 8_192_000
    assert weights_of(step_of("train-student-en-ru"), KEYS) == tiny
    assert weights_of(step_of("finetune-student-en-ru"), KEYS) == tiny
    assert tiny == pytest.approx(17e6, rel=0.02)  # one byte each, as it is shipped
    # transformer-big has 209 million, with one matrix of embeddings
    big = weights_of(step_of("train-teacher-en-ru-1", FULL), KEYS)
    assert big == pytest.approx(209e6, rel=0.02)
    assert weights_of(step_of("train-teacher-en-ru-1"), KEYS) == 8_192_000 + 6 * 786_432 + 2 * 1_048_576
    assert 30e6 < weights_of(step_of("train-backwards-en-ru"), KEYS) < 60e6


def test_an_update_has_the_pieces_that_the_options_say() -> None:
    assert pieces_of_an_update(step_of("train-teacher-en-ru-1"), KEYS) == 25_000
    assert pieces_of_an_update(step_of("train-student-en-ru"), KEYS) == 64 * 20


def test_updates_follow_from_the_options_the_curriculum_or_what_is_usual() -> None:
    assert updates_of(step_of("train-teacher-en-ru-1"), KEYS, None) == 6000
    assert updates_of(step_of("train-student-en-ru"), KEYS, None) == 2000
    backwards, teacher = step_of("train-backwards-en-ru"), step_of("train-teacher-en-ru-1", FULL)
    assert updates_of(backwards, KEYS, None) is None
    # 100 MB of pairs have 10 million pieces, which the backwards curriculum reads ten times, 40,000 an update
    assert updates_of(backwards, KEYS, 100e6) == 2500
    # As much as Mozilla's teachers had: 7.5 times 6 billion pieces; of a 16th four times as often, 60 at most
    assert updates_of(teacher, KEYS, 60e9) == 7.5 * 6e9 / 25_000
    assert updates_of(teacher, KEYS, 60e9 / 16) == 30 * 6e9 / 16 / 25_000
    assert updates_of(teacher, KEYS, 60e6) == 60 * 6e6 / 25_000


def test_a_training_takes_its_work_by_the_speed_of_the_machine() -> None:
    found = estimates().of(step_of("train-teacher-en-ru-1"), None)
    assert found
    weights = 8_192_000 + 6 * 786_432 + 2 * 1_048_576
    seconds = 15 + 6000 * (0.05 + 6 * weights * 25_000 / 100e9) * 1.15
    assert found.cost.seconds == pytest.approx(seconds)
    assert (found.cost.cpu_seconds, found.cost.gpu_seconds) == (found.cost.seconds, 0)
    assert found.reason == ("6,000 updates of 25,000 pieces, 15.0 million weights, 100 GFLOP/s as measured")
    on_four = estimates(gpus=4, flops=10e12).of(step_of("train-teacher-en-ru-1"), None)
    assert on_four
    assert on_four.cost.seconds == pytest.approx(15 + 6000 * (0.05 + 6 * weights * 25_000 / 40e12) * 1.15)
    assert on_four.cost.gpu_seconds == 4 * on_four.cost.seconds


def test_other_scripts_take_what_their_text_is() -> None:
    clean, translate = (step_of(label) for label in ("merge-corpus-en-ru", "translate-corpus-en-ru-1/3"))
    assert estimates().of(clean, None) is None
    found = estimates().of(clean, 30e6)
    assert found
    assert found.cost.seconds == OTHERS.start + 30 * OTHERS.text
    decoded = estimates().of(translate, 1e6)
    assert decoded
    weights = 2 * (8_192_000 + 6 * 786_432 + 2 * 1_048_576)  # two teachers
    assert decoded.cost.seconds == pytest.approx(4 + 750_000 * 6 * (20e-6 + 2 * weights / 100e9))


def test_a_service_takes_the_tokens_of_its_text() -> None:
    translators = "translators: {llm: {endpoint: {model: llm, lines: 20, candidates: 2}}}\n"
    text = f"{FULL}\n{translators}".replace("experiment:\n", "experiment:\n  teacher: llm\n", 1)
    found = estimates().of(step_of("ask-corpus-en-ru-1/3", text), 35e6)  # a million sentences
    assert found
    assert found.cost.tokens_read == pytest.approx(130 * 50_000 + 5e6 + 0.75 * 35e6)
    assert found.cost.tokens_written == pytest.approx(2 * (5e6 + 1.4 * 0.75 * 35e6))


def test_a_company_takes_the_characters_of_its_text() -> None:
    text = f"{FULL}\ntranslators: {{co: {{google: {{}}}}}}\n".replace(
        "experiment:\n", "experiment:\n  teacher: co\n", 1
    )
    found = estimates().of(step_of("ask-corpus-en-ru-1/3", text), 35e6)  # a million sentences
    assert found
    assert found.cost.characters == pytest.approx(1e8)
    assert found.cost.tokens_read == 0


def test_a_judge_takes_the_tokens_of_three_texts_and_writes_scores() -> None:
    translators = "translators: {llm: {endpoint: {model: llm, lines: 20}}}\n"
    text = f"{FULL}\n{translators}evaluation: {{judge: llm}}\n"
    step = step_of("judge-student-flores_devtest-en-ru", text)
    found = estimates().of(step, 3 * 35e3)  # a thousand sentences
    assert found
    assert found.cost.tokens_read == pytest.approx(260 * 50 + 20 * 1000 + 0.75 * 3 * 35e3)
    assert found.cost.tokens_written == pytest.approx(7 * 1000)


def test_the_scripts_that_ask_a_service_are_those_that_are_estimated_so() -> None:
    assert {*ASKED} == ASKING


def test_an_earlier_training_tells_the_speed_of_its_kind_of_machine() -> None:
    store = MemoryStore()
    # 1,000 updates of 640 labels with a million weights in 65 s but for Marian's own: 3.84 TFLOP
    seconds = (65 + 15 + 0.05 * 1000) * 1.15
    progress = b"batches: 1000\nlabels-total: 640000\n"
    files = {"last.progress.yml": progress, "model.npz": bytes(4_000_000)}
    made = finish(store, "train-student-en-de", files, stage="train_student")
    made = store.commit(replace(made, key="ef" * 32, usage=Usage(seconds, 0.0, 1, 1)))
    publish(store, "run-1", 1.0, made, stage="train_student")
    before = finish(store, "train-backwards-en-de", files, stage="train_backwards", ended=made.ended - 1)
    before = store.commit(replace(before, key="fe" * 32, usage=Usage(2 * seconds, 0.0, 1, 1)))
    publish(store, "run-2", 1.0, before, stage="train_backwards")
    found = estimates(store=store).of(step_of("train-teacher-en-ru-1"), None)
    assert found
    assert found.reason.endswith("59 GFLOP/s as train-student-en-de had")  # 3.84e12 / 65
    on_gpus = estimates(gpus=1, store=store).of(step_of("train-teacher-en-ru-1"), None)
    assert on_gpus
    assert on_gpus.reason.endswith("100 GFLOP/s as measured")  # processors tell nothing of GPUs


@pytest.mark.parametrize(("points", "flops"), [(8, "35"), (7, "59")])
def test_what_has_held_an_earlier_training_up_does_not_count(points: int, flops: str) -> None:
    store = MemoryStore()
    speeds = [*[300, 640, 5, 4_000][: points - 4], *[4_000] * 4]
    curve = [
        {"kind": "train", "update": number, "words_per_second": one} for number, one in enumerate(speeds)
    ]
    curve.insert(3, {"kind": "valid", "update": 3, "chrf": 40.0})
    files = {
        "last.progress.yml": b"batches: 1000\nlabels-total: 640000\n",
        "model.npz": bytes(4_000_000),
        "metrics.json": json.dumps({"updates": 1000, "best": {}, "curve": curve}).encode(),
    }
    made = finish(store, "train-student-en-de", files, stage="train_student")
    seconds = (65 + 15 + 0.05 * 1000) * 1.15
    made = store.commit(replace(made, key="ef" * 32, usage=Usage(seconds, 0.0, 1, 1)))
    publish(store, "run-1", 1.0, made, stage="train_student")
    found = estimates(store=store).of(step_of("train-teacher-en-ru-1"), None)
    assert found
    # 3.84e12 / (640,000 / 4,000 - 50); by the whole time where the curve is short
    assert found.reason.endswith(f"{flops} GFLOP/s as train-student-en-de had")


def test_what_was_never_made_is_forecast_and_said_to_be_estimated() -> None:
    step = step_of("train-student-en-ru")
    plan = Plan((StepState(step, "run"),))
    history = History(MemoryStore(), "ann", "en-ru")
    assert Forecasts(history).of(plan)[step] is None
    found = Forecasts(history, estimates()).of(plan)[step]
    assert found
    assert found.estimated
    told = forecast_plan(plan, history, estimates=estimates())
    took = 15 + 2000 * (0.05 + 6 * weights_of(step, KEYS) * 1280 / 100e9) * 1.15
    minutes = round(took / 60)
    assert [*told.estimates()] == [
        f"train-student-en-ru: about {minutes} min, by 2,000 updates of 1,280 pieces, 16.8 million weights, "
        "100 GFLOP/s as measured"
    ]
    assert told.summary() == f"1 step: 1 run; about {minutes} min ({minutes} min of CPU), by an estimate"
    assert found.disk == 12 * 4 * weights_of(step, KEYS)


def test_a_training_that_goes_on_takes_the_updates_that_are_left(tmp_path: Path) -> None:
    store, step = MemoryStore(), step_of("train-student-en-ru")
    state = StepState(step, "run", parts=KeyParts(script="pipeline.train.train"))
    history = History(store, "ann", "en-ru")
    anew = Forecasts(history, estimates()).of(Plan((state,)))[step]
    assert anew
    assert state.key
    (tmp_path / "model.npz").write_bytes(b"weights")
    store.add_checkpoint(state.key, 1, "update-00001500", tmp_path)
    rest = Forecasts(history, estimates()).of(Plan((state,)))[step]
    assert rest
    assert rest.cost == anew.cost.times(500 / 2000)
    assert rest.disk == anew.disk
    assert rest.reason.startswith("500 of 2,000 updates of 1,280 pieces")
    others = StepState(step, "run", parts=KeyParts(script="other"))
    assert Forecasts(history, estimates()).of(Plan((others,)))[step] == anew


def test_a_merge_writes_as_much_as_it_reads_of_all_datasets_up_to_its_limit() -> None:
    assert merged_bytes(SHAPED) == {"corpus.en.zst": 3 * 5000, "corpus.ru.zst": 3 * 5000}
    limited = SHAPED.replace("experiment:\n", "experiment:\n  corpus-max-sentences: 200\n", 1)
    assert merged_bytes(limited) == {"corpus.en.zst": 200 * SENTENCE, "corpus.ru.zst": 200 * SENTENCE}


@pytest.mark.parametrize(("limit", "factor"), [(100, 1.0), (50, 0.5), (150, 1.5), (400, 2.5)])
def test_another_limit_changes_what_a_step_writes(limit: int, factor: float) -> None:
    """A step that wrote 100 sentences of what it read writes as many as it may, and never more than all."""
    store, step = MemoryStore(), replace(step_of("merge-corpus-en-ru"), args={"max_sentences": limit})
    texts = {f"text/{lang}.zst": store.add_bytes(lang.encode() * 2500) for lang in ("en", "ru")}
    outputs = {name: b"x" * 2000 for name in step.outputs if name.endswith(".zst")}
    made = finish(store, step.label, outputs, texts, stage=step.stage)
    parts = replace(made.provenance.parts, script=step.script, args={"max_sentences": 100})
    made = store.commit(replace(made, key="ef" * 32, provenance=replace(made.provenance, parts=parts)))
    publish(store, "run-1", 1.0, made, stage=step.stage)
    found = Forecasts(History(store, "ann/main", "en-ru")).of(Plan((StepState(step, "run"),)))[step]
    assert found
    assert found.outputs == dict.fromkeys(outputs, factor * 2000)


def merged_bytes(config: str) -> Mapping[str, float]:
    """What a merge is forecast to write that reads 5,000 bytes of each side of three datasets."""
    store, states = MemoryStore(), list[StepState]()
    merge = step_of("merge-corpus-en-ru", config)
    for step in {output.step: None for _, _, output in merge.input_outputs()}:
        made = finish(store, step.label, dict.fromkeys(step.outputs, b"x" * 5000))
        states.append(StepState(step, "cached", manifest=made))
    plan = Plan((*states, StepState(merge, "run")))
    found = Forecasts(History(store, "ann", "en-ru"), estimates()).of(plan)[merge]
    assert found
    return found.outputs


def test_one_earlier_text_tells_what_more_text_takes_but_for_the_start() -> None:
    store = MemoryStore()
    step = step_of("merge-corpus-en-ru")
    assert estimates().start(step) == Cost(OTHERS.start, OTHERS.start)
    align = SCRIPTS["pipeline.alignments.align"].start
    assert estimates().start(step_of("alignments-original-en-ru-1/3")) == Cost(align, align)
    small = finish(store, step.label, {}, {"text/corpus.zst": store.add_bytes(b"x" * 1000)}, stage=step.stage)
    small = store.commit(replace(small, key="ef" * 32, usage=Usage(2.5, 2.5, 1, 1)))
    publish(store, "run-1", 1.0, small, stage=step.stage)
    history = History(store, "ann/main", "en-ru")
    assert start_of([small], [small.cost]) is None
    found = Forecasts(history, estimates())._start(step)
    assert found == Cost(OTHERS.start, OTHERS.start)
    assert Forecasts(history)._start(step) == Cost()


def test_this_machine_is_measured() -> None:
    assert 1e9 < speed(0).flops < 1e14
    assert speed(1).flops > 1e12
