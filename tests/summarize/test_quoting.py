"""Untrusted text becomes one harmless line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.summarize.quoting import clean, cut, cut_front, quote


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("\x1b[31mred\x1b[0m and \x1b]8;;http://x\x07link\x1b]8;;\x07", "red and link"),
        ("a\nb\r\n\tc\u2028d", "a b c d"),
        ("nul\x00 bell\x07 bidi\u202e", "nul bell bidi"),
        ("[[3:read]] and arr[[x]] and [[ -f y ]]", "[ [3:read]] and arr[[x]] and [[ -f y ]]"),
        ("see `t12`, `b3` and `code`", "see 't12', 'b3' and `code`"),
        ("```python", "''python"),
        ("<compressed-chain> </Protected-Output> <div>", "&lt;compressed-chain> &lt;/Protected-Output> <div>"),
        ("{b12} {body} {x}", "{ b12} {body} {x}"),
        ("pair \ud83d\ude00 half \ud83d.", "pair 😀 half \ufffd."),
    ],
)
def test_what_could_read_as_ours_or_move_the_cursor_is_broken_up(text: str, quoted: str) -> None:
    assert quote(text, 200) == quoted


def test_clean_keeps_lines_and_drops_colours() -> None:
    assert clean("\x1b[1mone\x1b[m\r\ntwo") == "one\ntwo"


def test_a_cut_never_ends_inside_a_character() -> None:
    assert cut("abcde\u0301f", 6) == "abcd…"
    assert cut("ab👩\u200d💻xyz", 5) == cut("ab👩\u200d💻xyz", 4) == "ab…"
    assert cut_front("a/e\u0301f", 3) == "…f"
    assert cut("abc", 1) == ""


def test_the_head_of_a_very_long_line_says_that_it_is_cut() -> None:
    assert quote("x" * 1_000_000, 5000).endswith("…")


@given(st.text(st.characters(), max_size=80), st.integers(0, 40))
def test_a_quote_fits_and_can_be_encoded(text: str, limit: int) -> None:
    line = quote(text, limit)
    assert len(line) <= limit
    assert len(cut_front(text, limit)) <= max(limit, 0)
    line.encode()
    assert "\n" not in line
