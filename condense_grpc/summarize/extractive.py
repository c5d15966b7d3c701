"""The built-in summarizer: takes the telling lines and the new names out of a batch's results, without any model.

For each call one to three bullets: its label with what it was and how it ended; the few lines that are worth quoting;
an index of the names that are new to the context. Measured on recorded sessions, the index keeps most of what an
agent uses later, and a few verbatim lines in front of it make it readable (`bench/summary_recall.py`).

Invariants: the same batch gives the same text; each call's first bullet starts with its label; nothing quoted can
open a line, forge a label, ref or delimiter; a call takes at most `call_chars`, and the whole is not longer than
its source unless the labels alone are. No text makes it raise. Time is linear in the size of the results.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.engine.ports import (
    CANNOT_FUSE,
    FuseRequest,
    SummaryEvent,
    SummaryFailure,
    SummaryProgress,
    SummaryReply,
    SummaryRequest,
)
from condense_grpc.summarize.call_heading import arguments_of, command_of, heading, label_of
from condense_grpc.summarize.content_kind import Kind, kind_of
from condense_grpc.summarize.fact_index import Known, index_of, new_names, words_in
from condense_grpc.summarize.quoting import clean, quote
from condense_grpc.summarize.telling_lines import SEPARATOR, choose, telling_lines

# What a label, an outcome and a size take on top of the share: without it short results would get nothing else.
_HEADING_CHARS = 100
_LINES = "  - lines: "
_NAMES = "  - names: "
_LEAST_USEFUL_CHARS = 24
# How much of a call's room its quoted lines may take before the names; what the names leave over is theirs again.
_ERROR_LINES = 0.5
_LINES_SHARE = {
    Kind.FILE: 0.15,
    Kind.LISTING: 0.1,
    Kind.SEARCH: 0.2,
    Kind.LOG: 0.45,
    Kind.TRACE: 0.5,
    Kind.DIFF: 0.35,
    Kind.JSON: 0.3,
    Kind.PAGE: 0.35,
    Kind.OTHER: 0.3,
}
_DIFF_PREFIX = re.compile(r"^index [0-9a-f]{4,40}\.\.[0-9a-f]{4,40}.*$|(?<=[ \t])[ab]/(?=\S)", re.M)
_SHORT_CHARS = 300
_MAX_LEAVES = 20_000


class ExtractiveSummarizer:
    """The built-in summarizer behind the port. Holds nothing of a session; works in a thread, off the event loop."""

    name = "extractive"
    can_fuse = False

    async def summarize(self, request: SummaryRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer."""
        text = await asyncio.to_thread(_summarize, request.batch, request.known_text)
        yield SummaryProgress(len(text))
        yield SummaryReply(text)

    async def fuse(self, request: FuseRequest) -> AsyncIterator[SummaryEvent]:
        """See Summarizer: fusing needs a model."""
        yield SummaryFailure(CANNOT_FUSE)


def _summarize(batch: Batch, known_text: str) -> str:
    return summarize_batch(batch, _known_words(known_text))


@lru_cache(maxsize=8)
def _known_words(text: str) -> frozenset[str]:
    """All batches of a flush are written against the same text."""
    return frozenset(words_in(text))


def summarize_batch(
    batch: Batch, seen: AbstractSet[str] | None = None, *, share: int = 8, call_chars: int = 1200
) -> str:
    """The summary of a batch in Markdown, labels in place.

    `seen` are the words that stand elsewhere in the context (see `fact_index.words_in`); they are not repeated.
    A call gets one `share`-th of the length of its result and a heading, together at most `call_chars`.
    """
    arguments = [arguments_of(call) for call in batch.calls]
    known = Known(seen, [batch.assistant_text, *("\n".join(_leaves(members)) for members in arguments)])
    bullets: list[str] = []
    for number, (call, members) in enumerate(zip(batch.calls, arguments, strict=True), 1):
        size = len(call.result_text)
        limit = min(call_chars, _HEADING_CHARS + size // max(share, 1), size // 2)
        bullets.extend(_bullets(call, label_of(number, call.tool_name), limit, members, known))
    text = "\n".join(bullets)
    if len(text) <= sum(len(call.result_text) for call in batch.calls):
        return text
    return "\n".join(
        heading(call, label_of(number, call.tool_name), 0, detail="", arguments={})
        for number, call in enumerate(batch.calls, 1)
    )


def _bullets(call: Call, label: str, limit: int, arguments: dict[str, Any], known: Known) -> list[str]:
    """The bullets of one call, in at most `limit` characters if its label leaves room; what they say becomes known."""
    text = clean(call.result_text)
    kind = kind_of(call.tool_name, command_of(arguments), text)
    head = heading(call, label, limit, detail=_size(text, kind), arguments=arguments)
    room = limit - len(head) - 1
    if len(text) <= 2 * room:
        whole = quote(text.strip().replace("\n", SEPARATOR), 4 * limit)
        if len(whole) < room:
            known.learn(whole)
            return [f"{head}: {whole}" if whole else head]
    if room < _LEAST_USEFUL_CHARS:
        return [head]
    candidates = telling_lines(kind, text, is_error=call.is_error)
    lines_room = int(room * (_ERROR_LINES if call.is_error else _LINES_SHARE[kind]))
    lines = _bullet(_LINES, choose(candidates, lines_room - len(_LINES)))
    known.learn(lines)
    names_room = room - len(lines) - 1 - len(_NAMES)
    names = _bullet(_NAMES, index_of(new_names(_words_apart(text, kind), known), names_room))
    known.learn(names)
    left = room - len(names) - 1
    if left > len(lines) + _LEAST_USEFUL_CHARS:
        lines = _bullet(_LINES, choose(candidates, left - len(_LINES)))
        known.learn(lines)
    return [bullet for bullet in (head, lines, names) if bullet]


def _bullet(opening: str, content: str) -> str:
    return opening + content if content else ""


def _words_apart(text: str, kind: Kind) -> str:
    """The text in which words stand alone: in JSON escapes glue letters to them, in diffs `a/` and `b/`."""
    if kind is Kind.JSON and "\\" in text:
        return text.replace("\\n", "\n").replace("\\t", "\t")
    if kind is Kind.DIFF:
        return _DIFF_PREFIX.sub(" ", text)
    return text


def _size(text: str, kind: Kind) -> str:
    """The size of a result as a reader counts it, and of a diff what it changes."""
    lines = text.count("\n") + 1
    if lines == 1 and len(text) < _SHORT_CHARS:
        return ""
    size = f"{lines} lines, {len(text)} chars"
    if kind is Kind.DIFF:
        size += f", +{text.count(chr(10) + '+') - text.count(chr(10) + '+++')}"
        size += f" -{text.count(chr(10) + '-') - text.count(chr(10) + '---')}"
    return size


def _leaves(value: Any) -> Iterator[str]:
    """The strings in a value, up to a bound; without recursion, since arguments nest as deep as a model likes."""
    waiting = [value]
    for _ in range(_MAX_LEAVES):
        if not waiting:
            return
        member = waiting.pop()
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict):
            waiting.extend(member.values())
        elif isinstance(member, list):
            waiting.extend(member)
