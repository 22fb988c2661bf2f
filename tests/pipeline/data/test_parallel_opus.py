"""OPUS: the zip in either order of the languages, and everything that can be wrong with it."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.web import Unreachable
from pipeline.data.parallel_opus import main
from tests.pipeline.data.conftest import Mirror, Written

URL = "https://object.pouta.csc.fi/OPUS-Tiny/v1/moses"
EN, RU = "One.\nTwo.\n", "Один.\nДва.\n"
Import = Callable[..., Written]


def test_a_corpus(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put_zip(f"{URL}/en-ru.txt.zip", {"Tiny.en-ru.en": EN, "Tiny.en-ru.ru": RU, "README": "About."})
    written = import_pairs(main, "Tiny/v1", "en", "ru")
    assert written.files == ["corpus.en.zst", "corpus.ru.zst", "stats.json"]
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]
    assert written.stats["lines"] == {"in": 2, "kept": 2, "dropped": {}}
    assert written.stats["samples"] == [["One.", "Один."], ["Two.", "Два."]]
    assert [source["url"] for source in written.stats["source"]] == [f"{URL}/en-ru.txt.zip"]
    assert len(written.stats["source"][0]["sha256"]) == 64


def test_the_other_order_of_the_languages(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put_zip(f"{URL}/ru-en.txt.zip", {"Tiny.ru-en.ru": RU, "Tiny.ru-en.en": EN})
    written = import_pairs(main, "Tiny/v1", "en", "ru")
    assert written.lines("corpus.en.zst") == ["One.", "Two."]
    assert written.lines("corpus.ru.zst") == ["Один.", "Два."]


def test_lines_stay_as_they_are_but_for_tabs(mirror: Mirror, import_pairs: Import) -> None:
    en = "  spaces  stay \nwith\ttab\n\nlast\u2028line\x85\n"
    mirror.put_zip(f"{URL}/en-ru.txt.zip", {"Tiny.en-ru.en": en, "Tiny.en-ru.ru": "1\r\n2\n3\n4"})
    written = import_pairs(main, "Tiny/v1", "en", "ru")
    assert written.lines("corpus.en.zst") == ["  spaces  stay ", "with tab", "", "last\u2028line\x85"]
    assert written.lines("corpus.ru.zst") == ["1", "2", "3", "4"]


def test_a_line_of_a_megabyte_passes(mirror: Mirror, import_pairs: Import) -> None:
    long = "x" * 1_000_000
    mirror.put_zip(f"{URL}/en-ru.txt.zip", {"Tiny.en-ru.en": f"{long}\nb\n", "Tiny.en-ru.ru": "1\n2\n"})
    written = import_pairs(main, "Tiny/v1", "en", "ru")
    assert written.lines("corpus.en.zst") == [long, "b"]
    assert max(len(sample[0]) for sample in written.stats["samples"]) == 200


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"Tiny.en-ru.en": "a\n", "Tiny.en-ru.ru": "1\n2\n"}, r"Tiny\.en-ru\.en ends after 1 lines"),
        ({"Tiny.en-ru.en": "", "Tiny.en-ru.ru": ""}, r"is empty \(https://.*en-ru\.txt\.zip\)"),
        ({"Tiny.en-ru.en": "a\n"}, r"holds no Tiny\.en-ru\.ru\. It holds Tiny\.en-ru\.en"),
        ({"Tiny.en-ru.en": "a\n", "../Tiny.en-ru.ru": "1\n"}, r"holds no Tiny\.en-ru\.ru"),
    ],
    ids=["unequal", "empty", "missing side", "dangerous name"],
)
def test_a_corpus_that_cannot_be_used(
    files: dict[str, str], says: str, mirror: Mirror, import_pairs: Import, tmp_path: Path
) -> None:
    mirror.put_zip(f"{URL}/en-ru.txt.zip", files)
    with pytest.raises(InputError, match=rf"^Dataset Tiny/v1: .*{says}") as caught:
        import_pairs(main, "Tiny/v1", "en", "ru")
    assert str(tmp_path) not in str(caught.value)
    assert list((tmp_path / "work").rglob("*")) == [tmp_path / "work" / "out"]


def test_invalid_utf8_is_told_with_dataset_file_and_line(
    mirror: Mirror, import_pairs: Import, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("Tiny.en-ru.en", b"good\nb\xffd\n")
        file.writestr("Tiny.en-ru.ru", "1\n2\n")
    mirror.put(f"{URL}/en-ru.txt.zip", (tmp_path / "a.zip").read_bytes())
    with pytest.raises(InputError, match=r"Dataset Tiny/v1: Invalid UTF-8 in Tiny\.en-ru\.en, line 2"):
        import_pairs(main, "Tiny/v1", "en", "ru")


def test_a_dataset_that_does_not_exist(mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match=rf"Dataset None/v1: .*neither as en-ru nor as ru-en.*{URL[:30]}"):
        import_pairs(main, "None/v1", "en", "ru")


@pytest.mark.parametrize("name", ["Tiny", "Tiny/v1/x", "", "Tiny /v1"])
def test_a_name_without_version_is_refused(name: str, mirror: Mirror, import_pairs: Import) -> None:
    with pytest.raises(InputError, match="Give corpus and version"):
        import_pairs(main, name, "en", "ru")


def test_the_output_folder_must_be_new(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put_zip(f"{URL}/en-ru.txt.zip", {"Tiny.en-ru.en": EN, "Tiny.en-ru.ru": RU})
    import_pairs(main, "Tiny/v1", "en", "ru")
    with pytest.raises(InputError, match="not empty"):
        import_pairs(main, "Tiny/v1", "en", "ru")


def test_two_runs_give_the_same_bytes(mirror: Mirror, import_pairs: Import) -> None:
    mirror.put_zip(f"{URL}/en-ru.txt.zip", {"Tiny.en-ru.en": EN, "Tiny.en-ru.ru": RU})
    first, second = (import_pairs(main, "Tiny/v1", "en", "ru", name) for name in ("a", "b"))
    for name in first.files:
        assert (first.output / name).read_bytes() == (second.output / name).read_bytes()


@pytest.mark.parametrize("dataset", ["ELRC-3075-wikipedia_health/v1", "ELRC_2922/v1"])
def test_real_data(dataset: str, real_mirror: Path, import_pairs: Import) -> None:
    written = import_pairs(main, dataset, "en", "ru")
    kept = written.stats["lines"]["kept"]
    assert kept > 4_000
    assert len(written.lines("corpus.en.zst")) == len(written.lines("corpus.ru.zst")) == kept
    assert any("коронавирус" in line for line in written.lines("corpus.ru.zst"))


def test_real_data_whose_mirror_has_the_other_order(real_mirror: Path, tmp_path: Path) -> None:
    options = ["--src", "ru", "--trg", "en", "--src-code", "ru", "--trg-code", "en"]
    main(["--dataset", "ELRC_2922/v1", *options, "--output", str(tmp_path / "out")])
    assert any("coronavirus" in line for line in Written(tmp_path / "out").lines("corpus.en.zst"))


def test_offline_the_message_names_dataset_and_url(real_mirror: Path, import_pairs: Import) -> None:
    with pytest.raises((Unreachable, InputError), match=r"Dataset None/v1: .*OPUS-None/v1/moses/en-ru"):
        import_pairs(main, "None/v1", "en", "ru")
