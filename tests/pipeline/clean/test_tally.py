"""Tests of the tallies."""

from pipeline.clean.tally import MAX_SAMPLES, SAMPLE_CHARACTERS, Identified, Tally


def test_parts_add_up_to_the_whole() -> None:
    first, second = Tally(kept=2), Tally(kept=1)
    first.drop("empty", ["", "Да."])
    second.drop("empty", ["", "Нет."])
    second.drop("copied", ["A", "A"])
    first.notes["repaired"], second.notes["repaired"] = 1, 2
    first.add(second)
    assert first.notes == {"repaired": 3}
    assert first.lines() == {"in": 6, "kept": 3, "dropped": {"empty": 2, "copied": 1}}
    assert first.reasons() == "empty 2, copied 1"


def test_samples_show_every_reason_before_a_second_of_one() -> None:
    tally = Tally()
    for number in range(50):
        tally.drop("empty", [f"line {number}"])
    tally.drop("copied", ["A", "A"])
    samples = tally.dropped_samples()
    assert samples[:3] == ["copied: A | A", "empty: line 0", "empty: line 1"]
    assert len(samples) == MAX_SAMPLES


def test_samples_are_short() -> None:
    tally = Tally()
    tally.drop("too_long", ["a" * 1_000_000, "b"])
    assert len(tally.dropped_samples()[0]) < 200


def test_what_was_identified_adds_up_side_by_side() -> None:
    """Blocks of which no line came to identification bring no sides."""
    first, second = Identified("Latin", 5), Identified("Han", 2)
    for _ in range(MAX_SAMPLES + 5):
        second.others["cdo"] += 1
        second.sample("cdo", "无" * 500)
    whole = Tally()
    whole.add(Tally())
    for _ in range(2):
        whole.add(Tally(identified=[first, second]))
    latin, han = (side.to_json() for side in whole.identified)
    assert latin == {"script": "Latin", "lines": 10, "other": 0, "guesses": {}, "samples": []}
    assert (han["lines"], han["other"], han["guesses"]) == (4, 30, {"cdo": 30})
    assert han["samples"] == ["cdo: " + "无" * SAMPLE_CHARACTERS] * MAX_SAMPLES
    assert (first.lines, second.lines) == (5, 2)
