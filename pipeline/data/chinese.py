"""Chinese in one variant: simplified or traditional characters.

Source text is converted, so that none of it is lost. Target text is what a model learns to write, and
conversion makes mistakes (one simplified character can stand for several traditional ones): lines in the
other variant, lines that mix both, and lines without Chinese are left out of it.

A line is told by its characters: CC-CEDICT knows which of them simplified and traditional words have. A line
whose characters belong to both, as those of short lines do, is good in either.
"""

import hanzidentifier
import opencc

VARIANTS = {"simplified": hanzidentifier.SIMPLIFIED, "traditional": hanzidentifier.TRADITIONAL}
CONVERSIONS = {"simplified": "t2s", "traditional": "s2t"}  # OpenCC's names of them

REASONS = {
    hanzidentifier.UNKNOWN: "no Chinese",
    hanzidentifier.MIXED: "mixed variants of Chinese",
    hanzidentifier.SIMPLIFIED: "other variant of Chinese",
    hanzidentifier.TRADITIONAL: "other variant of Chinese",
}


class Variant:
    """Converts and judges lines, and counts what it did."""

    def __init__(self, name: str) -> None:
        """`name` is "simplified" or "traditional"."""
        self._wanted = VARIANTS[name]
        self._converter = opencc.OpenCC(CONVERSIONS[name])
        self.converted = 0

    def convert(self, line: str) -> str:
        """The line in the variant; one that is in it already, or has no Chinese, stays as it is."""
        if hanzidentifier.identify(line) in (self._wanted, hanzidentifier.UNKNOWN):
            return line
        new = str(self._converter.convert(line))
        self.converted += new != line
        return new

    def why_not(self, line: str) -> str:
        """Why a line is left out of a target text; "" for one that is good in the variant."""
        found = hanzidentifier.identify(line)
        return "" if found in (self._wanted, hanzidentifier.BOTH) else REASONS[found]
