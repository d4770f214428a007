"""A sequence whose items are made when they are looked at: a sequence like any other, that holds none of them."""

from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.evidence.made import Made


def test_an_item_is_made_when_it_is_looked_at_and_again_each_time() -> None:
    """Not before, and nothing is kept."""
    looked_at: list[int] = []

    def make(place: int) -> str:
        looked_at.append(place)
        return f"item {place}"

    made = Made(3, make)
    assert (len(made), looked_at) == (3, [])
    assert made[1] == made[-2] == "item 1"
    assert looked_at == [1, 1]
    part = made[1:]
    assert (len(part), looked_at) == (2, [1, 1])
    assert [*part] == ["item 1", "item 2"]
    assert looked_at == [1, 1, 1, 2]


@given(st.integers(0, 6), st.slices(6), st.integers(-8, 8))
def test_it_is_what_a_list_of_the_same_items_is(count: int, part: slice, place: int) -> None:
    """In its order, for every index and every slice, to the error for what is not there."""
    made, plain = Made(count, lambda each: each * each), [each * each for each in range(count)]
    assert [*made] == plain
    assert [*made[part]] == plain[part]
    assert [*reversed(made)] == plain[::-1]
    try:
        assert made[place] == plain[place]
    except IndexError:
        assert not -count <= place < count
