"""Tests of pipeline.translate.with_ctranslate2, side by side with Marian."""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.common.lines import write_lines
from pipeline.translate.nbest import parse_entry
from tests.pipeline.train import tiny
from tests.pipeline.translate.converted import convert, converted, joint_model
from tests.session import new_folder

TEACHER = Path("pipeline/translate/configs/teacher.yml").absolute()
PAIRS = tiny.pairs(200, seed=3)
ODD = [
    "",
    "   ",
    "the cat " * 750,
    "x" * 1_000_000,
    "an unseen ☃ and \u2028 a \r in a line",
    "a ||| b",
    "</s> <unk> <0x0A>",
    "dog",
]
LINES = [*(source for source, _ in PAIRS), *ODD]


class Entry(NamedTuple):
    """A line of an n-best list."""

    sentence: int
    text: str
    path_score: float
    score: float


def entry(line: str) -> Entry:
    number, text = parse_entry(line)
    _, features, score = line.rsplit(" ||| ", 2)
    assert features.startswith("F0= ")
    return Entry(number, text, float(features.removeprefix("F0= ")), float(score))


def translated(
    model: Path, lines: list[str], marian_args: dict[str, object], *more: object, by: str = "with_ctranslate2"
) -> Path:
    """The folder that a script writes."""
    folder = new_folder()
    write_lines(folder / "text.zst", lines)
    done = tiny.run_script(
        f"pipeline.translate.{by}",
        *("--models" if by == "translate" else "--model", model, "--text", folder / "text.zst"),
        *("--decoding-config", TEACHER, "--marian-args", json.dumps(marian_args)),
        *("--output", folder / "out", *more),
    )
    assert done.returncode == 0, done.stderr
    return folder / "out"


@cache
def both(beam: int, joint: bool = False) -> tuple[list[Entry], list[Entry]]:
    """The n-best lists of Marian and of CTranslate2; lines are cropped at 30 pieces."""
    args: dict[str, object] = {"beam-size": beam, "max-length": 30, "word-penalty": 0.1, "normalize": 0.8}
    model = joint_model() if joint else tiny.model()
    folders = (
        translated(model, LINES, args, "--nbest", by="translate"),
        translated(convert(model) if joint else converted(), LINES, args, "--nbest"),
    )
    marian, ctranslate2 = ([entry(line) for line in tiny.lines_of(path / "nbest.zst")] for path in folders)
    return marian, ctranslate2


@pytest.mark.marian
@pytest.mark.parametrize("beam", [1, 4])
def test_every_line_has_as_many_translations_as_with_marian(beam: int) -> None:
    marian, ctranslate2 = both(beam)
    assert [one.sentence for one in ctranslate2] == [
        number for number in range(len(LINES)) for _ in range(beam)
    ]
    assert [one.sentence for one in ctranslate2] == [one.sentence for one in marian]


@pytest.mark.marian
@pytest.mark.parametrize(("beam", "least"), [(1, 0.99), (4, 0.97)])
def test_translations_are_those_of_marian(beam: int, least: float) -> None:
    """The best ones; the model has learned its language, so that few sentences are a matter of chance."""
    marian, ctranslate2 = both(beam)
    same = [one.text == other.text for one, other in zip(marian[::beam], ctranslate2[::beam], strict=True)]
    assert sum(same) >= least * len(LINES)


@pytest.mark.marian
@pytest.mark.parametrize(("beam", "joint"), [(1, False), (4, False), (4, True)])
def test_scores_are_those_of_marian(beam: int, joint: bool) -> None:
    """Of the texts that both lists hold, in whatever place; control characters have a share with Marian."""
    marian, ctranslate2 = both(beam, joint)
    expected = {(one.sentence, one.text, one.path_score): one for one in marian}
    texts = {(one.sentence, one.text) for one in marian}
    found = [one for one in ctranslate2 if one.text and one[:2] in texts]
    assert len(found) >= 0.85 * sum(bool(one.text) for one in ctranslate2)
    close = 0
    for one in found:
        alike = [
            other
            for (sentence, text, path_score), other in expected.items()
            if (sentence, text) == one[:2] and abs(path_score - one.path_score) <= 0.01 * abs(path_score)
        ]
        close += any(other.score == pytest.approx(one.score, rel=0.01) for other in alike)
    assert close >= 0.98 * len(found)


@pytest.mark.marian
def test_lines_without_text_stay_empty() -> None:
    _, ctranslate2 = both(4)
    assert {one[1:] for one in ctranslate2 if not LINES[one.sentence].strip()} == {("", 0.0, 0.0)}


@pytest.mark.marian
def test_the_best_are_sorted_by_score() -> None:
    _, ctranslate2 = both(4)
    lists = [ctranslate2[start : start + 4] for start in range(0, len(ctranslate2), 4)]
    assert all(one == sorted(one, key=lambda entry: -entry.score) for one in lists)


@pytest.mark.marian
def test_each_line_gets_its_best_translation() -> None:
    output = translated(
        converted(), LINES, {"beam-size": 4, "max-length": 30, "word-penalty": 0.1, "normalize": 0.8}
    )
    translations = tiny.lines_of(output / "translations.zst")
    assert translations == [one.text for one in both(4)[1][::4]]
    stats = json.loads((output / "stats.json").read_text())
    assert stats["lines"] == {"in": len(LINES), "kept": len(LINES), "dropped": {}}
    assert stats["translations"] == len(LINES)
    assert stats["samples"] == translations[:10]


@pytest.mark.marian
def test_batches_and_threads_do_not_change_the_translations(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = []
    for threads, batch in (("1", {"mini-batch-words": 0, "mini-batch": 7, "maxi-batch": 3}), ("2", {})):
        monkeypatch.setenv("TRANSLATIONS_THREADS", threads)
        output = translated(converted(), LINES[:200], {"beam-size": 2, **batch})
        outputs.append(tiny.lines_of(output / "translations.zst"))
    assert outputs[0] == outputs[1]


@pytest.mark.marian
def test_sampling_draws_other_translations() -> None:
    lines = LINES[:100]
    for method in ("[topk, 5]", "[full, 1.0]"):
        output = translated(converted(), lines, {"beam-size": 1, "output-sampling": method})
        drawn = tiny.lines_of(output / "translations.zst")
        assert len(drawn) == len(lines)
        assert drawn != [one.text for one in both(1)[1][:100]]


@pytest.mark.marian
def test_an_empty_part_gives_an_empty_part() -> None:
    output = translated(converted(), [], {})
    assert tiny.lines_of(output / "translations.zst") == []
    assert (output / "translations.zst").stat().st_size > 0


@pytest.mark.marian
@pytest.mark.parametrize(
    ("model", "marian_args", "status", "message"),
    [
        ("marian's", "{}", 1, "is no converted model: it has no model.bin"),
        ("converted", '{"skip-cost": true}', 1, "CTranslate2 has nothing like Marian's skip-cost"),
        ("converted", "{}", 75, "GPUs [0, 1] were granted (TRANSLATIONS_GPUS), but there are"),
    ],
)
def test_an_error_is_told_in_a_line(
    tmp_path: Path, model: str, marian_args: str, status: int, message: str
) -> None:
    write_lines(tmp_path / "text.zst", LINES[:2])
    done = tiny.run_script(
        "pipeline.translate.with_ctranslate2",
        *("--model", tiny.model() if model == "marian's" else converted(), "--text", tmp_path / "text.zst"),
        *("--decoding-config", TEACHER, "--marian-args", marian_args, "--output", tmp_path / "out"),
        env={"TRANSLATIONS_GPUS": "0 1"} if status == 75 else None,
    )
    assert done.returncode == status
    assert message in done.stderr.splitlines()[-1]
    assert list((tmp_path / "out").glob("*")) == []
