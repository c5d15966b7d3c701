"""Slices: the pieces of a result that a recovery query can ask for.

Lines are separated by LF; a final LF opens no further line. Lines and characters count from 1, both ends belong to the
selection, a start below 1 is 1 and an end behind the last is the last. What is shown never exceeds the limits, and
what is left out is said, with the way to get it. Time is linear in the text.
"""

from dataclasses import replace

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.text import Truncated, count_lines, prefix_within, truncate_head

MAX_LINES = 2000
MAX_BYTES = 51_200
_SCAN_CHARS = 65_536


@frozen
class LineSlice:
    """Some lines. `end` None: to the last."""

    start: int = 1
    end: int | None = None


@frozen
class CharSlice:
    """Some characters. `end` None: to the last."""

    start: int = 1
    end: int | None = None


@frozen
class PatternSlice:
    """The lines that contain a text (case sensitive), or that match an expression when `regex` is set.

    `context_lines`: how many lines before and after each match are shown as well.
    """

    pattern: str
    regex: bool = False
    context_lines: int = 0


@frozen
class Slice:
    """A selection of the result that `ref` names; None is the whole. `max_chars` (at least 1) lowers the limits."""

    ref: str
    selection: LineSlice | CharSlice | PatternSlice | None = None
    max_chars: int | None = None


@frozen
class Cut:
    """What is shown of a text. `what` names the selection (empty: no need to), `note` follows the text if not empty.

    `truncated`: the selection goes on behind `text`. `is_empty`: nothing is selected, and the note says so.
    """

    text: str
    note: str = ""
    what: str = ""
    truncated: bool = False
    is_empty: bool = False
    shown_lines: int = 0

    @property
    def body(self) -> str:
        """Text and note as the model sees them."""
        if self.is_empty:
            return self.note
        return f"{self.text}\n{self.note}" if self.note else self.text


def head_within(text: str, max_chars: int | None) -> Truncated:
    """The head of a text within all limits: whole lines, or a piece of a first line that alone is too long."""
    head = truncate_head(text, MAX_LINES, MAX_BYTES)
    if max_chars is None or len(head.content) <= max_chars:
        return head
    piece = head.content[: max(0, max_chars)]
    ends_with_line = piece and head.content[len(piece)] == "\n"
    end = len(piece) if ends_with_line else piece.rfind("\n")
    if end < 0:
        return Truncated(piece, True, 1 if piece else 0, head.total_lines, first_line_cut=bool(piece))
    shown = piece.count("\n", 0, end) + 1
    return Truncated(piece[:end], shown < head.total_lines, shown, head.total_lines)


def truncation_note(detail: str) -> str:
    """The line that says what was left out."""
    return f"[Output truncated: {detail}]"


def first_line_detail(shown: int, total: int, rest: str) -> str:
    """What a note says of a first line that was cut."""
    return f"first line cut after {shown} of {total} characters; for the rest ask for {rest}"


def cut_whole(text: str, max_chars: int | None = None) -> Cut:
    """The head of the whole text."""
    head = head_within(text, max_chars)
    shown, chars = head.shown_lines, len(head.content)
    if not head.truncated:
        return Cut(head.content, shown_lines=shown)
    if head.first_line_cut:
        detail = first_line_detail(chars, len(text), f"chars {chars + 1}-{len(text)}")
    else:
        rest = f"lines {shown + 1}-{head.total_lines}"
        detail = f"{shown}/{head.total_lines} lines shown; for the rest ask for {rest}"
    return Cut(head.content, truncation_note(detail), truncated=True, shown_lines=shown)


def cut_lines(text: str, lines: LineSlice, max_chars: int | None = None) -> Cut:
    """Consecutive lines, joined with line feeds."""
    total = count_lines(text)
    first, last = max(1, lines.start), total if lines.end is None else min(lines.end, total)
    if first > last:
        return Cut("", f"(no lines in this range; the output has {total} lines)", is_empty=True)
    start = _line_start(text, first)
    end = _line_end(text, _line_start(text, last, start, first))
    head = head_within(text[start:end], max_chars)
    cut = Cut(head.content, what=f"lines {first}-{last} of {total}", shown_lines=head.shown_lines)
    if not head.truncated:
        return replace(cut, shown_lines=last - first + 1)
    if head.first_line_cut:
        chars = len(head.content)
        detail = first_line_detail(chars, end - start, f"chars {start + chars + 1}-{end}")
    else:
        rest = f"lines {first + head.shown_lines}-{last}"
        detail = f"{head.shown_lines}/{last - first + 1} lines shown; for the rest ask for {rest}"
    return replace(cut, note=truncation_note(detail), truncated=True)


def cut_chars(text: str, chars: CharSlice, max_chars: int | None = None) -> Cut:
    """Consecutive characters."""
    total = len(text)
    first, last = max(1, chars.start), total if chars.end is None else min(chars.end, total)
    if first > last:
        return Cut("", f"(no characters in this range; the output has {total} characters)", is_empty=True)
    count = last - first + 1
    limit = MAX_BYTES if max_chars is None else min(MAX_BYTES, max_chars)
    shown = prefix_within(text[first - 1 : first - 1 + min(count, limit)], MAX_BYTES)
    cut = Cut(shown, what=f"chars {first}-{last} of {total}", shown_lines=count_lines(shown))
    if len(shown) == count:
        return cut
    detail = f"{len(shown)}/{count} characters shown; for the rest ask for chars {first + len(shown)}-{last}"
    return replace(cut, note=truncation_note(detail), truncated=True)


def _line_start(text: str, number: int, position: int = 0, at: int = 1) -> int:
    """Where the line with this number starts; `position` is the start of line `at`, not behind it."""
    remaining = number - at
    while remaining > 0:
        block_end = position + _SCAN_CHARS
        feeds = text.count("\n", position, block_end)
        if feeds < remaining:
            remaining -= feeds
            position = block_end
            continue
        for _ in range(remaining):
            position = text.index("\n", position) + 1
        remaining = 0
    return position


def _line_end(text: str, start: int) -> int:
    """Where the line that starts here ends, its line feed excluded."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end
