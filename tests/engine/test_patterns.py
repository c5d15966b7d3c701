"""Regular expressions over lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.text_search import Hit
from condense_grpc.engine.patterns import LinePattern
from condense_grpc.errors import PatternInvalid

PIECES = st.sampled_from(
    ["a", "b", "^", "$", ".", r"\b", r"\s", "[^a]", "a*", "é", r"\A", r"\z", "(?i)A", "(?s).", "(?m)^b", "|"]
)
TEXTS = st.text(st.sampled_from("abAé \n\r😀\udc80"), max_size=24)


@given(st.lists(PIECES, max_size=4).map("".join), TEXTS)
def test_lines_are_matched_one_by_one(expression: str, text: str) -> None:
    """Over a whole text the same lines match, at the same places, as if each were looked at alone."""
    pattern = LinePattern(expression, "p")
    lines = text.removesuffix("\n").split("\n") if text else []
    hits = list(pattern.hits(text))
    assert [(hit.number, hit.line) for hit in hits] == [
        (number, line) for number, line in enumerate(lines, 1) if pattern.matches(line)
    ]
    for hit in hits:
        assert next(pattern.hits(hit.line), Hit(1, "", 0, 0))[2:] == hit[2:]


@pytest.mark.parametrize(
    ("expression", "position"),
    [("a(b", 3), ("ab[c", 2), ("é**", 1), (r"a\1", 1), ("a(?=b)", 1), ("a{2000}", 1), ("a\ud800", 1)],
)
def test_what_is_no_expression_is_refused(expression: str, position: int) -> None:
    """With the field that holds it, and the place where reading stopped."""
    with pytest.raises(PatternInvalid) as refused:
        LinePattern(expression, "slices[0].pattern.pattern")
    assert refused.value.metadata == {"field": "slices[0].pattern.pattern", "position": str(position)}


def test_no_expression_takes_long() -> None:
    """What keeps other languages busy for years is linear here."""
    text = "a" * 20_000 + "!"
    assert list(LinePattern("(a*)*(a|aa)+$", "p").hits(text)) == []


def test_results_and_arguments_are_ranked() -> None:
    """A match in the result counts more than one in the arguments."""
    pattern = LinePattern("x+", "p")
    assert [pattern.rank(*one) for one in [("axx", ""), ("a", "x"), ("a", "a"), ("", "x")]] == [2, 1, 0, 1]
