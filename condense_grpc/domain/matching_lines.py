"""Pattern slices: the lines of a result that match, each behind its number.

A matching line is shown as `<number>: <line>`. With context it is as in grep: a line around a match is shown as
`<number>- <line>`, each line once, and `--` stands on a line of its own where lines between two groups are left out.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias

from condense_grpc.domain.slices import (
    MAX_BYTES,
    MAX_LINES,
    Cut,
    PatternSlice,
    first_line_detail,
    head_within,
    truncation_note,
)
from condense_grpc.domain.text import count_lines

Matcher: TypeAlias = Callable[[str], bool]
"""Whether a line, given without its line feed, contains a match. Must run in linear time."""

MatcherOf: TypeAlias = Callable[[str], Matcher]
"""Reads an expression."""

GAP = "--"


class _Line(NamedTuple):
    """A line of the text by its number and its bounds, the line feed excluded."""

    number: int
    start: int
    end: int
    matches: bool = True


def cut_pattern(
    text: str, pattern: PatternSlice, max_chars: int | None = None, matcher_of: MatcherOf | None = None
) -> Cut:
    """The lines that match, with their context. `matcher_of` is needed for expressions."""
    total = count_lines(text)
    if pattern.regex:
        if matcher_of is None:
            raise ValueError("a pattern slice with an expression needs matcher_of")
        matching = _matching(text, matcher_of(pattern.pattern))
    else:
        matching = _containing(text, pattern.pattern)
    lines = _with_context(text, matching, pattern.context_lines) if pattern.context_lines > 0 else matching
    head = _Head(text, with_gaps=pattern.context_lines > 0)
    for line in lines:
        head.add(line)
    if not head.matches:
        return Cut("", f"(no line contains the pattern; the output has {total} lines)", is_empty=True)
    return head.cut(_what(pattern, head.matches, total), total, max_chars)


def _what(pattern: PatternSlice, count: int, total: int) -> str:
    kind = "matching" if pattern.regex else "with"
    context = f", {pattern.context_lines} around each" if pattern.context_lines > 0 else ""
    return f'lines {kind} "{pattern.pattern}"{context}, {count} of {total}'


def _containing(text: str, part: str) -> Iterator[_Line]:
    """The lines that contain a text. Jumps from hit to hit."""
    if "\n" in part:
        return
    number, start = 1, 0
    while start < len(text):
        hit = text.find(part, start)
        if hit < 0:
            return
        number += text.count("\n", start, hit)
        start = text.rfind("\n", start, hit) + 1 or start
        end = _end(text, hit)
        yield _Line(number, start, end)
        number, start = number + 1, end + 1


def _matching(text: str, matcher: Matcher) -> Iterator[_Line]:
    return (line for line in _lines(text, 1, 0) if matcher(text[line.start : line.end]))


def _lines(text: str, number: int, start: int) -> Iterator[_Line]:
    """All lines from one on."""
    while start < len(text):
        end = _end(text, start)
        yield _Line(number, start, end)
        number, start = number + 1, end + 1


def _end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _with_context(text: str, matching: Iterable[_Line], context: int) -> Iterator[_Line]:
    """The matching lines in order, with up to `context` lines before and after each; no line comes twice."""
    number, start = 1, 0  # the first line that has not come yet
    after = 0  # lines that may still follow the last match
    for match in matching:
        for line in _around(text, number, start, min(after, match.number - number)):
            number, start = line.number + 1, line.end + 1
            yield line
        yield from _before(text, match, min(context, match.number - number))
        yield match
        number, start, after = match.number + 1, match.end + 1, context
    yield from _around(text, number, start, after)


def _around(text: str, number: int, start: int, count: int) -> Iterator[_Line]:
    """Up to `count` lines as context."""
    for line in islice(_lines(text, number, start), count):
        yield line._replace(matches=False)


def _before(text: str, match: _Line, count: int) -> Iterator[_Line]:
    start = match.start
    for _ in range(count):
        start = text.rfind("\n", 0, start - 1) + 1
    return _around(text, match.number - count, start, count)


class _Head:
    """The selection as it is collected: the text of what can be shown, the measures of all of it."""

    def __init__(self, text: str, *, with_gaps: bool) -> None:
        self.matches = 0
        self._text = text
        self._with_gaps = with_gaps
        self._chars = -1  # there is no line feed before the first line
        self._last = 0
        self._shown: list[str] = []
        self._shown_chars = 0
        self._shown_from: list[tuple[int, bool]] = []

    def add(self, line: _Line) -> None:
        """Take in the next line of the selection."""
        if self._with_gaps and self._last and line.number > self._last + 1:
            self._put(GAP, 0, 0, (line.number, False))
        mark = ":" if line.matches else "-"
        self._put(f"{line.number}{mark} ", line.start, line.end, (line.number, line.matches))
        self._last = line.number
        self.matches += line.matches

    def _put(self, prefix: str, start: int, end: int, shown_from: tuple[int, bool]) -> None:
        self._chars += len(prefix) + end - start + 1
        if len(self._shown) <= MAX_LINES and self._shown_chars <= MAX_BYTES:
            piece = prefix + self._text[start : min(end, start + MAX_BYTES)]
            self._shown.append(piece)
            self._shown_chars += len(piece) + 1
            self._shown_from.append(shown_from)

    def cut(self, what: str, total_lines: int, max_chars: int | None) -> Cut:
        """What is shown of the selection; there must be a line in it."""
        head = head_within("\n".join(self._shown), max_chars)
        shown = head.shown_lines
        if not head.truncated:
            return Cut(head.content, what=what, shown_lines=shown)
        if head.first_line_cut:
            rest = f"lines {self._shown_from[0][0]}-{total_lines}"
            detail = first_line_detail(len(head.content), self._chars, rest)
        else:
            matches = sum(matches for _, matches in self._shown_from[:shown])
            rest = f"lines {self._shown_from[shown][0]}-{total_lines}"
            detail = f"{matches}/{self.matches} matching lines shown; for the rest ask for {rest}"
        return Cut(head.content, truncation_note(detail), what, truncated=True, shown_lines=shown)
