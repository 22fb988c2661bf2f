"""Joins the alignments of the two directions into one: grow-diag-final-and (Koehn, Och and Marcu 2003)."""

from collections.abc import Iterable

Link = tuple[int, int]  # position in the source, position in the target, both from 0

# The order in which the neighbours of a link are looked at: straight ones first, as in Koehn et al. 2005.
NEIGHBOURS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def parse_links(line: str) -> list[Link]:
    """Read `0-0 1-2`, source position first."""
    pairs = (link.split("-") for link in line.split())
    return [(int(source), int(target)) for source, target in pairs]


def format_links(links: Iterable[Link]) -> str:
    """Write links as `0-0 1-2`, in ascending order."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def grow_diag_final_and(forward: Iterable[Link], reverse: Iterable[Link]) -> list[Link]:
    """Symmetrise two sets of links; the result lies between their intersection and their union.

    Starting from the intersection, neighbouring links of the union are added while one of their two words has
    no link yet; at the end those links of a direction, forward first, whose two words both have none.
    Links are visited target by target, and in a target by source, as in the paper's listing.
    """
    ahead, back = set(forward), set(reverse)
    symmetric = _Symmetric(ahead & back)
    union = sorted(ahead | back, key=_target_first)
    while _grow(symmetric, union):
        pass
    for direction in (ahead, back):
        for link in sorted(direction, key=_target_first):
            symmetric.add_if_both_free(link)
    return sorted(symmetric.links)


class _Symmetric:
    """The links so far, and the words that they cover."""

    def __init__(self, links: set[Link]) -> None:
        self.links = links
        self.sources = {source for source, _ in links}
        self.targets = {target for _, target in links}

    def add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])

    def one_is_free(self, link: Link) -> bool:
        return link[0] not in self.sources or link[1] not in self.targets

    def add_if_both_free(self, link: Link) -> None:
        if link[0] not in self.sources and link[1] not in self.targets:
            self.add(link)


def _target_first(link: Link) -> Link:
    return link[1], link[0]


def _grow(symmetric: _Symmetric, union: list[Link]) -> bool:
    """One pass over the links, also over those it adds on its way; True when it added some."""
    candidates = set(union)
    before = len(symmetric.links)
    for source, target in union:
        if (source, target) not in symmetric.links:
            continue
        for right, down in NEIGHBOURS:
            neighbour = (source + right, target + down)
            if neighbour in candidates and symmetric.one_is_free(neighbour):
                symmetric.add(neighbour)
    return len(symmetric.links) > before
