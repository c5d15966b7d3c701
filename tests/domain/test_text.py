"""Texts: what the vectors cannot show, and what holds for every text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.text import (
    content_hash,
    count_lines,
    head_preview,
    lines_of,
    normalize,
    prefix_within,
    trim,
    truncate_head,
    utf8_bytes,
)

LONE = "\ud800"
TEXTS = st.text(alphabet=st.sampled_from("ab \t\n\r\x1f\u0085\u00a0é語😀\u2028\ufeff\ud800"), max_size=60)


def test_lone_surrogates_never_raise() -> None:
    text = f"a{LONE}\nb{LONE}"
    assert utf8_bytes(text) == 9
    assert len(content_hash(LONE, text)) == 40
    assert head_preview(text, 4) == f"a{LONE}"
    assert head_preview(text, 3) == "a"
    assert truncate_head(text, 1, 100).content == f"a{LONE}"
    assert truncate_head(text, 5, 3).content == "a"


def test_what_is_cut_in_a_character_is_left_out() -> None:
    assert prefix_within("😀x", 3) == ""
    assert prefix_within("😀x", 4) == "😀"
    assert prefix_within("x", -1) == ""


def test_a_first_line_that_is_too_long_is_said_to_be_cut() -> None:
    head = truncate_head("語語語\nx", 10, 7)
    assert (head.content, head.first_line_cut, head.shown_lines, head.total_lines) == ("語語", True, 1, 2)
    assert not truncate_head("a\nb", 1, 100).first_line_cut
    assert truncate_head("語\nx", 10, 2).shown_lines == 0


@pytest.mark.parametrize("blank", ["\x1c", "\x1d", "\x1e", "\x1f", "\u0085"])
def test_controls_are_not_whitespace(blank: str) -> None:
    assert trim(blank) == blank


def test_blanks_inside_a_line_do_not_cost_their_square() -> None:
    """A run of blanks that ends no line is read once; quadratic time would not come back here."""
    text = "x" + " " * 1_000_000 + "y"
    assert normalize(text) == text


@given(TEXTS)
def test_trim_is_idempotent(text: str) -> None:
    assert trim(trim(text)) == trim(text)
    assert trim(text) in text


@given(TEXTS)
def test_normalize_is_line_by_line(text: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    assert normalize(text) == trim("\n".join(line.rstrip(" \t") for line in lines))


@given(TEXTS)
def test_lines_are_counted_as_they_are_made(text: str) -> None:
    lines = lines_of(text)
    assert count_lines(text) == len(lines)
    assert "\n".join(lines) == text.removesuffix("\n")


@given(TEXTS, st.integers(0, 80))
def test_a_preview_is_a_prefix_within_its_bytes(text: str, max_bytes: int) -> None:
    preview = head_preview(text, max_bytes)
    assert text.startswith(preview)
    assert utf8_bytes(preview) <= max_bytes
    if utf8_bytes(text) <= max_bytes:
        assert preview == text


@given(TEXTS, st.integers(0, 80))
def test_no_longer_prefix_fits(text: str, max_bytes: int) -> None:
    prefix = prefix_within(text, max_bytes)
    assert text.startswith(prefix)
    assert utf8_bytes(prefix) <= max_bytes
    assert prefix == text or utf8_bytes(text[: len(prefix) + 1]) > max_bytes


@given(TEXTS, st.integers(0, 8), st.integers(0, 80))
def test_a_truncated_head_is_a_prefix_within_both_limits(text: str, max_lines: int, max_bytes: int) -> None:
    head = truncate_head(text, max_lines, max_bytes)
    assert text.startswith(head.content)
    assert utf8_bytes(head.content) <= max_bytes
    assert head.shown_lines <= min(max_lines, head.total_lines)
    assert head.total_lines == count_lines(text)
    assert head.truncated == (head.total_lines > max_lines or utf8_bytes(text) > max_bytes)
    if head.truncated and not head.first_line_cut:
        assert head.content == "\n".join(lines_of(text)[: head.shown_lines])
