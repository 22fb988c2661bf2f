"""Tests of pipeline.train.pair_facts: which pairs go together, and with which training."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.script import write_json
from pipeline.train.pair_facts import ALIGNED, PLAIN, PairFacts, common_facts, digests, read_facts
from tests.pipeline.train import tiny

LINES = {"in": 2, "kept": 2, "dropped": {}}


def facts(columns: int = ALIGNED, length: int = 100) -> PairFacts:
    return PairFacts(LINES, columns, length, digests(tiny.corpus().vocabs))


def written(folder: Path, given: PairFacts) -> Path:
    folder.mkdir()
    write_json(folder / "stats.json", given.to_dict())
    return folder


def test_what_the_script_left_is_read() -> None:
    found = read_facts(tiny.corpus().pairs)
    assert found == PairFacts(found.lines, PLAIN, 100, digests(tiny.corpus().vocabs))
    assert found.lines["kept"] == 600


@pytest.mark.parametrize(("columns", "length"), [(PLAIN, 100), (ALIGNED, 99)])
def test_pairs_of_one_training_are_of_one_kind(tmp_path: Path, columns: int, length: int) -> None:
    first, same = written(tmp_path / "first", facts()), written(tmp_path / "same", facts())
    other = written(tmp_path / "other", facts(columns, length))
    vocabs = tiny.corpus().vocabs
    assert common_facts([first, same], vocabs) == facts()
    with pytest.raises(InputError, match=f"other {columns} and {length}. Make both with the same options"):
        common_facts([first, other], vocabs)


def test_pairs_for_other_vocabularies_are_refused(tmp_path: Path) -> None:
    first = written(tmp_path / "first", facts())
    source, target = tiny.corpus().vocabs
    with pytest.raises(InputError, match="first were made for other vocabularies"):
        common_facts([first], [target, source])


@pytest.mark.parametrize("asked", [{}, {"max-length": 100}, {"max-length": "100"}])
def test_the_length_of_a_training_is_that_of_its_pairs(asked: dict[str, object]) -> None:
    assert facts().length_for(asked) == 100


def test_another_length_is_refused() -> None:
    with pytest.raises(InputError, match="ask for max-length 250.* Make them again with --max-length 250"):
        facts().length_for({"max-length": 250})


@pytest.mark.parametrize("text", ["", "[]", '{"lines": {}}'])
def test_a_folder_without_facts_holds_no_pairs(tmp_path: Path, text: str) -> None:
    (tmp_path / "stats.json").write_text(text)
    with pytest.raises(InputError, match="holds no training pairs"):
        read_facts(tmp_path)
