"""The config section `translators`, and the names by which it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from translations_assets.config.errors import ConfigError
from translations_assets.config.load import config_notes, load_config, parse_config

BASE = """\
experiment:
  name: x
  src: en
  trg: ru
{experiment}
datasets:
  train: [opus_ParaCrawl/v9]
  devtest: [flores_dev]
  test: [flores_devtest]
{more}
"""


def config(experiment: str = "", more: str = "") -> str:
    return BASE.format(experiment=f"  {experiment}" if experiment else "", more=more)


ONE = "translators: {llm: {endpoint: {model: big}}}"
MARIAN = "translators: {m: {marian: {urls: ['https://a.org/']}}}"


def pivot(via: str = "lt", second: str = "f") -> str:
    legs = f"via: {via}, first: f, second: {second}"
    return f"translators: {{f: {{firefox: {{}}}}, p: {{pivot: {{{legs}}}}}}}"


def test_a_pivot_uses_its_translators() -> None:
    text = config("teacher: p", pivot())
    read = parse_config(text, "x")
    assert read.translators["p"].identity == "f and f by way of lt"
    assert parse_config(config("", "translators: {g: {google: {}}}"), "x").translators["g"].identity == (
        "the service of Google"
    )
    assert read.translators["f"].identity == "the models that Firefox ships"
    (notes,) = [config_notes(text, "x")]
    assert not [note for note in notes if "is not used" in str(note)]


@pytest.mark.parametrize(
    ("experiment", "more", "warned"),
    [
        ("filter: qe", "", True),
        ("selection: {mono: qe}", "", True),
        ("", "evaluation: {metricx: [qe]}", True),
        ("filter: none", "", False),
        ("selection: {mono: mbr}", "", False),
    ],
)
def test_metricx_is_warned_of_for_languages_that_it_may_not_know(
    experiment: str, more: str, warned: bool
) -> None:
    text = config(experiment, more).replace("trg: ru", "trg: hr")
    notes = [note for note in config_notes(text, "x") if "MetricX may know little 'hr'" in str(note)]
    assert bool(notes) == warned
    assert not [note for note in config_notes(config(experiment, more), "x") if "MetricX" in str(note)]


def test_one_teacher_or_several() -> None:
    assert parse_config(config("teacher: llm", ONE), "x").experiment.teacher == {"llm": 1.0}
    two = "translators: {llm: {endpoint: {model: big}}, m: {marian: {urls: ['https://a.org/']}}}"
    read = parse_config(config("teacher: {llm: 1, m: 2.5}", two), "x")
    assert read.experiment.teacher == {"llm": 1.0, "m": 2.5}
    assert {name: one.form for name, one in read.translators.items()} == {"llm": "endpoint", "m": "marian"}


@pytest.mark.parametrize(
    ("experiment", "filtered"),
    [
        ("teacher: llm", "none"),
        ("backwards: llm", "none"),
        ("filter: ce\n  teacher: llm", "ce"),
        ("name: x", "ce"),
    ],
)
def test_a_given_translator_asks_for_no_filter(experiment: str, filtered: str) -> None:
    text = (
        config(experiment, ONE)
        .replace("  name: x\n  src", "  src", 1)
        .replace("  src", "  name: x\n  src", 1)
    )
    if experiment == "name: x":
        text = config("", ONE)
    assert parse_config(text, "x").experiment.filter == filtered


@pytest.mark.parametrize(
    ("experiment", "more", "said"),
    [
        ("teacher: llm", "", "'llm' is no translator. The section translators has none"),
        ("teacher: lm", ONE, "'lm' is no translator. Did you mean 'llm'? Allowed: llm"),
        ("backwards: {llm: 1, x: 1}", ONE, "experiment.backwards.x: 'x' is no translator"),
        ("teacher: {llm: 0}", ONE, "experiment.teacher.llm: must be"),
        (
            "",
            "translators: {a: {}}",
            "google, microsoft, pivot, and has none",
        ),
        (
            "",
            "translators: {a: {endpoint: {model: b}, marian: {urls: ['https://a.org/']}}}",
            "and has endpoint and marian",
        ),
        (
            "",
            pivot(via="ru"),
            "translators.p.pivot.via: 'ru' is a language of the pair; name a third one",
        ),
        (
            "",
            pivot(second="p"),
            "translators.p.pivot.second: 'p' is a pivot itself; name a translator of another form",
        ),
        ("", pivot(second="x"), "translators.p.pivot.second: 'x' is no translator"),
        ("", pivot(via="xx"), "'xx'"),
        (
            "backwards: f",
            "translators: {f: {firefox: {}}}\nfinal-evaluation: {translators: [f]}",
            "experiment.backwards: 'f' also translates into the target language; give this direction its own",
        ),
        ("", "translators: {teacher-1: {endpoint: {model: b}}}", "is the name of another model"),
        (
            "",
            "translators: {a: {endpoint: {model: b, options: {n: 3}}}}",
            "is set by the pipeline; remove it",
        ),
        ("", "translators: {a: {endpoint: {model: b, service: My-Own}}}", "must consist of capital letters"),
        ("", "translators: {a: {hugging-face: {model: a/b, revision: main}}}", "must be a whole commit"),
        ("", "translators: {a: {endpoint: {model: b, candidates: 0}}}", "candidates: must be"),
        ("", "translators: {a: {hugging-face: {model: b, revision: main}}}", "owner/name, not 'b'"),
        ("", f"{ONE}\nevaluation: {{judge: lm}}", "evaluation.judge: 'lm' is no translator. Did you mean"),
        (
            "",
            f"{MARIAN}\nevaluation: {{judge: m}}",
            "evaluation.judge: 'm' is no endpoint, and nothing else can",
        ),
        (
            "",
            f"{ONE}\nevaluation: {{judge-prompt: p.yml}}",
            "evaluation.judge-prompt: is the prompt of a judge, and there is none",
        ),
        (
            "teacher: llm",
            f"{ONE}\ncontinuation: {{models: {{teacher: {{urls: ['https://a.org/'], mode: use}}}}}}",
            "takes the place of continuation.models.teacher, which is given too; remove one",
        ),
        (
            "",
            f"{ONE}\nfinal-evaluation: {{translators: [llm, lm]}}",
            "final-evaluation.translators[1]: 'lm' is no",
        ),
        (
            "",
            f"{ONE}\nfinal-evaluation: {{translators: [llm], models: [{{name: llm, form: marian, url: 'https://a.org/'}}]}}",
            "'llm' is the name of two models",
        ),
    ],
)
def test_what_will_not_do_is_told(experiment: str, more: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(config(experiment, more), "x")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("experiment", "more", "said"),
    [
        ("", ONE, "translators.llm: is not used"),
        ("backwards: llm", ONE, "experiment.backwards: is not used: datasets.mono-trg has nothing"),
        (
            "teacher: a",
            "translators: {a: {endpoint: {model: b, candidates: 2, options: {temperature: 0}}}}",
            "0 makes all candidates the same",
        ),
        ("teacher: llm", f"{ONE}\n", ""),
        ("", f"{ONE}\nevaluation: {{judge: llm}}", ""),
    ],
)
def test_what_may_not_be_meant_is_noted(experiment: str, more: str, said: str) -> None:
    notes = [
        str(note)
        for note in config_notes(config(experiment, more), "x")
        if "translators" in str(note) or "experiment.backwards" in str(note)
    ]
    assert any(said in note for note in notes) if said else not notes


@pytest.mark.parametrize("role", ["teacher", "backwards"])
def test_a_model_of_opus_mt_in_upstreams_spelling_is_a_translator(role: str) -> None:
    """As `continuation.models`, and in `pretrained-models` of 2024."""
    where = "urls: ['https://a.org/m.zip']" if role == "teacher" else "url: https://a.org/m.zip"
    today = f"continuation: {{models: {{{role}: {{type: opusmt, mode: use, {where}}}}}}}"
    old = f"pretrained-models: {{train-{role}: {{type: opusmt, mode: use, urls: ['https://a.org/m.zip']}}}}"
    for text in (config("", today), config(old)):
        read = parse_config(text, "x")
        translator = read.translators[f"opus-mt-{role}"]
        assert translator.form == "opus-mt"
        assert translator.identity == "https://a.org/m.zip"
        mixes = {"teacher": read.experiment.teacher, "backwards": read.experiment.backwards}
        assert mixes[role] == {f"opus-mt-{role}": 1.0}
        assert read.continuation.models.teacher is None
        assert read.continuation.models.backwards is None
        notes = [str(note) for note in config_notes(text, "x")]
        assert any(f"read as experiment.{role} and translators.opus-mt-{role}" in note for note in notes)


def test_several_models_of_opus_mt_want_shares() -> None:
    models = "teacher: {type: opusmt, mode: use, urls: ['https://a.org/1', 'https://a.org/2']}"
    with pytest.raises(
        ConfigError, match="name each in translators, and give experiment.teacher their shares"
    ):
        parse_config(config("teacher-ensemble: 2", f"continuation: {{models: {{{models}}}}}"), "x")


def test_files_count_from_the_configs_folder(tmp_path: Path) -> None:
    (tmp_path / "prompt.yml").write_text("user: '{lines}'\n")
    (tmp_path / "en-ru.x.yml").write_text(
        config(
            "teacher: a",
            "translators: {a: {endpoint: {model: b, prompt: prompt.yml}}}\n"
            "evaluation: {judge: a, judge-prompt: judges/prompt.yml}",
        )
    )
    read = load_config(tmp_path / "en-ru.x.yml")
    endpoint = read.translators["a"].endpoint
    assert endpoint
    assert endpoint.prompt == str(tmp_path / "prompt.yml")
    assert read.evaluation.judge_prompt == str(tmp_path / "judges" / "prompt.yml")
