"""Token estimates that know scripts in which a character is about a token."""

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.numbers import token_estimate
from condense_grpc.domain.tokens import estimated_tokens, wide_chars


def test_which_characters_are_wide() -> None:
    """Those of China, Japan and Korea, with their punctuation; no others, whatever their bytes."""
    for text in ("漢字", "かな", "カナ", "한글", "、。", "，！", "\U00020000\U0002a6d6"):
        assert wide_chars(f"a {text} é") == len(text)
    assert wide_chars("plain, é, Привет, مرحبا, 🙂, हिन्दी") == 0


@given(st.integers(0, 10**9))
def test_without_them_it_is_a_quarter_of_the_characters(chars: int) -> None:
    assert estimated_tokens(chars, 0) == token_estimate(chars)


@given(st.text())
def test_there_are_never_more_tokens_than_characters(text: str) -> None:
    assert 0 <= estimated_tokens(len(text), wide_chars(text)) <= len(text) + 1
