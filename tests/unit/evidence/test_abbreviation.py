"""A long list is cut for the reader, and says how many items it leaves out."""

from freeze_gate.evidence.abbreviation import abbreviate, count


def test_short_list_is_whole() -> None:
    """Up to the limit, every item is shown."""
    assert abbreviate([1, 2], limit=2) == ["1", "2"]


def test_long_list_counts_the_rest() -> None:
    """Items beyond the limit are counted, and never rendered."""
    rendered: list[int] = []

    def show(item: int) -> str:
        rendered.append(item)
        return f"<{item}>"

    assert abbreviate([1, 2, 3, 4], limit=2, show=show) == ["<1>", "<2>", "and 2 more"]
    assert rendered == [1, 2]


def test_a_number_agrees_with_its_noun() -> None:
    """One note, and any other number of notes."""
    assert [count(number, "note") for number in (0, 1, 2)] == ["0 notes", "1 note", "2 notes"]
