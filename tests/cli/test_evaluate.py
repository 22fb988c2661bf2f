"""`translations evaluate`: scores of any model's folder, and results that are never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.quantize.export import main as export
from tests.chat_server import KEY, Chat, chat_server
from tests.cli.conftest import Command
from tests.cli.shapes import check_shape
from tests.end_to_end.given import HUB, write_hub
from tests.pipeline.quantize.conftest import one_thread, quantized, tiny
from tests.pipeline.train.tiny import model as tiny_model
from tests.pipeline.translate.test_opusmt import release
from tests.remote_settings import released_as
from translations_assets.cli.evaluate import _languages, _read
from translations_assets.config.errors import ConfigError
from translations_assets.stages.final_evaluation import METRICS

__all__ = ["one_thread", "quantized", "tiny"]  # fixtures


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that says its languages, and holds no model."""
    folder = tmp_path / "exported"
    folder.mkdir()
    (folder / "metadata.json").write_text('{"sourceLanguage": "en", "targetLanguage": "eo"}')
    return folder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere", "--datasets", "demo_test"], "nowhere is no folder. Give a model's folder before"),
        (["exported"], "Name at least one test set: --datasets flores_devtest"),
        (["exported", "--datasets", "demo_test", "--name", "released", "--released"], "another --name"),
        (["exported", "--datasets", "dem_test"], "Did you mean 'demo'?"),
        (["--datasets", "demo_test"], "Give a model's folder, --released or --translator."),
        (["--datasets", "demo_test", "--released"], "Give the languages: --src en --trg ru"),
        (["nowhere", "--datasets", "demo_test", "--released"], "nowhere is no folder"),
        (
            ["exported", "--datasets", "demo_test", "--translator", "fox"],
            "translator consists of `key: value`",
        ),
        (
            ["exported", "--datasets", "demo_test", "--translator", "fox: {firefx: {}}"],
            "translators.fox: needs one form of endpoint",
        ),
        (
            ["exported", "--datasets", "demo_test", "--translator", "released: {firefox: {}}"],
            "'released' is the name of another model",
        ),
        (
            ["exported", "--name", "fox", "--datasets", "demo_test", "--translator", "fox: {firefox: {}}"],
            "fox is the name of another model. Give yours another --name.",
        ),
        (["exported", "--datasets", "demo_test", "ntrex_test"], "NTREX-128 has no Esperanto"),
        (
            ["exported", "--datasets", "demo_test", "--src", "en", "--trg", "ug"],
            "the demo corpus (en, eo) has no Uyghur",
        ),
        ([".", "--datasets", "demo_test"], "does not name its languages. Give them: --src en --trg ru"),
        ([".", "--datasets", "demo_test", "--src", "en", "--trg", "epo"], "Did you mean 'eo'?"),
    ],
)
def test_what_cannot_be_evaluated_is_told(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(folder.parent)
    said = command("evaluate", *words)
    assert said.code == 1
    assert says in said.err


def test_results_that_are_there_are_not_evaluated_again(command: Command, folder: Path) -> None:
    results = folder.parent / "results"
    results.mkdir()
    name = "en-eo__demo_test__bergamot__mine__latest__translations.json"
    (results / name).write_text("[]")
    words = ["evaluate", str(folder), "--name", "mine", "--output", str(results), "--datasets"]
    said = command(*words, "demo_aug-upper_test", "demo_test")
    assert said.code == 1
    assert f"already holds {name}. Give --override to replace what it has of mine on demo_test" in said.err
    assert [path.name for path in results.iterdir()] == [name]


@pytest.mark.marian
@pytest.mark.slow
def test_an_exported_model_beside_the_released_one(
    command: Command, quantized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real worker and scripts; the mirror answers as Remote Settings does."""
    exported, results = tmp_path / "tiny student", tmp_path / "results"
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(exported)])
    released_as(exported, tmp_path / "mirror", "en", "eo")
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(tmp_path / "mirror"))
    words = ["evaluate", str(exported), "--datasets", "demo_test", "--released", "--output", str(results)]
    said = command(*words, "--json")
    assert said.code == 0, said.err
    scores = json.loads(said.out)
    check_shape("evaluate", scores)
    assert {*scores} == {"tiny-student", "released"}
    assert scores["tiny-student"]["demo_test"]["chrf"] == scores["released"]["demo_test"]["chrf"] > 0
    files = {path.name for path in results.iterdir()}
    assert len(files) == 2 * (1 + 2 * len(METRICS))
    chrf = results / "en-eo__demo_test__bergamot__tiny-student__latest__chrf.metrics.json"
    found = json.loads(chrf.read_text())
    assert found["score"] == scores["tiny-student"]["demo_test"]["chrf"]
    chrf.write_text("changed")
    assert command(*words).code == 1
    assert chrf.read_text() == "changed"
    again = command(*words, "--override")
    assert again.code == 0, again.err
    assert "tiny-student" in again.out
    assert json.loads(chrf.read_text())["score"] == found["score"]
    assert {path.name for path in results.iterdir()} == files


def test_a_model_that_does_not_load_is_told_in_one_line(command: Command, folder: Path) -> None:
    said = command("evaluate", str(folder), "--datasets", "demo_test", "--output", str(folder.parent / "new"))
    assert said.code == 1
    assert said.err.splitlines()[-1].startswith(f"error: {folder} holds no model. Give a folder")
    assert not (folder.parent / "new").exists()


def test_the_languages_of_a_folder_are_those_of_its_metadata(tmp_path: Path) -> None:
    (tmp_path / "metadata.json").write_text('{"sourceLanguage": "en", "targetLanguage": "eo"}')
    assert _languages(tmp_path, None, None) == ("en", "eo")
    assert _languages(tmp_path, "lt", None) == ("lt", "eo")
    assert _languages(tmp_path, None, "lt") == ("en", "lt")


def test_a_language_beyond_our_own_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    read = _read(["flores_devtest", "ntrex_test"], "en", "ug", False, {})
    (flores, ntrex) = read.graph.stages["dataset_test"]
    assert (flores.args["trg_code"], ntrex.args["trg_code"]) == ("uig_Arab", "uig")
    with pytest.raises(ConfigError, match="Did you mean 'ug'"):
        _read(["flores_devtest"], "en", "uig", False, {})


class Backwards(dict[str, str]):
    """Each line with its words the other way round."""

    def __missing__(self, line: str) -> str:
        return " ".join(reversed(line.split()))


@pytest.mark.marian
@pytest.mark.slow
def test_any_translators_by_a_line_each(
    command: Command, quantized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported, mirror, results = (tmp_path / name for name in ("exported", "mirror", "results"))
    options = ("--src", "en", "--trg", "eo", "--architecture", "tiny", "--split")
    export(["--model", str(quantized), *options, "--output", str(exported)])
    for src, trg in (("en", "eo"), ("en", "lt")):
        released_as(exported, mirror, src, trg)
    write_hub(mirror)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(mirror))
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    lines = (
        "fox: {firefox: {}}",
        f"hub: {{{HUB}}}",
        f"opus: {{opus-mt: {{url: 'file://{release()}'}}}}",
        f"theirs: {{marian: {{urls: ['file://{tiny_model()}']}}}}",
        "llm: {endpoint: {model: tiny, service: LOCAL}}",
        "by-lt: {pivot: {via: lt, first: fox, second: theirs}}",
    )
    given = [word for line in lines for word in ("--translator", line)]
    # without a model's folder the second key is no model
    words = ["evaluate", "--datasets", "demo_test", "demo_aug-upper_test", "--src", "en", "--trg", "eo"]
    with chat_server(Chat(Backwards())) as url:
        monkeypatch.setenv("LOCAL_BASE_URL", url)
        said = command(*words, *given, "--released", "--output", str(results), "--json")
        assert said.code == 0, said.err
        again = command(*words, *given, "--released", "--json")
    scores = json.loads(said.out)
    check_shape("evaluate", scores)
    assert {*scores} == {"released", "fox", "hub", "opus", "theirs", "llm", "by-lt"}
    assert {*scores["fox"]} == {"demo_test", "demo_aug-upper_test"}
    assert scores["fox"]["demo_test"]["chrf"] == scores["released"]["demo_test"]["chrf"] > 0
    assert json.loads(again.out) == scores
    assert "done after" not in again.err  # nothing is translated, or paid for, twice
    for name, form in (("fox", "bergamot"), ("opus", "opus-mt"), ("llm", "endpoint"), ("by-lt", "pivot")):
        assert (results / f"en-eo__demo_test__{form}__{name}__latest__chrf.metrics.json").is_file()
