"""`find-corpus` and `config generate`, on a network of the tests' own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.cli.shapes import check_shape
from tests.configs.conftest import Network, network
from tests.configs.network import HPLT, HUB_API, OPUS_API, OPUS_ROWS, SHARDS
from translations_assets.cli.main import main

__all__ = ["network"]


@pytest.fixture
def call(
    network: Network,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Said]:
    """Runs `translations` with some words; configs are in the folder `configs` of the current folder."""
    (tmp_path / "configs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSLATIONS_MIRROR", str(network.mirror))
    monkeypatch.delenv("TRANSLATIONS_CONFIGS", raising=False)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str) -> Said:
        monkeypatch.setattr("sys.argv", ["translations", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capfdbinary.readouterr()
        return Said(code, out.decode(), err.decode())

    return call


GENERATE = ("config", "generate", "en", "lt", "--name", "spring")
FILE = Path("configs/en-lt.spring.yml")


def test_a_config_is_written_and_can_be_used(call: Callable[..., Said]) -> None:
    said = call(*GENERATE)
    assert (said.code, said.err) == (0, "")
    assert (
        said.out == f"{FILE.absolute()}: 3 devtest, 12 test, 9 train, 4 mono-src, 4 mono-trg; 22 left out\n"
    )
    assert call("config", "check", "en-lt.spring").code == 0
    assert "train-student-en-lt" in call("graph", "en-lt.spring", "--target", "all").out
    assert [path.name for path in FILE.parent.iterdir()] == [FILE.name]


def test_the_same_again_changes_nothing(call: Callable[..., Said]) -> None:
    call(*GENERATE)
    before = FILE.read_bytes(), FILE.stat().st_ino
    said = call(*GENERATE, "--json")
    assert said.code == 0
    check_shape("config generate", json.loads(said.out))
    assert (FILE.read_bytes(), FILE.stat().st_ino) == before


def test_a_config_that_somebody_has_changed_stays(call: Callable[..., Said]) -> None:
    FILE.write_text("mine")
    said = call(*GENERATE)
    assert said.code == 1
    assert "en-lt.spring.yml: exists, and would have changed; remove it, or" in said.err
    assert FILE.read_text() == "mine"
    assert call(*GENERATE, "--output", "other.yml").code == 0
    assert Path("other.yml").read_text().startswith("# English to Lithuanian, made by")


def test_what_could_not_be_learnt_is_told(call: Callable[..., Said], network: Network) -> None:
    network.take_away("data.hplt-project.org")
    said = call(*GENERATE)
    assert said.code == 1
    assert said.err.count("warning: hplt-mono: no answer from https://data.hplt-project.org/") == 2
    assert FILE.is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("en", "xx", "--name", "spring"), "'xx' is not a known language"),
        (("en", "lt", "--name", "a/b"), "--name: must consist of letters"),
        (
            ("en", "lt", "--name", "spring", "--output", "no/such/file.yml"),
            "no/such: there is no such folder",
        ),
    ],
)
def test_mistakes_are_told_before_any_search(
    call: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("translations_assets.configs.generate.search", None)
    said = call("config", "generate", *words)
    assert said.code == 1
    assert message in said.err


def test_datasets_as_a_table(call: Callable[..., Said]) -> None:
    said = call("find-corpus", "en", "lt", "--importer", "opus", "--importer", "sacrebleu")
    assert (said.code, said.err) == (0, "")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.out.splitlines() if "_" in line]
    assert rows[0] == ["opus_NLLB/v1", "23,298,629 sentences", "ODC-By", "train"]
    assert rows[1][3] == "not used: NLLB was made from it, and holds most of it"
    assert rows[-1] == ["sacrebleu_wmt19/dev", "", "", "devtest"]


def test_datasets_as_json(call: Callable[..., Said], network: Network) -> None:
    network.take_away("huggingface.co")
    said = call("find-corpus", "en", "lt", "--json")
    told = json.loads(said.out)
    check_shape("find-corpus", told)
    assert said.code == 1
    by_key = {(each["key"], each["use"]): each for each in told["datasets"]}
    assert by_key["opus_Europarl/v8", "train"] == {
        "importer": "opus",
        "key": "opus_Europarl/v8",
        "use": "train",
        "sentences": 635_146,
        "estimated": False,
        "bytes": 1_024_000,
        "extent": "",
        "licence": "Public domain",
        "url": "https://object.pouta.csc.fi/OPUS-Europarl/v8/moses/en-lt.txt.zip",
        "skipped": "",
    }
    assert by_key["mtdata_Statmt-europarl-10-lit-eng", "train"]["skipped"] == "OPUS has it"
    assert {problem["importer"] for problem in told["problems"]} == {
        "huggingface_parallel",
        "huggingface_mono",
    }


@pytest.mark.parametrize(
    ("code", "name", "opus", "held_out"),
    [
        ("ug", "Uyghur", "ug", ["flores_aug-mix_dev"]),
        ("kab", "Kabyle", "kab", ["flores_aug-mix_dev", "pontoon"]),
    ],
)
def test_a_language_beyond_our_own_table(
    call: Callable[..., Said], network: Network, code: str, name: str, opus: str, held_out: list[str]
) -> None:
    row = {**OPUS_ROWS[0], "target": opus, "url": OPUS_ROWS[0]["url"].replace("en-lt", f"en-{opus}")}
    network.put(OPUS_API.replace("target=lt", f"target={opus}"), json.dumps({"corpora": [row]}).encode())
    network.put(HUB_API.replace("language:lt", f"language:{opus}"), b"[]")
    flores = {"ug": "uig_Arab", "kab": "kab_Latn"}[code]
    network.put(HPLT.format(flores), SHARDS.format(flores).encode())
    said = call("find-corpus", "en", code, "--json")  # the hub's sets for one language are not recorded
    assert said.code == 1
    assert {line.split(":")[1].strip() for line in said.err.splitlines()} == {"huggingface_mono"}
    found = [each["key"] for each in json.loads(said.out)["datasets"]]
    assert {"opus_Europarl/v8", "hplt_mono/v3.0"} <= {*found}
    said = call("config", "generate", "en", code, "--name", "spring")
    assert said.code == 0, said.err
    text = Path(f"configs/en-{code}.spring.yml").read_text()
    assert f"English to {name}" in text
    assert all(key in text for key in held_out)
    checked = call("config", "check", f"en-{code}.spring")
    assert checked.code == 0
    assert f"{name}: taken to be written in" in checked.out + checked.err
