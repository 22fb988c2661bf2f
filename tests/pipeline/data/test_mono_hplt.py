"""The importer of HPLT's releases, and the set of texts seen."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from pipeline.common.errors import InputError
from pipeline.data import mono_hplt
from pipeline.data.hplt import RELEASES, read_document
from pipeline.data.seen import FIRST_SIZE, Seen
from tests.pipeline.data.conftest import Mirror, Written

HOST = "https://data.hplt-project.org"
V3 = f"{HOST}/three/sorted/rus_Cyrl"
Run = Callable[..., Written]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(dataset: str = "mono/v3.0", code: str = "rus_Cyrl", score: float = 8, size: int = 100) -> Written:
        output = tmp_path / "work" / "out"
        options = ["--dataset", dataset, "--lang", "ru", "--code", code, "--max-sentences", str(size)]
        mono_hplt.main([*options, "--min-score", str(score), "--output", str(output)])
        return Written(output)

    return run


def document(text: str, *, lang: str = "rus_Cyrl", score: float = 9.0, **changes: Any) -> dict[str, Any]:
    lines = text.count("\n") + 1
    return {"text": text, "lang": [lang], "doc_scores": [score, 10], "seg_langs": [lang] * lines} | changes


def shard(*documents: object) -> bytes:
    lines = (entry if isinstance(entry, str) else json.dumps(entry) for entry in documents)
    return zstandard.compress("".join(f"{line}\n" for line in lines).encode())


def put(mirror: Mirror, **shards: bytes) -> None:
    """Shards by the score in their names: `s9_1` is 9_1.jsonl.zst."""
    names = {name[1:]: content for name, content in shards.items()}
    mirror.put(f"{V3}.map", "".join(f"{V3}/{name}.jsonl.zst\n" for name in names))
    for name, content in names.items():
        mirror.put(f"{V3}/{name}.jsonl.zst", content)


def test_why_lines_are_left_out(mirror: Mirror, run: Run) -> None:
    mixed = document("Одна.\nOne.\nДве.", seg_langs=["rus_Cyrl", "eng_Latn", "rus_Cyrl"])
    put(
        mirror,
        s9_1=shard(
            mixed,
            document("Плохая.\nДругая.", score=7.9),
            document("Dobrý den.", lang="ces_Latn"),
            document(f"Две.\n{'д' * 601}\n\nПоследняя\tтут."),
        ),
    )
    written = run()
    assert written.lines("mono.ru.zst") == ["Одна.", "Две.", "Последняя тут."]
    assert written.stats["lines"] == {
        "in": 10,
        "kept": 3,
        "dropped": {
            "language of the line": 1,
            "score": 2,
            "language of the document": 1,
            "duplicate": 1,
            "too long": 1,
            "empty": 1,
        },
    }
    assert written.stats["documents"] == {"read": 4, "kept": 2}
    assert written.stats["shards"] == {"listed": 1, "read": 1}


def test_shards_of_a_lower_score_are_not_even_fetched(mirror: Mirror, run: Run) -> None:
    put(mirror, s8_1=shard(document("Да.")), s7_1=b"no zstd at all")
    written = run()
    assert written.lines("mono.ru.zst") == ["Да."]
    assert [source["url"] for source in written.stats["source"]] == [f"{V3}.map", f"{V3}/8_1.jsonl.zst"]


def test_documents_of_a_fractional_score_stand_in_the_shard_of_the_whole_one(
    mirror: Mirror, run: Run
) -> None:
    put(mirror, s8_1=shard(document("Да.", score=8.7), document("Нет.", score=8.4)), s7_1=b"no zstd at all")
    assert run(score=8.5).lines("mono.ru.zst") == ["Да."]


def test_it_ends_at_the_limit_without_reading_more(mirror: Mirror, run: Run) -> None:
    shards = {f"s9_{n}": shard(document("\n".join(f"{n} {line}" for line in range(10)))) for n in range(5)}
    put(mirror, **shards)
    written = run(size=15)
    assert len(written.lines("mono.ru.zst")) == 15
    last = written.stats["shards"]["the last, in part"]
    assert written.stats["shards"] == {"listed": 5, "read": 2, "the last, in part": last}
    assert last not in [source["url"] for source in written.stats["source"]]


@pytest.mark.parametrize("size", [100, 15])
def test_another_attempt_goes_on_with_the_next_shard(
    size: int, mirror: Mirror, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {n: "\n".join(f"\t{n} {line}\tда" for line in range(10)) for n in range(3)}
    shards = {f"s9_{n}": shard(document(f"{text}\nто же"), document("")) for n, text in texts.items()}
    put(mirror, **shards)
    written = run(size=size)
    names = ("mono.ru.zst", "stats.json")
    whole = {name: (written.output / name).read_bytes() for name in names}
    read = [source["url"] for source in written.stats["source"][1:]]
    read += filter(None, [written.stats["shards"].get("the last, in part")])
    first, second = (mirror.folder / url.split("://")[1] for url in read[:2])

    monkeypatch.setenv("TRANSLATIONS_CHECKPOINTS", str(tmp_path / "kept"))
    shutil.rmtree(written.output)
    second.rename(tmp_path / "away")
    with pytest.raises(InputError, match="No file"):
        run(size=size)
    (tmp_path / "away").rename(second)
    first.write_bytes(b"is not read again")
    shutil.rmtree(written.output)
    again = run(size=size)
    assert {name: (again.output / name).read_bytes() for name in names} == whole


def test_broken_documents_are_counted(mirror: Mirror, run: Run) -> None:
    put(
        mirror,
        s9_1=shard(
            "{",
            '"text"',
            document("а\nб", seg_langs=["rus_Cyrl"]),
            {"text": "x"},
            {**document("а"), "text": 7},
            document("а", seg_langs=None),
            document("Да."),
        ),
    )
    assert run().stats["lines"] == {"in": 7, "kept": 1, "dropped": {"broken document": 6}}


def test_half_a_character_is_none(mirror: Mirror, run: Run) -> None:
    put(mirror, s9_1=shard(document("Да \ud83d\nДа \ude00", doc_scores=[9.0])))
    assert run().lines("mono.ru.zst") == ["Да \ufffd"]


@pytest.mark.parametrize(
    ("dataset", "code", "folder", "listing"),
    [
        ("mono/v2.0", "zho_Hans", "two/cleaned", "_map.txt"),
        ("mono/v1.2", "zh", "one/monotext/cleaned", "_map.txt"),
    ],
)
def test_earlier_releases(
    dataset: str, code: str, folder: str, listing: str, mirror: Mirror, run: Run
) -> None:
    url = f"{HOST}/{folder}/{code}/1.jsonl.zst"
    mirror.put(f"{HOST}/{folder}/{code}{listing}", f"{url}\n")
    if dataset == "mono/v2.0":
        mirror.put(url, shard(document("好。\n坏。", lang=code), document("不。", lang=code, score=3.0)))
        assert run(dataset, code, 8).lines("mono.ru.zst") == ["好。", "坏。"]
    else:
        scored = {"text": "好。\n坏。\nBad.", "scores": [0.9, 0.7, 0.9], "langs": ["zh", "zh", "en"]}
        mirror.put(url, shard({"document_lang": "zh", **scored}))
        assert run(dataset, code, 0.8).lines("mono.ru.zst") == ["好。"]


def test_bosnian_lines_carry_the_code_of_the_macrolanguage(mirror: Mirror, run: Run) -> None:
    url = f"{HOST}/three/sorted/bos_Latn"
    mirror.put(f"{url}.map", f"{url}/9_1.jsonl.zst\n")
    lines = document("Dobro.\nLoše.", lang="bos_Latn", seg_langs=["hbs_Latn", "bos_Latn"])
    mirror.put(f"{url}/9_1.jsonl.zst", shard(lines))
    assert run(code="bos_Latn").lines("mono.ru.zst") == ["Dobro.", "Loše."]


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        ("file:///etc/passwd\n", "holds 'file:///etc/passwd', which is no address of a shard"),
        (f"{V3}/best.jsonl.zst\n", "best.jsonl.zst has no score"),
        (f"{V3}/5_1.jsonl.zst\n", "lists no shard with a score of 8 or more. Lower it"),
    ],
)
def test_a_list_of_something_else(listing: str, says: str, mirror: Mirror, run: Run) -> None:
    mirror.put(f"{V3}.map", listing)
    with pytest.raises(InputError, match=says):
        run()


def test_a_shard_that_is_cut_off(mirror: Mirror, run: Run, tmp_path: Path) -> None:
    put(mirror, s9_1=shard(*(document(f"Строка {number}.") for number in range(1000)))[:-100])
    with pytest.raises(InputError, match=r"9_1\.jsonl\.zst is damaged after line"):
        run(size=10_000)
    assert list((tmp_path / "work" / "out").iterdir()) == []


def test_all_lines_left_out(mirror: Mirror, run: Run) -> None:
    put(mirror, s9_1=shard(document("One.", lang="eng_Latn")))
    with pytest.raises(InputError, match="all lines were left out: language of the document 1"):
        run()


def test_an_unknown_release(mirror: Mirror, run: Run) -> None:
    with pytest.raises(InputError, match=r"no text 'mono/v9\.9' .* only mono/v3\.0, mono/v2\.0, mono/v1\.2"):
        run("mono/v9.9")


def test_a_document_as_deep_as_the_parser_bears() -> None:
    assert read_document("[" * 100_000, RELEASES["mono/v3.0"]) is None


def test_seen_remembers_as_a_set_does() -> None:
    seen = Seen()
    texts = [f"text {number % (3 * FIRST_SIZE)}" for number in range(4 * FIRST_SIZE)]
    known: set[str] = set()
    for text in texts:
        assert seen.add(text) == (text not in known)
        known.add(text)
    assert len(seen) == len(known) == 3 * FIRST_SIZE


def test_real_documents(real_mirror: Path, run: Run) -> None:
    written = run(size=10_000)
    assert written.stats["shards"] == {"listed": 2, "read": 2}
    assert written.stats["lines"]["kept"] == 1168
    assert len(set(written.lines("mono.ru.zst"))) == 1168
