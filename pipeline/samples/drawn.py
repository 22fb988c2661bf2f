"""What is asked for of a step's text, and what was drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.samples.rows import Lowest, Row

READ, KEPT, UNDECIDED = "<read>", "<kept>", "<undecided>"  # groups that no reason is called


@dataclass(frozen=True)
class Wanted:
    """What to draw.

    number   rows of each kind
    most     rows that are judged by rules, unless the reason asked for needs more
    reason   by which rows were dropped; empty for all
    dropped  rows that the step dropped for that reason; 0 where that is not known
    dataset  of which rows are drawn; empty for all
    """

    number: int
    most: int
    seed: int
    reason: str = ""
    dropped: int = 0
    dataset: str = ""

    def lowest(self, times: int = 1) -> Lowest:
        """Chooses so many rows of each group, or more."""
        return Lowest(self.number * times, self.places)

    @property
    def places(self) -> str:
        """The seed of the rows' places."""
        return f"sample {self.seed}"

    def judged(self, rows: int) -> int:
        """How many of so many rows to judge, to find the number asked for of a seldom reason, too."""
        needed = 2 * self.number * rows // self.dropped if self.dropped else 0
        return min(rows, max(self.most, needed))


@dataclass
class Drawn:
    """Rows that were drawn.

    rows     that the step read
    judged   of them those of which it was asked what became of them
    read     rows that came in; and, of those of which that is known, what became of them
    kept     rows that were kept, or came out
    dropped  reason → rows
    unknown  rows that came in and did not come out so: changed, or dropped for a reason that is not known
    notes    what people should know
    """

    rows: int
    judged: int
    read: Sequence[Row] = ()
    kept: Sequence[Row] = ()
    dropped: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    unknown: Sequence[Row] = ()
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        """As sample.json holds it."""
        return {
            "rows": self.rows,
            "judged": self.judged,
            "read": [row.to_json() for row in self.read],
            "kept": [row.to_json() for row in self.kept],
            "dropped": {reason: [row.to_json() for row in rows] for reason, rows in self.dropped.items()},
            "unknown": [row.to_json() for row in self.unknown],
            "notes": self.notes,
        }


def drawn(
    rows: int,
    judged: int,
    lowest: Lowest,
    known: Mapping[int, Row],
    wanted: Wanted,
    notes: Sequence[str] = (),
) -> Drawn:
    """What was drawn, given the rows of the groups, and what became of each, by their numbers."""
    groups = {group: [known[number] for number in lowest.numbers(group)] for group in lowest.groups()}
    read, kept = groups.pop(READ, []), groups.pop(KEPT, [])
    unknown = groups.pop(UNDECIDED, []) + [row for row in kept if not row.is_known]
    kept = [row for row in kept if row.is_known]
    if wanted.reason:
        read, kept, unknown = [], [], []
        groups = {reason: found for reason, found in groups.items() if reason == wanted.reason}
    return Drawn(rows, judged, read, kept, dict(sorted(groups.items())), unknown, list(notes))
