"""Answers of providers in their own form, with the lines that an importer makes of them."""

import gzip
import io
import json
import tarfile
import zipfile
from dataclasses import dataclass

import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from pipeline.data import (
    mono_hf,
    mono_hplt,
    mono_news_crawl,
    mono_opus,
    mono_url,
    parallel_bouquet,
    parallel_flores,
    parallel_flores200_plus,
    parallel_hfp,
    parallel_ntrex,
    parallel_opus,
    parallel_tmx,
    parallel_url,
    parallel_wmt24pp,
)
from tests.pipeline.data.conftest import Main

EN = ["The cat sleeps.", "A tab\there.", "Two mice — no more."]
RU = ["Кошка спит.", "Тут табуляция.", "Две мыши — не больше."]
SHA = "0123456789abcdef0123456789abcdef01234567"
HUB = "https://huggingface.co"


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return packed.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def parquet(rows: list[dict[str, object]]) -> bytes:
    packed = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), packed)
    return packed.getvalue()


def commit(*files: str, **card: object) -> str:
    siblings = [{"rfilename": file} for file in ("README.md", *files)]
    return json.dumps({"sha": SHA, "siblings": siblings, "cardData": card})


def hub_set(page: str, revision: str, configs: dict[str, tuple[str, str]], **card: object) -> dict[str, str]:
    """The answer of the hub's API for a set: subset → its split and the split's file."""
    declared = [
        {"config_name": subset, "data_files": [{"split": split, "path": file}]}
        for subset, (split, file) in configs.items()
    ]
    repository = page.removeprefix(f"{HUB}/datasets/")
    answer = commit(*(file for _, file in configs.values()), configs=declared, **card)
    return {f"{HUB}/api/datasets/{repository}/revision/{revision}": answer}


def json_lines(rows: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def tmx(pairs: list[tuple[str, str]]) -> str:
    units = "".join(
        f'<tu><tuv xml:lang="en-US"><seg>{en}</seg></tuv><tuv xml:lang="ru"><seg>{ru}</seg></tuv></tu>'
        for en, ru in pairs
    )
    return f'<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><body>{units}</body></tmx>'


def hplt(lines: list[str]) -> bytes:
    document = {
        "lang": ["rus_Cyrl"],
        "doc_scores": [9.0],
        "seg_langs": ["rus_Cyrl"] * len(lines),
        "text": "\n".join(lines),
    }
    return zstandard.compress(f"{json.dumps(document)}\n".encode())


@dataclass(frozen=True)
class Case:
    """An importer, its options, the answers of its provider, and what is known of the dataset."""

    main: Main
    options: list[str]
    files: dict[str, bytes | str]
    revision: str = ""
    licence: str = ""

    @property
    def mono(self) -> bool:
        return self.main.__module__.startswith("pipeline.data.mono_")

    @property
    def data(self) -> str:
        """The URL of the last file, which holds text; files before it say where the text is."""
        return list(self.files)[-1]


def parallel(
    main: Main, dataset: str, src: str, trg: str, files: dict[str, bytes | str], **known: str
) -> Case:
    languages = ["--src", "en", "--trg", "ru", "--src-code", src, "--trg-code", trg]
    return Case(main, ["--dataset", dataset, *languages], files, **known)


def mono(
    main: Main, dataset: str, code: str, files: dict[str, bytes | str], *options: str, **known: str
) -> Case:
    limits = ["--max-sentences", "10", *options]
    return Case(main, ["--dataset", dataset, "--lang", "ru", "--code", code, *limits], files, **known)


ROWS: list[dict[str, object]] = [{"translation": {"en": en, "ru": ru}} for en, ru in zip(EN, RU, strict=True)]
DOCUMENTS: list[dict[str, object]] = [{"text": "\n\n".join(RU[:2])}, {"text": RU[2]}]
OPUS = "https://object.pouta.csc.fi/OPUS-Tiny/v1"
NTREX = "https://github.com/MicrosoftTranslator/NTREX/raw/468c6b6/NTREX-128/newstest2019"
HPLT = "https://data.hplt-project.org"
README = b"Corpus Name: Tiny\n     License: <a href=/L.pdf>CC-BY-4.0</a>\n"

CASES = {
    "opus": parallel(
        parallel_opus.main,
        "Tiny/v1",
        "en",
        "ru",
        {
            f"{OPUS}/moses/en-ru.txt.zip": zipped(
                {"README": README, "Tiny.en-ru.en": text(EN), "Tiny.en-ru.ru": text(RU)}
            )
        },
        revision="v1",
        licence="CC-BY-4.0",
    ),
    "flores": parallel(
        parallel_flores.main,
        "dev",
        "eng_Latn",
        "rus_Cyrl",
        {
            parallel_flores.URL: tarred(
                {
                    "flores200_dataset/dev/eng_Latn.dev": text(EN),
                    "flores200_dataset/dev/rus_Cyrl.dev": text(RU),
                }
            )
        },
        revision="FLORES-200",
        licence="CC-BY-SA-4.0",
    ),
    "ntrex": parallel(
        parallel_ntrex.main,
        "test",
        "eng",
        "rus",
        {f"{NTREX}-src.eng.txt": text(EN), f"{NTREX}-ref.rus.txt": text(RU)},
        revision="468c6b6",
        licence="CC-BY-SA-4.0",
    ),
    "flores200-plus": parallel(
        parallel_flores200_plus.main,
        "devtest",
        "eng_Latn",
        "rus_Cyrl",
        {
            **hub_set(
                parallel_flores200_plus.PAGE,
                "4.3",
                {code: ("devtest", f"devtest/{code}.jsonl") for code in ("eng_Latn", "rus_Cyrl")},
                license="cc-by-sa-4.0",
            ),
            **{
                f"{parallel_flores200_plus.PAGE}/resolve/{SHA}/devtest/{iso}_{script}.jsonl": json_lines(
                    [
                        {
                            "id": number,
                            "iso_639_3": iso,
                            "iso_15924": script,
                            "text": line,
                            "url": "https://a",
                        }
                        for number, line in enumerate(lines)
                    ]
                )
                for iso, script, lines in (("eng", "Latn", EN), ("rus", "Cyrl", RU))
            },
        },
        revision=SHA,
        licence="cc-by-sa-4.0",
    ),
    "wmt24pp": parallel(
        parallel_wmt24pp.main,
        "test",
        "en",
        "ru_RU",
        {
            **hub_set(
                parallel_wmt24pp.PAGE,
                "e65f585",
                {"en-ru_RU": ("train", "en-ru_RU.jsonl")},
                license="apache-2.0",
            ),
            f"{parallel_wmt24pp.PAGE}/resolve/{SHA}/en-ru_RU.jsonl": json_lines(
                [
                    {
                        "lp": "en-ru_RU",
                        "domain": "news",
                        "document_id": "one",
                        "segment_id": number,
                        "is_bad_source": False,
                        "source": source,
                        "target": target,
                        "original_target": target,
                    }
                    for number, (source, target) in enumerate(zip(EN, RU, strict=True), start=1)
                ]
            ),
        },
        revision=SHA,
        licence="apache-2.0",
    ),
    "bouquet": parallel(
        parallel_bouquet.main,
        "test",
        "eng_Latn",
        "rus_Cyrl",
        {
            **hub_set(
                parallel_bouquet.PAGE,
                parallel_bouquet.REVISION,
                {
                    code: ("test", f"data/sentence_level/test/{code}.parquet")
                    for code in ("eng_Latn", "rus_Cyrl")
                },
            ),
            **{
                f"{parallel_bouquet.PAGE}/resolve/{SHA}/data/sentence_level/test/{code}.parquet": parquet(
                    [
                        {
                            "uniq_id": f"P001-S{number}",
                            "par_id": "P001",
                            "src_lang": code,
                            "src_text": line,
                            "tgt_lang": "eng_Latn",
                            "tgt_text": EN[number],
                        }
                        for number, line in enumerate(lines)
                    ]
                )
                for code, lines in (("eng_Latn", EN), ("rus_Cyrl", RU))
            },
        },
        revision=SHA,
    ),
    "url": parallel(
        parallel_url.main,
        "https://example.org/[LANG].zst",
        "en",
        "ru",
        {
            "https://example.org/en.zst": zstandard.compress(text(EN)),
            "https://example.org/ru.zst": zstandard.compress(text(RU)),
        },
    ),
    "tmx": parallel(
        parallel_tmx.main,
        "pontoon",
        "en",
        "ru",
        {
            "https://pontoon.mozilla.org/translation-memory/ru.all-projects.tmx": tmx(
                list(zip(EN, RU, strict=True))
            )
        },
    ),
    "hfp": parallel(
        parallel_hfp.main,
        "owner/tiny:en-ru:train:en:ru",
        "en",
        "ru",
        {
            f"{HUB}/api/datasets/owner/tiny/revision/main": commit(
                "en-ru/train-00000-of-00001.parquet", license="cc0-1.0"
            ),
            f"{HUB}/datasets/owner/tiny/resolve/{SHA}/en-ru/train-00000-of-00001.parquet": parquet(ROWS),
        },
        revision=SHA,
        licence="cc0-1.0",
    ),
    "news-crawl": mono(
        mono_news_crawl.main,
        "news.2021",
        "ru",
        {"http://data.statmt.org/news-crawl/ru/news.2021.ru.shuffled.deduped.gz": gzip.compress(text(RU))},
        revision="news.2021",
    ),
    "mono opus": mono(
        mono_opus.main, "Tiny/v1", "ru", {f"{OPUS}/mono/ru.txt.gz": gzip.compress(text(RU))}, revision="v1"
    ),
    "mono url": mono(mono_url.main, "https://example.org/a", "ru", {"https://example.org/a": text(RU)}),
    "hplt": mono(
        mono_hplt.main,
        "mono/v3.0",
        "rus_Cyrl",
        {
            f"{HPLT}/three/sorted/rus_Cyrl.map": f"{HPLT}/three/sorted/rus_Cyrl/9_1.jsonl.zst\n",
            f"{HPLT}/three/sorted/rus_Cyrl/9_1.jsonl.zst": hplt(RU),
        },
        "--min-score=8",
        revision="3.0",
        licence="CC0-1.0",
    ),
    "hf": mono(
        mono_hf.main,
        "owner/web:train:text@v2",
        "ru",
        {
            f"{HUB}/api/datasets/owner/web/revision/v2": commit("data/train.parquet", license="odc-by"),
            f"{HUB}/datasets/owner/web/resolve/{SHA}/data/train.parquet": parquet(DOCUMENTS),
        },
        revision=SHA,
        licence="odc-by",
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
