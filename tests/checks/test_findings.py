"""What a gate's finding tells of its section of the config."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checks import numbers
from tests.stages.configs import DEMO, FULL
from translations_assets.checks.gates import GATES, Gate, _finding, examine
from translations_assets.config.load import parse_config
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import Step
from translations_assets.records.run import RunOptions
from translations_assets.stages import STAGES

LISTS = "checks: {offensive-words: {trg-list: 'https://example.org/words', max-share: 0.01}}\n"


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_thresholds_are_numbers_whatever_else_the_section_has(gate: Gate) -> None:
    session: Any = SimpleNamespace(
        config=parse_config(DEMO + LISTS, "en-eo.yml"), options=SimpleNamespace(overrides={})
    )
    thresholds = _finding(session, gate, "not computed", "").thresholds
    assert all(isinstance(value, int | float) for value in thresholds.values())
    if gate.name == "offensive-words":
        assert thresholds == {"max-share": 0.01}


def student_gap(config: TrainingConfig, chrf: Callable[[str, str], float]) -> Mapping[str, float]:
    """The numbers of the gate on the student's gap, given chrF by label and test set."""

    def told(step: Step) -> bytes:
        dataset = str(step.args["dataset"])
        if step.stage.startswith("check"):
            return json.dumps(numbers.differences(dataset, first=(60.0, 0.001))).encode()
        return json.dumps(numbers.evaluation(dataset, chrf(step.label, dataset))).encode()

    session: Any = SimpleNamespace(
        config=config,
        graph=build_graph(config, STAGES),
        options=RunOptions(),
        results=SimpleNamespace(
            need=lambda steps: None,
            result_of=lambda step: SimpleNamespace(outputs=dict.fromkeys(step.outputs, step)),
        ),
        store=SimpleNamespace(read_blob=told),
    )
    gate = next(gate for gate in GATES if (gate.name, gate.stage) == ("student-gap", "evaluate_student"))
    found = examine(session, gate, {})
    assert found.verdict
    return found.verdict.numbers


def test_test_sets_have_the_names_of_their_files(tmp_path: Path) -> None:
    """Steps know them by their numbers in the list."""
    for name in ("news", "web"):
        for lang in ("en", "ru"):
            (tmp_path / f"{name}.{lang}").write_text("A line.\n")
    text = FULL.replace("    - ntrex_test\n", "    - ./news.[LANG]\n    - ./web.[LANG]\n")
    config = parse_config(text, tmp_path / "en-ru.yml")
    found = student_gap(config, lambda label, dataset: 40.0 if "student" in label else 60.0)
    sets = {name.rpartition(", ")[2] for name in found}
    assert sets == {"flores_devtest", "file_news", "file_web"}
    assert "p, file_news" in found


@pytest.mark.parametrize(
    "entry", ["flores_aug-upper_devtest", "{dataset: flores_aug-upper_devtest, alias: loud}"]
)
def test_a_variant_of_a_test_set_is_not_judged_whatever_its_name(entry: str) -> None:
    """It is harder, and says nothing of the gap."""
    config = parse_config(FULL.replace("- flores_aug-upper_devtest\n", f"- {entry}\n"), "en-ru.yml")
    found = student_gap(config, lambda label, dataset: 20.0 if "_aug-" in dataset else 60.0)
    assert {name.rpartition(", ")[2] for name in found} == {"flores_devtest", "ntrex_test"}


@pytest.mark.parametrize(
    "entry",
    [
        "'url_https://example.org/news_aug-2026.[LANG].zst'",
        "'./news_aug-2026.[LANG]'",
        "'./aug-upper_news.[LANG]'",
        "{dataset: ntrex_test, alias: ntrex_aug-upper_test}",
    ],
)
def test_a_test_set_is_judged_whatever_its_name(entry: str, tmp_path: Path) -> None:
    """August is no variant, and so is nothing whose key does not say so."""
    for name in ("news_aug-2026", "aug-upper_news"):
        for lang in ("en", "ru"):
            (tmp_path / f"{name}.{lang}").write_text("A line.\n")
    config = parse_config(FULL.replace("- ntrex_test\n", f"- {entry}\n"), tmp_path / "en-ru.yml")
    found = student_gap(config, lambda label, dataset: 60.0)
    assert len({name.rpartition(", ")[2] for name in found}) == 2  # with flores_devtest
