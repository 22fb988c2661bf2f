"""Links between tokens, as links between the words that white space separates."""

SPACE = "▁"  # how a tokenised text writes a space


def word_links(src: str, trg: str, links: str) -> str:
    """Links `0-0 2-1` between words, ascending and each once, of two lines of tokens and their links."""
    sources, targets = _words(src.split(" ")), _words(trg.split(" "))
    pairs = [link.split("-") for link in links.split()]
    by_word = sorted({(sources[int(first)], targets[int(second)]) for first, second in pairs})
    return " ".join(f"{first}-{second}" for first, second in by_word)


def _words(tokens: list[str]) -> list[int]:
    """The word of each token: a, b, ▁, c → 0, 0, 0, 1. A space counts to the word before it."""
    words = []
    word, inside = -1, False
    for token in tokens:
        if token != SPACE and not inside:
            word += 1
        inside = token != SPACE
        words.append(word)
    return words
