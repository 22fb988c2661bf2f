"""The provenance and the bill of materials of a model, of manifests written for one case each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from importlib.metadata import metadata
from types import SimpleNamespace
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.store.values import manifest
from translations_assets.publish.bill import _licence_of, bill_of_materials
from translations_assets.publish.origins import Library, Origins, OriginStep, origins_of, public_urls
from translations_assets.publish.provenance import statement
from translations_assets.records.manifest import Blob, KeyParts, Manifest, Provenance, Worker
from translations_assets.results.lines import Source
from translations_assets.results.scores import Scores
from translations_assets.results.statistics import Statistics


def blob(text: str) -> Blob:
    return Blob(hashlib.sha256(text.encode()).hexdigest(), len(text))


def made(label: str, output: str, *read: str, times: tuple[float, float] = (5, 6), **known: Any) -> Manifest:
    """A step's result: a file `text` of the contents `output`, made of what it read."""
    files = {f"in/{text}": blob(text) for text in read}
    return replace(
        manifest({"text": blob(output)}, label=label, key=blob(label).digest),
        provenance=Provenance(**{"parts": KeyParts(script="pipeline.clean.merge"), "files": files, **known}),
        started=times[0],
        ended=times[1],
    )


def predicate(*steps: Manifest) -> dict[str, Any]:
    """The predicate of the statement about the last step."""
    told = json.loads(statement("spring", Origins("en-ru", [OriginStep(step, None) for step in steps])))
    found: dict[str, Any] = told["predicate"]
    return found


def dependencies(*steps: Manifest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = predicate(*steps)["buildDefinition"]["resolvedDependencies"]
    return found


def test_a_build_lasts_from_the_first_start_to_the_end_of_the_export() -> None:
    first, last = made("fetch", "a", times=(10, 90)), made("export", "b", "a", times=(50, 70))
    assert predicate(first, last)["runDetails"]["metadata"] == {
        "startedOn": "1970-01-01T00:00:10Z",
        "finishedOn": "1970-01-01T00:01:10Z",
    }


def test_files_have_the_name_of_the_step_that_made_them_first() -> None:
    steps = made("first", "a"), made("second", "a"), made("export", "b", "a", "a list")
    named = [one for one in dependencies(*steps) if "sha256" in one["digest"]]
    assert [one["name"] for one in named if not one["name"].startswith("code of")] == [
        "first/text",
        "export:in/a list",
    ]
    assert named[0]["digest"] == {"sha256": blob("a").digest}


def test_a_commit_that_files_differed_from_is_told() -> None:
    steps = made("fetch", "a", revision="aa11+changes"), made("export", "b", "a", revision="bb22")
    assert [one for one in dependencies(*steps) if "gitCommit" in one["digest"]] == [
        {"name": "translations-assets", "digest": {"gitCommit": "aa11"}, "annotations": {"changes": True}},
        {"name": "translations-assets", "digest": {"gitCommit": "bb22"}},
    ]


def test_where_it_ran_is_told() -> None:
    worker = Worker(others={"python": "3.11.9", "pod": "train-1", "gpu_models": ["H200"]})
    export = made("export", "b", worker=worker, run="run-7", revision="bb22")
    told = predicate(export)
    builder = told["runDetails"]["builder"]
    assert builder["version"] == {"translations-assets": "bb22", "python": "3.11.9", "pod": "train-1"}
    (step,) = told["buildDefinition"]["internalParameters"]["steps"]
    assert (step["worker"]["gpu_models"], step["host"], step["run"]) == (["H200"], "here", "run-7")


def test_programs_of_the_system_are_no_libraries_of_the_index() -> None:
    parts = KeyParts(libraries={"perl": "5.36.0", "sed": "", "numpy": "2.2.6"})
    origins = Origins("en-ru", [OriginStep(made("clean", "a", parts=parts), None)])
    assert origins.libraries == [
        Library("numpy", "2.2.6", "pkg:pypi/numpy@2.2.6"),
        Library("perl", "5.36.0", ""),
    ]
    found = [one["uri"] for one in dependencies(made("clean", "a", parts=parts)) if "uri" in one]
    assert found == ["pkg:pypi/numpy@2.2.6", "pkg:generic/perl@5.36.0"]


def test_results_that_were_collected_are_named_all_the_same() -> None:
    store = MemoryStore()
    gone = Blob("00" * 32, 10)
    export = replace(made("export", "b"), outputs={"stats.json": gone})
    report: Any = SimpleNamespace(session=SimpleNamespace(store=store))
    assert origins_of(report, export, "en-ru").made == [OriginStep(export, None)]


def test_addresses_hold_no_secret_and_no_path_of_the_machine() -> None:
    urls = "https://user:secret@example.org/a.zst?token=1", "file:///home/somebody/a.zst", "s3://bucket/a.zst"
    source = Source("train-a", 3, "", "", urls, synthetic=False)
    told = Statistics.from_dict({"source": [{"url": url, "bytes": 1} for url in urls]})
    assert public_urls(source) == public_urls(told) == ["https://example.org/a.zst", "s3://bucket/a.zst"]


def test_classifiers_say_what_they_are_in_a_file_of_their_own() -> None:
    store = MemoryStore()
    told = {"repository": "bitextor/x", "revision": "c0ffee", "licence": "gpl-3.0", "files": {}}
    outputs = {"model.json": store.add_bytes(json.dumps(told).encode()), "tf_model.h5": blob("weights")}
    report: Any = SimpleNamespace(session=SimpleNamespace(store=store))
    (classifier,) = bill_of(origins_of(report, replace(made("fetch", "b"), outputs=outputs), "en-ru"))[
        "components"
    ]
    assert (classifier["type"], classifier["version"]) == ("machine-learning-model", "c0ffee")
    assert classifier["licenses"] == [{"expression": "GPL-3.0"}]


def bill_of(origins: Origins, *given: Any) -> dict[str, Any]:
    """The bill of a model for which some translators were given."""
    config = SimpleNamespace(
        experiment=SimpleNamespace(licence=None, student_model="tiny"),
        datasets=SimpleNamespace(test=[SimpleNamespace(known_as="url_file:///home/a", short_name="own")]),
    )
    session = SimpleNamespace(config=config, graph=SimpleNamespace(stages={}))
    scores = Scores.from_dict({"dataset": "url_file:///home/a", "chrf": {"score": 50.5}})
    evaluations = {"exported": {"url_file:///home/a": scores}}
    report: Any = SimpleNamespace(session=session, given=given, evaluations=evaluations, results={})
    found: dict[str, Any] = json.loads(bill_of_materials("spring_id", report, origins))
    return found


def given(name: str, form: str, licence: str | None) -> Any:
    return SimpleNamespace(
        name=name, translator=SimpleNamespace(form=form, identity="a-model", licence=licence)
    )


@pytest.mark.parametrize(
    ("stated", "licences"),
    [
        ("apache-2.0", [{"expression": "Apache-2.0"}]),
        ("CC BY 4.0", [{"license": {"name": "CC BY 4.0"}}]),
        ("", [{"expression": "MIT"}]),
    ],
)
def test_a_model_of_others_has_its_providers_licence_before_the_configs(
    stated: str, licences: list[dict[str, Any]]
) -> None:
    url = "https://example.org/model"
    told = Statistics.from_dict({"revision": "v1", "licence": stated, "source": [{"url": url, "bytes": 1}]})
    fetched = replace(made("fetch-nllb-en-ru", "a"), outputs={"model.tar": blob("a")})
    origins = Origins("en-ru", [OriginStep(fetched, told), OriginStep(made("export", "b", "a"), None)])
    given_too = given("nll", "marian", "gpl-3.0")
    (model,) = bill_of(origins, given_too, given("nllb", "hugging-face", "mit"))["components"]
    assert (model["type"], model["version"]) == ("machine-learning-model", "v1")
    assert model["licenses"] == licences
    assert model["externalReferences"] == [{"type": "distribution", "url": url}]


def test_test_sets_have_their_short_names() -> None:
    told = bill_of(Origins("en-ru", [OriginStep(made("export", "b", "a"), None)]))
    card = told["metadata"]["component"]["modelCard"]
    assert card["quantitativeAnalysis"]["performanceMetrics"] == [
        {"type": "chrF", "value": "50.5", "slice": "own"}
    ]


def test_a_service_is_named_though_nothing_is_fetched_of_it() -> None:
    origins = Origins("en-ru", [OriginStep(made("export", "b", "a"), None)])
    twice = (given("judge", "endpoint", None),) * 2  # a teacher that translates back, too
    (service,) = bill_of(origins, *twice)["components"]
    assert (service["type"], service["name"]) == ("machine-learning-model", "a-model")
    assert "licenses" not in service


def test_licences_of_libraries_are_those_of_the_versions_that_ran() -> None:
    here = metadata("numpy")["Version"]
    assert _licence_of(Library("numpy", here, "")) == "BSD License"
    assert _licence_of(Library("numpy", "0.1", "")) == ""
    assert _licence_of(Library("no-such-library", "0.1", "")) == ""


def test_another_model_has_another_serial_number() -> None:
    first, same, other = (
        bill_of(Origins("en-ru", [OriginStep(made("export", text, "in"), None)])) for text in ("a", "a", "b")
    )
    assert first["serialNumber"].startswith("urn:uuid:")
    assert first == same
    assert first["serialNumber"] != other["serialNumber"]
