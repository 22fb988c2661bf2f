"""Looking datasets and models up: in a mirror, at a server that answers in every way, in mtdata."""

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from pipeline.continuation.addresses import weights_urls
from tests.config.texts import SMALL, with_line
from tests.http_server import http_server
from tests.mtdata import state_with_catalogue
from translations_assets.config import web
from translations_assets.config.load import read_values
from translations_assets.config.providers import PROVIDERS, mtdata
from translations_assets.config.providers.provider import Provider
from translations_assets.config.sources import addresses, look_up
from translations_assets.config.web import Answer, ask

NOWHERE = "http://127.0.0.1:9"  # nothing listens there


class Server(BaseHTTPRequestHandler):
    """Answers by what the path begins with."""

    tries: dict[str, int] = {}

    def do_HEAD(self) -> None:
        kind = self.path.split("/")[1].split(".")[0]
        self.tries[self.path] = self.tries.get(self.path, 0) + 1
        headers = {"Content-Length": "1200"}
        status = {"missing": 404, "forbidden": 403, "headless": 405, "busy": 503, "moved": 302}.get(kind, 200)
        if kind == "headless" and self.command == "GET":
            status = 200
        if kind == "shaky" and self.tries[self.path] > 1:
            status = 200
        elif kind == "shaky":
            status = 500
        if kind == "moved":
            headers = {"Location": "/good.zst", "Content-Length": "0"}
        if kind == "empty":
            headers = {"Content-Length": "0"}
        is_folder = "folder" in self.path and "." not in self.path.rpartition("/")[2]
        if kind == "page" or is_folder:
            headers |= {"Content-Type": "text/html; charset=utf-8"}
        if kind == "sizeless":
            headers = {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(b"x" * 1200)

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server; trying again does not wait."""
    monkeypatch.setattr(web, "PAUSE", 0.0)
    Server.tries = {}
    with http_server(Server) as url:
        yield url


def look(text: str, mirror: str = "") -> dict[str, Answer]:
    found = look_up(read_values(text, "my.yml").value, mirror)
    return {wanted.name: answer for wanted, answer in found}


def answer_of(url: str) -> Answer:
    config = {
        "experiment": {"src": "en", "trg": "ru"},
        "datasets": {"mono-src": [f"url_{url}"]},
    }
    ((wanted, answer),) = look_up(config)
    assert wanted.path == ("datasets", "mono-src", 0)
    return answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("good.zst", Answer(1200)),
        ("moved.zst", Answer(1200)),
        ("headless.zst", Answer(1200)),
        ("shaky.zst", Answer(1200)),
        ("sizeless.zst", Answer(None)),
    ],
)
def test_what_exists(server: str, name: str, answer: Answer) -> None:
    assert answer_of(f"{server}/{name}") == answer


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.zst", "does not exist: {url} answers 404"),
        ("forbidden.zst", "does not exist: {url} answers 403"),
        ("empty.zst", "{url} is empty"),
        ("page.zst", "{url} is a web page, not a file of text"),
        ("busy.zst", "no answer from {url}: status 503"),
    ],
)
def test_what_does_not(server: str, name: str, problem: str) -> None:
    url = f"{server}/{name}"
    assert answer_of(url) == Answer(problem=problem.format(url=url))


def test_a_server_that_is_away_is_asked_twice(server: str) -> None:
    assert "no answer from" in answer_of(f"{NOWHERE}/x.zst").problem
    answer_of(f"{server}/busy.zst")
    assert Server.tries["/busy.zst"] == 2


def test_both_sides_are_needed_and_their_sizes_are_added(server: str) -> None:
    text = with_line(f"    - url_{server}/good.[LANG].zst", "    - opus_ParaCrawl/v9")
    config = read_values(text, "my.yml").value
    config["datasets"] = {"train": config["datasets"]["train"][1:]}
    ((_, answer),) = look_up(config)
    assert answer == Answer(2400)


def test_the_mirror_is_looked_at_first_and_needs_no_network(tmp_path: Path) -> None:
    for name, size in (
        ("object.pouta.csc.fi/OPUS-ParaCrawl/v9/moses/ru-en.txt.zip", 70),
        ("dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz", 500),
        ("data.statmt.org/news-crawl/en/news.2021.en.shuffled.deduped.gz", 30),
        ("github.com/MicrosoftTranslator/NTREX/raw/468c6b6/NTREX-128/newstest2019-src.eng.txt", 1),
        ("github.com/MicrosoftTranslator/NTREX/raw/468c6b6/NTREX-128/newstest2019-ref.rus.txt", 2),
        ("data.hplt-project.org/three/sorted/rus_Cyrl.map", 9),
        ("object.pouta.csc.fi/OPUS-NLLB/v1/mono/ru.txt.gz", 8),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    mono = "  mono-src:\n    - news-crawl_news.2021\n  mono-trg:\n    - hplt_mono/v3.0\n    - opus_NLLB/v1\n"
    text = f"{SMALL}    - ntrex_test\n{mono}"
    assert look(text, str(tmp_path)) == {
        "opus_ParaCrawl/v9": Answer(70),
        "flores_dev": Answer(500),
        "flores_devtest": Answer(500),
        "ntrex_test": Answer(3),
        "news-crawl_news.2021": Answer(30),
        "hplt_mono/v3.0": Answer(9),
        "opus_NLLB/v1": Answer(8),
    }


def test_a_mirror_has_long_names_by_their_digest(tmp_path: Path) -> None:
    long = "x" * 256
    copy = tmp_path / "x.org" / f"sha256-{hashlib.sha256(long.encode()).hexdigest()}"
    copy.parent.mkdir()
    copy.write_bytes(b"text")
    assert ask(f"https://x.org/{long}", str(tmp_path)) == Answer(4)


def test_files_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(b"abc")
    (tmp_path / "b.zst").touch()
    assert answer_of(f"file://{tmp_path}/a.zst") == Answer(3)
    assert "is empty" in answer_of(f"file://{tmp_path}/b.zst").problem
    assert "there is no file" in answer_of(f"file://{tmp_path}/c.zst").problem


def test_models_are_told_by_their_weights(server: str) -> None:
    models = f"  models:\n    backwards:\n      url: {server}/good\n      mode: use\n"
    config = read_values(f"{SMALL}continuation:\n{models}", "my.yml").value
    config["datasets"] = {}
    ((wanted, answer),) = look_up(config)
    assert wanted.path == ("continuation", "models", "backwards", "url")
    assert {*wanted.addresses[0][:-1]} <= {*weights_urls(f"{server}/good", "chrf", "enru")}
    assert wanted.addresses[0][-2].endswith("/model.enru.intgemm8.bin")
    assert answer == Answer(1200)
    assert "/good/final.model.npz.best-chrf.npz" in Server.tries


def test_models_that_the_student_is_compared_with(server: str) -> None:
    forms = {"marian": "final.model.npz.best-chrf.npz", "ctranslate2": "model.bin"}
    forms["firefox"] = "model.enru.intgemm.alphas.bin"
    models = "".join(f"    - {{name: {form}, form: {form}, url: {server}/good}}\n" for form in forms)
    config = read_values(f"{SMALL}final-evaluation:\n  models:\n{models}", "my.yml").value
    config["datasets"] = {}
    found = {wanted.path: answer for wanted, answer in look_up(config)}
    assert found == {("final-evaluation", "models", number, "url"): Answer(1200) for number in range(3)}
    assert {f"/good/{name}" for name in forms.values()} <= {*Server.tries}


@pytest.mark.parametrize(
    ("translator", "answered"),
    [
        ("{marian: {urls: [%s/folder]}}", "/folder/final.model.npz.best-chrf.npz"),
        ("{opus-mt: {url: %s/folder}}", "/folder/decoder.yml"),
        ("{opus-mt: {url: %s/good.zip}}", "/good.zip"),
    ],
)
def test_models_that_translate(translator: str, answered: str, server: str) -> None:
    """Folders are told by files in them; the name of a translator does not matter."""
    for name in ("own", "models"):
        config = read_values(f"{SMALL}translators:\n  {name}: {translator % server}\n", "my.yml").value
        config["datasets"] = {}
        ((_, answer),) = look_up(config)
        assert answer == Answer(1200)
        assert [*Server.tries][-1] == answered


def test_sets_of_the_hub_are_asked_for_at_its_api() -> None:
    """Their pages are web pages, which are no files of text."""
    sets = {
        "flores200-plus_devtest": "openlanguagedata/flores_plus",
        "wmt24pp_test": "google/wmt24pp",
        "bouquet_test": "facebook/bouquet",
    }
    config = {"experiment": {"src": "en", "trg": "ru"}, "datasets": {"test": [*sets]}}
    found = {wanted.name: wanted.addresses for wanted in addresses(config)}
    assert found == {
        key: [[f"https://huggingface.co/api/datasets/{repository}"]] for key, repository in sets.items()
    }


def test_names_that_mtdata_does_not_know(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    catalogue = {
        "Tilde-airbaltic-1-eng-rus": [f"{server}/good.tmx"],
        "Other-airbaltik-1-eng-deu": [f"{server}/x"],
    }
    monkeypatch.setattr(mtdata, "catalogue", lambda: catalogue)
    train = ["mtdata_Tilde-airbaltic-1-eng-rus", "mtdata_Tilde-airbaltik-1-eng-rus"]
    config = {"experiment": {"src": "en", "trg": "ru"}, "datasets": {"train": train}}
    assert [(wanted.name, answer) for wanted, answer in look_up(config)] == [
        (train[0], Answer(1200)),
        (
            train[1],
            Answer(problem="mtdata has no such dataset. Did you mean 'Tilde-airbaltic-1-eng-rus'?"),
        ),
    ]


@pytest.mark.slow
def test_mtdatas_own_catalogue_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    state = state_with_catalogue()
    monkeypatch.setenv("TRANSLATIONS_STATE", str(state))
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", "raise SystemExit(1)")  # as another process would
    assert mtdata.catalogue.__wrapped__()["Tilde-airbaltic-1-eng-rus"][0].endswith(".zip")
    assert [path.suffix for path in state.iterdir()] == [".json"]


def test_a_catalogue_that_cannot_be_kept_is_built_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    state.touch()  # no folder can be made there, not even by root
    monkeypatch.setenv("TRANSLATIONS_STATE", str(state))
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", write_catalogue("first"))
    assert mtdata.catalogue.__wrapped__() == {"first": ["https://example.org"]}
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", write_catalogue("second"))
    assert mtdata.catalogue.__wrapped__() == {"second": ["https://example.org"]}


def test_a_kept_catalogue_that_is_damaged_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path))
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", write_catalogue("first"))
    catalogue = mtdata.catalogue.__wrapped__()
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert mtdata.catalogue.__wrapped__() == catalogue
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", "raise SystemExit(1)")
    assert mtdata.catalogue.__wrapped__() == catalogue


def test_a_catalogue_that_cannot_be_built_is_a_problem_of_its_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_STATE", str(tmp_path))
    monkeypatch.setattr(mtdata, "catalogue", mtdata.catalogue.__wrapped__)
    monkeypatch.setattr(mtdata, "_WRITE_CATALOGUE", "raise OSError('no space left')")
    config = {
        "experiment": {"src": "en", "trg": "ru"},
        "datasets": {"train": ["mtdata_Tilde-airbaltic-1-eng-rus"]},
    }
    ((_, answer),) = look_up(config)
    assert answer.problem == "mtdata's catalogue cannot be built: OSError: no space left"


def write_catalogue(name: str) -> str:
    """A program that writes a catalogue of one entry, as mtdata's would."""
    return f"""import sys; open(sys.argv[1], "w").write('{{"{name}": ["https://example.org"]}}')"""


def test_every_provider_can_be_looked_up() -> None:
    """But the demo, which is made here."""
    default = Provider("x", lambda name, spoken: spoken.code).addresses
    assert {provider.name for provider in PROVIDERS if provider.addresses is default} == {"demo"}


def test_addresses_of_sacrebleu_are_its_own() -> None:
    config = {"experiment": {"src": "en", "trg": "ru"}, "datasets": {"test": ["sacrebleu_wmt19", "?"]}}
    (wanted,) = addresses(config)
    assert wanted.addresses == [["https://data.statmt.org/wmt19/translation-task/test.tgz"]]
