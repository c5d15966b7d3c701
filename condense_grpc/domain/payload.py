"""The payload of a batch: its calls and results as prose for a summarizer.

A long result is reduced to its head and tail and the lines of its middle that tell most: errors first, then paths,
then numbers, always shown in the order of the text. Every gap says how many characters it hides, so kept
characters and gaps add up to the whole.
"""

import re
from dataclasses import dataclass, field

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.json_text import parse_or_text, pretty

_TELLING = (
    re.compile(
        r"error|fail|exception|traceback|panic|fatal|warn|denied|refused|timed? ?out|not found|no such"
        r"|cannot|could not|abort|assert|undefined|unresolved|missing|invalid|killed|segfault",
        re.IGNORECASE,
    ),
    re.compile(r"[\w.~][/\\][\w.]|\.\w{1,5}:[0-9]"),
    re.compile(r"[0-9]"),
)


def serialize_batch(batch: Batch, result_budget_chars: int) -> str:
    """The text between the payload tags of a request: calls numbered from 1 under their labels."""
    said = f"Assistant said: {batch.assistant_text}\n\n" if batch.assistant_text else ""
    calls = (_serialize_call(number, call, result_budget_chars) for number, call in enumerate(batch.calls, 1))
    return said + "\n---\n".join(calls)


def _serialize_call(number: int, call: Call, result_budget_chars: int) -> str:
    arguments = pretty(parse_or_text(call.args_json))
    status = "ERROR" if call.is_error else "OK"
    return (
        f"[[{number}:{call.tool_name}]] Tool: {call.tool_name}({arguments})\n"
        f"Result ({status}): {reduce_text(call.result_text, result_budget_chars)}"
    )


def reduce_text(text: str, budget_chars: int) -> str:
    """A text longer than the budget as head, telling lines and tail; never longer than the text itself.

    The result, gap marks included, keeps to a budget that has room for them (some 150 characters).
    """
    if len(text) <= budget_chars:
        return text
    share = 2 * budget_chars // 5
    head_end = text.rfind("\n", 0, share) + 1 or share
    tail_at = len(text) - share
    tail_start = text.find("\n", tail_at - 1, len(text) - 1) + 1 if tail_at else 0
    tail_start = tail_start or tail_at
    middle = _Middle(text, head_end, tail_start, room=budget_chars - head_end - (len(text) - tail_start))
    reduced = _show(text, [(0, head_end), *middle.spans(), (tail_start, len(text))])
    return min(reduced, text, key=len)


def _gap_mark(chars: int) -> str:
    return f"…[{chars} characters omitted]…"


def _show(text: str, spans: list[tuple[int, int]]) -> str:
    """The spans, with a mark wherever something lies between two of them."""
    merged = [spans[0]]
    for start, end in spans[1:]:
        if start == merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    pieces: list[str] = []
    position = 0
    for start, end in merged:
        if start > position:
            pieces.append(_gap_mark(start - position))
        if end > start:
            pieces.append(text[start:end] if end == len(text) else text[start:end].removesuffix("\n"))
        position = end
    return "\n".join(pieces)


@dataclass(slots=True)
class _Middle:
    """The lines between head and tail, and the choice among them. `room`: characters they and the marks may take."""

    text: str
    start: int
    end: int
    room: int
    lines: list[tuple[int, int]] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)

    def spans(self) -> list[tuple[int, int]]:
        """The chosen lines in order, each with its line feed."""
        self._split()
        mark_chars = len(_gap_mark(self.end - self.start)) + 2
        self.room -= mark_chars
        self.taken = {-1, len(self.lines)}  # head and tail
        for telling in _TELLING:
            self._choose(telling, mark_chars)
        return [span for index, span in enumerate(self.lines) if index in self.taken]

    def _split(self) -> None:
        position = self.start
        while position < self.end:
            after = self.text.find("\n", position, self.end) + 1 or self.end
            self.lines.append((position, after))
            position = after

    def _choose(self, telling: re.Pattern[str], mark_chars: int) -> None:
        for index, (start, end) in enumerate(self.lines):
            # A line without a chosen neighbour splits a gap in two, one between two chosen lines closes it.
            neighbours = (index - 1 in self.taken) + (index + 1 in self.taken)
            cost = end - start + (1 - neighbours) * mark_chars
            if cost <= self.room and index not in self.taken and telling.search(self.text, start, end):
                self.taken.add(index)
                self.room -= cost
