"""Tests of the document of each sentence of a test set."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest
import sacrebleu
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.plain_text import PlainTextDataset

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.data import parallel_flores
from pipeline.data.documents import NTREX_URL, main
from tests.pipeline.data.conftest import Mirror

SETS = "https://example.org/sets.tar.gz"
ONE, TWO = (
    f'<doc sysid="s" docid="{name}" genre="news" origlang="{lang}">\n'
    for name, lang in (("one", "en"), ("two", "ru"))
)


def tarred(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            file.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def documents(folder: Path, provider: str, dataset: str) -> list[str]:
    codes = ["--src-code", "en", "--trg-code", "ru"]
    main(["--provider", provider, "--dataset", dataset, *codes, "--output", str(folder / "out")])
    assert [path.name for path in (folder / "out").iterdir()] == ["documents.zst"]
    return [*read_lines(folder / "out" / "documents.zst")]


def test_flores_tells_the_articles_of_its_sentences(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_flores, "SHA256", "")
    rows = "domain\tURL\ttopic\nwikinews\thttps://a\tscience\nwikinews\thttps://a\t\nwikibooks\thttps://b\t\n"
    mirror.put(parallel_flores.URL, tarred({"flores200_dataset/metadata_dev.tsv": rows}))
    assert documents(tmp_path, "flores", "dev") == ["https://a", "https://a", "https://b"]


def test_ntrex_has_a_table(mirror: Mirror, tmp_path: Path) -> None:
    mirror.put(NTREX_URL, "bbc.1\nbbc.1\nrt.com.2\n")
    assert documents(tmp_path, "ntrex", "test") == ["bbc.1", "bbc.1", "rt.com.2"]


def test_sacrebleu_knows_the_documents_of_some_sets(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'{ONE}<seg id="1">a</seg>\n<seg id="2">b</seg>\n</doc>\n{TWO}<seg id="1">c</seg>\n</doc>\n'
    content = tarred({"src.sgm": text, "ref.sgm": text, "src.txt": "a\n", "ref.txt": "a\n"})
    mirror.put(SETS, content)
    digest = hashlib.md5(content).hexdigest()
    sgml = FakeSGMLDataset(
        "sgml",
        langpairs={"en-ru": ["src.sgm", "ref.sgm"]},
        data=[SETS],
        md5=[digest],
        description="",
        citation="",
    )
    plain = PlainTextDataset(
        "tiny",
        langpairs={"en-ru": ["src.txt", "ref.txt"]},
        data=[SETS],
        md5=[digest],
        description="",
        citation="",
    )
    monkeypatch.setitem(sacrebleu.DATASETS, "sgml", sgml)
    monkeypatch.setitem(sacrebleu.DATASETS, "tiny", plain)
    assert documents(tmp_path, "sacrebleu", "sgml") == ["one", "one", "two"]
    assert documents(tmp_path / "part", "sacrebleu", "sgml/target-original") == ["two"]
    with pytest.raises(InputError, match="sacreBLEU does not know the documents of tiny"):
        documents(tmp_path / "tiny", "sacrebleu", "tiny")
