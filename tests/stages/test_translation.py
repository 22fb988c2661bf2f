"""Translation, distillation and its filter: the steps that a training config comes to."""

from __future__ import annotations

import json

import pytest

from tests.stages.configs import DEMO, FULL, SMALL, files, graph, labels
from translations_assets.running.job import command
from translations_assets.stages.translation import _team
from translations_assets.stages.translators import Decoder


def test_without_a_filter_no_model_scores_and_the_student_learns_from_all() -> None:
    stages = graph(FULL.replace("  teacher-ensemble: 2", "  filter: none\n  teacher-ensemble: 2")).stages
    assert stages["score"] == stages["cefilter"] == ()
    split = stages["alignments_student"][0]
    assert files(split, "text") == ["merge-translated-en-ru:corpus.en.zst"]
    assert labels(stages["train_backwards"])[-1] == "train-backwards-en-ru"  # which translates back


def test_the_score_model_reads_the_target_side() -> None:
    split = graph(FULL).step("split-score-en-ru")
    assert files(split, "text") == ["merge-translated-en-ru:corpus.ru.zst"]
    assert files(split, "references") == ["merge-translated-en-ru:corpus.en.zst"]
    step = graph(FULL).step("score-en-ru-2/3")
    assert "train-backwards-en-ru:model.npz" in files(step, "model")
    assert files(step, "model_source") == ["split-score-en-ru:part.2.zst"]
    assert files(step, "model_target") == ["split-score-en-ru:part.2.ref.zst"]


def test_scores_are_collected_in_order() -> None:
    collected = graph(FULL).step("collect-score-en-ru")
    assert files(collected, "parts") == [f"score-en-ru-{i}/3:scores.zst" for i in (1, 2, 3)]
    assert files(graph(FULL).step("cefilter-en-ru"), "scores") == ["collect-score-en-ru:scores.zst"]


def test_back_translations_are_the_source_side_of_the_target_text() -> None:
    step = graph(FULL).step("split-alignments-backtranslated-en-ru")
    assert files(step, "text") == ["collect-mono-trg-en-ru:mono.en.zst"]
    assert files(step, "references") == ["merge-mono-trg-ru:mono.ru.zst"]


def test_without_mono_text_there_is_no_back_translation() -> None:
    stages = graph(SMALL).stages
    for name in ("merge_mono_src", "merge_mono_trg", "translate_mono_src", "translate_mono_trg"):
        assert stages[name] == ()
    assert stages["alignments_backtranslated"] == ()


def test_without_mono_text_only_the_corpus_is_distilled() -> None:
    step = graph(SMALL).step("merge-translated-zh-en")
    assert files(step, "corpus_trg") == ["collect-corpus-zh-en:corpus.en.zst"]
    assert "mono_src" not in step.inputs


def test_chunks_are_split_translated_searched_and_collected_in_order() -> None:
    steps = graph(FULL).stages["translate_corpus"]
    assert labels(steps) == [
        "split-corpus-en-ru",
        *(f"translate-corpus-en-ru-{number}/3" for number in (1, 2, 3)),
        *(f"extract-best-en-ru-{number}/3" for number in (1, 2, 3)),
        "collect-corpus-en-ru",
    ]
    assert files(steps[-1], "parts") == [f"extract-best-en-ru-{number}/3:best.zst" for number in (1, 2, 3)]
    assert files(steps[5], "references") == ["split-corpus-en-ru:part.2.ref.zst"]
    assert "--nbest" in command(steps[1])


def test_mono_text_is_translated_without_references() -> None:
    steps = graph(FULL).stages["translate_mono_src"]
    assert labels(steps)[-1] == "collect-mono-src-en-ru"
    assert len(steps) == 5
    assert "--nbest" not in command(steps[1])
    assert steps[-1].outputs == ("mono.ru.zst", "stats.json")


@pytest.mark.parametrize(("of", "name"), [("corpus", "corpus"), ("mono", "mono-src")])
def test_the_nearest_to_all_other_translations_is_chosen_without_references(of: str, name: str) -> None:
    """Of one of the two texts alone, or of both."""
    asked = FULL.replace("  teacher-ensemble: 2", f"  selection: {{{of}: mbr}}\n  teacher-ensemble: 2")
    steps = {step.label: step for step in graph(asked).steps}
    chosen = [label for label, step in steps.items() if step.script == "pipeline.translate.mbr"]
    assert chosen == [f"mbr-{name}-en-ru-{number}/3" for number in (1, 2, 3)]
    step = steps[chosen[1]]
    assert files(step, "text") == [f"split-{name}-en-ru:part.2.zst"]
    assert files(step, "nbest") == [f"translate-{name}-en-ru-2/3:nbest.zst"]
    assert files(steps[f"collect-{name}-en-ru"], "parts")[1] == f"{step.label}:best.zst"
    assert "references" not in steps[f"split-{name}-en-ru"].inputs
    assert ("extract-best-en-ru-1/3" in steps) == (of == "mono")


def test_ctranslate2_decodes_one_converted_teacher_in_all_parts() -> None:
    alone = FULL.replace("teacher-ensemble: 2", "teacher-decoder: ctranslate2")
    stages = graph(alone).stages
    (convert,) = stages["convert_teacher"]
    assert "train-teacher-en-ru-1:model.npz" in files(convert, "model")
    decoding = [
        step
        for name in ("translate_corpus", "translate_mono_src")
        for step in stages[name]
        if step.label.startswith("translate-")
    ]
    assert len(decoding) == 6
    for step in decoding:
        assert step.script == "pipeline.translate.with_ctranslate2"
        assert {name.partition(":")[0] for name in files(step, "model")} == {convert.label}
        assert files(step, "cuda_lock") == ["requirements/cuda.lock"]
        assert "models" not in step.inputs
    assert ["--nbest" in command(step) for step in decoding] == [True] * 3 + [False] * 3


def test_ctranslate2_translates_back_with_a_converted_model() -> None:
    options = "marian-args:\n  training-backward: {type: transformer}\n"
    text = FULL.replace("  teacher-ensemble: 2", "  backwards-decoder: ctranslate2\n  teacher-ensemble: 2")
    stages = graph(text.replace("marian-args:\n", options)).stages
    convert, _, *parts, _ = stages["translate_mono_trg"]
    assert convert.label == "convert-backwards-en-ru"
    assert "train-backwards-en-ru:model.npz" in files(convert, "model")
    for step in parts:
        assert step.script == "pipeline.translate.with_ctranslate2"
        assert {name.partition(":")[0] for name in files(step, "model")} == {convert.label}
        assert files(step, "decoding_config") == ["pipeline/translate/configs/backward.yml"]
    assert {step.script for step in stages["score"]} >= {"pipeline.cefilter.score"}


def test_marian_needs_no_converted_teacher() -> None:
    assert graph(FULL).stages["convert_teacher"] == ()
    one_teacher = FULL.replace("teacher-ensemble: 2", "teacher-ensemble: 1")
    scripts = {step.script for step in graph(one_teacher).steps}
    assert not {"pipeline.translate.with_ctranslate2", "pipeline.translate.convert"} & scripts


def test_options_of_marian_reach_the_steps_as_json_whose_order_says_nothing() -> None:
    step = graph(FULL).step("translate-corpus-en-ru-1/3")
    options = json.loads(str(step.args["marian_args"]))
    assert options == {"mini-batch-words": 1000, "maxi-batch": "10000"}
    turned = FULL.replace("{mini-batch-words: 1000}", "{maxi-batch: '10000', mini-batch-words: 1000}")
    assert graph(turned).step(step.label).args == step.args


def test_the_distilled_corpus_has_no_line_of_a_dev_or_test_set() -> None:
    (merge,) = graph(FULL).stages["merge_translated"]
    held_out = files(merge, "held_out_src")
    names = ("devtest-flores_dev", "devtest-sacrebleu_wmt19", "test-flores_devtest", "test-ntrex_test")
    for name in names:
        assert any(f"dataset-{name}" in file for file in held_out), (name, held_out)
    assert len(held_out) == len(files(merge, "held_out_trg")) == 6


def test_each_part_has_its_decoder_and_its_share() -> None:
    one, other = Decoder(lists=True), Decoder(lists=False)
    dealt = _team([(one, 0.75), (other, 0.25)], 4)
    assert [(decoder.lists, share) for decoder, share in dealt] == [(True, 0.25)] * 3 + [(False, 0.25)]


def test_some_back_translations_are_sampled() -> None:
    text = DEMO.replace("  student-model", "  sampled-backtranslations: 0.25\n  student-model")
    new = graph(text)
    split = new.step("split-mono-trg-en-eo")
    weights = [float(weight) for weight in split.args["weights"]]  # type: ignore[union-attr]
    options = [
        json.loads(str(new.step(f"translate-mono-trg-en-eo-{number}/{len(weights)}").args["marian_args"]))
        for number in range(1, len(weights) + 1)
    ]
    sampled = [weight for weight, one in zip(weights, options, strict=True) if "output-sampling" in one]
    assert sum(sampled) == pytest.approx(0.25)
    assert sum(weights) == pytest.approx(1)
    assert {str(one["beam-size"]) for one in options if "output-sampling" in one} == {"1"}
    everything = graph(text.replace("0.25", "1"))
    assert everything.step("split-mono-trg-en-eo").args["weights"] is None
