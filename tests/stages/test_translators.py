"""Translators that a training config names: the steps that they come to, and those that they spare."""

from __future__ import annotations

import json

import pytest

from tests.stages.configs import FULL, files, graph, labels
from translations_assets.config.languages import language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.running.job import command

TRANSLATORS = """\
translators:
  llm: {endpoint: {model: big, options: {top_p: 1, a: 2}}}
  four: {endpoint: {model: big, candidates: 4, service: OTHER, lines: 5}}
  marian: {marian: {urls: ["https://example.com/a", "https://example.com/b"]}}
  hub:
    hugging-face:
      model: own/er
      revision: 0123456789abcdef0123456789abcdef01234567
      source-prefix: [__en__]
      target-prefix: [__ru__]
"""


def taught_by(teacher: str, *more: str, translators: str = TRANSLATORS) -> Graph:
    text = FULL.replace(
        "  teacher-ensemble: 2\n", "".join(f"  {line}\n" for line in (f"teacher: {teacher}", *more))
    )
    return graph(f"{text}{translators}")


def test_a_given_teacher_makes_all_training_before_the_student_needless() -> None:
    found = taught_by("llm")
    for stage in (
        *("train_backwards", "train_teacher", "translate_mono_trg", "merge_mono_trg", "alignments_original"),
        *("alignments_backtranslated", "convert_teacher", "score", "cefilter", "fetch_translators"),
        *("check_train_teacher", "evaluate_backwards", "evaluate_teacher_ensemble"),
    ):
        assert not found.stages[stage], stage
    assert labels(found.stages["train_student"])[-1] == "train-student-en-ru"


def test_a_service_is_asked_and_its_answers_are_judged() -> None:
    stages = taught_by("llm").stages
    assert labels(stages["translate_mono_src"]) == [
        "split-mono-src-en-ru",
        *(f"{what}-mono-src-en-ru-{number}/3" for number in (1, 2, 3) for what in ("ask", "check-answers")),
        "collect-mono-src-en-ru",
    ]
    ask, check = stages["translate_corpus"][1:3]
    assert ask.secrets == ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    assert (ask.resumable, ask.repeatable, ask.worker) == (True, False, "cpu")
    assert json.loads(str(ask.args["options"])) == {"a": 2, "top_p": 1}
    assert (ask.args["src"], ask.args["trg"]) == ("English", "Russian")
    assert check.repeatable
    assert check.args["trg_labels"] == ["rus"]
    assert not check.args["nbest"]  # one candidate: nothing to select


def test_several_candidates_are_selected_from() -> None:
    stages = taught_by("four", "selection: {mono: mbr}").stages
    assert [label.partition("-en-ru")[0] for label in labels(stages["translate_corpus"])] == [
        "split-corpus",
        *["ask-corpus", "check-answers-corpus"] * 3,
        *["extract-best"] * 3,
        "collect-corpus",
    ]
    assert [label for label in labels(stages["translate_mono_src"]) if label.startswith("mbr-")]
    ask = stages["translate_corpus"][1]
    assert (ask.args["candidates"], ask.args["lines"], ask.secrets[0]) == (4, 5, "OTHER_BASE_URL")


def test_models_of_marian_are_an_ensemble_and_one_of_the_hub_is_converted() -> None:
    found = taught_by("{hub: 1, marian: 2}")
    assert labels(found.stages["fetch_translators"]) == [
        "fetch-marian-en-ru-1",
        "fetch-marian-en-ru-2",
        "fetch-hub-en-ru",
        "convert-hub-en-ru",
    ]
    first, second, third = (found.step(f"translate-corpus-en-ru-{number}/3") for number in (1, 2, 3))
    assert "convert-hub-en-ru:tokens.json" in files(first, "model")
    assert {label.partition(":")[0] for label in files(second, "models")} == {
        "fetch-marian-en-ru-1",
        "fetch-marian-en-ru-2",
    }
    assert second.args == third.args
    converted = found.step("convert-hub-en-ru")
    assert command(converted)[:4] == ("--source-prefix", "__en__", "--target-prefix", "__ru__")


@pytest.mark.parametrize(
    ("mix", "who", "weights"),
    [
        ("{llm: 2, marian: 1}", "aat", [0.333333333] * 3),
        ("{llm: 98, marian: 2}", "aaat", [0.326666667] * 3 + [0.02]),
        ("{marian: 1, llm: 1}", "ttaa", [0.25] * 4),
    ],
)
def test_a_mix_deals_parts_by_shares(mix: str, who: str, weights: list[float]) -> None:
    found = taught_by(mix)
    made = [label for label in labels(found.stages["translate_mono_src"]) if label[0] in "at"]
    assert "".join(label[0] for label in made) == who
    split = found.step("split-mono-src-en-ru")
    assert [float(weight) for weight in split.args["weights"]] == weights  # type: ignore[union-attr]
    assert split.args["parts"] == len(weights)


def test_a_service_translates_back_for_teachers_that_are_trained() -> None:
    found = graph(FULL.replace("  teacher-ensemble: 2\n", "  backwards: llm\n") + TRANSLATORS)
    assert not found.stages["train_backwards"]
    assert labels(found.stages["train_teacher"])[-1] == "train-teacher-en-ru-1"
    ask = found.step("ask-mono-trg-en-ru-1/3")
    assert (ask.args["src"], ask.args["trg"]) == ("Russian", "English")
    check = found.step("check-answers-mono-trg-en-ru-1/3")
    assert check.args["trg_labels"] == ["eng"]
    assert files(found.step("split-alignments-backtranslated-en-ru"), "text") == [
        "collect-mono-trg-en-ru:mono.en.zst"
    ]


def test_models_that_translate_back_are_fetched_in_their_direction() -> None:
    found = graph(FULL.replace("  teacher-ensemble: 2\n", "  backwards: marian\n") + TRANSLATORS)
    fetched = found.step("fetch-marian-ru-en-1")
    assert (fetched.args["src"], fetched.args["trg"]) == ("ru", "en")
    assert "fetch-marian-ru-en-2:model.npz" in files(found.step("translate-mono-trg-en-ru-1/3"), "models")


def test_the_filter_is_on_where_it_is_asked_for() -> None:
    found = taught_by("llm", "filter: ce")
    assert found.stages["train_backwards"]
    assert found.stages["score"]
    assert not found.stages["translate_mono_trg"]


def test_teachers_are_evaluated_in_their_order() -> None:
    found = taught_by("{marian: 1, llm: 1}")
    evaluated = [label for label in labels(found.stages["evaluate_teacher"]) if label.startswith("evaluate-")]
    assert evaluated == [
        f"evaluate-teacher-{number}-{test}-en-ru"
        for number in (1, 2)
        for test in ("flores_devtest", "flores_aug-upper_devtest", "ntrex_test")
    ]
    last = found.step("evaluate-teacher-2-ntrex_test-en-ru")
    assert files(last, "translations") == ["check-answers-teacher-2-ntrex_test-en-ru:translations.zst"]


def test_any_translator_is_compared_by_its_name() -> None:
    final = "final-evaluation: {released: false, translators: [llm, hub]}\n"
    found = graph(f"{FULL}{final}{TRANSLATORS}")
    names = {step.args["name"]: step.args for step in found.stages["final_evaluation"] if "name" in step.args}
    assert set(names) == {"exported", "llm", "hub"}
    assert (names["llm"]["engine"], names["hub"]["engine"]) == ("endpoint", "hugging-face")
    assert names["llm"]["results"] == "en-ru__ntrex_test__endpoint__llm__latest"


def test_prompt_and_examples_count_by_their_contents() -> None:
    own = "translators: {llm: {endpoint: {model: big, prompt: /a/prompt.yml, examples: /a/examples.tsv}}}\n"
    ask = taught_by("llm", translators=own).step("ask-corpus-en-ru-1/3")
    given = ask.files()
    assert [given[name].path for name in ("prompt/prompt.yml", "examples/examples.tsv")] == [  # type: ignore[union-attr]
        "/a/prompt.yml",
        "/a/examples.tsv",
    ]


def test_a_model_of_opus_mt_is_fetched_and_converted() -> None:
    own = "translators: {opus: {opus-mt: {url: 'https://a.org/m.zip', source-prefix: ['>>rus<<']}}}\n"
    found = taught_by("opus", translators=own)
    fetched, converted = found.stages["fetch_translators"]
    assert (fetched.script, fetched.args) == (
        "pipeline.translate.fetch_opusmt",
        {"url": "https://a.org/m.zip"},
    )
    assert (converted.script, converted.args) == (
        "pipeline.translate.convert_opusmt",
        {"source_prefix": (">>rus<<",)},
    )
    part = found.step("translate-corpus-en-ru-1/3")
    assert part.script == "pipeline.translate.with_ctranslate2"
    assert "convert-opus-en-ru:tokens.json" in files(part, "model")


BY_FIREFOX = "translators: {fox: {firefox: {}}}\n"


def test_a_model_that_firefox_ships_translates_in_its_engine() -> None:
    found = taught_by("fox", translators=BY_FIREFOX)
    (fetched,) = found.stages["fetch_translators"]
    assert (fetched.script, fetched.args) == ("pipeline.eval.released", {"src": "en", "trg": "ru"})
    part = found.step("translate-corpus-en-ru-1/3")
    assert (part.script, part.worker, part.resumable) == ("pipeline.eval.with_engine", "large-cpu", True)
    assert files(part, "model") == ["fetch-fox-en-ru:model.tar"]
    assert not [label for label in labels(found.stages["translate_corpus"]) if "extract-best" in label]


def test_firefox_goes_by_way_of_english_where_a_pair_is_without_it() -> None:
    text = FULL.replace("  teacher-ensemble: 2\n", "  teacher: fox\n").replace("src: en", "src: zh_hant")
    others = [line for line in text.splitlines(True) if "mtdata" not in line and "sacrebleu" not in line]
    found = graph("".join(others) + BY_FIREFOX)
    fetched = found.stages["fetch_translators"]
    assert [step.args for step in fetched] == [{"src": "zh-Hant", "trg": "en"}, {"src": "en", "trg": "ru"}]
    first, second = (found.step(f"translate-{leg}corpus-zh_hant-ru-2/3") for leg in ("zh_hant-en-", ""))
    assert files(first, "text") == ["split-corpus-zh_hant-ru:part.2.zst"]
    assert files(second, "text") == ["translate-zh_hant-en-corpus-zh_hant-ru-2/3:translations.zst"]
    assert files(second, "model") == ["fetch-fox-en-ru:model.tar"]


def test_a_pivot_of_any_two_translators() -> None:
    legs = "pivot: {via: lt, first: llm, second: hub}"
    found = taught_by("{p: 1, q: 1}", translators=f"{TRANSLATORS}  p: {{{legs}}}\n  q: {{{legs}}}\n")
    assert labels(found.stages["fetch_translators"]) == ["fetch-hub-lt-ru", "convert-hub-lt-ru"]  # once
    ask, check, last = (
        found.step(f"{what}-corpus-en-ru-1/4") for what in ("ask-en-lt", "check-answers-en-lt", "translate")
    )
    assert (ask.args["src"], ask.args["trg"]) == ("English", "Lithuanian")
    assert (check.args["trg_labels"], check.args["nbest"]) == (["lit"], False)
    assert files(last, "text") == ["check-answers-en-lt-corpus-en-ru-1/4:translations.zst"]
    assert last.args["nbest"]  # of what the second model gives, the best is selected
    assert "extract-best-en-ru-1/4" in labels(found.stages["translate_corpus"])


def test_a_model_of_another_pair_has_a_vocabulary_of_its_own() -> None:
    legs = (f"{leg}: {{marian: {{urls: ['https://example.com/{leg}']}}}}" for leg in ("first", "second"))
    pivot = f"translators: {{{', '.join(legs)}, p: {{pivot: {{via: lt, first: first, second: second}}}}}}\n"
    vocab = "continuation: {vocab: {src: 'https://example.com/v.en', trg: 'https://example.com/v.ru'}}\n"
    found = taught_by("p", translators=pivot + vocab)
    for label in ("fetch-first-en-lt-1", "fetch-second-lt-ru-1"):
        assert not found.step(label).args.get("vocab_urls")
    given = "continuation: {models: {backwards: {url: 'https://example.com/c', mode: use}}, vocab:"
    back = graph(FULL + vocab.replace("continuation: {vocab:", given)).step("fetch-backwards-en-ru")
    assert back.args["vocab_urls"] == ["https://example.com/v.ru", "https://example.com/v.en"]


def test_a_pivot_translates_back_the_other_way_round() -> None:
    """Its second leg has no English either: Firefox goes by way of that once more."""
    pivot = f"{BY_FIREFOX.strip()[:-1]}, p: {{pivot: {{via: lt, first: fox, second: fox}}}}}}\n"
    found = graph(FULL.replace("  teacher-ensemble: 2\n", "  backwards: p\n") + pivot)
    assert [tuple(step.args.values()) for step in found.stages["fetch_translators"]] == [
        ("ru", "en"),
        ("en", "lt"),
        ("lt", "en"),
    ]
    legs = ("ru-en-", "en-lt-", "")
    parts = [found.step(f"translate-{leg}mono-trg-en-ru-1/3") for leg in legs]
    assert [files(part, "model") for part in parts] == [
        [f"fetch-fox-{pair}:model.tar"] for pair in ("ru-en", "en-lt", "lt-en")
    ]


@pytest.mark.parametrize(
    ("company", "codes", "secrets"),
    [
        ("google", ("zh-TW", "no"), ("GOOGLE_API_KEY", "GOOGLE_BASE_URL")),
        (
            "microsoft",
            ("zh-Hant", "nb"),
            ("MICROSOFT_API_KEY", "MICROSOFT_BASE_URL", "MICROSOFT_REGION"),
        ),
    ],
)
def test_a_company_is_asked_by_its_codes_of_languages(
    company: str, codes: tuple[str, str], secrets: tuple[str, ...]
) -> None:
    legs = "pivot: {via: zh_hant, first: bought, second: back}"
    own = f"bought: {{{company}: {{}}}}, back: {{{company}: {{lines: 7}}}}, p: {{{legs}}}"
    found = taught_by("p", translators=f"translators: {{{own}}}\n")
    first, second = (found.step(f"ask-{leg}corpus-en-ru-1/3") for leg in ("en-zh_hant-", ""))
    assert first.script == "pipeline.translate.ask_commercial"
    assert first.args == {"service": company, "src": "en", "trg": codes[0], "lines": 20}
    assert second.args == {"service": company, "src": codes[0], "trg": "ru", "lines": 7}
    assert first.secrets == secrets
    assert (first.resumable, first.repeatable) == (True, False)
    check = found.step("check-answers-corpus-en-ru-1/3")
    assert files(check, "answers") == ["ask-corpus-en-ru-1/3:answers.zst"]
    assert not [label for label in labels(found.stages["translate_corpus"]) if "extract-best" in label]
    assert getattr(language("no"), company) == codes[1]


@pytest.mark.parametrize(
    ("code", "google", "microsoft"),
    [
        ("ru", "ru", "ru"),
        ("he", "he", "he"),
        ("nb", "no", "nb"),
        ("zh", "zh-CN", "zh-Hans"),
        ("pt", "pt", "pt"),
        ("pt_br", "pt", "pt"),
        ("pt_pt", "pt-PT", "pt-PT"),
        ("sr", "sr", "sr-Cyrl"),
        ("sr_cyrl", "sr", "sr-Cyrl"),
        ("sr_latn", "sr-Latn", "sr-Latn"),
        ("tl", "tl", "fil"),
    ],
)
def test_each_company_has_its_own_codes_of_languages(code: str, google: str, microsoft: str) -> None:
    """Google refuses `sr-Latn` where it has not got it; for `sr` it would be paid for Cyrillic."""
    assert (language(code).google, language(code).microsoft) == (google, microsoft)


def test_a_company_translates_both_ways() -> None:
    own = "translators: {bought: {google: {}}}\nfinal-evaluation: {translators: [bought]}\n"
    found = graph(FULL.replace("  teacher-ensemble: 2\n", "  backwards: bought\n") + own)
    back = found.step("ask-mono-trg-en-ru-1/3")
    forth = found.step("ask-final-evaluation-bought-ntrex_test-en-ru")
    assert [(step.args["src"], step.args["trg"]) for step in (back, forth)] == [("ru", "en"), ("en", "ru")]


def test_a_config_without_translators_has_no_such_steps() -> None:
    found = graph(FULL)
    assert not found.stages["fetch_translators"]
    assert "weights" not in {name for name, value in found.step("split-corpus-en-ru").args.items() if value}
    assert TrainingConfig.model_fields["translators"].default == {}
