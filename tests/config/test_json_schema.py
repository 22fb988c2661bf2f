"""The JSON Schema, against configs that are right and configs that are wrong."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.config.test_real_configs import ALL, ROOT
from tests.config.texts import SMALL, with_line
from translations_assets.config.json_schema import DIALECT, json_schema
from translations_assets.config.languages import languages
from translations_assets.config.load import read_values
from translations_assets.config.yaml_reader import read_yaml

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
GENERATIONS = sorted((Path(__file__).parent / "generations").glob("*.yml"))


def problems_of(values: Any) -> list[str]:
    """Locations of a config's errors, as dotted paths."""
    return sorted(".".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(values))


def test_it_is_a_schema() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == DIALECT


@pytest.mark.parametrize(
    "path", [*ALL, *GENERATIONS, *sorted((ROOT / "configs").glob("*.yml"))], ids=lambda path: path.stem
)
def test_right_configs_are_valid_in_todays_form(path: Path) -> None:
    assert problems_of(read_values(path.read_text(encoding="utf-8"), path.name).value) == []


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("spm-vocab-size: 1001", "experiment.spm-vocab-size"),
        ("spm-vocab-size: '1000'", "experiment.spm-vocab-size"),
        ("spm-vocab-sise: 1000", "experiment"),
        ("use-opuscleaner: 'true'", "experiment"),
        ("student-model: small", "experiment.student-model"),
        ("teacher-ensemble: 10", "experiment.teacher-ensemble"),
        ("archive-corpora: yes", "experiment.archive-corpora"),
        ("bicleaner: {default-threshold: 2}", "experiment.bicleaner.default-threshold"),
        ("mono-max-sentences-src: 5", "experiment.mono-max-sentences-src"),
    ],
)
def test_a_wrong_line_in_experiment(line: str, path: str) -> None:
    assert problems_of(read_yaml(with_line(f"  {line}", "  trg: ru"), "my.yml").value) == [path]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (SMALL.replace("src: en", "src: English"), "experiment.src"),
        (SMALL.replace("name: small", "name: my run"), "experiment.name"),
        (SMALL.replace("opus_", "opsu_"), "datasets.train.0"),
        (SMALL.replace("    - flores_dev\n", "    []\n"), "datasets.devtest"),
        (f"{SMALL}target-stage: nowhere\n", "target-stage"),
        (f"{SMALL}taskcluster: {{worker-classes: {{nowhere: gcp-spot}}}}\n", "taskcluster.worker-classes"),
        (f"{SMALL}marian-args: {{training-teacher: {{learnrate: 1}}}}\n", "marian-args.training-teacher"),
        (
            f"{SMALL}marian-args: {{training-teacher: {{dim-emb: big}}}}\n",
            "marian-args.training-teacher.dim-emb",
        ),
        (f"{SMALL}marian-args: {{decoding-teacher: {{devices: 0}}}}\n", "marian-args.decoding-teacher"),
    ],
)
def test_a_wrong_value_elsewhere(text: str, path: str) -> None:
    assert problems_of(read_yaml(text, "my.yml").value) == [path]


@pytest.mark.parametrize(("number", "is_right"), [(0, True), (-1, False), ("0", True), ("-1", False)])
def test_a_natural_number_among_marians_options(number: object, is_right: bool) -> None:
    args = {"training-teacher": {"early-stopping": number}}
    found = problems_of(read_yaml(SMALL, "my.yml").value | {"marian-args": args})
    assert found == ([] if is_right else ["marian-args.training-teacher.early-stopping"])


def test_keys_have_descriptions_and_defaults() -> None:
    experiment = SCHEMA["$defs"]["Experiment"]["properties"]
    assert experiment["spm-vocab-size"]["default"] == 32000
    assert experiment["src"]["anyOf"][0]["enum"] == list(languages())
    assert all("description" in key for key in experiment.values())
    assert SCHEMA["$defs"]["MarianArgs"]["properties"]["training-teacher"]["default"] == {
        "early-stopping": "20"
    }
    assert "beam-size" in SCHEMA["$defs"]["MarianOptionsOfDecode"]["properties"]
