"""A page stays small and whole, whatever it is built of."""

from hypothesis import given
from hypothesis import strategies as st

from freeze_gate.report.markdown import format_list, format_table, join_within_budget


def test_a_table_has_a_head_a_rule_and_rows() -> None:
    """The rule under the head has as many cells as the head."""
    assert format_table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_long_list_counts_what_it_leaves_out() -> None:
    """The first items are shown, the rest is a number."""
    assert format_list(["a", "b", "c"], limit=2) == "- a\n- b\n- and 1 more\n"
    assert format_list(["a", "b"], limit=2) == "- a\n- b\n"


@given(st.lists(st.text("aé漢", max_size=400)), st.integers(100, 2000))
def test_blocks_fit_into_their_budget_and_none_is_cut(blocks: list[str], budget: int) -> None:
    """A block is there as a whole or not at all, and what is left out is counted."""
    page = join_within_budget(blocks, budget)
    assert len(page.encode()) <= budget
    left_out = page.rpartition("\n")[0].rpartition("\n")[2] if "too long to show here" in page else "0"
    shown = [line for line in page.split("\n") if "too long to show here" not in line and line]
    assert set(shown) <= set(blocks)
    assert len([block for block in blocks if block]) - len(shown) <= int(left_out.split()[0])
