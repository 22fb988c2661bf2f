"""Tests of a choice that takes less of what repeats itself, by the command line of the merge."""

import random
from pathlib import Path

import pytest

from pipeline.clean.merge_mono import main
from pipeline.common.errors import InputError
from tests.pipeline.clean.helpers import files_of, read, run_script, stats_of
from tests.pipeline.clean.test_merge_mono import arguments


def repeated(number: int) -> list[str]:
    """Lines that differ in a number only."""
    return [f"Сегодня курс доллара составляет {n} рублей, сообщает биржа." for n in range(number)]


def rich(number: int, seed: int = 1) -> list[str]:
    """Lines of made-up words."""
    draw = random.Random(seed)
    letters = "оеаинтсрвлкмдпуяыьгзбч"
    words = ["".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(3000)]
    return [" ".join(draw.choices(words, k=8)) for _ in range(number)]


def chosen(folder: Path, *options: str) -> list[str]:
    """The lines that a merge chooses, and a check of its numbers."""
    main([*options, "--output", str(folder)])
    stats_of(folder)
    return read(folder / "mono.ru.zst")


def test_what_repeats_itself_is_taken_less(tmp_path: Path) -> None:
    lines = repeated(3000) + rich(300)
    random.Random(2).shuffle(lines)
    command = [*arguments(tmp_path, lines, parallel=[]), "--max-sentences", "300"]
    uniform = chosen(tmp_path / "uniform", *command)
    diverse = chosen(tmp_path / "diverse", *command, "--diverse")
    assert len(set(diverse)) == len(uniform) == 300
    assert set(diverse) < set(lines)
    shares = [sum(not line.startswith("Сегодня") for line in some) for some in (uniform, diverse)]
    assert shares[0] < 50
    assert shares[1] > 120
    assert shares[1] < 300  # of what repeats itself, too
    assert stats_of(tmp_path / "diverse")["lines"]["dropped"] == {"sampled_out": 3000}


@pytest.mark.parametrize("threads", [1, 3])
def test_the_choice_is_the_same_for_any_number_of_threads(threads: int, tmp_path: Path) -> None:
    texts = [repeated(2000) + rich(2000), rich(3000, seed=2)]
    command = [*arguments(tmp_path, *texts, parallel=rich(5)), "--max-sentences", "500", "--diverse"]
    main([*command, "--output", str(tmp_path / "one")])
    done = run_script("merge_mono", *command, "--output", tmp_path / "other", threads=threads)
    assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")
    command[command.index("--seed") + 1] = "2"
    main([*command, "--output", str(tmp_path / "seed")])
    assert set(read(tmp_path / "seed" / "mono.ru.zst")) != set(read(tmp_path / "one" / "mono.ru.zst"))


def test_weights_decide_what_data_sets_give(tmp_path: Path) -> None:
    command = arguments(tmp_path, repeated(1000), rich(1000), parallel=[])
    options = ["--max-sentences", "400", "--weights", "3", "1", "--diverse"]
    lines = chosen(tmp_path / "out", *command, *options)
    assert sum(line.startswith("Сегодня") for line in lines) == 300
    assert [one["kept"] for one in stats_of(tmp_path / "out")["datasets"]] == [300, 100]


def test_a_limit_that_drops_nothing_changes_nothing(tmp_path: Path) -> None:
    command = [*arguments(tmp_path, rich(50), parallel=[]), "--max-sentences", "50"]
    assert chosen(tmp_path / "a", *command) == chosen(tmp_path / "b", *command, "--diverse")


def test_without_a_limit_there_is_nothing_to_choose(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--diverse says how --max-sentences chooses"):
        main([*arguments(tmp_path, ["Да."], parallel=[]), "--diverse", "--output", str(tmp_path / "out")])
