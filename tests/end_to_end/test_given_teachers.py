"""Translators that the config names, as teachers, to translate back and to compare with, by the commands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from tests.chat_server import Chat, chat_server
from tests.end_to_end.defects import ended, read_json, train, variant, web_server
from tests.end_to_end.given import TARGET, TEACHER, Run, artifacts
from tests.end_to_end.tiny import Place, sentences

pytestmark = [pytest.mark.slow, pytest.mark.marian]

BEGIN_NEEDLESS = ("train-backwards", "train-teacher", "translate-mono-trg", "alignments-original", "score-")


@pytest.fixture(scope="module")
def run(trained: Place) -> Iterator[Run]:
    known = {line: other for pair in sentences() for line, other in (pair, pair[::-1])}
    chat = Chat(known, _worth, fails=0.1, silence=0.1, retry_after="0")
    with chat_server(chat) as url:
        yield Run(trained, chat, url)


def _worth(asked: Mapping[str, str]) -> float:
    return 100 if asked["translation"] == asked["reference"] else 40


SERVICE = "  model: {endpoint: {model: tiny, service: LOCAL, lines: 5}, licence: Apache-2.0}"


def test_a_student_of_a_service(run: Run) -> None:
    made = run.train("en-eo.asked", "all", SERVICE, "teacher: model")
    assert not [label for label in made if label.startswith(BEGIN_NEEDLESS)]
    assert {"ask-corpus-en-eo-1/2", "ask-mono-src-en-eo-2/2"} <= made
    scores = json.loads(run.place.run("translations", "results", "en-eo.asked", "--json").stdout)
    assert set(scores) == {"teacher-1", "student", "finetuned-student", "quantized", "exported"}
    assert all(one["bleu"] > 99 for one in scores["teacher-1"].values())
    asked = read_json(run.place, "en-eo.asked", "ask-mono-src-en-eo-1/2", "stats.json")
    assert asked["lines"]["in"] == 30
    assert asked["tokens"]["read"] >= 300
    paid = Counter(line for lines in run.chat.paid for line in lines)
    assert max(paid.values()) == 1
    again = train(
        run.place, "en-eo.asked", "all", LOCAL_BASE_URL="http://127.0.0.1:1/v1", LOCAL_API_KEY="new"
    )
    assert again.returncode == 0, again.stderr
    assert not ended(again)  # another address and another key change nothing


def test_a_mix_of_a_model_and_a_service_and_their_comparison(
    run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("exported")
    label = "train-teacher-en-eo-1"
    artifacts(run.place, label, folder)
    with web_server(folder) as site:
        translators = f"{SERVICE}\n  marian: {{marian: {{urls: ['{site}/{label}']}}}}"
        made = run.train("en-eo.mixed", "translate_mono_src", translators, "teacher: {model: 1, marian: 3}")
        assert {
            "ask-mono-src-en-eo-1/3",
            "translate-mono-src-en-eo-2/3",
            "translate-mono-src-en-eo-3/3",
        } <= made
        sizes = read_json(run.place, "en-eo.mixed", "split-mono-src-en-eo", "stats.json")["parts"]
        assert sizes[0] == 15
        more = "final-evaluation: {released: false, translators: [model, marian]}\n"
        made = run.train("en-eo.judged", "final_evaluation", translators, "best-model: chrf", more)
    scores = json.loads(run.place.run("translations", "results", "en-eo.judged", "--json").stdout)
    assert {"model", "marian", "exported"} <= set(scores)
    assert not [label for label in made if label.startswith("train-")]


def test_a_service_translates_back(run: Run) -> None:
    made = run.train("en-eo.back", "translate_mono_trg", SERVICE, "backwards: model")
    assert {"ask-mono-trg-en-eo-1/2", "check-answers-mono-trg-en-eo-2/2"} <= made
    assert not [label for label in made if label.startswith("train-backwards")]


def test_a_service_judges_models_and_is_not_paid_again_for_other_names_of_files(run: Run) -> None:
    judge = "evaluation: {judge: model}\n"
    made = run.train("en-eo.judge", "evaluate_exported", SERVICE, "best-model: chrf", judge)
    (label,) = made
    assert label.startswith("judge-exported-")
    told = json.loads(run.place.run("translations", "results", "en-eo.judge", "--json").stdout)
    (scores,) = told["exported"].values()
    stats = read_json(run.place, "en-eo.judge", label, "stats.json")
    assert stats["lines"] == {"in": 20, "kept": 20, "dropped": {}}
    right = (scores["judge"] - 40) / 60 * 20  # lines that are as the reference
    assert right == pytest.approx(round(right))
    assert 0 < right <= 20
    assert "Judge" in run.place.run("translations", "results", "en-eo.judge").stdout
    compared = f"{judge}final-evaluation: {{released: false, translators: [model]}}\n"
    made = run.train("en-eo.named", "final_evaluation", SERVICE, "best-model: chrf", compared)
    assert label.replace("judge-", "llm-ref-") in made
    assert label not in made


def test_a_service_without_an_address_is_told(run: Run) -> None:
    variant(
        run.place,
        "en-eo.unset",
        (TEACHER, f"{TEACHER}  teacher: model\n"),
        (TARGET, f"{TARGET}translators:\n  model: {{endpoint: {{model: other, service: LOCAL}}}}\n"),
    )
    done = train(run.place, "en-eo.unset", "translate_mono_src")
    assert done.returncode == 1
    assert "Set LOCAL_BASE_URL to the address of the service" in done.stderr
