"""How many words a text has, without a dictionary."""

CHARACTERS = 2  # of a word, where no spaces part words


def count_words(text: str, unspaced: bool) -> int:
    """The number of words that white space parts; in languages without spaces two characters are one."""
    return len(text) // CHARACTERS if unspaced else len(text.split())
