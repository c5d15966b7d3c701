"""Search in results: which lines of a text match, how well the whole does, and what to show of it.

A query of words matches what contains all of them, in any case; what contains them as the phrase that was typed
matches better. Lines are counted from 1 and separated by LF. Time is linear in the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from condense_grpc.domain.frozen import frozen

LINE_CHARS = 240
# Of a line that is cut so much is shown before the match, at most.
_LEAD_CHARS = 60


class Hit(NamedTuple):
    """A line that matches: its number, its text, and where in it the first match begins and ends."""

    number: int
    line: str
    start: int
    end: int


class Query(Protocol):
    """What is searched for. Immutable; may be used on any thread."""

    def rank(self, text: str, arguments: str) -> int:
        """How well a result matches with the arguments of its call; 0: not at all."""
        ...

    def hits(self, text: str) -> Iterator[Hit]:
        """The lines of a text to show, in order."""
        ...


@frozen
class MatchingLine:
    """A line to show: its number, and its text or, if it is long, a piece around the match."""

    number: int
    text: str


@frozen
class TextMatch:
    """A result that matches: how well, its first matching lines, and how many match in all."""

    rank: int
    lines: tuple[MatchingLine, ...]
    line_count: int

    @property
    def score(self) -> tuple[int, int]:
        """Greater is better: by rank, then by the number of lines."""
        return self.rank, self.line_count


def match_text(query: Query, text: str, arguments: str, max_lines: int) -> TextMatch | None:
    """What a query finds in a result; None: nothing."""
    rank = query.rank(text, arguments)
    if not rank:
        return None
    lines: list[MatchingLine] = []
    count = 0
    for hit in query.hits(text):
        count += 1
        if len(lines) < max_lines:
            lines.append(MatchingLine(hit.number, excerpt(hit)))
    return TextMatch(rank, tuple(lines), count)


def excerpt(hit: Hit) -> str:
    """The line, or so much of it around the match as is shown."""
    if len(hit.line) <= LINE_CHARS:
        return hit.line
    start = max(0, min(hit.start - _LEAD_CHARS, len(hit.line) - LINE_CHARS))
    return hit.line[start : start + LINE_CHARS]


class WordsQuery:
    """Words in any order and case, or the phrase that they are."""

    PHRASE, PHRASE_IN_ARGUMENTS, WORDS = 3, 2, 1

    def __init__(self, query: str) -> None:
        words = sorted(set(query.split()), key=len, reverse=True)
        self._phrase = re.compile(re.escape(query.strip() or query), re.IGNORECASE)
        self._words = [re.compile(re.escape(word), re.IGNORECASE) for word in words]
        self._any_word = re.compile("|".join(map(re.escape, words)) or re.escape(query), re.IGNORECASE)

    def rank(self, text: str, arguments: str) -> int:
        """See Query."""
        if self._phrase.search(text):
            return self.PHRASE
        if self._phrase.search(arguments):
            return self.PHRASE_IN_ARGUMENTS
        if len(self._words) < 2:
            return 0
        return self.WORDS if all(word.search(text) or word.search(arguments) for word in self._words) else 0

    def hits(self, text: str) -> Iterator[Hit]:
        """The lines with the phrase; if no line has it, those with any of the words."""
        found = False
        for hit in lines_with(self._phrase, text):
            found = True
            yield hit
        if not found:
            yield from lines_with(self._any_word, text)


def lines_with(pattern: re.Pattern[str], text: str) -> Iterator[Hit]:
    """The lines that contain a match. A match goes on over the end of a line does not count."""
    number, start = 1, 0
    while start < len(text):
        match = pattern.search(text, start)
        if match is None:
            return
        number += text.count("\n", start, match.start())
        start = text.rfind("\n", start, match.start()) + 1 or start
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        if match.end() <= end:
            yield Hit(number, text[start:end], match.start() - start, match.end() - start)
        number, start = number + 1, end + 1
