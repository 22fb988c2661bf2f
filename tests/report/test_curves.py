"""The lines of a training's charts."""

from translations_assets.report.curves import charts
from translations_assets.results.training import CurvePoint

CURVE = [
    {"kind": "train", "update": 100, "cost": 5.0, "words_per_second": 900.0, "chrf": 99.0},
    {"kind": "valid", "update": 200, "chrf": 20.0, "ce-mean-words": 4.0, "cost": 99.0},
    {"kind": "train", "update": 200, "cost": 3.0, "words_per_second": 950.0},
    {"kind": "valid", "update": 400, "chrf": 30.0, "ce-mean-words": 3.5, "bleu-detok": 10.0},
]


def test_each_line_is_of_one_kind_of_points() -> None:
    drawn = charts([*map(CurvePoint.from_dict, CURVE)])
    found = {title: {line.name: [*line.points] for line in lines} for title, _, lines in drawn}
    assert found == {
        "scores on the dev set": {"chrF": [(200, 20.0), (400, 30.0)], "BLEU": [(400, 10.0)]},
        "cross-entropy a word": {
            "training": [(100, 5.0), (200, 3.0)],
            "dev set": [(200, 4.0), (400, 3.5)],
        },
        "words/s": {"words/s": [(100, 900.0), (200, 950.0)]},
    }
