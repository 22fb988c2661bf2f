"""The normal form in which two lines count as the same text.

It serves look-ups only (duplicates, lines that stand in a test set); what is written is the text as it is.
"""

import unicodedata


def normal_form(line: str) -> str:
    """The line in NFC, without white space at its ends, with runs of white space made one space.

    Case and punctuation stay: "May" and "may" are two texts.
    """
    return " ".join(unicodedata.normalize("NFC", line).split())
