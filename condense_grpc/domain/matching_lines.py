"""Pattern slices: the lines of a result that match, each behind its number.

A matching line is shown as `<number>: <line>`. With context it is as in grep: a line around a match is shown as
`<number>- <line>`, each line once, and `--` stands on a line of its own where lines between two groups are left out.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
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


class _Shown(NamedTuple):
    """A line of the selection as it is shown. A gap has the number of the line behind it."""

    number: int
    matches: bool
    text: str


def cut_pattern(
    text: str, pattern: PatternSlice, max_chars: int | None = None, matcher_of: MatcherOf | None = None
) -> Cut:
    """The lines that match, with their context. `matcher_of` is needed for expressions."""
    total = count_lines(text)
    if pattern.regex:
        if matcher_of is None:
            raise ValueError("a pattern slice with an expression needs matcher_of")
        find = partial(_matching, text, matcher_of(pattern.pattern))
    else:
        find = partial(_containing, text, pattern.pattern)
    count = sum(1 for _ in find())
    if not count:
        return Cut("", f"(no line contains the pattern; the output has {total} lines)", is_empty=True)
    kind = "matching" if pattern.regex else "with"
    around = f", {pattern.context_lines} around each" if pattern.context_lines > 0 else ""
    what = f'lines {kind} "{pattern.pattern}"{around}, {count} of {total}'
    show = partial(_shown, text, find, pattern.context_lines)
    return replace(_cut(show, (count, total), max_chars), what=what)


def _cut(show: Callable[[], Iterator[_Shown]], totals: tuple[int, int], max_chars: int | None) -> Cut:
    """The head of a selection; `totals` are its matching lines and the lines of the text."""
    count, total = totals
    lines = _enough(show())
    head = head_within("\n".join(line.text for line in lines), max_chars)
    shown = head.shown_lines
    if not head.truncated:
        return Cut(head.content, shown_lines=shown)
    if head.first_line_cut:
        chars = sum(len(line.text) + 1 for line in show()) - 1
        detail = first_line_detail(len(head.content), chars, f"lines {lines[0].number}-{total}")
    else:
        matches = sum(line.matches for line in lines[:shown])
        rest = f"lines {lines[shown].number}-{total}"
        detail = f"{matches}/{count} matching lines shown; for the rest ask for {rest}"
    return Cut(head.content, truncation_note(detail), truncated=True, shown_lines=shown)


def _enough(lines: Iterable[_Shown]) -> list[_Shown]:
    """As many lines as can be shown, and at least one more if there is one."""
    enough: list[_Shown] = []
    chars = 0
    for line in lines:
        enough.append(line)
        chars += len(line.text) + 1
        if len(enough) > MAX_LINES or chars > MAX_BYTES + 1:
            break
    return enough


def _shown(text: str, find: Callable[[], Iterator[_Line]], context: int) -> Iterator[_Shown]:
    last = 0
    for number, start, end, matches in _with_context(text, find(), context) if context > 0 else find():
        if context > 0 and last and number > last + 1:
            yield _Shown(number, False, GAP)
        yield _Shown(number, matches, f"{number}{':' if matches else '-'} {text[start:end]}")
        last = number


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
