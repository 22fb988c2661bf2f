"""grow-diag-final-and on cases computed by hand, and its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.alignments.symmetrize import Link, format_links, grow_diag_final_and, parse_links

LINKS = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@pytest.mark.parametrize(
    ("forward", "reverse", "expected"),
    [
        pytest.param("0-0 1-1", "0-0 1-1", "0-0 1-1", id="what both say stays"),
        pytest.param("0-0 0-1", "0-0", "0-0 0-1", id="a neighbour whose target is free is added"),
        pytest.param("0-0", "0-0 1-0", "0-0 1-0", id="a neighbour whose source is free is added"),
        pytest.param("0-0 1-1", "0-0", "0-0 1-1", id="so is a diagonal one"),
        pytest.param("1-1", "1-1 0-0", "0-0 1-1", id="and one towards the start"),
        pytest.param("0-0 1-1 0-1", "0-0 1-1", "0-0 1-1", id="a neighbour between linked words is not"),
        pytest.param("0-0 1-1 2-2 3-3", "0-0", "0-0 1-1 2-2 3-3", id="growth goes on from what was added"),
        pytest.param("3-3 2-2 1-1 0-0", "3-3", "0-0 1-1 2-2 3-3", id="backwards too"),
        pytest.param("0-0 4-4", "0-0", "0-0 4-4", id="a far link of two free words is added at the end"),
        pytest.param("0-0 0-4", "0-0", "0-0", id="a far link of one free word is not"),
        pytest.param("0-0", "0-4", "0-0", id="at the end forward links come first"),
        pytest.param("0-1 1-0", "0-1 1-0", "0-1 1-0", id="crossing links"),
        pytest.param("", "", "", id="nothing"),
        # Both sides of 1-1 see the free neighbour 1-2 before 2-2 (straight before diagonal); then target 2 is
        # linked and source 2 is not, so 2-2 is added too; 3-2 is next to it, with a free source.
        pytest.param("1-1 1-2", "1-1 2-2 3-2", "1-1 1-2 2-2 3-2", id="a chain in both directions"),
        # 0-2 is no neighbour of 0-0, but of 0-1, which the growth adds first.
        pytest.param("0-0 0-1 0-2", "0-0", "0-0 0-1 0-2", id="one to many"),
    ],
)
def test_cases_by_hand(forward: str, reverse: str, expected: str) -> None:
    assert format_links(grow_diag_final_and(parse_links(forward), parse_links(reverse))) == expected


@given(LINKS, LINKS)
def test_the_result_lies_between_intersection_and_union(forward: set[Link], reverse: set[Link]) -> None:
    links = set(grow_diag_final_and(forward, reverse))
    assert forward & reverse <= links <= forward | reverse


@given(LINKS, LINKS)
def test_no_link_of_two_free_words_is_left_out(forward: set[Link], reverse: set[Link]) -> None:
    links = grow_diag_final_and(forward, reverse)
    sources, targets = {link[0] for link in links}, {link[1] for link in links}
    assert all(source in sources or target in targets for source, target in forward | reverse)


@given(LINKS)
def test_one_alignment_twice_is_itself(links: set[Link]) -> None:
    assert set(grow_diag_final_and(links, links)) == links


@given(LINKS)
def test_links_are_read_as_they_are_written(links: set[Link]) -> None:
    assert parse_links(format_links(links)) == sorted(links)
