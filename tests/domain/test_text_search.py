"""Search in results."""

import re

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.text_search import LINE_CHARS, Hit, WordsQuery, excerpt, lines_with, match_text

TEXTS = st.text(st.sampled_from("aBb \nß😀"), max_size=30)


@given(TEXTS, st.sampled_from(["a", "ab", "b ", "😀", "B"]))
def test_lines_are_found_as_if_looked_at_one_by_one(text: str, part: str) -> None:
    """Number, text and place of every line with the part, in any case."""
    pattern = re.compile(re.escape(part), re.IGNORECASE)
    lines = text.removesuffix("\n").split("\n") if text else []
    expected = [
        Hit(number, line, match.start(), match.end())
        for number, line in enumerate(lines, 1)
        if (match := pattern.search(line))
    ]
    assert list(lines_with(pattern, text)) == expected


def test_phrases_match_better_than_words() -> None:
    """The phrase, then the phrase in the arguments, then all words anywhere; a missing word is no match."""
    query = WordsQuery("Load config")
    texts = [("x\nload CONFIG now", ""), ("", '{"c": "load config"}'), ("config", "load"), ("load", ""), ("", "")]
    assert [query.rank(*text) for text in texts] == [3, 2, 1, 0, 0]
    assert WordsQuery("load").rank("reLOADed", "") == 3


def test_lines_of_the_phrase_or_of_the_words() -> None:
    """Lines with single words are shown only if no line has the phrase."""
    query = WordsQuery("load config")
    assert [hit.number for hit in query.hits("load\nconfig\nload config\n")] == [3]
    assert [hit.number for hit in query.hits("load\nnothing\nconfig")] == [1, 3]


def test_matches_are_counted_beyond_what_is_shown() -> None:
    """The first lines are shown, all are counted; a match in the arguments alone shows none."""
    found = match_text(WordsQuery("a"), "a\nb\na\na", "", 2)
    assert found is not None
    assert ([line.number for line in found.lines], found.line_count) == ([1, 3], 3)
    found = match_text(WordsQuery("a"), "b", "a", 2)
    assert found is not None and (found.lines, found.line_count) == ((), 0)
    assert match_text(WordsQuery("a"), "b", "c", 2) is None


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_a_long_line_is_cut_around_the_match(before: int, behind: int) -> None:
    """The match is in what is shown, and never more than the limit is."""
    line = "x" * before + "needle" + "y" * behind
    shown = excerpt(Hit(1, line, before, before + 6))
    assert "needle" in shown and shown in line
    assert len(shown) == min(len(line), LINE_CHARS)


def test_a_query_of_several_lines_is_words() -> None:
    """No line holds a line feed."""
    query = WordsQuery("one\ntwo")
    assert query.rank("two one", "") == 1
    assert [hit.number for hit in query.hits("one\ntwo")] == [1, 2]
