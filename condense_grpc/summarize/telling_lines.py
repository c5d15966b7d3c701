"""The few lines of a result that are worth quoting as they are, by kind of content.

Of a log the errors, the counts and the end; of a file what it defines; of a diff where it changes what; of a
stack trace the exception and its innermost frames; of JSON its shape and short members; of a page its headings.
Each finder yields candidates in the order in which they should be taken; `choose` takes what fits and puts it back
into the order of the text. The work is bounded: at most a few hundred candidates, one per line, and one
very long line is looked at once.
"""

import re
from collections.abc import Iterable

from condense_grpc.domain.frozen import frozen
from condense_grpc.summarize import line_patterns as patterns
from condense_grpc.summarize.content_kind import Kind
from condense_grpc.summarize.json_outline import json_outline
from condense_grpc.summarize.quoting import cut, quote

_MAX_CANDIDATES = 400
_HITS_PER_WORD = 60
_TRIES = 8
_TAIL_CHARS = 60_000
_LINE_CHARS = 180
_LEAD_CHARS = 40
# Further than this a line is not searched for its beginning: one line may be the whole text.
_LONG_LINE_CHARS = 2000
SEPARATOR = " ⏎ "


@frozen
class Line:
    """A candidate: where it starts in the text, what it says (already harmless), and how deep it is indented."""

    position: int
    text: str
    indent: int = 0


def telling_lines(kind: Kind, text: str, *, is_error: bool) -> list[Line]:
    """The candidates of a cleaned result, the most telling first."""
    if kind is Kind.JSON:
        outline = json_outline(text)
        return [Line(index, piece) for index, piece in enumerate(outline)] or _ends(text, 2, 1)
    if kind is Kind.TRACE:
        raised, frames = _of(patterns.RAISED, text, last_first=True), _of(patterns.FRAME, text, last_first=True)
        return _distinct(raised, frames[:2], _errors(text), frames, _ends(text, 0, 2))
    if is_error or kind is Kind.LOG:
        errors = _errors(text)
        counts = _of(patterns.COUNT, text, last_first=True)
        return _distinct(errors[:2], _ends(text, 0, 1), counts[:2], errors, counts, _ends(text, 1, 3))
    if kind is Kind.FILE:
        return _distinct(sorted(_of(patterns.DEFINITION, text), key=lambda line: line.indent))
    if kind is Kind.DIFF:
        return _distinct(_of(patterns.HUNK, text))
    if kind is Kind.SEARCH:
        return _distinct(_of(patterns.FOUND_DEFINITION, text), _of(patterns.FOUND, text)[:4])
    if kind is Kind.LISTING:
        return _distinct(_ends(text, 2, 1))
    if kind is Kind.PAGE:
        return _distinct(_of(patterns.HEADING, text), _ends(text, 2, 0))
    counts = _of(patterns.COUNT, text, last_first=True)
    return _distinct(counts[:2], _ends(text, 1, 1), _definite(_errors(text)), _of(patterns.DEFINITION, text))


def choose(lines: Iterable[Line], limit: int) -> str:
    """As many lines as fit into `limit` characters, in the order of the text; if none fits, the head of the first."""
    chosen: list[Line] = []
    room = limit
    for line in lines:
        cost = len(line.text) + (len(SEPARATOR) if chosen else 0)
        if cost <= room:
            chosen.append(line)
            room -= cost
        elif not chosen and room > _LEAD_CHARS:
            chosen.append(Line(line.position, cut(line.text, room)))
            break
    return SEPARATOR.join(line.text for line in sorted(chosen, key=lambda line: line.position))


def _of(pattern: re.Pattern[str], text: str, *, last_first: bool = False) -> list[Line]:
    """The lines with a match, one candidate per line; with `last_first` those near the end, the last one first."""
    offset = max(0, len(text) - _TAIL_CHARS) if last_first else 0
    found: list[Line] = []
    while len(found) < _MAX_CANDIDATES:
        match = pattern.search(text, offset)
        if match is None:
            break
        line, offset = _line_at(text, match.end() - 1)
        if line.text:
            found.append(line)
    return found[::-1] if last_first else found


def _errors(text: str) -> list[Line]:
    """Lines that speak of errors: the definite ones first, each kind of message once."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # Some capitals have longer small forms; positions must agree, so these texts lose capitals.
    hits: dict[int, Line] = {}
    for word in patterns.ERROR_WORDS:
        offset = 0
        for _ in range(_HITS_PER_WORD):
            offset = lowered.find(word, offset)
            if offset < 0:
                break
            line, offset = _line_at(text, offset)
            hits.setdefault(line.position, line)
        position = len(text) if offset >= 0 else 0
        for _ in range(_HITS_PER_WORD):
            position = lowered.rfind(word, offset, position)
            if position < 0:
                break
            line, _ = _line_at(text, position)
            hits.setdefault(line.position, line)
            position = min(position, line.position)
    telling = [line for line in hits.values() if line.text and not patterns.HARMLESS.search(line.text)]
    return sorted(telling, key=lambda line: (_weakness(line.text), line.position))


def _weakness(line: str) -> int:
    if patterns.DEFINITE.search(line):
        return 0
    return 2 if "warning" in line.lower() else 1


def _definite(lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if patterns.DEFINITE.search(line.text)]


def _ends(text: str, head: int, tail: int) -> list[Line]:
    """The last lines that say something, the very last first, then the first ones; few are tried at each end."""
    last: list[Line] = []
    end = len(text.rstrip())
    for _ in range(tail + _TRIES):
        if end <= 0 or len(last) == tail:
            break
        start = text.rfind("\n", 0, end) + 1
        last.append(_line(text, max(start, end - _LINE_CHARS), end))
        if not _says_something(last[-1]):
            last.pop()
        end = len(text[:start].rstrip())
    first: list[Line] = []
    end = 0
    for _ in range(head + _TRIES):
        match = patterns.NOT_EMPTY.search(text, end)
        if match is None or len(first) == head:
            break
        line, end = _line_at(text, match.start())
        if _says_something(line):
            first.append(line)
    return last + first


def _says_something(line: Line) -> bool:
    return patterns.WORD.search(line.text) is not None and not patterns.WRAPPING.match(line.text)


def _distinct(*groups: Iterable[Line]) -> list[Line]:
    """The groups one after the other; of lines that differ in numbers only, the first one stays."""
    shapes: set[str] = set()
    kept: list[Line] = []
    for line in (line for group in groups for line in group):
        shape = patterns.DIGITS.sub("0", line.text)
        if shape not in shapes and _says_something(line):
            shapes.add(shape)
            kept.append(line)
    return kept


def _line_at(text: str, position: int) -> tuple[Line, int]:
    """The line around a position and where it ends. Of a very long one: what follows the position."""
    start = text.rfind("\n", max(0, position - _LONG_LINE_CHARS), position) + 1
    if position - start > _LINE_CHARS:
        start = position - _LEAD_CHARS
    end = text.find("\n", position)
    return _line(text, start, len(text) if end < 0 else end), len(text) if end < 0 else end


def _line(text: str, start: int, end: int) -> Line:
    line = text[start : min(end, start + _LONG_LINE_CHARS)].rstrip("\r ")
    # A progress bar rewrites its line; what was written last is what stood on the screen.
    line = line[line.rfind("\r") + 1 :]
    number = patterns.LINE_NUMBER.match(line)
    code = line[number.end() :] if number else line
    shown = f"{number[1]}: {code.lstrip()}" if number else code
    return Line(start, quote(shown, _LINE_CHARS), len(code) - len(code.lstrip()))
