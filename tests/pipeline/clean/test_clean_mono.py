"""Tests of cleaning text of one language, by the script's own command line."""

from pathlib import Path

import pytest

from pipeline.clean.clean_mono import main
from pipeline.common.errors import InputError
from tests.pipeline.clean.filtering.opuscleaner import FILTERS
from tests.pipeline.clean.helpers import corpus, files_of, read, run_script, stats_of
from tests.pipeline.clean.test_identification import DOUBTFUL, GALICIAN, PORTUGUESE

LINES = [
    "La granda hundo manĝas la freŝan panon.",
    "Mi vidas &quot;la domon&quot;.",
    "",
    "Enhavo:",
    "12 34 56 78",
    "A1234 b5678",
    "Das Mädchen liest das Buch im Garten.",
    "Большая собака ест свежий хлеб.",
    "x" * 1_000_000,
]


def arguments(folder: Path, lines: list[str]) -> list[str]:
    """The command line that cleans these Esperanto lines."""
    text = corpus(folder / "text.eo.zst", lines)
    options = [
        "--lang",
        "eo",
        "--script",
        "Latin",
        "--labels",
        "epo",
        "--text",
        str(text),
        "--output",
        str(folder / "out"),
    ]
    return [*options, "--alphabets", str(FILTERS / "alphabets.json"), "--max-tokens", "200"]


def test_good_lines_stay_and_the_others_are_counted(tmp_path: Path) -> None:
    done = run_script("clean_mono", *arguments(tmp_path, LINES))
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out" / "mono.eo.zst") == [LINES[0], 'Mi vidas "la domon".']
    stats = stats_of(tmp_path / "out")
    assert stats["lines"]["dropped"] == {
        "empty": 1,
        "too_short": 1,
        "ratio_alpha": 2,
        "ratio_chars": 1,
        "other_language": 1,
        "too_long": 1,
    }
    assert stats["identified"] == [
        {
            "lang": "eo",
            "script": "Latin",
            "lines": 2,
            "other": 1,
            "guesses": {"deu": 1},
            "samples": [f"deu: {LINES[6]}"],
        }
    ]


@pytest.mark.parametrize("neighbours", [0, 60])
def test_longer_lines_decide_what_a_short_one_does_not(neighbours: int, tmp_path: Path) -> None:
    text = [*GALICIAN * 60, *PORTUGUESE * neighbours, DOUBTFUL]
    options = arguments(tmp_path, text)
    options[options.index("eo")], options[options.index("epo")] = "gl", "glg"
    main(options)
    kept = read(tmp_path / "out" / "mono.gl.zst")
    assert kept == [*GALICIAN * 60, DOUBTFUL][: 121 if not neighbours else 120]
    (found,) = stats_of(tmp_path / "out")["identified"]
    assert found["shares"] == ({"por": 0.5} if neighbours else {})


def test_text_of_another_language_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of 1 lines.*other_language 1.*Das Mädchen"):
        main(arguments(tmp_path, [LINES[6]]))
    assert files_of(tmp_path / "out") == {}


def test_the_letters_of_an_unknown_language_are_not_asked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    main([*arguments(tmp_path, [LINES[0], LINES[4]]), "--alphabet", "tlh"])
    assert read(tmp_path / "out" / "mono.eo.zst") == [LINES[0], LINES[4]]
    assert "the letters of 'tlh' are not known" in caplog.text
